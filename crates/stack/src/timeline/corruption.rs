//! Silent corruption of a disk, and what became of it.
//!
//! The sectors are written below what keeps the copies, so that it knows nothing of it; afterwards they are compared with
//! what they were, and what had been written there is read: through md's array, or from a file of btrfs or ZFS.

use super::known_file::{self, Extent, Reading};
use super::layout::{Layout, Piece};
use super::observer::Observer;
use super::raw::{self, SECTOR_BYTES, differ};
use super::{member, redundancy};
use crate::array::Array;
use crate::device::BlockDevice;
use crate::error::Cause;
use crate::sysfs;
use crate::up::Stack;
use crate::zfs::partition_of;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use study::act::{Act, ActKind, CORRUPTIONS};
use study::metric::Metric;
use study::stack::{Keeper, StackSpec};

/// Threads that read a file of btrfs: it has up to four copies, and chooses by the number of the thread.
const BTRFS_READS: usize = 4;
/// What is read at once where there was an error.
const BLOCK_BYTES: usize = 4096;

/// Where what was changed on a disk is seen.
#[derive(Clone, Debug)]
pub(super) enum Ground {
    /// In an array of md, by its layout.
    Md(Array),
    /// In a file of a filesystem that keeps copies itself.
    File(KnownFile),
    /// No act changes anything.
    None,
}

/// The file, and where the disks of the acts have it.
#[derive(Clone, Debug)]
pub(super) struct KnownFile {
    path: PathBuf,
    keeper: Keeper,
    extents: BTreeMap<u32, (PathBuf, Extent)>,
}

impl Ground {
    /// Finds the file on the disks, which takes as long as reading them does: before the work begins.
    pub(super) fn of(stack: &Stack, spec: &StackSpec, disks: u32, acts: &[Act]) -> Result<Self, Cause> {
        if let Some(array) = &stack.array {
            return Ok(Self::Md(array.clone()));
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
                    "`{act}`: the first 16 GiB of disk {number} have nothing of the file; not every disk has some of it, \
                     such as with copies on two disks of four: name another disk"
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

/// Where the acts on a disk end, from the beginning of what it has of the file.
fn end_on(number: u32, acts: &[Act]) -> u64 {
    let of_disk = acts.iter().filter(|act| act.disk == Some(number));
    let ends = of_disk.filter_map(|act| act.corrupted);
    ends.map(|what| what.offset_bytes.saturating_add(what.sectors * SECTOR_BYTES as u64))
        .max()
        .unwrap_or(0)
}

/// Sectors of a disk that were changed.
pub(super) struct Corruption {
    device: PathBuf,
    /// On that device.
    place: u64,
    good: Vec<u8>,
    bad: Vec<u8>,
    seen: Seen,
    /// What reading gave just after the change.
    first: Vec<Reading>,
    /// Checks and repairs before.
    checks_before: usize,
}

/// Who can read the sectors.
enum Seen {
    Array {
        array: Array,
        layout: Layout,
        /// The member's number in the array, from 0.
        slot: u64,
        /// From the beginning of the member's data.
        offset: u64,
    },
    File {
        path: PathBuf,
        keeper: Keeper,
        /// For each changed sector, which one of the file it was.
        numbers: Vec<Option<u64>>,
    },
}

/// What an act changes, before it does.
struct Target {
    device: PathBuf,
    place: u64,
    good: Vec<u8>,
    seen: Seen,
    /// Differs between members.
    member: u64,
}

impl Corruption {
    /// Changes the sectors of the act. Returns also what there is to say about it.
    pub(super) fn make(
        act: &Act,
        ground: &Ground,
        members: &[BlockDevice],
        observer: &Observer,
    ) -> Result<(Self, String), Cause> {
        let target = match ground {
            Ground::Md(array) => in_array(act, array, members)?,
            Ground::File(file) => in_file(act, file)?,
            Ground::None => {
                let message = format!("`{act}` needs an md array, or a filesystem of btrfs or ZFS with copies");
                return Err(Cause::Impossible(message));
            }
        };
        let offset = act.corrupted.map_or(0, |what| what.offset_bytes);
        let mut corruption = Self {
            bad: changed(&target.good, target.member, offset),
            device: target.device,
            place: target.place,
            good: target.good,
            seen: target.seen,
            first: Vec::new(),
            checks_before: observer.mismatches().len(),
        };
        corruption.put_bad()?;
        corruption.first = corruption.readings()?;
        let healed = corruption.changed_since()?;
        if healed > 0 {
            // Otherwise the check would find nothing: the reader was not there.
            corruption.put_bad()?;
        }
        let note = corruption.note(healed);
        Ok((corruption, note))
    }

    fn put_bad(&self) -> Result<(), Cause> {
        raw::write(&self.device, self.place, &self.bad)
    }

    /// Sectors that are no longer what they were changed to.
    fn changed_since(&self) -> Result<usize, Cause> {
        let now = raw::read(&self.device, self.place, self.bad.len())?;
        Ok(differ(&now, &self.bad).into_iter().filter(|differs| *differs).count())
    }

    fn note(&self, healed: usize) -> String {
        let mut note = match &self.seen {
            Seen::Array { .. } => String::new(),
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

    /// Compares all that has these sectors with what they were, and reports it.
    pub(super) fn judge(
        &self,
        members: &[BlockDevice],
        number: usize,
        observer: &mut Observer,
    ) -> Result<(), Cause> {
        let test = CORRUPTIONS
            .get(number)
            .map_or_else(|| format!("corrupt {}", number + 1), |&name| name.to_owned());
        // Before anything reads them through the array: that may repair them.
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

    /// For each sector, whether all disks that have it have it as it was; and whether it is wrong there although it was
    /// not left as it had been changed. md's copies are wrong in any case: it knows none that is right.
    fn on_disks(&self, members: &[BlockDevice]) -> Result<(Vec<bool>, Vec<bool>), Cause> {
        match &self.seen {
            Seen::Array {
                array,
                layout,
                slot,
                offset,
            } => {
                let right = right_in_array(array, members, *layout, (*slot, *offset), &self.good)?;
                let wrong = right.iter().map(|right| !right).collect();
                Ok((right, wrong))
            }
            Seen::File { .. } => {
                let now = raw::read(&self.device, self.place, self.good.len())?;
                let differs = differ(&now, &self.good);
                let right = differs.iter().map(|differs| !differs).collect();
                let moved = differs.iter().zip(differ(&now, &self.bad));
                Ok((right, moved.map(|(differs, moved)| *differs && moved).collect()))
            }
        }
    }

    /// What reading the sectors gives now; parity is never read.
    fn readings(&self) -> Result<Vec<Reading>, Cause> {
        match &self.seen {
            Seen::Array {
                array,
                layout,
                slot,
                offset,
            } => pieces(*layout, *slot, *offset, &self.good, |seen, good| {
                let sectors = good.len() / SECTOR_BYTES;
                let Some(at) = seen.in_array else {
                    return Ok(vec![Reading::Right; sectors]);
                };
                Ok(read_of_array(&array.device.path, at, good))
            }),
            Seen::File { path, keeper, numbers } => {
                if *keeper == Keeper::Zfs {
                    // Its cache gives way as well.
                    sysfs::write(Path::new("/proc/sys/vm/drop_caches"), "3")?;
                    return known_file::read(path, numbers, 1);
                }
                known_file::read(path, numbers, BTRFS_READS)
            }
        }
    }
}

fn in_array(act: &Act, array: &Array, members: &[BlockDevice]) -> Result<Target, Cause> {
    let what = redundancy::corrupted(act)?;
    let device = member(members, act)?;
    let size = array.attribute("component_size");
    let size_bytes = sysfs::number(&size, &sysfs::read(&size)?)? * 1024;
    let bytes = what.sectors * SECTOR_BYTES as u64;
    if what.offset_bytes.saturating_add(bytes) > size_bytes {
        return Err(Cause::Impossible(format!(
            "`{act}` is past the end: the array uses {size_bytes} bytes of a disk"
        )));
    }
    let slot = of_member(array, device, "slot")?;
    let place = of_member(array, device, "offset")? * SECTOR_BYTES as u64 + what.offset_bytes;
    // Before anything is written: of other layouts nothing could be said.
    let layout = Layout::of(array)?;
    Ok(Target {
        good: raw::read(&device.path, place, bytes as usize)?,
        device: device.path.clone(),
        place,
        seen: Seen::Array {
            array: array.clone(),
            layout,
            slot,
            offset: what.offset_bytes,
        },
        member: slot,
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
            "`{act}` is past the end: disk {number} has {has_bytes} bytes of the file in one place; use a smaller `offset` or fewer \
             `sectors`"
        )));
    }
    let place = extent.begin + what.offset_bytes;
    let good = raw::read(device, place, bytes as usize)?;
    let numbers = good.chunks(SECTOR_BYTES).map(known_file::number_of).collect();
    Ok(Target {
        device: device.clone(),
        place,
        good,
        seen: Seen::File {
            path: file.path.clone(),
            keeper: file.keeper,
            numbers,
        },
        member: u64::from(number),
    })
}

/// For each sector of a member, whether all members that have it have it as it was.
fn right_in_array(
    array: &Array,
    members: &[BlockDevice],
    layout: Layout,
    (of_slot, of_offset): (u64, u64),
    good: &[u8],
) -> Result<Vec<bool>, Cause> {
    let mut right = vec![true; good.len() / SECTOR_BYTES];
    for device in members {
        // Spares and devices of a journal have no slot.
        let Ok(slot) = of_member(array, device, "slot") else {
            continue;
        };
        let data = of_member(array, device, "offset")? * SECTOR_BYTES as u64;
        let mut offset = of_offset;
        let wrong = pieces(layout, of_slot, of_offset, good, |seen, good| {
            let at = data + offset;
            offset += good.len() as u64;
            if slot != of_slot && !seen.copies.contains(&slot) {
                return Ok(vec![false; good.len() / SECTOR_BYTES]);
            }
            Ok(differ(&raw::read(&device.path, at, good.len())?, good))
        })?;
        for (right, wrong) in right.iter_mut().zip(wrong) {
            *right &= !wrong;
        }
    }
    Ok(right)
}

/// Calls `judge` with each piece of the sectors that lies in one chunk.
fn pieces<T>(
    layout: Layout,
    slot: u64,
    offset: u64,
    good: &[u8],
    mut judge: impl FnMut(&Piece, &[u8]) -> Result<Vec<T>, Cause>,
) -> Result<Vec<T>, Cause> {
    let (mut offset, mut rest) = (offset, good);
    let mut judged = Vec::new();
    while !rest.is_empty() {
        let seen = layout.at(slot, offset);
        let bytes = usize::try_from(seen.bytes).map_or(rest.len(), |bytes| bytes.min(rest.len()));
        let (piece, after) = rest.split_at(bytes);
        judged.extend(judge(&seen, piece)?);
        (offset, rest) = (offset + bytes as u64, after);
    }
    Ok(judged)
}

/// Each block by itself where there is an error.
fn read_of_array(path: &Path, at: u64, good: &[u8]) -> Vec<Reading> {
    let reading = |differs| if differs { Reading::Wrong } else { Reading::Right };
    if let Ok(read) = raw::read(path, at, good.len()) {
        return differ(&read, good).into_iter().map(reading).collect();
    }
    let blocks = (at..).step_by(BLOCK_BYTES).zip(good.chunks(BLOCK_BYTES));
    blocks
        .flat_map(|(at, good)| match raw::read(path, at, good.len()) {
            Ok(read) => differ(&read, good).into_iter().map(reading).collect(),
            Err(_) => vec![Reading::Error; good.len() / SECTOR_BYTES],
        })
        .collect()
}

/// An attribute of a member, as the array has it.
fn of_member(array: &Array, device: &BlockDevice, name: &str) -> Result<u64, Cause> {
    let attribute = array.attribute(&format!("dev-{}", device.kernel_name)).join(name);
    sysfs::number(&attribute, &sysfs::read(&attribute)?)
}

/// Other contents, different on each member and in each sector: the same change of two blocks of a stripe would leave
/// their parity as it is.
fn changed(good: &[u8], member: u64, offset: u64) -> Vec<u8> {
    let words = good.chunks(8).zip((offset / 8)..);
    let change = |(word, number): (&[u8], u64)| -> Vec<u8> {
        // Multiplication by an odd number (2^64 divided by the golden ratio) gives each word another value.
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
