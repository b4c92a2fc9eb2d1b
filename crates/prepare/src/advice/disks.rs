//! The disks under test of a plan's cells, as warnings need them: each model is simulated once.

use disksim::catalogue::Model;
use disksim::description::{Device, Mechanical, SeekPoint};
use disksim::geometry::Geometry;
use disksim::request::SECTOR_BYTES;
use lab::disks::Models;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use study::plan::{Cell, Plan};
use study::stack::{DiskGroup, MachineKind};

/// Requests in flight with which a disk reaches its largest rate of random reads.
const FULL_DEPTH: u32 = 256;

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
        let group = cell.machine.first_member(&cell.stack.array)?;
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
                random_reads: OnceCell::new(),
                positioning_ns: RefCell::default(),
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
    /// A single disk: seconds of a read that is alone, and the most reads a second.
    random_reads: OnceCell<Option<(f64, f64)>>,
    /// [`positioning_ns`] by sector: a plan has many cells of few sizes.
    positioning_ns: RefCell<HashMap<u64, f64>>,
}

impl Disks {
    /// Size of each.
    pub(crate) fn disk_bytes(&self) -> u64 {
        self.model.sectors * SECTOR_BYTES
    }

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

    /// Random reads a second of all disks together with this many in flight, by Little's law up to what a disk reaches; `None`
    /// if the model cannot be simulated.
    pub(crate) fn random_reads_s(&self, in_flight: u64) -> Option<f64> {
        let (alone_s, most_s) = (*self.random_reads.get_or_init(|| {
            let with = |depth| disksim::show::random_reads(&self.model, depth).ok();
            Some((with(1)?.latency_ms / 1e3, with(FULL_DEPTH)?.reads_per_s))
        }))?;
        Some((in_flight as f64 / alone_s).min(most_s * self.count as f64))
    }

    /// Total bytes of writes that they accept before they are on the media.
    pub(crate) fn cache_bytes(&self) -> u64 {
        let sectors = match &self.model.device {
            Device::Mechanical(disk) if self.write_cache && disk.write_cache.enabled => {
                u64::from(disk.write_cache.sectors_max)
            }
            Device::Mechanical(_) => 0,
            Device::Flash(disk) => {
                // A drive that is full of data writes only a small part of it in this mode.
                let full = u64::from(disk.old_data.permille);
                let units =
                    |slc: disksim::flash::Slc| slc.empty_units - (slc.empty_units - slc.full_units) * full / 1000;
                let slc = disk.slc.map_or(0, |slc| units(slc) * u64::from(disk.unit_sectors));
                u64::from(disk.buffer_sectors) + slc
            }
        };
        self.count * sectors * SECTOR_BYTES
    }

    /// Whether a flush makes no difference: what a disk has accepted survives a power cut.
    pub(crate) fn need_no_flush(&self) -> bool {
        matches!(&self.model.device, Device::Flash(disk) if disk.power_loss_protection)
    }

    /// SATA queues hold 32 requests.
    pub(crate) fn are_nvme(&self) -> bool {
        matches!(&self.model.device, Device::Flash(disk) if disk.queue_depth > 32)
    }

    pub(crate) fn has_heads(&self) -> bool {
        matches!(self.model.device, Device::Mechanical(_))
    }

    /// Mean time of seek and rotation of a random request over the whole disk, as a multiple of the same within the
    /// first `part` (0 to 1) of its sectors; `None` without heads.
    pub(crate) fn whole_to_part(&self, part: f64) -> Option<f64> {
        let Device::Mechanical(disk) = &self.model.device else {
            return None;
        };
        let last = self.model.sectors.saturating_sub(1);
        let within = (last as f64 * part.clamp(0.0, 1.0)) as u64;
        let mut known = self.positioning_ns.borrow_mut();
        let mut positioning = |sector| *known.entry(sector).or_insert_with(|| positioning_ns(disk, sector));
        Some(positioning(last) / positioning(within))
    }
}

/// Mean time of seek and rotation between two random sectors up to this one.
fn positioning_ns(disk: &Mechanical, sector: u64) -> f64 {
    let geometry = Geometry::new(&disk.layout, disk.heads, disk.revolution_ns);
    let cylinders = geometry.locate(sector).place.cylinder;
    mean_seek_ns(disk, f64::from(cylinders)) + disk.revolution_ns as f64 / 2.0
}

/// Mean seek time between two random places within this number of cylinders: distances have the density 2 (1 - u), u being
/// the share of the largest one.
fn mean_seek_ns(disk: &Mechanical, cylinders: f64) -> f64 {
    const STEPS: u32 = 256;
    let of_step = |step: u32| {
        let u = (f64::from(step) + 0.5) / f64::from(STEPS);
        2.0 * (1.0 - u) * seek_ns(&disk.seek, u * cylinders)
    };
    (0..STEPS).map(of_step).sum::<f64>() / f64::from(STEPS)
}

/// Linear between the points of the curve, as long as the last beyond it; less than a cylinder is no seek.
fn seek_ns(curve: &[SeekPoint], cylinders: f64) -> f64 {
    let after = curve.partition_point(|point| f64::from(point.cylinders) <= cylinders);
    match (curve[..after].last(), curve.get(after)) {
        (None, _) => 0.0,
        (Some(below), None) => below.seek_ns as f64,
        (Some(below), Some(above)) => {
            let width = f64::from(above.cylinders - below.cylinders);
            let share = (cylinders - f64::from(below.cylinders)) / width;
            below.seek_ns as f64 + share * (above.seek_ns as f64 - below.seek_ns as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula against the simulated disk, whose requests also have overheads and transfers.
    #[test]
    fn positioning_is_that_of_the_simulated_disk() {
        for name in ["wd-500gb-2007", "seagate-ironwolf-12tb", "wd-wd30efrx"] {
            let model = disksim::catalogue::find(name).expect("in the catalogue");
            let simulated_ms = disksim::show::show(&model).expect("a sound model").random_reads[0].latency_ms;
            let Device::Mechanical(disk) = &model.device else {
                panic!("{name} has heads");
            };
            let ratio = simulated_ms / (positioning_ns(disk, model.sectors - 1) / 1e6);
            assert!(
                (0.95..1.15).contains(&ratio),
                "{name}: {simulated_ms} ms, ratio {ratio}"
            );
        }
    }
}
