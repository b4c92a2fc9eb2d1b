//! Power cuts: one again, or many of random stacks.

use super::{COUNT_MAX, seed, whole};
use clap::Args;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

/// Those that a study can have, with those that prepare.
const OPERATIONS_MAX: u32 = 20_000;

/// Sectors of one `--lose`.
const LOST_MAX: u64 = 1 << 20;

/// The word for no sectors.
const NOTHING: &str = "nothing";

/// A year.
const MINUTES_MAX: u64 = 366 * 24 * 60;

#[derive(Args, Debug)]
pub struct PowerCutArguments {
    pub study: PathBuf,
    /// The cell, by its number in `raidlab plan`
    #[arg(long, default_value_t = 1, value_parser = |text: &str| whole(text, 1..=COUNT_MAX), allow_negative_numbers = true)]
    pub cell: u64,
    /// Seed of the run
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// The cell's trial
    #[arg(long, default_value_t = 1, value_parser = |text: &str| whole(text, 1..=u64::from(u32::MAX)), allow_negative_numbers = true)]
    pub trial: u64,
    /// Virtual time of the power cut
    #[arg(long, value_name = "NS", value_parser = seed, allow_negative_numbers = true)]
    pub at: u64,
    /// Decides which data in the disks' caches survives
    #[arg(long, value_name = "SEED", value_parser = seed, allow_negative_numbers = true)]
    pub cut_seed: u64,
    /// Find the fewest operations, and of these the fewest lost cached writes, that show the same kind of finding
    #[arg(long, conflicts_with = "lose")]
    pub shrink: bool,
    /// Operations that are not done, with those that need them, as `--shrink` prints them
    #[arg(long, value_name = "NUMBERS", value_parser = numbers)]
    pub leave_out: Option<Numbers>,
    /// Of the cached writes that the seed loses, lose only these sectors, or `nothing`, as `--shrink` prints them
    #[arg(long, value_name = "DISK:SECTOR+COUNT", value_parser = lost_sectors, value_delimiter = ',')]
    pub lose: Vec<LostSectors>,
}

/// Numbers and ranges of them, as in `3,7-20`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers(pub Vec<u32>);

impl fmt::Display for Numbers {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for &number in &self.0 {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == number => *last = number,
                _ => runs.push((number, number)),
            }
        }
        for (place, (first, last)) in runs.into_iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            match first == last {
                true => write!(to, "{comma}{first}")?,
                false => write!(to, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

fn numbers(text: &str) -> Result<Numbers, String> {
    let mut all = BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |word: &str| {
            word.trim()
                .parse::<u32>()
                .ok()
                .filter(|number| *number <= OPERATIONS_MAX)
        };
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => all.extend(first..=last),
            _ => {
                return Err(format!(
                    "`{part}` is no number of an operation and no range such as 3-20"
                ));
            }
        }
    }
    Ok(Numbers(all.into_iter().collect()))
}

/// Sectors of a disk, which is counted from 1; none for `nothing`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSectors {
    pub disk: usize,
    pub sector: u64,
    pub count: u64,
}

impl fmt::Display for LostSectors {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            0 => to.write_str(NOTHING),
            count => write!(to, "{}:{}+{count}", self.disk, self.sector),
        }
    }
}

impl LostSectors {
    pub const NOTHING: Self = Self {
        disk: 1,
        sector: 0,
        count: 0,
    };
}

fn lost_sectors(text: &str) -> Result<LostSectors, String> {
    if text == NOTHING {
        return Ok(LostSectors::NOTHING);
    }
    let parsed = || {
        let (disk, sectors) = text.split_once(':')?;
        let (sector, count) = sectors.split_once('+')?;
        Some(LostSectors {
            disk: disk.parse().ok().filter(|disk| *disk > 0)?,
            sector: sector.parse().ok()?,
            count: count.parse().ok().filter(|count| (1..=LOST_MAX).contains(count))?,
        })
    };
    parsed()
        .ok_or_else(|| "it is DISK:SECTOR+COUNT, such as 2:493956+2 for two sectors of the second disk".to_owned())
}

#[derive(Args, Debug)]
pub struct SoakArguments {
    /// Decides every history
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// No history is begun after this time
    #[arg(long, default_value_t = 60, value_parser = |text: &str| whole(text, 1..=MINUTES_MAX), allow_negative_numbers = true)]
    pub minutes: u64,
    /// Number of histories (default: as many as there is time for)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "history")]
    pub histories: Option<u32>,
    /// Only the history with this number, with all of its findings
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub history: Option<u32>,
    /// That history with this number of operations
    #[arg(long, value_name = "COUNT", requires = "history", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub operations: Option<u32>,
    /// Print that history's study file, for `raidlab run` and `raidlab power-cut`
    #[arg(long, requires = "history")]
    pub print: bool,
    /// The lab's kernel, as in a study
    #[arg(long, value_name = "NAME", default_value = "6.12")]
    pub kernel: String,
    /// Number of histories that run in parallel (default: one for each processor)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_printed() {
        for text in ["3", "0-48", "1,3,5-7,9"] {
            assert_eq!(numbers(text).expect("good").to_string(), text);
        }
        assert_eq!(numbers("7,3,4,5").expect("good").to_string(), "3-5,7");
        for bad in ["", "a", "5-3", "1,,2", "99999"] {
            assert!(numbers(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn lost_sectors_are_read_as_they_are_printed() {
        for text in ["2:493956+2", "nothing"] {
            assert_eq!(lost_sectors(text).expect("good").to_string(), text);
        }
        for bad in ["0:1+1", "2:493956", "2:1+0", "x:1+1", "1:2:3"] {
            assert!(lost_sectors(bad).is_err(), "{bad}");
        }
    }
}
