//! Disks by group and number: on a bus, and as members of an array.

use super::{ArraySpec, DATA, DiskGroup, MachineSpec};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A disk of a group, or all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupDisk {
    pub group: String,
    /// Counted from 1; all disks of the group if absent.
    pub number: Option<u32>,
}

impl GroupDisk {
    /// Parses `journal` (all disks of the group) or `source:1`. A number that is none is 0, which no group has.
    pub fn parse(text: &str) -> Self {
        match text.split_once(':') {
            Some((group, number)) => Self {
                group: group.to_owned(),
                number: Some(number.parse().unwrap_or(0)),
            },
            None => Self {
                group: text.to_owned(),
                number: None,
            },
        }
    }

    /// The numbers of its disks in a group of `count`.
    pub fn numbers(&self, count: u32) -> std::ops::RangeInclusive<u32> {
        match self.number {
            Some(number) => number..=number,
            None => 1..=count,
        }
    }
}

/// As in studies.
impl fmt::Display for GroupDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Some(number) => write!(f, "{}:{number}", self.group),
            None => f.write_str(&self.group),
        }
    }
}

impl MachineSpec {
    /// The disks under test in the order of the array's members, spares last: each with its group and its number there, from 1.
    /// Groups that the machine lacks have no disks.
    pub fn members(&self, array: &ArraySpec) -> Vec<(&DiskGroup, u32)> {
        let of_group = |part: &GroupDisk| {
            let group = self.group(&part.group)?;
            Some(part.numbers(group.count).map(move |number| (group, number)))
        };
        array.members().iter().filter_map(of_group).flatten().collect()
    }

    /// Number of disks under test, spares included.
    pub fn member_count(&self, array: &ArraySpec) -> u32 {
        let count = |part: &GroupDisk| match part.number {
            Some(_) => 1,
            None => self.group(&part.group).map_or(0, |group| group.count),
        };
        array.members().iter().map(count).sum()
    }

    /// The group of the first disk under test.
    pub fn first_member(&self, array: &ArraySpec) -> Option<&DiskGroup> {
        self.members(array).first().map(|(group, _)| *group)
    }

    /// The group of all disks under test; `None` if they are of several.
    pub fn only_group(&self, array: &ArraySpec) -> Option<&DiskGroup> {
        let members = self.members(array);
        let (first, _) = members.first()?;
        members
            .iter()
            .all(|(group, _)| group.name == first.name)
            .then_some(first)
    }
}

impl ArraySpec {
    /// The disks that it names, or all of `data`.
    pub fn members(&self) -> Vec<GroupDisk> {
        match self.members.is_empty() {
            true => vec![GroupDisk::parse(DATA)],
            false => self.members.clone(),
        }
    }

    /// Whether its members are of several groups, and so may be unlike.
    pub fn draws_from_several_groups(&self) -> bool {
        let mut names = self.members.iter().map(|part| &part.group);
        names.next().is_some_and(|first| names.any(|name| name != first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::MachineKind;

    fn machine() -> MachineSpec {
        let group = |name: &str, count| DiskGroup {
            name: name.to_owned(),
            model: name.to_uppercase(),
            model_sha256: None,
            count,
            state: None,
        };
        MachineSpec {
            kind: MachineKind::Lab,
            ram_bytes: 0,
            kernel: String::new(),
            disks: vec![group(DATA, 2), group("ssd", 1)],
            buses: Vec::new(),
            create_once: false,
            draws_models: false,
            moved: None,
            processor: None,
        }
    }

    #[test]
    fn members_are_those_of_data_or_those_that_are_named_in_their_order() {
        let machine = machine();
        let of = |members: &[&str]| {
            let array = ArraySpec {
                members: members.iter().map(|text| GroupDisk::parse(text)).collect(),
                ..ArraySpec::default()
            };
            let found: Vec<String> = machine
                .members(&array)
                .iter()
                .map(|(group, number)| format!("{}{number}", group.model))
                .collect();
            assert_eq!(found.len(), machine.member_count(&array) as usize);
            (
                found.join(" "),
                machine.only_group(&array).map(|group| group.name.as_str()),
            )
        };
        assert_eq!(of(&[]), ("DATA1 DATA2".to_owned(), Some(DATA)));
        assert_eq!(of(&["ssd", "data:2"]), ("SSD1 DATA2".to_owned(), None));
        assert_eq!(of(&["data"]).1, Some(DATA));
    }
}
