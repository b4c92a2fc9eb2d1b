//! Where files and free space are: the ioctls FIEMAP of files and GETFSMAP of filesystems (linux/fiemap.h, linux/fsmap.h).
//!
//! `e2freefrag` of a mounted ext4 and `xfs_spaceman -c "freesp -s"` also read GETFSMAP.

use std::os::fd::{AsRawFd, BorrowedFd};
use study::wording::bytes;

const FS_IOC_FIEMAP: u64 = 0xc020_660b;
const FS_IOC_GETFSMAP: u64 = 0xc0c0_583b;

const FIEMAP_EXTENT_LAST: u32 = 1;
/// Its address is not known: data in memory, or within metadata.
const FIEMAP_NOWHERE: u32 = 0x2 | 0x200;

const FMR_OF_SPECIAL_OWNER: u32 = 0x10;
const FMR_OF_LAST: u32 = 0x20;
const FMR_OWN_FREE: u64 = 1;

/// Records of one call.
const RECORDS: usize = 256;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct FiemapExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [FiemapExtent; RECORDS],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct FsmapRecord {
    device: u32,
    flags: u32,
    physical: u64,
    owner: u64,
    offset: u64,
    length: u64,
    reserved: [u64; 3],
}

#[repr(C)]
struct Fsmap {
    iflags: u32,
    oflags: u32,
    count: u32,
    entries: u32,
    reserved: [u64; 6],
    keys: [FsmapRecord; 2],
    records: [FsmapRecord; RECORDS],
}

/// Consecutive bytes of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Extent {
    pub(super) start: u64,
    pub(super) bytes: u64,
}

/// Adds an extent to those before, as a part of the last one if it continues that.
fn join(extents: &mut Vec<Extent>, next: Extent) {
    match extents.last_mut().filter(|last| last.start + last.bytes == next.start) {
        Some(last) => last.bytes += next.bytes,
        None => extents.push(next),
    }
}

/// Calls an ioctl with a structure of the kernel's; `None` if the filesystem has none.
fn call<T>(file: BorrowedFd<'_>, request: u64, argument: &mut T) -> Option<()> {
    // SAFETY: each caller passes the structure of its request, whose count is that of the records in it.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), request, std::ptr::from_mut(argument)) };
    (result == 0).then_some(())
}

/// The extents of a file on its device, in the order of the file, as `filefrag` counts them: adjacent ones are one. Of data within
/// metadata there is none. `None` if the filesystem does not say.
pub(super) fn of_file(file: BorrowedFd<'_>) -> Option<Vec<Extent>> {
    let mut extents = Vec::new();
    let mut map = Box::new(Fiemap {
        start: 0,
        length: u64::MAX,
        flags: 0,
        mapped_extents: 0,
        extent_count: RECORDS as u32,
        reserved: 0,
        extents: [FiemapExtent::default(); RECORDS],
    });
    loop {
        call(file, FS_IOC_FIEMAP, &mut *map)?;
        let found = &map.extents[..(map.mapped_extents as usize).min(RECORDS)];
        for extent in found.iter().filter(|extent| extent.flags & FIEMAP_NOWHERE == 0) {
            let next = Extent {
                start: extent.physical,
                bytes: extent.length,
            };
            join(&mut extents, next);
        }
        match found.last() {
            Some(last) if last.flags & FIEMAP_EXTENT_LAST == 0 => {
                map.start = last.logical + last.length;
                map.length = u64::MAX - map.start;
                map.mapped_extents = 0;
            }
            _ => return Some(extents),
        }
    }
}

/// The free extents of the filesystem of a folder, by address. `None` if it does not say.
pub(super) fn free(folder: BorrowedFd<'_>) -> Option<Vec<Extent>> {
    let mut free = Vec::new();
    let high = FsmapRecord {
        device: u32::MAX,
        flags: u32::MAX,
        physical: u64::MAX,
        owner: u64::MAX,
        offset: u64::MAX,
        ..FsmapRecord::default()
    };
    let mut map = Box::new(Fsmap {
        iflags: 0,
        oflags: 0,
        count: RECORDS as u32,
        entries: 0,
        reserved: [0; 6],
        keys: [FsmapRecord::default(), high],
        records: [FsmapRecord::default(); RECORDS],
    });
    loop {
        call(folder, FS_IOC_GETFSMAP, &mut *map)?;
        let found = &map.records[..(map.entries as usize).min(RECORDS)];
        let is_free =
            |record: &&FsmapRecord| record.flags & FMR_OF_SPECIAL_OWNER != 0 && record.owner == FMR_OWN_FREE;
        for record in found.iter().filter(is_free) {
            let next = Extent {
                start: record.physical,
                bytes: record.length,
            };
            join(&mut free, next);
        }
        match found.last() {
            Some(last) if last.flags & FMR_OF_LAST == 0 => map.keys[0] = *last,
            _ => return Some(free),
        }
    }
}

/// What is between extents: free space, or metadata.
pub(super) fn gaps(mut extents: Vec<Extent>) -> Vec<Extent> {
    extents.sort_unstable();
    let end = |extent: &Extent| extent.start + extent.bytes;
    let pairs = extents.windows(2).filter(|pair| end(&pair[0]) < pair[1].start);
    pairs
        .map(|pair| Extent {
            start: end(&pair[0]),
            bytes: pair[1].start - end(&pair[0]),
        })
        .collect()
}

/// Number and sizes of extents, for a person.
pub(super) fn words(extents: &[Extent]) -> String {
    let mut sizes: Vec<u64> = extents.iter().map(|extent| extent.bytes).collect();
    sizes.sort_unstable();
    let all: u64 = sizes.iter().sum();
    let Some(largest) = sizes.last() else {
        return "none".to_owned();
    };
    let mut below = 0;
    let half = sizes.iter().find(|size| {
        below += **size;
        below * 2 >= all
    });
    format!(
        "{} extents, {} in all, on average {}; half of it in extents of {} or more, the largest {}",
        sizes.len(),
        bytes(all),
        bytes(all / sizes.len() as u64),
        bytes(half.copied().unwrap_or(0)),
        bytes(*largest)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extents(all: &[(u64, u64)]) -> Vec<Extent> {
        let mut joined = Vec::new();
        for &(start, bytes) in all {
            join(&mut joined, Extent { start, bytes });
        }
        joined
    }

    #[test]
    fn the_kernel_knows_the_structures() {
        assert_eq!(
            size_of::<Fiemap>() - size_of::<FiemapExtent>() * RECORDS,
            (FS_IOC_FIEMAP >> 16 & 0x3fff) as usize
        );
        assert_eq!(
            size_of::<Fsmap>() - size_of::<FsmapRecord>() * RECORDS,
            (FS_IOC_GETFSMAP >> 16 & 0x3fff) as usize
        );
        assert_eq!((size_of::<FiemapExtent>(), size_of::<FsmapRecord>()), (56, 64));
    }

    #[test]
    fn adjacent_extents_are_one() {
        assert_eq!(
            extents(&[(0, 4), (4, 4), (12, 4), (8, 4)]),
            extents(&[(0, 8), (12, 4), (8, 4)])
        );
        assert_eq!(extents(&[(0, 4), (4, 4)]).len(), 1);
    }

    #[test]
    fn gaps_are_between_extents_wherever_files_have_them() {
        let found = gaps(extents(&[(100, 10), (0, 10), (20, 30), (50, 5)]));
        assert_eq!(found, extents(&[(10, 10), (55, 45)]));
        assert_eq!(gaps(Vec::new()), []);
    }

    #[test]
    fn words_say_where_half_of_the_space_is() {
        let found = words(&extents(&[(0, 4096), (8192, 4096), (1 << 20, 1 << 20)]));
        assert_eq!(
            found,
            "3 extents, 1.0 MiB in all, on average 344 KiB; half of it in extents of 1 MiB or more, the largest 1 MiB"
        );
    }
}
