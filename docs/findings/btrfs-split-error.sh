#!/bin/bash
# A block of a new file is changed in both of its copies; then the file is read in three ways. Argument: where a btrfs of
# RAID 10 is mounted whose data is of no value.
dir=${1:?where btrfs is mounted}
any=$(btrfs filesystem show "$dir" | awk '/ path / { print $NF; exit }')
head -c 1M /dev/urandom > "$dir/file"
sync
good=$(sha256sum < "$dir/file")
logical=$(filefrag -b4096 -v "$dir/file" | awk '$1 == "0:" { sub(/\.\./, "", $4); print $4 * 4096 }')
btrfs-map-logical -l "$logical" "$any" | while read -r _ _ _ _ _ physical _ device; do
    echo "changed: $device at $physical"
    head -c 4096 /dev/zero | tr '\0' x | dd of="$device" bs=4096 seek=$((physical / 4096)) oflag=direct conv=notrunc status=none
done
for how in "bs=4K iflag=direct" "bs=1M iflag=direct" "bs=1M"; do
    echo 3 > /proc/sys/vm/drop_caches
    # shellcheck disable=SC2086
    if read=$(dd if="$dir/file" $how status=none 2> /dev/null | sha256sum; exit "${PIPESTATUS[0]}"); then
        [ "$read" = "$good" ] && echo "$how: right" || echo "$how: WRONG DATA, and no error"
    else
        echo "$how: error"
    fi
done
