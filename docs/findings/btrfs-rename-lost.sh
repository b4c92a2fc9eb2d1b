#!/bin/bash
# A name that was fsynced is replaced by rename(2); then another file is fsynced, and the disk is copied: the copy is what a crash
# at that moment leaves, with nothing lost of any cache. What the name has there is printed. Arguments: a disk, which IS
# OVERWRITTEN (512 MiB), and filesystems.
disk=${1:?a disk that may be overwritten}
shift
dir=/tmp/where
mkdir -p $dir

# sync(1) with an argument is fsync(2).
sequences=(
    'echo old > file; sync file; echo new > t; mv t file'
    'echo old > file; sync file; sed -i s/old/new/ file'
    'echo old > file; sync file .; echo new > other/t; mv other/t file'
    'echo old > file; sync .; echo new > other/t; mv other/t file'
    'echo old > file; sync .; mv other/long file'
    'mkdir file; sync .; mkdir other/t; mv -T other/t file'
    # Of the following, one thing each is different.
    'echo old > file; sync file; echo new > t; sync t; mv t file'
    'echo old > file; sync file .; echo new > t; mv t file'
    'echo old > file; sync; echo new > t; mv t file'
    'echo old > file; sync; echo changed > file; sync file; echo new > t; mv t file'
)

cd / && umount "$disk" 2> /dev/null
for type in "${@:-btrfs}"; do
    for sequence in "${sequences[@]}"; do
        wipefs -q -a "$disk"
        case $type in
        btrfs) mkfs.btrfs -q -f -b 512M "$disk" ;;
        xfs) mkfs.xfs -q -f -d size=512m "$disk" ;;
        *) mkfs -t "$type" -q -F "$disk" 512M ;;
        esac > /dev/null || exit
        mount -t "$type" "$disk" $dir && cd $dir || exit
        mkdir other && echo long > other/long
        sync
        eval "$sequence"
        touch another
        sync another
        dd if="$disk" of=/tmp/copy bs=1M count=512 iflag=direct conv=sparse status=none
        cd / && umount $dir
        [ "$type" = btrfs ] && btrfs device scan --forget
        mount -t "$type" -o loop /tmp/copy $dir || exit
        if [ -d $dir/file ]; then
            found="a folder"
        elif [ -e $dir/file ]; then
            found="\"$(cat $dir/file)\""
        else
            found=GONE
        fi
        printf '%-6s %-10s %s\n' "$type" "$found" "$sequence"
        umount $dir
        [ "$type" = btrfs ] && btrfs device scan --forget
        rm /tmp/copy
    done
done
