//! Arguments for power cuts: a single one, or many on random stacks.

use super::{COUNT_MAX, seed, whole};
use clap::Args;
use crash_test::{LostSectors, Numbers};
use std::path::PathBuf;

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
    /// Reduce to the fewest operations, then to the fewest lost cached writes, that show the same kind of finding
    #[arg(long, conflicts_with = "lose")]
    pub shrink: bool,
    /// Operations to skip, with those that depend on them, as `--shrink` prints them
    #[arg(long, value_name = "NUMBERS")]
    pub leave_out: Option<Numbers>,
    /// Lose only these sectors of the cached writes that the seed loses, or `nothing`, as `--shrink` prints them
    #[arg(long, value_name = "DISK:SECTOR+COUNT", value_delimiter = ',')]
    pub lose: Vec<LostSectors>,
}

#[derive(Args, Debug)]
pub struct SoakArguments {
    /// Seed of all histories
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// Start no history after this time
    #[arg(long, default_value_t = 60, value_parser = |text: &str| whole(text, 1..=MINUTES_MAX), allow_negative_numbers = true)]
    pub minutes: u64,
    /// Number of histories (default: as many as there is time for)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "history")]
    pub histories: Option<u32>,
    /// Only the history with this number, with all of its findings
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub history: Option<u32>,
    /// Run that history with only this number of operations
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
