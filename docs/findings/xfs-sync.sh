#!/bin/bash
# xfs-sync.sh: overwrites a block of a file, fsyncs another file, then syncs, and counts the writes and flushes that reach /dev/vda
# meanwhile.
set -u
cd /
awk '$3 == "btrfs" { print $2 }' /proc/mounts | xargs -r umount
mkdir -p /tmp/mounted

requests() { awk '{ print $5, $16 }' /sys/block/vda/stat; } # completed writes and flushes

for fs in xfs ext4 btrfs; do
    wipefs --all --quiet /dev/vda
    case $fs in
    xfs) mkfs.xfs -q -f -d size=8g /dev/vda ;;
    ext4) mkfs.ext4 -q -F /dev/vda 8g ;;
    btrfs) mkfs.btrfs -q -f -b 8g /dev/vda >/dev/null 2>&1 ;;
    esac
    mount -t $fs /dev/vda /tmp/mounted
    cd /tmp/mounted || exit
    head -c 4096 /dev/zero >file
    : >another
    sync
    for how in "sync" "sync -f file" "sync file"; do
        sleep 1
        echo new | dd of=file conv=notrunc status=none
        echo x >>another
        sync another # fsync(2)
        read -r writes flushes <<<"$(requests)"
        $how
        read -r writes_after flushes_after <<<"$(requests)"
        echo "$fs: \`$how\`: writes $((writes_after - writes)), flushes $((flushes_after - flushes))"
    done
    cd /
    umount /tmp/mounted
done
