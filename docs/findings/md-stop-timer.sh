#!/bin/bash
# md-stop-timer.sh: stops a RAID 1 while a write behind is under way, and starts another array, ten times.
set -u
cd /
awk '$3 == "ext4" { print $2 }' /proc/mounts | xargs -r umount
for array in /dev/md?*; do [ -b "$array" ] && mdadm --quiet --stop "$array"; done
wipefs --all --quiet /dev/vda /dev/vdb
for time in 1 2 3 4 5 6 7 8 9 10; do
    yes | mdadm --quiet --create /dev/md/m$time --level=1 --raid-devices=2 --size=16M --assume-clean --bitmap=internal \
        --write-behind=256 /dev/vda --write-mostly /dev/vdb >&/dev/null
    dd if=/dev/zero of=/dev/md/m$time bs=1M count=8 oflag=direct status=none
    mdadm --quiet --stop /dev/md/m$time
    echo "$time: stopped"
done
sleep 1
