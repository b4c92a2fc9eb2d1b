//! What several disks hang on besides their own interface.

use serde::{Deserialize, Serialize};

/// Something that the transfers of several disks pass one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bus {
    pub name: String,
    pub kind: BusKind,
    /// Megabytes (10⁶ bytes) a second.
    pub mb_s: u32,
    /// What hangs on it; all disks of the machine if empty.
    pub disks: Vec<BusDisk>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BusKind {
    Scsi,
    Ide,
    Pci,
    /// A host bus adapter's limit.
    Hba,
}

/// What a bus is held for, by one disk at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A transfer.
    Transfer,
    /// A transfer, after an arbitration.
    ArbitratedTransfer,
    /// A command, from issue to completion.
    Command,
}

impl BusKind {
    pub const ALL: [Self; 4] = [Self::Scsi, Self::Ide, Self::Pci, Self::Hba];

    /// The words for each in study files.
    pub const WORDS: &[&[&str]] = &[
        &[Self::Scsi.word()],
        &[Self::Ide.word()],
        &[Self::Pci.word()],
        &[Self::Hba.word()],
    ];

    /// Word in studies, name in reports, what it is held for.
    const fn facts(self) -> (&'static str, &'static str, Holds) {
        match self {
            Self::Scsi => ("scsi", "SCSI bus", Holds::ArbitratedTransfer),
            Self::Ide => ("ide", "IDE channel", Holds::Command),
            Self::Pci => ("pci", "PCI bus", Holds::Transfer),
            Self::Hba => ("hba", "host adapter", Holds::Transfer),
        }
    }

    /// As studies write it.
    pub const fn word(self) -> &'static str {
        self.facts().0
    }

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        self.facts().1
    }

    pub const fn holds(self) -> Holds {
        self.facts().2
    }

    /// The kind that raidlab writes so. Of any other word there is none.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// A disk of a group, or all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusDisk {
    pub group: String,
    /// Counted from 1; all disks of the group if absent.
    pub number: Option<u32>,
}
