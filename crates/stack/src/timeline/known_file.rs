//! A file for the act `corrupt` on filesystems that keep copies or parity themselves. Only they know where they
//! store it, so each of its sectors contains its own number: disks are read until the data is found.

use super::direct_io::{self, SECTOR_BYTES};
use crate::machine::error::Cause;
use crate::machine::page_cache;
use crate::setup::stack::Stack;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use study::act::{Act, ActKind, KNOWN_FILE_BYTES};
use study::splitmix64::mix;
use study::stack::{Keeper, StackSpec};

const NAME: &str = "raidlab-corrupt";
const SECTORS: u64 = KNOWN_FILE_BYTES / SECTOR_BYTES as u64;
/// Limit for reading a disk. Filesystems first use the beginning of large disks.
const SEARCHED_BYTES: u64 = 16 << 30;
const PIECE_BYTES: u64 = 4 << 20;
/// More than a contiguous run of parity.
const PROBED_BYTES: u64 = 512 << 10;
/// The smallest block size of a filesystem that is read.
const BLOCK_SECTORS: usize = 8;
/// Sectors that are read at once, as read-ahead does: errors can get lost if a request spans several disks and one
/// part fails.
const REQUEST_SECTORS: usize = 2048;

/// Writes the file if one of these acts needs it. This happens before the stack is remounted, so that nothing of it
/// stays in memory.
pub fn write_known_file(stack: &Stack, spec: &StackSpec, disks: u32, acts: &[Act]) -> Result<(), Cause> {
    let (Some(folder), true) = (&stack.mount_point, is_needed(spec, disks, acts)) else {
        return Ok(());
    };
    let path = path_in(folder);
    let doing = || Cause::system(format!("write {}", path.display()));
    let mut file = File::create(&path).map_err(doing())?;
    let in_piece = PIECE_BYTES / SECTOR_BYTES as u64;
    for piece in 0..SECTORS.div_ceil(in_piece) {
        let numbers = piece * in_piece..((piece + 1) * in_piece).min(SECTORS);
        let data: Vec<u8> = numbers.flat_map(sector).collect();
        file.write_all(&data).map_err(doing())?;
    }
    drop(file);
    page_cache::write_back(Some(folder))
}

pub(super) fn is_needed(spec: &StackSpec, disks: u32, acts: &[Act]) -> bool {
    let corrupts = acts.iter().any(|act| act.kind == ActKind::Corrupt);
    corrupts && matches!(spec.keeper(disks), Some(Keeper::Btrfs | Keeper::Zfs))
}

pub(super) fn path_in(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// A sector of the file: its number, and incompressible data.
fn sector(number: u64) -> [u8; SECTOR_BYTES] {
    let mut bytes = [0; SECTOR_BYTES];
    for (at, word) in (0..).zip(bytes.chunks_mut(8)) {
        let value = match at {
            0 => number ^ mix(u64::MAX),
            _ => mix(number * 64 + at),
        };
        word.copy_from_slice(&value.to_le_bytes());
    }
    bytes
}

/// The number of this sector in the file, if it belongs to it.
pub(super) fn number_of(read: &[u8]) -> Option<u64> {
    let first = u64::from_le_bytes(*read.first_chunk()?);
    let number = first ^ mix(u64::MAX);
    (number < SECTORS && read == sector(number)).then_some(number)
}

/// A range on a disk with data of the file, in bytes: from the first sector to the end of the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) begin: u64,
    pub(super) end: u64,
}

impl Extent {
    pub(super) const fn bytes(self) -> u64 {
        self.end - self.begin
    }
}

/// Finds the file's data on a disk of `size_bytes`: the first range with at least `wanted_bytes`, otherwise the
/// largest. `None` if there is none.
pub(super) fn find(path: &Path, size_bytes: u64, wanted_bytes: u64) -> Result<Option<Extent>, Cause> {
    let file = direct_io::open(path, OpenOptions::new().read(true))?;
    let end = size_bytes.min(SEARCHED_BYTES);
    let scan = |at: u64, bytes: u64| -> Result<Option<Extent>, Cause> {
        let bytes = bytes.min(size_bytes.saturating_sub(at)) as usize;
        let doing = format!("read {bytes} bytes of {}", path.display());
        let piece = direct_io::read_of(&file, at, bytes).map_err(Cause::system(doing))?;
        Ok(extent_in(&piece, at))
    };
    let mut largest: Option<Extent> = None;
    // Probing a part of each piece is enough to find a large range; small ones need a full search.
    for probed_bytes in [PROBED_BYTES, PIECE_BYTES] {
        let mut at = 0;
        while at < end {
            if scan(at, probed_bytes)?.is_none() {
                at += PIECE_BYTES;
                continue;
            }
            let (place, after) = place_around(at, end, &scan)?;
            at = after;
            if place.bytes() >= wanted_bytes {
                return Ok(Some(place));
            }
            largest = largest.filter(|other| other.bytes() >= place.bytes()).or(Some(place));
        }
        if largest.is_some() {
            break;
        }
    }
    Ok(largest)
}

/// All adjacent pieces with data, starting with this one, which has some; and where the next piece without data
/// begins.
fn place_around(
    hit: u64,
    end: u64,
    scan: &dyn Fn(u64, u64) -> Result<Option<Extent>, Cause>,
) -> Result<(Extent, u64), Cause> {
    let mut place: Option<Extent> = None;
    let mut at = hit.saturating_sub(PIECE_BYTES);
    while at < end {
        let found = scan(at, PIECE_BYTES)?;
        if found.is_none() && at > hit {
            break;
        }
        place = match (place, found) {
            (Some(place), Some(found)) => Some(Extent {
                end: found.end,
                ..place
            }),
            (place, found) => place.or(found),
        };
        at += PIECE_BYTES;
    }
    let vanished = || Cause::State("a file was relocated on its disks while raidlab located its blocks".to_owned());
    Ok((place.ok_or_else(vanished)?, at))
}

/// The file's data in a buffer that was read from this offset.
fn extent_in(read: &[u8], at: u64) -> Option<Extent> {
    let sectors = read.chunks(SECTOR_BYTES).map(|sector| number_of(sector).is_some());
    let places = || (at..).step_by(SECTOR_BYTES);
    let mut found = places().zip(sectors).filter(|(_, is_of_file)| *is_of_file);
    let (begin, _) = found.next()?;
    let last = found.last().map_or(begin, |(last, _)| last);
    Some(Extent {
        begin,
        end: last + SECTOR_BYTES as u64,
    })
}

/// Result of reading a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// The original data; also for parity, which cannot be read.
    Right,
    /// Other data without an error.
    Wrong,
    Error,
}

impl Reading {
    /// The worse of two: wrong data without an error is worse than an error.
    pub(super) const fn worse(self, other: Self) -> Self {
        match (self, other) {
            (Self::Wrong, _) | (_, Self::Wrong) => Self::Wrong,
            (Self::Error, _) | (_, Self::Error) => Self::Error,
            _ => Self::Right,
        }
    }
}

/// Reads these sectors of the file, `times` times in different threads, by whose numbers btrfs chooses among
/// copies; the worst result counts.
pub(super) fn read(path: &Path, numbers: &[Option<u64>], times: usize) -> Result<Vec<Reading>, Cause> {
    let mut all = vec![Reading::Right; numbers.len()];
    for _ in 0..times {
        let once = std::thread::scope(|scope| scope.spawn(|| read_once(path, numbers)).join());
        let once = once.map_err(|_| Cause::State("a thread that read a file panicked".to_owned()))??;
        for (worst, now) in all.iter_mut().zip(once) {
            *worst = worst.worse(now);
        }
    }
    Ok(all)
}

fn read_once(path: &Path, numbers: &[Option<u64>]) -> Result<Vec<Reading>, Cause> {
    let file = direct_io::open(path, OpenOptions::new().read(true))?;
    let mut readings = Vec::with_capacity(numbers.len());
    while let Some(first) = numbers.get(readings.len()) {
        let rest = &numbers[readings.len()..];
        let Some(first) = *first else {
            readings.push(Reading::Right);
            continue;
        };
        let follows = |(number, expected): &(&Option<u64>, u64)| **number == Some(*expected);
        let run = rest.iter().zip(first..).take_while(follows).count();
        readings.extend(read_run(&file, first, run));
    }
    Ok(readings)
}

/// Reads consecutive sectors of the file in requests that are aligned to their size; after an error each block
/// separately.
fn read_run(file: &File, first: u64, count: usize) -> Vec<Reading> {
    let (block, request) = (BLOCK_SECTORS as u64, REQUEST_SECTORS as u64);
    let last = first + count as u64;
    let (begin, end) = (first / request * request, last.next_multiple_of(request));
    let read = |begin: u64, sectors: usize| {
        direct_io::read_of(file, begin * SECTOR_BYTES as u64, sectors * SECTOR_BYTES)
            .map(|data| judged(begin, &data))
    };
    let requests = (begin..end).step_by(REQUEST_SECTORS);
    let readings = requests.flat_map(|begin| {
        read(begin, REQUEST_SECTORS).unwrap_or_else(|_| {
            let blocks = (begin..begin + request).step_by(BLOCK_SECTORS);
            let is_asked_for = |begin: u64| begin + block > first && begin < last;
            let in_blocks = blocks.flat_map(|begin| match is_asked_for(begin) {
                true => read(begin, BLOCK_SECTORS).unwrap_or_else(|_| vec![Reading::Error; BLOCK_SECTORS]),
                false => vec![Reading::Right; BLOCK_SECTORS],
            });
            in_blocks.collect()
        })
    });
    readings.skip((first - begin) as usize).take(count).collect()
}

/// Compares data that was read from this sector on.
fn judged(begin: u64, data: &[u8]) -> Vec<Reading> {
    let sectors = (begin..).zip(data.chunks(SECTOR_BYTES));
    let is_right = |(number, read): (u64, &[u8])| number_of(read) == Some(number);
    let reading = |right| if right { Reading::Right } else { Reading::Wrong };
    sectors.map(is_right).map(reading).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_says_which_one_it_is() {
        for number in [0, 1, SECTORS - 1] {
            assert_eq!(number_of(&sector(number)), Some(number));
        }
        assert_eq!(number_of(&sector(SECTORS)), None);
        assert_eq!(number_of(&[0; SECTOR_BYTES]), None);
        let mut changed = sector(7);
        changed[100] ^= 1;
        assert_eq!(number_of(&changed), None);
    }

    #[test]
    fn the_files_data_is_found_on_a_disk() {
        let other = vec![3; 5 * SECTOR_BYTES];
        let disk = [&other[..], &sector(8)[..], &other, &sector(9), &other].concat();
        let bytes = |sectors: u64| sectors * SECTOR_BYTES as u64;
        let extent = extent_in(&disk, bytes(100)).expect("it is there");
        assert_eq!((extent.begin, extent.end), (bytes(105), bytes(112)));
        assert_eq!(extent_in(&other, 0), None);
    }

    /// A block that the filesystem cannot read is an error for its sectors only, and other data is wrong.
    #[test]
    fn sectors_are_read_in_large_requests_and_judged_one_by_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let sectors = REQUEST_SECTORS as u64;
        let mut data: Vec<u8> = (0..sectors + 8).flat_map(sector).collect();
        data[9 * SECTOR_BYTES + 5] ^= 1;
        std::fs::write(&path, &data).expect("it is written");
        let file = File::open(&path).expect("it is there");
        assert_eq!(read_run(&file, 8, 3), [Reading::Right, Reading::Wrong, Reading::Right]);
        // The second request ends past the file: its blocks are read one by one.
        let readings = read_run(&file, sectors - 1, 11);
        let right = readings.iter().filter(|reading| **reading == Reading::Right);
        assert_eq!((right.count(), readings.len()), (9, 11));
        assert_eq!(readings[9..], [Reading::Error, Reading::Error]);
    }
}
