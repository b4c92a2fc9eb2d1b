#!/bin/bash
# md-resync-first.sh LEVEL: a member of a RAID 1 or 10 of four is rebuilt after data has changed; the disks are copied while the array is
# dirty, which is what a power cut leaves, and the array is assembled of the copies. 256 blocks of 64 KiB of it are read, twice
# during the resync and once after it. A is what was there before the member failed, B and C are what was written since.
set -u
level=$1
members="/dev/vda /dev/vdb /dev/vdc /dev/vdd"
copies="/dev/vde /dev/vdf /dev/vdg /dev/vdh"
cd /
awk '$3 == "btrfs" { print $2 }' /proc/mounts | xargs -r umount
wipefs --all --quiet $members $copies

fill() { # LETTER COUNT FIRST: blocks of 64 KiB of this letter, durable
    head -c $(($2 * 65536)) /dev/zero | tr '\0' "$1" |
        dd of=/dev/md0 bs=64K seek="$3" iflag=fullblock oflag=direct conv=fsync status=none
}

show() {
    echo "$1:" $(dd if=/dev/md1 bs=64K count=256 iflag=direct status=none | fold -w 65536 | cut -c1 | sort | uniq -c)
}

mdadm --create /dev/md0 --run --quiet --level="$level" --raid-devices=4 --size=64M --bitmap=none --homehost=any $members
mdadm --wait /dev/md0
echo 1000 >/sys/block/md0/md/safe_mode_delay # stays dirty for 1,000 s after a write
fill A 256 0
mdadm --quiet /dev/md0 --fail /dev/vda
sleep 0.1
mdadm --quiet /dev/md0 --remove /dev/vda
fill B 256 0
echo 100 >/sys/block/md0/md/sync_speed_max # so that the rebuild is not over when the disks are copied
echo 1 >/sys/block/md0/md/sync_speed_min
mdadm --zero-superblock /dev/vda
mdadm --quiet /dev/md0 --add /dev/vda
sleep 0.1
fill C 1 255
set -- $copies
for member in $members; do
    dd if="$member" of="$1" bs=1M count=260 iflag=direct oflag=direct conv=fsync status=none
    shift
done
mdadm --stop --quiet /dev/md0
echo 3 >/proc/sys/vm/drop_caches
mdadm --assemble --run --quiet --config=none --homehost='<none>' /dev/md1 $copies
grep -A3 ^md1 /proc/mdstat
show "during the resync"
show "during the resync"
while grep -q -e resync -e recovery /proc/mdstat; do sleep 0.1; done
show "after it"
