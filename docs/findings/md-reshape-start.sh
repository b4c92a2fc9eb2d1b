#!/bin/bash
# md-reshape-start.sh STUDY CELL FROM TO STEP [ARGUMENTS]: repeats power cuts at these instants (in microseconds), seed 1. One letter
# each: . nothing lost, M not mountable, C the checker complains, L lost, W wrong data, ? anything else.
study=$1 cell=$2 from=$3 to=$4 step=$5
shift 5
for ((at = from; at <= to; at += step)); do
    verdict=$(raidlab --quiet power-cut "$study" --cell "$cell" --at "${at}000" --cut-seed 1 "$@" 2>&1 | tail -1)
    case "$verdict" in
    *"everything acknowledged"*) printf . ;;
    *"not mountable"*) printf M ;;
    *checker*) printf C ;;
    *lost*) printf L ;;
    *"wrong data"*) printf W ;;
    *) printf '?' ;;
    esac
done
echo
