#!/bin/bash
# 128 KiB are written to btrfs RAID 0 of two devices, of which one fails writes to the first half after a second;
# this in three ways. Then the device works again, and the file is read. Arguments: where the filesystem is mounted that is on
# the first disk now, and two disks whose data is of no value. Needs the target delay of device mapper.
at=${1:?where the first disk is mounted} disks=("${2:?a disk}" "${3:?another disk}")
work=$(mktemp -d -p /run)
file=$work/mnt/file
mkdir "$work/mnt"
cd / && umount "$at" || exit

sectors() { blockdev --getsz "${disks[$1 - 1]}"; }
whole() { echo "0 $(sectors "$1") linear ${disks[$1 - 1]} 0"; }
# Device $1 (1 or 2) is made of $2 from now on.
becomes() { dmsetup suspend --nolockfs "split$1" && dmsetup load "split$1" --table "$2" && dmsetup resume "split$1"; }

for how in "bs=128K count=1" "bs=128K count=1 oflag=direct" "bs=4K count=32 oflag=direct"; do
    head -c 128K /dev/urandom > "$work/data"
    dmsetup create split-error --table "0 1000000000 error"
    dmsetup create split1 --table "$(whole 1)"
    dmsetup create split2 --table "$(whole 2)"
    dmsetup mknodes
    mkfs.btrfs -qf -K -d raid0 -m raid1 /dev/mapper/split1 /dev/mapper/split2 > /dev/null 2>&1
    mount /dev/mapper/split1 "$work/mnt"
    # Reserved space, so that it is known where the data will be.
    touch "$file" && fallocate -l 1M "$file" && sync
    echo 3 > /proc/sys/vm/drop_caches
    logical=$(filefrag -b4096 -v "$file" | awk '$1 == "0:" { sub(/\.\./, "", $4); printf "%d\n", $4 * 4096 }')
    # The first whole row of stripes of the file, and where its first half is: on which device, and from which sector on.
    btrfs inspect-internal dump-tree -t chunk /dev/mapper/split1 > "$work/tree"
    awk -v logical="$logical" '
        /CHUNK_ITEM/ { chunk = $6; sub(/\)/, "", chunk) }
        /length .* type/ { size = $2 }
        /stripe 0 devid/ { if (logical + 0 >= chunk + 0 && logical + 0 < chunk + size) print chunk, $4, $6 }' "$work/tree" > "$work/chunk"
    read -r chunk device offset < "$work/chunk" || exit
    skip=$(((131072 - (logical - chunk) % 131072) % 131072))
    from=$(((offset + (logical + skip - chunk) / 2) / 512)) disk=${disks[device - 1]}
    becomes "$device" "0 $from linear $disk 0
$from 128 delay $disk $from 0 /dev/mapper/split-error $from 1000 $disk $from 0
$((from + 128)) $(($(sectors "$device") - from - 128)) linear $disk $((from + 128))"
    # shellcheck disable=SC2086
    if dd if="$work/data" of="$file" $how oflag=seek_bytes seek=$skip conv=notrunc,fsync status=none 2> /dev/null; then
        wrote=success
    else
        wrote=error
    fi
    becomes "$device" "$(whole "$device")"
    echo "$how: $wrote; $(btrfs device stats "$work/mnt" | awk '/write_io_errs/ && $2 { print $2 }') write error counted"
    umount "$work/mnt"
    mount /dev/mapper/split1 "$work/mnt"
    right=0 wrong=0 error=0
    for ((block = 0; block < 32; block++)); do
        if ! dd if="$file" of="$work/read" bs=4K count=1 iflag=direct,skip_bytes skip=$((skip + block * 4096)) status=none 2> /dev/null; then
            error=$((error + 1))
        elif cmp -s -n 4096 -i 0:$((block * 4096)) "$work/read" "$work/data"; then
            right=$((right + 1))
        else
            wrong=$((wrong + 1))
        fi
    done
    echo "    read afterwards, of 32 blocks: right $right, error $error, as before the write $wrong"
    umount "$work/mnt"
    dmsetup remove split1 && dmsetup remove split2 && dmsetup remove split-error
done
