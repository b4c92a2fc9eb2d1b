//! The devices of a stack, by the groups of the study's machine.

use crate::machine::error::Cause;
use std::path::{Path, PathBuf};
use study::stack::{ArraySpec, DATA, DiskGroup, GroupDisk};

/// Devices by group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disks {
    groups: Vec<(String, Vec<PathBuf>)>,
}

impl Disks {
    /// Only devices of the group `data`.
    pub fn data(devices: &[PathBuf]) -> Self {
        Self {
            groups: vec![(DATA.to_owned(), devices.to_vec())],
        }
    }

    /// Assigns devices to groups, in the groups' order.
    pub fn of(groups: &[DiskGroup], devices: &[PathBuf]) -> Result<Self, Cause> {
        let wanted: usize = groups.iter().map(|group| group.count as usize).sum();
        if wanted > devices.len() {
            let there = devices.len();
            return Err(Cause::Impossible(format!(
                "the study needs {wanted} disks, but only {there} are given"
            )));
        }
        let mut rest = devices;
        let deal = |group: &DiskGroup| {
            let (of_group, others) = rest.split_at(group.count as usize);
            rest = others;
            (group.name.clone(), of_group.to_vec())
        };
        Ok(Self {
            groups: groups.iter().map(deal).collect(),
        })
    }

    /// The devices of a group; empty if there is no such group.
    pub fn group(&self, name: &str) -> &[PathBuf] {
        let found = self.groups.iter().find(|(group, _)| group == name);
        found.map_or(&[], |(_, devices)| devices)
    }

    /// The disks under test in the order of the array's members.
    pub fn members(&self, array: &ArraySpec) -> Vec<PathBuf> {
        let of_group = |part: &GroupDisk| {
            let group = self.group(&part.group);
            let numbers = part.numbers(group.len() as u32);
            numbers
                .filter_map(|number| group.get(number as usize - 1).cloned())
                .collect::<Vec<_>>()
        };
        array.members().iter().flat_map(of_group).collect()
    }

    /// Every device, in the groups' order.
    pub fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.groups.iter().flat_map(|(_, devices)| devices)
    }

    /// The first disk of a group with a special purpose.
    pub(crate) fn first(&self, name: &str) -> Result<&Path, Cause> {
        let first = self.group(name).first().map(PathBuf::as_path);
        first.ok_or_else(|| Cause::Impossible(format!("there is no disk in the group `{name}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_dealt_out_in_the_groups_order() {
        let group = |name: &str, count| DiskGroup {
            name: name.to_owned(),
            model: String::new(),
            model_sha256: None,
            count,
            state: None,
        };
        let devices = ["/dev/a", "/dev/b", "/dev/c"].map(PathBuf::from);
        let disks = Disks::of(&[group("data", 2), group("journal", 1)], &devices).expect("enough");
        assert_eq!(disks.group("data"), &devices[..2]);
        assert_eq!(disks.first("journal").expect("is there"), Path::new("/dev/c"));
        assert!(disks.first("bitmap").is_err());
        assert!(Disks::of(&[group("data", 4)], &devices).is_err());
    }
}
