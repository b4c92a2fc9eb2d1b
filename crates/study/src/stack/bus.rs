//! Buses and adapters that several disks share.

use super::GroupDisk;
use serde::{Deserialize, Serialize};

/// A shared link that serves one transfer of its disks at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bus {
    pub name: String,
    pub kind: BusKind,
    /// Megabytes (10⁶ bytes) a second.
    pub mb_s: u32,
    /// Disks on the bus; all disks of the machine if empty.
    pub disks: Vec<GroupDisk>,
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

/// What occupies the bus.
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

    /// The names of each kind in study files.
    pub const WORDS: &[&[&str]] = &[
        &[Self::Scsi.word()],
        &[Self::Ide.word()],
        &[Self::Pci.word()],
        &[Self::Hba.word()],
    ];

    /// Name in studies, name in reports, what occupies it.
    const fn facts(self) -> (&'static str, &'static str, Holds) {
        match self {
            Self::Scsi => ("scsi", "SCSI bus", Holds::ArbitratedTransfer),
            Self::Ide => ("ide", "IDE channel", Holds::Command),
            Self::Pci => ("pci", "PCI bus", Holds::Transfer),
            Self::Hba => ("hba", "host adapter", Holds::Transfer),
        }
    }

    /// Name in studies.
    pub const fn word(self) -> &'static str {
        self.facts().0
    }

    /// Name in reports.
    pub const fn name(self) -> &'static str {
        self.facts().1
    }

    pub const fn holds(self) -> Holds {
        self.facts().2
    }

    /// The kind with this name, if any.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}
