//! Silent corruption of a disk, and its effects.
//!
//! The sectors are written below the layer that keeps the copies, so that it does not notice. Afterwards they are
//! compared with their original contents, and the data is read back: through md's array, or from a file on btrfs or
//! ZFS.

use super::direct_io::{SECTOR_BYTES, Spot, differ};
use super::known_file::{self, Extent, Reading};
use super::member_sectors::{InArray, Members};
use super::observer::Observer;
use super::redundancy::{self, member};
use crate::array::partition_table::partition_of;
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::sysfs;
use crate::setup::stack::Stack;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use study::act::{Act, ActKind, CORRUPTIONS};
use study::metric::Metric;
use study::stack::{Keeper, StackSpec};

/// Threads that read a file on btrfs: it has up to four copies, and btrfs chooses one by the thread's number.
const BTRFS_READS: usize = 4;

/// Where a change on a disk becomes visible.
#[derive(Clone, Debug)]
pub(super) enum Ground {
    /// In an md array, according to its layout.
    Md(Members),
    /// In a file of a filesystem that keeps copies itself.
    File(KnownFile),
    /// No act changes anything.
    None,
}

/// The file, and its places on the disks of the acts.
#[derive(Clone, Debug)]
pub(super) struct KnownFile {
    path: PathBuf,
    keeper: Keeper,
    extents: BTreeMap<u32, (PathBuf, Extent)>,
}

impl Ground {
    /// Finds the file on the disks before the workload starts; this takes as long as reading them.
    pub(super) fn of(stack: &Stack, spec: &StackSpec, disks: u32, acts: &[Act]) -> Result<Self, Cause> {
        if let Some(array) = &stack.array {
            return Ok(Self::Md(Members {
                array: array.clone(),
                checksummed: stack.checksummed.clone(),
            }));
        }
        let (Some(folder), Some(keeper)) = (&stack.mount_point, spec.keeper(disks)) else {
            return Ok(Self::None);
        };
        if !known_file::is_needed(spec, disks, acts) {
            return Ok(Self::None);
        }
        let mut extents = BTreeMap::new();
        for act in acts.iter().filter(|act| act.kind == ActKind::Corrupt) {
            let Some(number) = act.disk.filter(|number| !extents.contains_key(number)) else {
                continue;
            };
            let disk = member(&stack.members, act)?;
            let device = match keeper {
                Keeper::Zfs => BlockDevice::at(&partition_of(disk))?,
                _ => disk.clone(),
            };
            let found = known_file::find(&device.path, device.size_bytes()?, end_on(number, acts))?;
            let none = || {
                Cause::Impossible(format!(
                    "`{act}`: the first 16 GiB of disk {number} contain nothing of the file, which may be on other \
                        disks only, as with two copies on four disks: name another disk"
                ))
            };
            extents.insert(number, (device.path, found.ok_or_else(none)?));
        }
        Ok(Self::File(KnownFile {
            path: known_file::path_in(folder),
            keeper,
            extents,
        }))
    }
}

/// Where the acts on a disk end, from the start of the file's data on it.
fn end_on(number: u32, acts: &[Act]) -> u64 {
    let of_disk = acts.iter().filter(|act| act.disk == Some(number));
    let ends = of_disk.filter_map(|act| act.corrupted);
    ends.map(|what| what.offset_bytes.saturating_add(what.sectors * SECTOR_BYTES as u64))
        .max()
        .unwrap_or(0)
}

/// Changed sectors of a disk.
pub(super) struct Corruption {
    spot: Spot,
    good: Vec<u8>,
    bad: Vec<u8>,
    seen: Seen,
    /// Results of reads right after the change.
    first: Vec<Reading>,
    /// Number of earlier checks and repairs.
    checks_before: usize,
}

/// How the sectors are read.
enum Seen {
    Array(Box<InArray>),
    File {
        path: PathBuf,
        keeper: Keeper,
        /// For each changed sector, its number in the file.
        numbers: Vec<Option<u64>>,
    },
}

/// The sectors that an act will change.
struct Target {
    spot: Spot,
    good: Vec<u8>,
    seen: Seen,
    /// Different for each member.
    member: u64,
}

impl Corruption {
    /// Changes the sectors of the act. Also returns a description.
    pub(super) fn make(
        act: &Act,
        ground: &Ground,
        members: &[BlockDevice],
        observer: &mut Observer,
    ) -> Result<(Self, String), Cause> {
        let target = match ground {
            Ground::Md(array) => in_array(act, array, members, observer)?,
            Ground::File(file) => in_file(act, file)?,
            Ground::None => {
                let message = format!("`{act}` needs an md array, or a filesystem of btrfs or ZFS with copies");
                return Err(Cause::Impossible(message));
            }
        };
        let offset = act.corrupted.map_or(0, |what| what.offset_bytes);
        let mut corruption = Self {
            bad: changed(&target.good, target.member, offset),
            spot: target.spot,
            good: target.good,
            seen: target.seen,
            first: Vec::new(),
            checks_before: observer.mismatches().len(),
        };
        corruption.put_bad(observer)?;
        corruption.first = corruption.readings()?;
        let healed = corruption.changed_since()?;
        if healed > 0 {
            // Without this the check would find nothing, because nothing has read the sectors.
            if let Seen::Array(seen) = &corruption.seen {
                seen.empty_journal(observer)?;
            }
            corruption.put_bad(observer)?;
        }
        if let Seen::Array(seen) = &corruption.seen {
            seen.must_be_noticed(&corruption.good)?;
        }
        let note = corruption.note(healed);
        Ok((corruption, note))
    }

    fn put_bad(&self, observer: &mut Observer) -> Result<(), Cause> {
        observer.manager().1.before_write(&[&self.spot.device])?;
        self.spot.write(&self.bad)
    }

    /// Number of sectors that have changed since they were corrupted.
    fn changed_since(&self) -> Result<usize, Cause> {
        if let Seen::Array(seen) = &self.seen
            && let Some(healed) = seen.healed(&self.good)?
        {
            return Ok(healed);
        }
        Ok(differ(&self.spot.read()?, &self.bad)
            .into_iter()
            .filter(|differs| *differs)
            .count())
    }

    fn note(&self, healed: usize) -> String {
        let mut note = match &self.seen {
            Seen::Array(_) => String::new(),
            Seen::File { numbers, .. } => {
                let of_file = numbers.iter().flatten().count();
                format!("{of_file} of {} sectors have data of the file", numbers.len())
            }
        };
        if healed > 0 {
            let separator = if note.is_empty() { "" } else { "; " };
            note += &format!("{separator}reading repaired {healed} sectors, which were changed again");
        }
        note
    }

    /// Compares all copies of these sectors with their original contents, and reports the result.
    pub(super) fn judge(
        &self,
        members: &[BlockDevice],
        number: usize,
        observer: &mut Observer,
    ) -> Result<(), Cause> {
        let test = CORRUPTIONS
            .get(number)
            .map_or_else(|| format!("corrupt {}", number + 1), |&name| name.to_owned());
        // Before anything reads them through the array, which may repair them.
        let (right, wrong) = self.on_disks(members)?;
        let last = self.readings()?;
        let read_as = |reading| {
            let pairs = self.first.iter().zip(&last);
            pairs
                .filter(|(then, now)| **then == reading || **now == reading)
                .count()
        };
        let errors = last.iter().map(|reading| *reading == Reading::Error);
        let served = last.iter().map(|reading| *reading == Reading::Wrong);
        let unnoticed = wrong.iter().zip(errors).zip(served);
        let unnoticed = unnoticed.filter(|((wrong, error), served)| *served || **wrong && !*error);
        let unnoticed = unnoticed.count();
        let all = right.len();
        let right = right.iter().filter(|right| **right).count();
        let since = observer.mismatches().get(self.checks_before..).unwrap_or_default();
        let found = since.iter().any(|sectors| *sectors > 0);
        let (was_checked, was_repaired) = (!since.is_empty(), observer.was_repaired());
        let all_if = |is: bool| if is { all } else { 0 };
        for (metric, sectors) in [
            (Metric::Corrupted, all),
            (Metric::Found, all_if(found)),
            (Metric::NotFound, all_if(was_checked && !found)),
            (Metric::Repaired, right),
            (Metric::RepairedWrongly, if was_repaired { unnoticed } else { 0 }),
            (Metric::ServedAsGood, read_as(Reading::Wrong)),
            (Metric::Unreadable, read_as(Reading::Error)),
        ] {
            observer.sample(&test, metric, sectors as f64);
        }
        Ok(())
    }

    /// For each sector, whether all its copies on disks have the original contents; and whether it is wrong
    /// although it is not as corrupted. md's copies are always counted as wrong, because md does not know which one
    /// is right.
    fn on_disks(&self, members: &[BlockDevice]) -> Result<(Vec<bool>, Vec<bool>), Cause> {
        match &self.seen {
            Seen::Array(seen) => {
                let on_members = seen.on_members(members, &self.good)?;
                let is = |wanted| on_members.iter().map(|reading| *reading == wanted).collect();
                Ok((is(Reading::Right), is(Reading::Wrong)))
            }
            Seen::File { .. } => {
                let now = self.spot.read()?;
                let differs = differ(&now, &self.good);
                let right = differs.iter().map(|differs| !differs).collect();
                let moved = differs.iter().zip(differ(&now, &self.bad));
                Ok((right, moved.map(|(differs, moved)| *differs && moved).collect()))
            }
        }
    }

    /// Results of reading the sectors now; parity is never read.
    fn readings(&self) -> Result<Vec<Reading>, Cause> {
        match &self.seen {
            Seen::Array(seen) => seen.readings(&self.good),
            Seen::File { path, keeper, numbers } => {
                if *keeper == Keeper::Zfs {
                    // Also shrinks ZFS's cache.
                    sysfs::write(Path::new("/proc/sys/vm/drop_caches"), "3")?;
                    return known_file::read(path, numbers, 1);
                }
                known_file::read(path, numbers, BTRFS_READS)
            }
        }
    }
}

fn in_array(act: &Act, members: &Members, disks: &[BlockDevice], observer: &mut Observer) -> Result<Target, Cause> {
    let seen = InArray::of(act, members, disks)?;
    let (spot, good) = seen.find(observer)?;
    Ok(Target {
        spot,
        good,
        member: seen.slot(),
        seen: Seen::Array(Box::new(seen)),
    })
}

fn in_file(act: &Act, file: &KnownFile) -> Result<Target, Cause> {
    let what = redundancy::corrupted(act)?;
    let number = act.disk.unwrap_or_default();
    let none = || Cause::Impossible(format!("`{act}` names no disk"));
    let (device, extent) = file.extents.get(&number).ok_or_else(none)?;
    let bytes = what.sectors * SECTOR_BYTES as u64;
    let has_bytes = extent.bytes();
    if what.offset_bytes.saturating_add(bytes) > has_bytes {
        return Err(Cause::Impossible(format!(
            "`{act}` is past the end: disk {number} has {has_bytes} contiguous bytes of the file; use a smaller \
                `offset` or fewer \
             `sectors`"
        )));
    }
    let spot = Spot::one(device, extent.begin + what.offset_bytes, bytes as usize);
    let good = spot.read()?;
    let numbers = good.chunks(SECTOR_BYTES).map(known_file::number_of).collect();
    Ok(Target {
        spot,
        good,
        seen: Seen::File {
            path: file.path.clone(),
            keeper: file.keeper,
            numbers,
        },
        member: u64::from(number),
    })
}

/// Replacement contents, different on each member and in each sector: the same change in two blocks of a stripe
/// would leave their parity unchanged.
fn changed(good: &[u8], member: u64, offset: u64) -> Vec<u8> {
    let words = good.chunks(8).zip((offset / 8)..);
    let change = |(word, number): (&[u8], u64)| -> Vec<u8> {
        // Multiplication by an odd number (2^64 divided by the golden ratio) gives each word a different value.
        let noise = (number + (member << 48) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let noise = noise.to_le_bytes();
        word.iter().zip(noise).map(|(byte, flip)| byte ^ flip).collect()
    };
    words.flat_map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_changes_and_no_two_members_change_alike() {
        let good = vec![7; 4096];
        let (first, second) = (changed(&good, 0, 1 << 20), changed(&good, 1, 1 << 20));
        assert!(differ(&first, &good).iter().all(|differs| *differs));
        assert!(differ(&first, &second).iter().all(|differs| *differs));
        assert_eq!(differ(&good, &good), vec![false; 8]);
        let next = changed(&good, 0, (1 << 20) + 512);
        assert_eq!(first[512..], next[..4096 - 512]);
    }
}
