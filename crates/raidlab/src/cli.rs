//! The command line as typed. Its meaning is decided in [`crate::command`].

mod cache;
mod cpu;
mod disk;
pub mod exit_status;
mod fleet;
mod kernel;
mod power_cuts;
mod risk;
mod run;
mod stored;
mod trace;

pub use cache::{CacheCommand, CacheDropArguments};
pub use cpu::CpuCommand;
pub use disk::DiskCommand;
pub use fleet::{MergeArguments, StatusArguments, SubmitArguments};
pub use kernel::KernelCommand;
pub use power_cuts::{PowerCutArguments, SoakArguments};
pub use risk::{Range, RiskArguments};
pub use run::{On, PlanArguments, RunArguments, Switch};
pub use stored::{
    CompareArguments, ComparisonFormat, DigestArguments, ExportArguments, ImportArguments, ReportArguments,
    RunsArguments, ShowArguments, ShownRun, run_choice,
};
pub use trace::{TraceCommand, TraceFormat};

use crate::output_preferences::{Color, OutputPreferences};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// A laboratory for Linux filesystems on software RAID.
///
/// A study file describes disks, stacks, workloads and claims. Raidlab creates the arrays, makes and mounts the
/// filesystems, measures, tears down, repeats until the figures are precise enough, and reports what the data supports.
#[derive(Debug, Parser)]
#[command(name = "raidlab", version, max_term_width = 100)]
#[command(after_help = exit_status::help(exit_status::OF_COMMANDS))]
pub struct Arguments {
    /// Print only results, warnings and errors: no progress, no notes
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub quiet: bool,
    /// When to use colours (auto: on a terminal, unless the environment has NO_COLOR)
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto, help_heading = GLOBAL)]
    pub color: Color,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
const GLOBAL: &str = "Output";

impl Arguments {
    pub const fn output_preferences(&self) -> OutputPreferences {
        OutputPreferences {
            is_quiet: self.quiet,
            color: self.color,
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a study; resumes where an interrupted run of the same study stopped
    Run(RunArguments),
    /// Show what a study expands to, without running it
    Plan(PlanArguments),
    /// Write the report of the last run as one HTML file
    Report(ReportArguments),
    /// List the runs of a store
    Runs(RunsArguments),
    /// Show the result table of the last run in the terminal
    Show(ShowArguments),
    /// Write all samples of the last run
    Export(ExportArguments),
    /// Print the digest of a run, or report where two runs that should be equal first differ
    Digest(DigestArguments),
    /// Import results of fio (JSON), Bonnie++ (CSV) or IOzone that were measured elsewhere, as a new run
    Import(ImportArguments),
    /// Submit a study to a cluster
    Submit(SubmitArguments),
    /// Merge the stores of a study's shards, or of several machines, into one
    Merge(MergeArguments),
    /// Show the progress of a study that runs in several stores
    Status(StatusArguments),
    /// Compare two runs, stores, kernels or machines, cell by cell and seed by seed
    Compare(CompareArguments),
    /// Show and check disk models, replay traces, import parameter files
    #[command(subcommand)]
    Disk(DiskCommand),
    /// Print or convert the traces of `run --trace`: requests of simulated disks
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Show processor models, or measure this machine's processor
    #[command(subcommand)]
    Cpu(CpuCommand),
    /// Estimate how likely it is that an array loses data, by failed disks and unreadable sectors
    Risk(RiskArguments),
    /// Build or list the lab's kernels
    #[command(subcommand)]
    Kernel(KernelCommand),
    /// List what raidlab keeps in the cache (kernels, stacks, packages), or delete some of it
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Show what is missing on this machine, and the command that installs it
    Doctor(DoctorArguments),
    /// Open a shell in a lab guest on a stack of a study, or run a command or a script from standard input there
    Shell(ShellArguments),
    /// Repeat one power cut of a study: `raidlab run` records the instant and the seed of each finding
    PowerCut(PowerCutArguments),
    /// Search for lost and wrong data with random stacks, operations and power cuts, all drawn from one seed
    #[command(after_help = exit_status::help(exit_status::OF_SOAK))]
    Soak(SoakArguments),
    /// Undo what a killed run left on this machine, using its ledger
    Clean,
    /// One job of a run on this machine
    #[command(hide = true)]
    HostJob { ledger: i32 },
    /// Write the man pages and the completions of shells into a folder (`make deb`)
    #[command(hide = true)]
    PackageFiles {
        folder: PathBuf,
        /// Also the lab's kernel, built now if necessary, with raidlab's changes to Linux
        #[arg(long)]
        kernel: bool,
    },
    /// Measure the lab's overhead relative to null_blk, as `make bench` does (ten minutes)
    Bench(BenchArguments),
}

#[derive(Args, Debug)]
pub struct DoctorArguments {
    /// Install the missing Debian packages (as root, or with sudo)
    #[arg(long)]
    pub install: bool,
    /// Also packages that only some studies need: LVM, F2FS, NTFS and others
    #[arg(long)]
    pub all: bool,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct ShellArguments {
    pub study: PathBuf,
    /// The cell whose stack to set up, by its number in `raidlab plan`
    #[arg(long, default_value_t = 1, value_parser = |text: &str| whole(text, 1..=COUNT_MAX), allow_negative_numbers = true)]
    pub cell: u64,
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// Run this instead of a shell, with empty standard input; its exit status becomes raidlab's
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

#[derive(Args, Debug)]
pub struct BenchArguments {
    /// File for the ratios as JSON; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Only figures whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Show where the wall time of this store's last run went, by step of its trials; nothing is measured
    #[arg(long, value_name = "STORE", conflicts_with_all = ["output", "only", "pairs"])]
    pub steps_of: Option<PathBuf>,
    /// Number of measurements of each
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub pairs: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Everything but the output of programs
    Json,
    /// One line for each sample and percentile
    Csv,
    /// The rows of the CSV, for DuckDB, pandas and others
    Parquet,
    /// Trials, guards and claims as test cases, for CI servers
    Junit,
    /// Samples and percentiles for Prometheus, in base units
    Openmetrics,
}

impl From<ExportFormat> for results::ExportFormat {
    fn from(format: ExportFormat) -> Self {
        match format {
            ExportFormat::Json => Self::Json,
            ExportFormat::Csv => Self::Csv,
            ExportFormat::Parquet => Self::Parquet,
            ExportFormat::Junit => Self::Junit,
            ExportFormat::Openmetrics => Self::Openmetrics,
        }
    }
}

/// Upper limit of counts without their own limit.
const COUNT_MAX: u64 = i64::MAX as u64;

/// The parsers of clap and of the standard library report the error, but not the valid values.
fn whole(text: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
    let (first, last) = (range.start(), range.end());
    let wanted = match *last {
        COUNT_MAX => format!("write a whole number, {first} or more"),
        _ => format!("write a whole number from {first} to {last}"),
    };
    text.parse().ok().filter(|number| range.contains(number)).ok_or(wanted)
}

fn seed(text: &str) -> Result<u64, String> {
    whole(text, 0..=u64::MAX)
}

fn time(text: &str) -> Result<Duration, String> {
    const YEAR_S: u64 = 366 * 86_400;
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit_s = match &text[digits.len()..] {
        "s" => Some(1),
        "m" | "min" => Some(60),
        "h" => Some(3600),
        "d" => Some(86_400),
        _ => None,
    };
    let seconds = unit_s
        .zip(digits.parse::<u64>().ok())
        .and_then(|(unit, number)| number.checked_mul(unit));
    seconds
        .filter(|seconds| (1..=YEAR_S).contains(seconds))
        .map(Duration::from_secs)
        .ok_or_else(|| "write a time from 1 second to 1 year: `90m`, `6h`, `2d`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(time("90m"), Ok(Duration::from_secs(5400)));
        for text in ["", "90", "h", "0s", "999999d", "99999999999999999999h", "1.5h"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
