//! Power cuts: small operations on a filesystem, cut at many instants, and a check of the remaining state.

use super::{IoJob, WorkSpec};
use crate::metric::Metric;
use crate::wording::count;
use serde::{Deserialize, Serialize};

/// Operations, and the power cuts that end them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerCutSpec {
    /// Number of operations.
    pub operations: u32,
    /// Most of them are operations on names: links, reused names, truncated files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub namespace: bool,
    /// Instants at which the power is cut.
    pub points: u32,
    /// Number of random choices of surviving cached writes for each instant.
    pub subsets: u32,
    /// After the cut one member is removed, and the array is started without it.
    pub missing_member: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub survivors: Survivors,
    /// Blocks of 4 KiB are written atomically.
    #[serde(default, skip_serializing_if = "is_default")]
    pub whole_blocks: bool,
    /// The disks complete a flush at once without writing anything.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ignore_flush: bool,
    /// Operations that are skipped, counted from 0 including the preparation: for shrinking, without a key in
    /// studies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<u32>,
}

/// Which cached writes of a disk survive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Survivors {
    #[default]
    Subset,
    Prefix,
    None,
    All,
    Any,
}

impl Survivors {
    pub const ALL: [Self; 5] = [Self::Subset, Self::Prefix, Self::None, Self::All, Self::Any];

    /// Its word in a study.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Subset => "subset",
            Self::Prefix => "prefix",
            Self::None => "none",
            Self::All => "all",
            Self::Any => "any",
        }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Its tests: columns of the table of verdicts, each with the number of matching states.
pub const POWER_CUT_TESTS: [(&str, Metric); 6] = [
    ("states", Metric::StatesTried),
    ("lost", Metric::AcknowledgedLost),
    ("wrong data", Metric::WrongData),
    ("not mountable", Metric::NotMountable),
    ("checker", Metric::CheckerComplaints),
    ("parity", Metric::StaleParity),
];

/// Maximum bytes of the files that are written before the operations, and of those that grow.
const FILES_BYTES: u64 = 4 << 20;

impl WorkSpec for PowerCutSpec {
    fn tests(&self) -> Vec<&str> {
        POWER_CUT_TESTS.map(|(test, _)| test).into()
    }

    /// States are judged, not times.
    fn jobs(&self) -> Vec<IoJob<'_>> {
        Vec::new()
    }

    fn needs_files(&self) -> Option<&'static str> {
        Some("a raw device has no files, and a power cut is judged by its files")
    }

    fn bytes(&self, _: u64) -> u64 {
        FILES_BYTES + u64::from(self.operations) * (16 << 10)
    }

    fn largest_file_bytes(&self) -> u64 {
        1 << 20
    }

    fn describe(&self) -> String {
        let survivors = match self.survivors {
            Survivors::Subset => String::new(),
            other => format!(", {} of each cache survives", other.word()),
        };
        format!(
            "{}{}, the power cut at {} × {}{}{survivors}{}{}",
            count(self.operations as usize, "operation"),
            if self.namespace { ", most on names" } else { "" },
            count(self.points as usize, "instant"),
            count(self.subsets as usize, "seed"),
            if self.missing_member {
                ", then one member missing"
            } else {
                ""
            },
            if self.whole_blocks {
                ", blocks of 4 KiB whole"
            } else {
                ""
            },
            if self.ignore_flush { ", flushes ignored" } else { "" },
        )
    }
}
