#!/bin/bash
# A block of a file is changed in both of its copies; then the file is read in three ways.
dir=$(findmnt --noheadings --first-only --output TARGET --types btrfs)
head -c 1M /dev/urandom > "$dir/file"
sync
good=$(sha256sum < "$dir/file")
logical=$(filefrag -b4096 -v "$dir/file" | awk '$1 == "0:" { sub(/\.\./, "", $4); print $4 * 4096 }')
btrfs-map-logical -l "$logical" /dev/vda | while read -r _ _ _ _ _ physical _ device; do
    echo "changed: $device at $physical"
    head -c 4096 /dev/zero | tr '\0' x | dd of="$device" bs=4096 seek=$((physical / 4096)) oflag=direct conv=notrunc status=none
done
for how in "bs=4K iflag=direct" "bs=1M iflag=direct" "bs=1M"; do
    echo 3 > /proc/sys/vm/drop_caches
    if read=$(dd if="$dir/file" $how status=none | sha256sum; exit "${PIPESTATUS[0]}"); then
        [ "$read" = "$good" ] && echo "$how: right" || echo "$how: WRONG DATA, and no error"
    else
        echo "$how: error"
    fi
done
dmesg | grep "BTRFS warning.*csum failed" | tail -2
