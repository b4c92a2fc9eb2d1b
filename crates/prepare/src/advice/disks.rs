//! The disks under test of a plan's cells, as warnings need them: each model is simulated once.

use disksim::catalogue::Model;
use disksim::description::Device;
use disksim::request::SECTOR_BYTES;
use lab::disks::Models;
use std::cell::OnceCell;
use study::plan::{Cell, Plan};
use study::stack::{DATA, DiskGroup, MachineKind};

/// The disks under test of all cells.
pub(crate) struct KnownDisks<'a> {
    models: Models,
    of_groups: Vec<(&'a DiskGroup, bool, Option<Disks>)>,
}

impl<'a> KnownDisks<'a> {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            models: Models::of(plan),
            of_groups: Vec::new(),
        }
    }

    /// The disks of a cell; `None` if their model is not known.
    pub(crate) fn of(&mut self, cell: &'a Cell) -> Option<&Disks> {
        let group = cell.machine.group(DATA)?;
        if cell.machine.kind != MachineKind::Lab {
            return None;
        }
        let write_cache = cell.stack.write_cache != Some(false);
        let is_known = |(of, cache, _): &(&DiskGroup, bool, Option<Disks>)| *of == group && *cache == write_cache;
        let at = self.of_groups.iter().position(is_known).unwrap_or_else(|| {
            let disks = self.models.find(group).ok().map(|model| Disks {
                model,
                count: u64::from(group.count),
                write_cache,
                drain_ms: OnceCell::new(),
                sustained_mb_s: OnceCell::new(),
            });
            self.of_groups.push((group, write_cache, disks));
            self.of_groups.len() - 1
        });
        self.of_groups[at].2.as_ref()
    }
}

/// The disks under test, if their model is known.
pub(crate) struct Disks {
    pub(crate) model: Model,
    pub(crate) count: u64,
    write_cache: bool,
    drain_ms: OnceCell<Option<f64>>,
    sustained_mb_s: OnceCell<Option<f64>>,
}

impl Disks {
    /// Time in which one disk empties its full write cache; `None` if the model cannot be simulated.
    pub(crate) fn drain_ms(&self) -> Option<f64> {
        *self.drain_ms.get_or_init(|| disksim::show::drain_ms(&self.model).ok())
    }

    /// Sustained rate of one disk that is both read and written, MB/s; `None` if the model cannot be simulated.
    pub(crate) fn sustained_mb_s(&self) -> Option<f64> {
        *self.sustained_mb_s.get_or_init(|| {
            let sustained = disksim::show::sustained(&self.model).ok()?;
            Some(sustained.read_mb_s.min(sustained.write_mb_s))
        })
    }

    /// Total bytes of writes that they accept before they are on the media.
    pub(crate) fn cache_bytes(&self) -> u64 {
        let sectors = match &self.model.device {
            Device::Mechanical(disk) if self.write_cache && disk.write_cache.enabled => {
                u64::from(disk.write_cache.sectors_max)
            }
            Device::Mechanical(_) => 0,
            Device::Flash(disk) => {
                let slc = disk.slc.map_or(0, |slc| slc.empty_units * u64::from(disk.unit_sectors));
                u64::from(disk.buffer_sectors) + slc
            }
        };
        self.count * sectors * SECTOR_BYTES
    }

    /// Whether a flush makes no difference: what a disk has accepted survives a power cut.
    pub(crate) fn need_no_flush(&self) -> bool {
        matches!(&self.model.device, Device::Flash(disk) if disk.power_loss_protection)
    }

    pub(crate) fn has_heads(&self) -> bool {
        matches!(self.model.device, Device::Mechanical(_))
    }
}
