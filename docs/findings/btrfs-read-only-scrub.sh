#!/bin/bash
# A block of a file is changed on its disk; a read-only scrub of btrfs RAID 5 follows. Arguments: the number of the block, from 0
# (default 5), and `none` for no scrub.
block=${1:-5}
dir=$(findmnt --noheadings --first-only --output TARGET --types btrfs)
head -c 64M /dev/urandom > "$dir/file"
sync
logical=$(filefrag -b4096 -v "$dir/file" | awk '$1 == "0:" { sub(/\.\./, "", $4); print $4 }')
read -r _ _ _ _ _ physical _ device <<< "$(btrfs-map-logical -l $(((logical + block) * 4096)) /dev/vda | head -1)"
echo "block $block changed: $device at $physical"
head -c 4096 /dev/zero | tr '\0' x | dd of="$device" bs=4096 seek=$((physical / 4096)) oflag=direct conv=notrunc status=none
written() { awk '$3 ~ /^vd.$/ { sum += $10 } END { print sum }' /proc/diskstats; }
# The filesystem is not written meanwhile.
mount -o remount,ro "$dir"
before=$(written)
[ "$2" = none ] || btrfs scrub start -r -B -R "$dir" 2> /dev/null | grep -E 'csum_errors|corrected|uncorrectable'
echo "sectors written to the disks by it: $(($(written) - before))"
echo 3 > /proc/sys/vm/drop_caches
if dd if="$dir/file" of=/dev/null bs=4K skip="$block" count=1 iflag=direct status=none; then
    echo "the block: read, and repaired from parity"
else
    echo "the block: LOST"
fi
