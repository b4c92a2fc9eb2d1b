//! Which devices share bytes with a device: its partitions, its whole disk, devices stacked above and below it.
//!
//! Writing to one of them writes to the others. They are found by device number in sysfs and from the loop driver,
//! never by path.

use crate::device::device_number::DeviceNumber;
use crate::device::loop_status::{Backing, Loop};
use crate::device::sysfs;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The relation of a device to the judged one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Itself,
    /// One of its partitions, which the kernel has scanned.
    Partition,
    /// Built on it, and running: an array, a volume, a loop device.
    Above,
    /// The whole disk of a partition.
    Whole,
    /// Backing file or device of a loop device.
    Behind,
    /// A member of an array or volume.
    Component,
    /// Not built on it, but on a device that it is also built on or part of.
    Sibling,
}

/// A device that shares bytes with the one that is judged.
#[derive(Clone, Debug)]
pub(crate) struct Relative {
    /// Its folder in /sys.
    pub(crate) sysfs: PathBuf,
    pub(crate) number: DeviceNumber,
    pub(crate) role: Role,
    /// The bytes that are shared.
    range: Range<u64>,
    size_bytes: u64,
}

impl Relative {
    pub(crate) fn name(&self) -> String {
        sysfs::name(&self.sysfs)
    }

    /// All its bytes are shared with the judged device.
    pub(crate) fn is_shared_whole(&self) -> bool {
        self.range.start == 0 && self.range.end >= self.size_bytes
    }
}

/// All devices that share bytes with one, itself first, and the regular files behind them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relations {
    pub(crate) devices: Vec<Relative>,
    /// Device and inode numbers of regular files behind loop devices.
    pub(crate) files: BTreeSet<(u64, u64)>,
    /// Devices whose backing is unknown, with the reason.
    pub(crate) unknown: Vec<String>,
    /// Loop devices on one of the files, with their ranges: `loop0 4096..`.
    placed: BTreeSet<String>,
}

/// Maximum depth of stacked devices.
const DEVICES_MAX: usize = 10_000;

impl Relations {
    /// Relations of the device with this folder in /sys.
    pub(crate) fn of(folder: &Path) -> Relations {
        let mut relations = Relations::default();
        let loops = Loop::all().unwrap_or_else(|why| {
            relations.unknown.push(why);
            Vec::new()
        });
        let Some(number) = sysfs::device_number(folder) else {
            relations
                .unknown
                .push(format!("{} has no device number", sysfs::name(folder)));
            return relations;
        };
        let mut search = Search {
            relations,
            loops,
            all: Range {
                start: 0,
                end: u64::MAX,
            },
            waiting: VecDeque::new(),
            seen: BTreeMap::new(),
        };
        search.add(folder, number, Role::Itself, 0..u64::MAX);
        while let Some(index) = search.waiting.pop_front() {
            search.neighbours(index);
        }
        search.relations
    }

    pub(crate) fn with_role(&self, roles: &[Role]) -> impl Iterator<Item = &Relative> {
        self.devices
            .iter()
            .filter(move |relative| roles.contains(&relative.role))
    }

    /// Description of the devices below, which changes if they change: a loop device can be moved to another offset of
    /// its file, a dm device can get another table.
    pub(crate) fn foundation(&self) -> Vec<String> {
        let below = self.with_role(&[Role::Whole, Role::Behind, Role::Component]);
        let mut words: Vec<String> = below
            .map(|relative| {
                let sequence = sysfs::text(&relative.sysfs.join("diskseq")).unwrap_or_default();
                format!(
                    "{} {} {:?} {sequence}",
                    relative.name(),
                    relative.number,
                    relative.range
                )
            })
            .collect();
        words.extend(
            self.files
                .iter()
                .map(|(device, inode)| format!("file {device} {inode}")),
        );
        words.extend(self.placed.iter().cloned());
        words.sort();
        words
    }

    /// Numbers that distinguish a claim on the device from a claim on another.
    pub(crate) fn claimed(&self) -> Vec<DeviceNumber> {
        let all = [Role::Itself, Role::Whole, Role::Behind, Role::Component];
        self.with_role(&all).map(|relative| relative.number).collect()
    }
}

struct Search {
    relations: Relations,
    loops: Vec<Loop>,
    all: Range<u64>,
    waiting: VecDeque<usize>,
    /// Indices of the devices found.
    seen: BTreeMap<DeviceNumber, usize>,
}

impl Search {
    fn add(&mut self, folder: &Path, number: DeviceNumber, role: Role, range: Range<u64>) {
        let size_bytes = sysfs::number(&folder.join("size")).unwrap_or(0) * 512;
        let range = range.start..range.end.min(size_bytes);
        if let Some(&index) = self.seen.get(&number) {
            // Found again through another device, perhaps with another range: processed again with the union.
            let known = &mut self.relations.devices[index];
            let joined = known.range.start.min(range.start)..known.range.end.max(range.end);
            if joined != known.range {
                known.range = joined;
                self.waiting.push_back(index);
            }
            return;
        }
        if self.relations.devices.len() >= DEVICES_MAX {
            return;
        }
        let index = self.relations.devices.len();
        self.relations.devices.push(Relative {
            sysfs: folder.to_owned(),
            number,
            role,
            range,
            size_bytes,
        });
        self.seen.insert(number, index);
        self.waiting.push_back(index);
    }

    fn add_folder(&mut self, folder: &Path, role: Role, range: Range<u64>) {
        match sysfs::device_number(folder) {
            Some(number) => self.add(folder, number, role, range),
            None => {
                let name = sysfs::name(folder);
                self.relations.unknown.push(format!("{name} has no device number"));
            }
        }
    }

    fn neighbours(&mut self, index: usize) {
        let relative = self.relations.devices[index].clone();
        self.partitions(&relative);
        self.holders(&relative);
        self.loops_on(&relative);
        self.whole(&relative);
        self.components(&relative);
        self.behind(&relative);
    }

    /// A holder is above the judged device if its device is above it or is the judged one.
    fn upwards(role: Role) -> Role {
        match role {
            Role::Itself | Role::Partition | Role::Above => Role::Above,
            _ => Role::Sibling,
        }
    }

    fn partitions(&mut self, of: &Relative) {
        for entry in sysfs::entries(&of.sysfs) {
            if !entry.join("partition").exists() {
                continue;
            }
            let Some(extent) = extent(&entry) else { continue };
            let role = match of.role {
                Role::Itself => Role::Partition,
                other => Self::upwards(other),
            };
            if let Some(shared) = common(&of.range, &extent) {
                self.add_folder(&entry, role, shared.start - extent.start..shared.end - extent.start);
            }
        }
    }

    fn holders(&mut self, of: &Relative) {
        for holder in sysfs::entries(&of.sysfs.join("holders")) {
            let Ok(folder) = fs::canonicalize(&holder) else {
                continue;
            };
            // Volumes of one volume group share no bytes.
            let apart = of.role == Role::Component && is_lvm(&folder);
            if !apart || self.is_known(&folder) {
                self.add_folder(&folder, Self::upwards(of.role), self.all.clone());
            }
        }
    }

    fn is_known(&self, folder: &Path) -> bool {
        sysfs::device_number(folder).is_some_and(|number| self.seen.contains_key(&number))
    }

    fn loops_on(&mut self, of: &Relative) {
        let on: Vec<Loop> = self.loops.clone();
        for other in on.iter().filter(|other| other.backing == Backing::Device(of.number)) {
            if let Some(shared) = common(&of.range, &other.range()) {
                let range = shared.start - other.offset_bytes..shared.end.saturating_sub(other.offset_bytes);
                self.add_folder(&other.sysfs, Self::upwards(of.role), range);
            }
        }
    }

    fn whole(&mut self, of: &Relative) {
        if !of.sysfs.join("partition").exists() {
            return;
        }
        let (Some(extent), Some(folder)) = (extent(&of.sysfs), of.sysfs.parent()) else {
            return;
        };
        let role = match of.role {
            Role::Itself => Role::Whole,
            // The disk itself, of which this is a partition.
            Role::Partition => return,
            other => other,
        };
        let range = extent.start + of.range.start..extent.start.saturating_add(of.range.end);
        self.add_folder(folder, role, range);
    }

    fn components(&mut self, of: &Relative) {
        for slave in sysfs::entries(&of.sysfs.join("slaves")) {
            let Ok(folder) = fs::canonicalize(&slave) else { continue };
            let role = match of.role {
                Role::Above | Role::Partition | Role::Sibling => Role::Sibling,
                _ => Role::Component,
            };
            // Other members of an array on the judged device are found through the array.
            if role == Role::Component {
                self.add_folder(&folder, role, self.all.clone());
            }
        }
    }

    fn behind(&mut self, of: &Relative) {
        let Some(this) = self.loops.iter().find(|other| other.sysfs == of.sysfs).cloned() else {
            return;
        };
        let range =
            this.offset_bytes.saturating_add(of.range.start)..this.offset_bytes.saturating_add(of.range.end);
        match this.backing {
            Backing::Device(number) => {
                let role = match of.role {
                    Role::Above | Role::Partition | Role::Sibling => Role::Sibling,
                    _ => Role::Behind,
                };
                match fs::canonicalize(number.sysfs_link()) {
                    Ok(folder) => self.add(&folder, number, role, range),
                    Err(_) => {
                        let name = of.name();
                        self.relations
                            .unknown
                            .push(format!("{name} is attached to device {number}, which no longer exists"));
                    }
                }
            }
            Backing::File { device, inode } => {
                self.relations.files.insert((device, inode));
                self.relations
                    .placed
                    .insert(format!("{} {:?}", of.name(), this.range()));
                let others: Vec<Loop> = self.loops.clone();
                for other in others
                    .iter()
                    .filter(|other| other.backing == this.backing && other.sysfs != of.sysfs)
                {
                    if let Some(shared) = common(&range, &other.range()) {
                        let start = shared.start - other.offset_bytes;
                        let end = shared.end.saturating_sub(other.offset_bytes);
                        self.add_folder(&other.sysfs, Role::Sibling, start..end);
                    }
                }
            }
        }
    }
}

/// The range of a partition on its disk.
fn extent(partition: &Path) -> Option<Range<u64>> {
    let start = sysfs::number(&partition.join("start"))?.checked_mul(512)?;
    let size = sysfs::number(&partition.join("size"))?.checked_mul(512)?;
    Some(start..start.checked_add(size)?)
}

/// The intersection of two ranges.
fn common(one: &Range<u64>, other: &Range<u64>) -> Option<Range<u64>> {
    let both = one.start.max(other.start)..one.end.min(other.end);
    (both.start < both.end).then_some(both)
}

fn is_lvm(folder: &Path) -> bool {
    sysfs::text(&folder.join("dm/uuid")).is_some_and(|uuid| uuid.starts_with("LVM-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_only_touch_have_nothing_in_common() {
        assert_eq!(common(&(0..10), &(10..20)), None);
        assert_eq!(common(&(0..11), &(10..20)), Some(10..11));
        assert_eq!(common(&(0..u64::MAX), &(512..1024)), Some(512..1024));
    }

    #[test]
    fn what_stands_on_something_below_is_a_sibling() {
        assert_eq!(Search::upwards(Role::Itself), Role::Above);
        assert_eq!(Search::upwards(Role::Partition), Role::Above);
        assert_eq!(Search::upwards(Role::Behind), Role::Sibling);
        assert_eq!(Search::upwards(Role::Component), Role::Sibling);
    }
}
