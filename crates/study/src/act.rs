//! Acts on a trial's array while the workload runs: a member fails, is removed, added again.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What is done, with md's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActKind {
    /// `mdadm --fail`
    Fail,
    /// `mdadm --remove`
    Remove,
    /// `mdadm --zero-superblock`, then `mdadm --add`: as a new disk.
    Add,
    /// `mdadm --re-add`
    ReAdd,
    /// `check` to `sync_action`
    Check,
    /// `repair` to `sync_action`
    Repair,
}

impl ActKind {
    pub const ALL: [Self; 6] = [
        Self::Fail,
        Self::Remove,
        Self::Add,
        Self::ReAdd,
        Self::Check,
        Self::Repair,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Remove => "remove",
            Self::Add => "add",
            Self::ReAdd => "re-add",
            Self::Check => "check",
            Self::Repair => "repair",
        }
    }

    /// Whether it is done to one member; otherwise to the whole array.
    pub const fn is_of_a_disk(self) -> bool {
        !matches!(self, Self::Check | Self::Repair)
    }
}

/// An act and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    /// Since the measured work began, by the clock of the trial's machine.
    pub at_ns: u64,
    #[serde(rename = "do")]
    pub kind: ActKind,
    /// Which member, from 1, as in `bus`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<u32>,
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.word())?;
        if let Some(disk) = self.disk {
            write!(f, " disk {disk}")?;
        }
        write!(f, " at {} s", self.at_ns as f64 / 1e9)
    }
}
