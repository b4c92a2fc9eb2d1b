//! Silent corruption of a member, and what became of it.
//!
//! The sectors are written on the member below md, so that md knows nothing of it; afterwards they are compared with what
//! they were, on all members that have them and through the array.

use super::layout::{Layout, Seen};
use super::member;
use super::observer::Observer;
use crate::array::Array;
use crate::device::BlockDevice;
use crate::error::Cause;
use crate::sysfs;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use study::act::{Act, CORRUPTIONS};
use study::metric::Metric;

const SECTOR_BYTES: usize = 512;
/// Direct I/O needs memory at such an address.
const ALIGNMENT: usize = 4096;

/// Sectors of a member that were changed.
pub(super) struct Corruption {
    /// The member's number in the array, from 0.
    member: u64,
    layout: Layout,
    /// From the beginning of the member's data.
    offset: u64,
    good: Vec<u8>,
    /// For each sector, whether the array returned something else just after it was changed.
    served: Vec<bool>,
    /// Checks and repairs before.
    checks_before: usize,
}

impl Corruption {
    /// Changes the sectors of the act.
    pub(super) fn make(
        act: &Act,
        array: &Array,
        members: &[BlockDevice],
        observer: &Observer,
    ) -> Result<Self, Cause> {
        let of_act = act.corrupted;
        let what = of_act.ok_or_else(|| Cause::Impossible(format!("`{act}` does not say which sectors")))?;
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
        let good = read(device, place, bytes as usize)?;
        let bad = changed(&good, slot, what.offset_bytes);
        write(device, place, &bad)?;
        let mut corruption = Self {
            member: slot,
            layout,
            offset: what.offset_bytes,
            good,
            served: Vec::new(),
            checks_before: observer.mismatches().len(),
        };
        corruption.served = corruption.served(array)?;
        Ok(corruption)
    }

    /// Compares all that has these sectors with what they were, and reports it.
    pub(super) fn judge(
        &self,
        array: &Array,
        members: &[BlockDevice],
        number: usize,
        observer: &mut Observer,
    ) -> Result<(), Cause> {
        let test = CORRUPTIONS
            .get(number)
            .map_or_else(|| format!("corrupt {}", number + 1), |&name| name.to_owned());
        let served = self.served(array)?;
        let served = served.iter().zip(&self.served).filter(|(now, then)| **now || **then);
        let served = served.count();
        let right = self.right(array, members)?;
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
            (Metric::RepairedWrongly, if was_repaired { all - right } else { 0 }),
            (Metric::ServedAsGood, served),
        ] {
            observer.sample(&test, metric, sectors as f64);
        }
        Ok(())
    }

    /// For each sector, whether the array returns something else than what it was; parity is never returned.
    fn served(&self, array: &Array) -> Result<Vec<bool>, Cause> {
        self.pieces(|seen, good| {
            let Some(at) = seen.in_array else {
                return Ok(good.chunks(SECTOR_BYTES).map(|_| false).collect());
            };
            let read = read(&array.device, at, good.len())?;
            Ok(differ(&read, good))
        })
    }

    /// For each sector, whether all members that have it have it as it was.
    fn right(&self, array: &Array, members: &[BlockDevice]) -> Result<Vec<bool>, Cause> {
        let mut right = vec![true; self.good.len() / SECTOR_BYTES];
        for device in members {
            // Spares and devices of a journal have no slot.
            let Ok(slot) = of_member(array, device, "slot") else {
                continue;
            };
            let data = of_member(array, device, "offset")? * SECTOR_BYTES as u64;
            let mut offset = self.offset;
            let wrong = self.pieces(|seen, good| {
                let at = data + offset;
                offset += good.len() as u64;
                if slot != self.member && !seen.copies.contains(&slot) {
                    return Ok(good.chunks(SECTOR_BYTES).map(|_| false).collect());
                }
                Ok(differ(&read(device, at, good.len())?, good))
            })?;
            for (right, wrong) in right.iter_mut().zip(wrong) {
                *right &= !wrong;
            }
        }
        Ok(right)
    }

    /// Calls `judge` with each piece of the sectors that lies in one chunk.
    fn pieces(&self, mut judge: impl FnMut(&Seen, &[u8]) -> Result<Vec<bool>, Cause>) -> Result<Vec<bool>, Cause> {
        let (mut offset, mut rest) = (self.offset, self.good.as_slice());
        let mut judged = Vec::new();
        while !rest.is_empty() {
            let seen = self.layout.at(self.member, offset);
            let bytes = usize::try_from(seen.bytes).map_or(rest.len(), |bytes| bytes.min(rest.len()));
            let (piece, after) = rest.split_at(bytes);
            judged.extend(judge(&seen, piece)?);
            (offset, rest) = (offset + bytes as u64, after);
        }
        Ok(judged)
    }
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

/// For each sector, whether it is another.
fn differ(read: &[u8], good: &[u8]) -> Vec<bool> {
    let sectors = read.chunks(SECTOR_BYTES).zip(good.chunks(SECTOR_BYTES));
    sectors.map(|(read, good)| read != good).collect()
}

fn read(device: &BlockDevice, at: u64, bytes: usize) -> Result<Vec<u8>, Cause> {
    let file = open(device, OpenOptions::new().read(true))?;
    let mut memory = vec![0; bytes + ALIGNMENT];
    let skip = memory.as_ptr().align_offset(ALIGNMENT);
    let piece = &mut memory[skip..skip + bytes];
    let doing = format!("read {bytes} bytes of {}", device.path.display());
    file.read_exact_at(piece, at).map_err(Cause::system(doing))?;
    Ok(piece.to_vec())
}

fn write(device: &BlockDevice, at: u64, data: &[u8]) -> Result<(), Cause> {
    let file = open(device, OpenOptions::new().write(true))?;
    let mut memory = vec![0; data.len() + ALIGNMENT];
    let skip = memory.as_ptr().align_offset(ALIGNMENT);
    let piece = &mut memory[skip..skip + data.len()];
    piece.copy_from_slice(data);
    let doing = format!("change {} bytes of {}", data.len(), device.path.display());
    file.write_all_at(piece, at).map_err(Cause::system(doing))
}

/// Without the page cache, which md does not use.
fn open(device: &BlockDevice, how: &mut OpenOptions) -> Result<File, Cause> {
    let doing = format!("open {}", device.path.display());
    how.custom_flags(libc::O_DIRECT)
        .open(&device.path)
        .map_err(Cause::system(doing))
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
