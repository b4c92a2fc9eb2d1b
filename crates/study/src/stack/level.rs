//! Array levels of md and LVM, and the table of their properties.

use Manager::{Disks, Lvm, Md};
use Members::{All, AllBut, Copies, Halves, One};
use serde::{Deserialize, Serialize};

/// Array level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// A single disk.
    #[default]
    Single,
    /// No array: the filesystem uses all disks itself.
    None,
    /// md levels, up to `Raid10`.
    Linear,
    Raid0,
    Raid1,
    Raid4,
    Raid5,
    Raid6,
    Raid10,
    /// LVM's linear LV.
    LvmLinear,
    LvmRaid0,
    LvmRaid1,
    LvmRaid5,
    LvmRaid6,
    LvmRaid10,
}

impl Level {
    pub const ALL: [Self; 15] = [
        Self::Single,
        Self::None,
        Self::Linear,
        Self::Raid0,
        Self::Raid1,
        Self::Raid4,
        Self::Raid5,
        Self::Raid6,
        Self::Raid10,
        Self::LvmLinear,
        Self::LvmRaid0,
        Self::LvmRaid1,
        Self::LvmRaid5,
        Self::LvmRaid6,
        Self::LvmRaid10,
    ];
}

/// Properties of a level.
#[derive(Debug)]
pub struct LevelFacts {
    /// Names in studies; raidlab itself writes the first one.
    pub words: &'static [&'static str],
    /// Its name in sentences: `RAID 5`, `a single disk`.
    pub name: &'static str,
    /// Its name in the tables of a report.
    pub title: &'static str,
    pub manager: Manager,
    /// Its name for `mdadm --level` and `lvcreate --type`.
    pub type_word: &'static str,
    /// Minimum number of members that its manager accepts.
    pub members_min: u32,
    /// The part of its members' space that holds data.
    pub data: Members,
    /// Consecutive chunks are on different members.
    pub has_chunk: bool,
    /// Members hold copies or parity.
    pub is_redundant: bool,
    /// The used size of the members can be set (`mdadm --size`, `lvcreate --size`).
    pub takes_member_size: bool,
    /// It has the parity layouts of RAID 5 and 6 (`left-symmetric`, …).
    pub has_parity_layouts: bool,
    /// It supports a partial parity log.
    pub has_ppl: bool,
    /// Its arrays can be members of another array.
    pub can_be_member: bool,
}

/// Manager of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manager {
    /// None: plain disks.
    Disks,
    Md,
    Lvm,
}

/// Number of an array's members that hold data, without copies and parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Members {
    /// One; the others, if any, are its copies.
    One,
    All,
    /// All except those for parity.
    AllBut(u32),
    /// Depends on the number of copies in the layout of RAID 10.
    Copies,
    /// Half of them: two copies.
    Halves,
}

const DISKS: LevelFacts = LevelFacts {
    words: &[],
    name: "",
    title: "",
    manager: Disks,
    type_word: "",
    members_min: 1,
    data: All,
    has_chunk: false,
    is_redundant: false,
    takes_member_size: false,
    has_parity_layouts: false,
    has_ppl: false,
    can_be_member: false,
};

/// No redundancy, at least two members: mdadm creates an array with one member only with --force.
const MD: LevelFacts = LevelFacts {
    manager: Md,
    members_min: 2,
    can_be_member: true,
    ..DISKS
};

const MD_REDUNDANT: LevelFacts = LevelFacts {
    is_redundant: true,
    takes_member_size: true,
    ..MD
};

const LVM: LevelFacts = LevelFacts {
    manager: Lvm,
    members_min: 2,
    ..DISKS
};

const LVM_REDUNDANT: LevelFacts = LevelFacts {
    is_redundant: true,
    takes_member_size: true,
    ..LVM
};

const SINGLE: LevelFacts = LevelFacts {
    words: &["single", "disk"],
    name: "a single disk",
    title: "single disk, no md",
    type_word: "single",
    data: One,
    ..DISKS
};
const NONE: LevelFacts = LevelFacts {
    words: &["none"],
    name: "level \"none\"",
    title: "none, the filesystem has the disks",
    type_word: "none",
    ..DISKS
};
const LINEAR: LevelFacts = LevelFacts {
    words: &["linear"],
    name: "a linear array",
    title: "linear",
    type_word: "linear",
    ..MD
};
const RAID0: LevelFacts = LevelFacts {
    words: &["0", "raid0", "raid 0"],
    name: "RAID 0",
    title: "RAID 0",
    type_word: "raid0",
    has_chunk: true,
    ..MD
};
const RAID1: LevelFacts = LevelFacts {
    words: &["1", "raid1", "raid 1"],
    name: "RAID 1",
    title: "RAID 1",
    type_word: "raid1",
    data: One,
    ..MD_REDUNDANT
};
// mdadm creates RAID 4 and 5 with two members, where parity is a copy; RAID 1 passes through this state during a
// reshape to RAID 5.
const RAID4: LevelFacts = LevelFacts {
    words: &["4", "raid4", "raid 4"],
    name: "RAID 4",
    title: "RAID 4",
    type_word: "raid4",
    data: AllBut(1),
    has_chunk: true,
    can_be_member: false,
    ..MD_REDUNDANT
};
const RAID5: LevelFacts = LevelFacts {
    words: &["5", "raid5", "raid 5"],
    name: "RAID 5",
    title: "RAID 5",
    type_word: "raid5",
    data: AllBut(1),
    has_chunk: true,
    has_parity_layouts: true,
    has_ppl: true,
    ..MD_REDUNDANT
};
const RAID6: LevelFacts = LevelFacts {
    words: &["6", "raid6", "raid 6"],
    name: "RAID 6",
    title: "RAID 6",
    type_word: "raid6",
    members_min: 4,
    data: AllBut(2),
    has_chunk: true,
    has_parity_layouts: true,
    ..MD_REDUNDANT
};
const RAID10: LevelFacts = LevelFacts {
    words: &["10", "raid10", "raid 10"],
    name: "RAID 10",
    title: "RAID 10",
    type_word: "raid10",
    data: Copies,
    has_chunk: true,
    ..MD_REDUNDANT
};
const LVM_LINEAR: LevelFacts = LevelFacts {
    words: &["lvm-linear"],
    name: "a linear LV",
    title: "LVM linear",
    type_word: "linear",
    members_min: 1,
    takes_member_size: true,
    ..LVM
};
const LVM_RAID0: LevelFacts = LevelFacts {
    words: &["lvm-raid0"],
    name: "LVM's RAID 0",
    title: "LVM RAID 0",
    type_word: "raid0",
    has_chunk: true,
    ..LVM
};
const LVM_RAID1: LevelFacts = LevelFacts {
    words: &["lvm-raid1"],
    name: "LVM's RAID 1",
    title: "LVM RAID 1",
    type_word: "raid1",
    data: One,
    ..LVM_REDUNDANT
};
// lvcreate requires at least two stripes plus parity.
const LVM_RAID5: LevelFacts = LevelFacts {
    words: &["lvm-raid5"],
    name: "LVM's RAID 5",
    title: "LVM RAID 5",
    type_word: "raid5",
    members_min: 3,
    data: AllBut(1),
    has_chunk: true,
    ..LVM_REDUNDANT
};
// For RAID 6, three.
const LVM_RAID6: LevelFacts = LevelFacts {
    words: &["lvm-raid6"],
    name: "LVM's RAID 6",
    title: "LVM RAID 6",
    type_word: "raid6",
    members_min: 5,
    data: AllBut(2),
    has_chunk: true,
    ..LVM_REDUNDANT
};
const LVM_RAID10: LevelFacts = LevelFacts {
    words: &["lvm-raid10"],
    name: "LVM's RAID 10",
    title: "LVM RAID 10",
    type_word: "raid10",
    members_min: 4,
    data: Halves,
    has_chunk: true,
    ..LVM_REDUNDANT
};

impl Level {
    /// Properties of the level.
    pub const fn facts(self) -> &'static LevelFacts {
        match self {
            Self::Single => &SINGLE,
            Self::None => &NONE,
            Self::Linear => &LINEAR,
            Self::Raid0 => &RAID0,
            Self::Raid1 => &RAID1,
            Self::Raid4 => &RAID4,
            Self::Raid5 => &RAID5,
            Self::Raid6 => &RAID6,
            Self::Raid10 => &RAID10,
            Self::LvmLinear => &LVM_LINEAR,
            Self::LvmRaid0 => &LVM_RAID0,
            Self::LvmRaid1 => &LVM_RAID1,
            Self::LvmRaid5 => &LVM_RAID5,
            Self::LvmRaid6 => &LVM_RAID6,
            Self::LvmRaid10 => &LVM_RAID10,
        }
    }

    /// The names of each level in study files.
    pub const WORDS: &[&[&str]] = &{
        let mut words: [&[&str]; Self::ALL.len()] = [&[]; Self::ALL.len()];
        let mut at = 0;
        while at < words.len() {
            words[at] = Self::ALL[at].facts().words;
            at += 1;
        }
        words
    };

    /// Name in studies.
    pub const fn word(self) -> &'static str {
        self.facts().words[0]
    }

    /// The level with this name, if any.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.word() == word)
    }

    pub const fn is_lvm(self) -> bool {
        matches!(self.facts().manager, Lvm)
    }

    pub const fn is_md(self) -> bool {
        matches!(self.facts().manager, Md)
    }

    /// Whether members hold copies or parity.
    pub const fn is_redundant(self) -> bool {
        self.facts().is_redundant
    }

    /// Whether members hold parity.
    pub const fn has_parity(self) -> bool {
        matches!(self.facts().data, AllBut(_))
    }
}

/// `words` of the levels whose arrays can be members of an array.
pub const MEMBER_WORDS: &[&[&str]] = &[
    LINEAR.words,
    RAID0.words,
    RAID1.words,
    RAID5.words,
    RAID6.words,
    RAID10.words,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_for_members_are_of_the_levels_that_can_be() {
        let can_be: Vec<_> = Level::ALL
            .into_iter()
            .filter(|level| level.facts().can_be_member)
            .collect();
        let words: Vec<_> = can_be.iter().map(|level| level.facts().words).collect();
        assert_eq!(words, MEMBER_WORDS);
    }

    #[test]
    fn every_level_is_found_by_its_word() {
        for level in Level::ALL {
            assert_eq!(Level::named(level.word()), Some(level));
        }
        assert_eq!(Level::named("raid7"), None);
    }
}
