//! Ageing of a workload's filesystem: files are created, overwritten and deleted before anything is measured.

mod profiles;

use crate::wording::count;
use profiles::{
    AGRAWAL_AGES, AGRAWAL_SIZES, DABRE_AGES, DABRE_SIZES, DOUCEUR_AGES, DOUCEUR_SIZES, GRUNDMAN_AGES,
    GRUNDMAN_SIZES, MEYER_AGES, MEYER_SIZES, PRAMOD_AGES, PRAMOD_SIZES, WANG_LANL_AGES, WANG_LANL_SIZES,
    WANG_OS_AGES, WANG_OS_SIZES,
};
use serde::{Deserialize, Serialize};

/// How a filesystem is aged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgeSpec {
    /// Share of the filesystem that is in use afterwards: all of it but what root can still write to files.
    pub fill_percent: u8,
    /// How many times the bytes of the filled filesystem are written again.
    pub turnover: u32,
    pub profile: AgeProfile,
    /// Share of the bytes written again that overwrite parts of files; the others are new files in place of deleted ones.
    pub overwrite_percent: u8,
    /// Other seeds give other filesystems with the same statistics. Trials have no part in it: all start from the same one.
    pub seed: u32,
}

/// A published distribution of the sizes and ages of files, as in the repository of Geriatrix (Kadekodi, Nagarajan and
/// Ganger, USENIX ATC 2018).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgeProfile {
    Agrawal,
    Dabre,
    Douceur,
    Grundman,
    Meyer,
    Pramod,
    WangLanl,
    WangOs,
}

impl AgeProfile {
    /// Their names in study files.
    pub const WORDS: &'static [&'static [&'static str]] = &[
        &["agrawal"],
        &["dabre"],
        &["douceur"],
        &["grundman"],
        &["meyer"],
        &["pramod"],
        &["wang-lanl"],
        &["wang-os"],
    ];

    pub const ALL: [Self; 8] = [
        Self::Agrawal,
        Self::Dabre,
        Self::Douceur,
        Self::Grundman,
        Self::Meyer,
        Self::Pramod,
        Self::WangLanl,
        Self::WangOs,
    ];

    pub const fn name(self) -> &'static str {
        Self::WORDS[self as usize][0]
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// Upper bounds of the buckets of file sizes in bytes, ascending, each with its weight.
    pub const fn sizes(self) -> &'static [(u64, u64)] {
        match self {
            Self::Agrawal => AGRAWAL_SIZES,
            Self::Dabre => DABRE_SIZES,
            Self::Douceur => DOUCEUR_SIZES,
            Self::Grundman => GRUNDMAN_SIZES,
            Self::Meyer => MEYER_SIZES,
            Self::Pramod => PRAMOD_SIZES,
            Self::WangLanl => WANG_LANL_SIZES,
            Self::WangOs => WANG_OS_SIZES,
        }
    }

    /// Upper bounds of the buckets of file ages, ascending, each with its weight. The last is the age of the filesystem: only ratios
    /// to it count.
    pub const fn ages(self) -> &'static [(u64, u64)] {
        match self {
            Self::Agrawal => AGRAWAL_AGES,
            Self::Dabre => DABRE_AGES,
            Self::Douceur => DOUCEUR_AGES,
            Self::Grundman => GRUNDMAN_AGES,
            Self::Meyer => MEYER_AGES,
            Self::Pramod => PRAMOD_AGES,
            Self::WangLanl => WANG_LANL_AGES,
            Self::WangOs => WANG_OS_AGES,
        }
    }

    /// Mean space of a file in blocks of 4 KiB, of those that are no larger than `bytes_max`: sizes are even within their bucket.
    pub fn mean_bytes(self, bytes_max: u64) -> u64 {
        const BLOCK_BYTES: u64 = 4096;
        let (mut files, mut bytes, mut below) = (0_u64, 0_u64, 0);
        for &(bound, weight) in self.sizes() {
            if bound > bytes_max && files > 0 {
                break;
            }
            let mean = below + (bound - below) / 2;
            files += weight;
            bytes += weight * (mean + BLOCK_BYTES / 2).max(BLOCK_BYTES);
            below = bound;
        }
        bytes / files.max(1)
    }
}

impl AgeSpec {
    /// Larger files than this part of the filesystem are left out of a profile: some of them would be most of its data.
    pub const LARGEST_PART: u64 = 64;

    /// The largest file on a filesystem of this size.
    pub const fn file_bytes_max(filesystem_bytes: u64) -> u64 {
        let part = filesystem_bytes / Self::LARGEST_PART;
        if part > 64 << 10 { part } else { 64 << 10 }
    }

    /// Bytes that are written to age a filesystem of this size.
    pub fn written_bytes(&self, filesystem_bytes: u64) -> u64 {
        let filled = filesystem_bytes / 100 * u64::from(self.fill_percent);
        filled.saturating_mul(u64::from(self.turnover) + 1)
    }

    /// Description for a report.
    pub fn describe(&self) -> String {
        let overwrites = match self.overwrite_percent {
            0 => String::new(),
            percent => format!(", {percent} % of it by overwriting parts of files"),
        };
        let turnover = match self.turnover {
            0 => "not written again".to_owned(),
            times => format!("all of it written again {}{overwrites}", count(times as usize, "time")),
        };
        format!(
            "on a filesystem aged until {} % of it is in use: files of the profile {}, {turnover}",
            self.fill_percent,
            self.profile.name()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_has_ascending_buckets_and_its_own_name() {
        for (profile, words) in AgeProfile::ALL.into_iter().zip(AgeProfile::WORDS) {
            assert_eq!(profile.name(), words[0]);
            assert_eq!(AgeProfile::from_name(profile.name()), Some(profile));
            let quoted = serde_json::to_string(&profile).expect("a word");
            assert_eq!(quoted, format!("\"{}\"", profile.name()));
            for buckets in [profile.sizes(), profile.ages()] {
                assert!(buckets.is_sorted_by(|one, next| one.0 < next.0), "{profile:?}");
                assert!(buckets.iter().any(|(_, weight)| *weight > 0), "{profile:?}");
            }
        }
    }

    /// Agrawal: bounds 8 B to 8 MiB; the mean of the middle of each bucket, by hand, is 62 KiB and half a block.
    #[test]
    fn the_mean_is_that_of_the_buckets() {
        let kib = AgeProfile::Agrawal.mean_bytes(u64::MAX) >> 10;
        assert!((70..76).contains(&kib), "{kib}");
        assert!(AgeProfile::Agrawal.mean_bytes(128 << 10) < 20 << 10);
    }

    #[test]
    fn what_is_written_is_the_fill_and_each_turnover() {
        let spec = AgeSpec {
            fill_percent: 90,
            turnover: 3,
            profile: AgeProfile::Agrawal,
            overwrite_percent: 20,
            seed: 1,
        };
        assert_eq!(spec.written_bytes(1000), 3600);
        assert_eq!(
            spec.describe(),
            "on a filesystem aged until 90 % of it is in use: files of the profile agrawal, all of it written again 3 times, \
             20 % of it by overwriting parts of files"
        );
    }
}
