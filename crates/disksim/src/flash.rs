//! A flash drive: channels with dies, a translation layer that never overwrites in place, and a buffer.
//!
//! Each request's completion is computed at arrival, from the times at which dies, channels and wires are free: there
//! are no events for single dies. Garbage collection uses the same dies, so a drive that was written full is as slow
//! as real ones are.

mod drive;
mod translation;

pub use drive::FlashDrive;

use crate::description::Interface;
use serde::{Deserialize, Serialize};

/// Parameters of a flash drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Flash {
    pub channels: u32,
    pub dies_per_channel: u32,
    /// Sectors per mapped unit of the translation layer: 8 for 4 KiB.
    pub unit_sectors: u32,
    /// Mapped units that a die programs at once, on all planes.
    pub program_units: u32,
    /// Programs per block of a die.
    pub block_programs: u32,
    pub read_ns: u64,
    pub program_ns: u64,
    pub erase_ns: u64,
    /// Transfer time of a sector between a die and the controller.
    pub channel_sector_ps: u64,
    /// Over-provisioning, in thousandths of the capacity.
    pub spare_permille: u32,
    pub old_data: OldData,
    /// Cost of suspending a program or erase for a read; without it, a read waits for the end.
    pub suspend_ns: Option<u64>,
    /// Read time of every third page of a die: with three bits per cell, one bit needs more comparisons than the
    /// others.
    pub third_page_read_ns: u64,
    /// Programs that garbage collection moves at once: the dies are busy with them, and writes wait for room in the
    /// buffer.
    pub move_programs: u32,
    pub slc: Option<Slc>,
    /// Sectors that the drive accepts before they are programmed.
    pub buffer_sectors: u32,
    /// The buffer survives a power cut, so a flush does not wait.
    pub power_loss_protection: bool,
    /// Additional time of a request.
    pub read_overhead_ns: u64,
    pub write_overhead_ns: u64,
    pub flush_overhead_ns: u64,
    /// The controller processes commands one at a time, each for this long.
    pub command_ns: u64,
    /// The same for a write.
    pub write_command_ns: u64,
    pub interface: Interface,
    /// Reads and writes share the wire (SATA); PCIe is full duplex.
    pub half_duplex: bool,
    pub queue_depth: u32,
    pub flush_alone: bool,
}

/// What a drive holds before the first request. The rest of its sectors were never written, or trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OldData {
    /// Thousandths of the capacity, in pieces of [`PIECE_UNITS`] that are spread over all sectors.
    pub permille: u32,
    /// Written once, in the order of sectors. Otherwise over and over, in random order: the steady state of a used drive.
    pub in_order: bool,
}

/// Mapped units of a piece of old data: 1 MiB, if a unit has 4 KiB.
pub const PIECE_UNITS: u64 = 256;

impl OldData {
    /// A new drive.
    pub const NOTHING: Self = Self {
        permille: 0,
        in_order: false,
    };
    /// Full, and in its steady state.
    pub const AGED: Self = Self {
        permille: 1000,
        in_order: false,
    };

    /// Whether a mapped unit holds old data.
    pub fn has(self, unit: u64) -> bool {
        match self.permille {
            0 => false,
            1000.. => true,
            permille => place_of_piece(unit / PIECE_UNITS) < u64::from(permille),
        }
    }

    /// The number of units with old data among the first `units`.
    pub fn count(self, units: u64) -> u64 {
        if self.permille == 0 || self.permille >= 1000 {
            return if self.permille == 0 { 0 } else { units };
        }
        let (pieces, rest) = (units / PIECE_UNITS, units % PIECE_UNITS);
        let full = pieces / 1000 * 1000;
        let of_last = (full..pieces).filter(|piece| self.has(piece * PIECE_UNITS)).count() as u64;
        let of_rest = if self.has(pieces * PIECE_UNITS) { rest } else { 0 };
        (full / 1000 * u64::from(self.permille) + of_last) * PIECE_UNITS + of_rest
    }
}

/// Each thousand of pieces in another order, in which those first in it hold data: 0 to 999.
fn place_of_piece(piece: u64) -> u64 {
    // 619 and 1000 have no common factor, so every piece of a thousand has a place of its own.
    let turned = crate::random::mix(piece / 1000) % 1000;
    (piece % 1000 * 619 + turned) % 1000
}

/// SLC cache: flash that is first written with one bit per cell, which is fast, and moved when the drive is idle.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Slc {
    /// Capacity in mapped units on an empty drive, and on a full one; linear in between.
    pub empty_units: u64,
    pub full_units: u64,
    pub program_ns: u64,
    /// Time without writes after which the capacity grows by one unit.
    pub refill_unit_ns: u64,
}

impl Flash {
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    /// Mapped units per superblock: one block of every die.
    pub fn superblock_units(&self) -> u64 {
        u64::from(self.dies()) * u64::from(self.program_units) * u64::from(self.block_programs)
    }

    /// Units that the host sees, and superblocks for them and the spare space.
    pub fn size(&self, sectors: u64) -> (u64, u64) {
        let units = sectors.div_ceil(u64::from(self.unit_sectors));
        let raw = units + units * u64::from(self.spare_permille) / 1000;
        // Two are open, one is being emptied, one is reserved.
        (units, raw.div_ceil(self.superblock_units()) + 4)
    }
}

/// Validation of the parameters.
pub(crate) fn sound(model: &Flash, sectors: u64) -> Result<(), &'static str> {
    let need = |condition: bool, reason| if condition { Ok(()) } else { Err(reason) };
    let shape = (1..=64).contains(&model.channels) && (1..=256).contains(&model.dies_per_channel);
    need(shape, "it needs 1 to 64 channels of 1 to 256 dies")?;
    need(
        (1..=1024).contains(&model.unit_sectors),
        "its mapped unit needs 1 to 1024 sectors",
    )?;
    let block = (1..=1024).contains(&model.program_units) && (1..=65_536).contains(&model.block_programs);
    need(block, "its blocks need 1 to 65536 programs of 1 to 1024 units")?;
    need(
        model.old_data.permille <= 1000,
        "it holds more data than it has room for",
    )?;
    need(
        (1..=65_536).contains(&model.move_programs),
        "it needs 1 to 65536 programs of moved units at a time",
    )?;
    let (units, superblocks) = model.size(sectors);
    let mapped = superblocks
        .checked_mul(model.superblock_units())
        .is_some_and(|all| all < u64::from(u32::MAX - 2));
    need(
        units < u64::from(u32::MAX) && mapped,
        "it has more mapped units than 32 bits can count",
    )?;
    need(
        (1..=10_000).contains(&model.spare_permille),
        "it needs 1 to 10000 thousandths of spare flash",
    )?;
    let times = [
        model.read_ns,
        model.program_ns,
        model.erase_ns,
        model.suspend_ns.unwrap_or(0),
        model.third_page_read_ns,
        model.read_overhead_ns,
        model.write_overhead_ns,
        model.flush_overhead_ns,
        model.command_ns,
        model.write_command_ns,
    ];
    need(
        times.iter().all(|&ns| ns <= 10_000_000_000),
        "one of its times is longer than ten seconds",
    )?;
    let slc = model.slc.is_none_or(|slc| {
        slc.full_units <= slc.empty_units
            && slc.empty_units <= units
            && slc.program_ns <= 10_000_000_000
            && (1..=10_000_000_000).contains(&slc.refill_unit_ns)
    });
    need(
        slc,
        "its SLC cache is larger than the drive, or larger when full than when empty",
    )?;
    let wires = [
        model.channel_sector_ps,
        model.interface.read_sector_ps,
        model.interface.write_sector_ps,
    ];
    need(
        wires.iter().all(|&ps| ps <= 1_000_000_000_000),
        "a wire is slower than a second per sector",
    )?;
    let program_sectors = model.program_units * model.unit_sectors;
    need(
        model.buffer_sectors >= 2 * program_sectors,
        "its buffer holds less than two programs",
    )?;
    need(
        (1..=65_536).contains(&model.queue_depth),
        "its queue needs a depth of 1 to 65536",
    )
}
