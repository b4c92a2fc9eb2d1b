#!/bin/bash
# A block of a new file is changed on its disk; a read-only scrub follows. Arguments: where a btrfs of RAID 5 is mounted whose
# data is of no value; the number of the block, from 0 (default 5); `none` for no scrub.
dir=${1:?where btrfs is mounted}
block=${2:-5}
devices=$(btrfs filesystem show "$dir" | awk '/ path / { print $NF }')
head -c 64M /dev/urandom > "$dir/file"
sync
good=$(dd if="$dir/file" bs=4K skip="$block" count=1 status=none | sha256sum)
logical=$(filefrag -b4096 -v "$dir/file" | awk '$1 == "0:" { sub(/\.\./, "", $4); print $4 }')
read -r _ _ _ _ _ physical _ device <<< "$(btrfs-map-logical -l $(((logical + block) * 4096)) "${devices%%$'\n'*}" | head -1)"
echo "block $block changed: $device at $physical"
head -c 4096 /dev/zero | tr '\0' x | dd of="$device" bs=4096 seek=$((physical / 4096)) oflag=direct conv=notrunc status=none
written() {
    for path in $devices; do
        awk -v name="${path##*/}" '$3 == name { print $10 }' /proc/diskstats
    done | awk '{ sum += $1 } END { print sum }'
}
# The filesystem is not written meanwhile.
mount -o remount,ro "$dir"
before=$(written)
[ "$3" = none ] || btrfs scrub start -r -B -R "$dir" 2> /dev/null | grep -E 'csum_errors|corrected|uncorrectable'
echo "sectors written to the disks by it: $(($(written) - before))"
echo 3 > /proc/sys/vm/drop_caches
if read=$(dd if="$dir/file" bs=4K skip="$block" count=1 iflag=direct status=none 2> /dev/null | sha256sum; exit "${PIPESTATUS[0]}"); then
    [ "$read" = "$good" ] && echo "the block: read, and right" || echo "the block: WRONG"
else
    echo "the block: LOST (error)"
fi
