//! Sectors of a member of an md array: where they are on the disk, and how they are read.

use super::direct_io::{self, SECTOR_BYTES, Spot, differ};
use super::integrity_layout::Places;
use super::known_file::Reading;
use super::layout::{Layout, Piece};
use super::observer::Observer;
use super::redundancy::{self, member};
use crate::array::integrity::Checksummed;
use crate::array::md::Array;
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::sysfs;
use std::path::Path;
use study::act::Act;
use tools::{Invocation, Tool};

/// After an error, this size is read at once: md reads no less.
const BLOCK_BYTES: usize = 4096;

/// An array, and the layer between its members and the disks.
#[derive(Clone, Debug)]
pub(super) struct Members {
    pub(super) array: Array,
    pub(super) checksummed: Vec<Checksummed>,
}

impl Members {
    fn checksummed(&self, disk: &BlockDevice) -> Option<&Checksummed> {
        self.checksummed
            .iter()
            .find(|checksummed| checksummed.disk.path == disk.path)
    }

    /// An attribute of the member on a disk, as shown by the array.
    fn attribute(&self, disk: &BlockDevice, name: &str) -> Result<u64, Cause> {
        let member = self.checksummed(disk).map_or(disk, |checksummed| &checksummed.device);
        let folder = self.array.attribute(&format!("dev-{}", member.kernel_name));
        let attribute = folder.join(name);
        sysfs::number(&attribute, &sysfs::read(&attribute)?)
    }
}

/// Sectors of one member.
pub(super) struct InArray {
    members: Members,
    disk: BlockDevice,
    layout: Layout,
    /// The member's index in the array.
    slot: u64,
    /// Offset from the start of the member's data.
    offset: u64,
    bytes: usize,
}

impl InArray {
    pub(super) fn of(act: &Act, members: &Members, disks: &[BlockDevice]) -> Result<Self, Cause> {
        let what = redundancy::corrupted(act)?;
        let disk = member(disks, act)?;
        let size = members.array.attribute("component_size");
        let size_bytes = sysfs::number(&size, &sysfs::read(&size)?)? * 1024;
        let bytes = what.sectors * SECTOR_BYTES as u64;
        if what.offset_bytes.saturating_add(bytes) > size_bytes {
            return Err(Cause::Impossible(format!(
                "`{act}` is past the end: the array uses {size_bytes} bytes of a disk"
            )));
        }
        let failed = |cause| match members.checksummed(disk) {
            // `none`: it was a member when the acts started.
            Some(_) => Cause::State(format!(
                "md failed the member of `{act}`: RAID 1 and 10 do so after more than 20 read errors in an hour, and \
                    each `corrupt` is read; use fewer of them on one disk"
            )),
            None => cause,
        };
        Ok(Self {
            slot: members.attribute(disk, "slot").map_err(failed)?,
            // Before anything is written, because other layouts could not be evaluated.
            layout: Layout::of(&members.array)?,
            members: members.clone(),
            disk: disk.clone(),
            offset: what.offset_bytes,
            bytes: bytes as usize,
        })
    }

    pub(super) const fn slot(&self) -> u64 {
        self.slot
    }

    /// Offset of the sectors on md's member.
    fn on_member(&self) -> Result<u64, Cause> {
        let data = self.members.attribute(&self.disk, "offset")?;
        Ok(data * SECTOR_BYTES as u64 + self.offset)
    }

    /// Their place on the disk, and their contents. With dm-integrity, that is the place given by its layout, and
    /// nothing for it waits in the journal.
    pub(super) fn find(&self, observer: &mut Observer) -> Result<(Spot, Vec<u8>), Cause> {
        let at = self.on_member()?;
        let Some(checksummed) = self.members.checksummed(&self.disk) else {
            let spot = Spot::one(&self.disk.path, at, self.bytes);
            let good = spot.read()?;
            return Ok((spot, good));
        };
        self.empty_journal(observer)?;
        let spot = Spot {
            device: self.disk.path.clone(),
            pieces: Places::of(&self.disk.path)?.at(at, self.bytes),
        };
        let good = direct_io::read(&checksummed.device.path, at, self.bytes)?;
        match spot.read()? == good {
            true => Ok((spot, good)),
            false => Err(self.not_there()),
        }
    }

    fn not_there(&self) -> Cause {
        let shown = self.disk.path.display();
        Cause::State(format!(
            "dm-integrity does not have its data where it should be on {shown}"
        ))
    }

    /// Suspends dm-integrity so that it writes the contents of its journal to their places.
    pub(super) fn empty_journal(&self, observer: &mut Observer) -> Result<(), Cause> {
        let Some(checksummed) = self.members.checksummed(&self.disk) else {
            return Ok(());
        };
        let (_, mut calls) = observer.manager();
        for command in ["suspend", "resume"] {
            let call = Invocation::new(Tool::Dmsetup).arg(command).arg(&checksummed.name);
            calls.run(&call, &[&self.disk.path])?;
        }
        Ok(())
    }

    /// Number of sectors that are no longer as corrupted. `None` without dm-integrity, which may have them in its
    /// journal.
    pub(super) fn healed(&self, good: &[u8]) -> Result<Option<usize>, Cause> {
        let Some(checksummed) = self.members.checksummed(&self.disk) else {
            return Ok(None);
        };
        let readings = read_of(&checksummed.device.path, self.on_member()?, good, SECTOR_BYTES);
        Ok(Some(count(&readings, Reading::Right)))
    }

    /// Checks that each changed sector has become an error for md: that proves that its data was changed.
    pub(super) fn must_be_noticed(&self, good: &[u8]) -> Result<(), Cause> {
        match self.healed(good)? {
            None | Some(0) => Ok(()),
            Some(_) => Err(self.not_there()),
        }
    }

    /// Results of reading the sectors through the array; parity is never read.
    pub(super) fn readings(&self, good: &[u8]) -> Result<Vec<Reading>, Cause> {
        self.pieces(good, |_, seen, good| {
            let sectors = good.len() / SECTOR_BYTES;
            let Some(at) = seen.in_array else {
                return Ok(vec![Reading::Right; sectors]);
            };
            Ok(read_of(&self.members.array.device.path, at, good, BLOCK_BYTES))
        })
    }

    /// For each sector, the worst result of a member that has it; with dm-integrity it may be an error.
    pub(super) fn on_members(&self, disks: &[BlockDevice], good: &[u8]) -> Result<Vec<Reading>, Cause> {
        let mut worst = vec![Reading::Right; good.len() / SECTOR_BYTES];
        let mut is_there = self.members.checksummed.is_empty();
        for disk in disks {
            // Spares and journal devices have no slot.
            let Ok(slot) = self.members.attribute(disk, "slot") else {
                continue;
            };
            is_there |= slot == self.slot;
            let data = self.members.attribute(disk, "offset")? * SECTOR_BYTES as u64;
            let checksummed = self.members.checksummed(disk);
            let readings = self.pieces(good, |offset, seen, good| {
                let has_it = slot == self.slot || seen.copies.contains(&slot);
                match checksummed {
                    _ if !has_it => Ok(vec![Reading::Right; good.len() / SECTOR_BYTES]),
                    Some(checksummed) => Ok(read_of(&checksummed.device.path, data + offset, good, SECTOR_BYTES)),
                    None => Ok(compared(&direct_io::read(&disk.path, data + offset, good.len())?, good)),
                }
            })?;
            for (worst, now) in worst.iter_mut().zip(readings) {
                *worst = worst.worse(now);
            }
        }
        if !is_there {
            // md has failed the member because of its errors, and it was not replaced.
            worst.fill(Reading::Error);
        }
        Ok(worst)
    }

    /// Calls `judge` with each part of the sectors within one chunk, and its offset on a member.
    fn pieces<T>(
        &self,
        good: &[u8],
        mut judge: impl FnMut(u64, &Piece, &[u8]) -> Result<Vec<T>, Cause>,
    ) -> Result<Vec<T>, Cause> {
        let (mut offset, mut rest) = (self.offset, good);
        let mut judged = Vec::new();
        while !rest.is_empty() {
            let seen = self.layout.at(self.slot, offset);
            let bytes = usize::try_from(seen.bytes).map_or(rest.len(), |bytes| bytes.min(rest.len()));
            let (piece, after) = rest.split_at(bytes);
            judged.extend(judge(offset, &seen, piece)?);
            (offset, rest) = (offset + bytes as u64, after);
        }
        Ok(judged)
    }
}

pub(super) fn count(readings: &[Reading], wanted: Reading) -> usize {
    readings.iter().filter(|reading| **reading == wanted).count()
}

fn compared(read: &[u8], good: &[u8]) -> Vec<Reading> {
    let reading = |differs| if differs { Reading::Wrong } else { Reading::Right };
    differ(read, good).into_iter().map(reading).collect()
}

/// Reads a device; after an error each block separately.
fn read_of(path: &Path, at: u64, good: &[u8], block_bytes: usize) -> Vec<Reading> {
    if let Ok(read) = direct_io::read(path, at, good.len()) {
        return compared(&read, good);
    }
    let blocks = (at..).step_by(block_bytes).zip(good.chunks(block_bytes));
    let in_blocks = blocks.flat_map(|(at, good)| match direct_io::read(path, at, good.len()) {
        Ok(read) => compared(&read, good),
        Err(_) => vec![Reading::Error; good.len() / SECTOR_BYTES],
    });
    in_blocks.collect()
}
