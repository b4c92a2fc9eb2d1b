//! The command line as typed. Its meaning is decided in [`crate::command`].

mod cpu;
pub mod exit_status;
mod fleet;
mod power_cuts;
mod stored;

pub use cpu::CpuCommand;
pub use fleet::{MergeArguments, StatusArguments, SubmitArguments};
pub use power_cuts::{PowerCutArguments, SoakArguments};
pub use stored::{
    CompareArguments, ComparisonFormat, DigestArguments, ExportArguments, ImportArguments, ReportArguments,
    RunsArguments, ShowArguments, ShownRun, run_choice,
};

use crate::output_preferences::{Color, OutputPreferences};
use clap::{Args, Parser, Subcommand, ValueEnum};
use prepare::LoopFiles;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;
use stored::run_name;
use study::Shard;

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
    /// Build or list the lab's kernels
    #[command(subcommand)]
    Kernel(KernelCommand),
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

#[derive(Args, Clone, Debug)]
pub struct RunArguments {
    /// The study file
    pub study: PathBuf,
    /// Where trials run (default: as the study says)
    #[arg(long, value_enum)]
    pub on: Option<On>,
    /// Disks of this machine to overwrite (with `--on host`), for example from /dev/disk/by-id
    #[arg(long, value_delimiter = ',', value_name = "A,B,…")]
    pub devices: Vec<PathBuf>,
    /// Allow the contents of these disks to be overwritten; without it a disk that is not blank is refused
    #[arg(long, value_delimiter = ',', value_name = "SERIAL,…")]
    pub destroy: Vec<String>,
    /// The disks of each node of a cluster: a TOML file with `[node.NAME]` and `destroy = ["SERIAL", …]`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["devices", "destroy", "loops", "loop_folder"])]
    pub inventory: Option<PathBuf>,
    /// Sparse files behind loop devices instead of disks: 8x20G (with `--on host`; the default there)
    #[arg(long = "loop", value_name = "COUNTxSIZE", conflicts_with_all = ["devices", "destroy"])]
    pub loops: Option<LoopFiles>,
    /// Folder of these files (default: the store's folder)
    #[arg(long, value_name = "FOLDER")]
    pub loop_folder: Option<PathBuf>,
    /// Time limit of a trial on this machine: 90m, 6h, 2d
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = time)]
    pub trial_limit: Duration,
    /// Store complete serial numbers of disks; otherwise only their last characters are stored
    #[arg(long)]
    pub serials: bool,
    /// File in which results are stored
    #[arg(long, default_value = "raidlab.db")]
    pub store: PathBuf,
    /// Name of this run, for `raidlab runs` and `--run`
    #[arg(long, value_parser = run_name, allow_negative_numbers = true)]
    pub name: Option<String>,
    /// Seed of all random choices of the run
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// Number of guests that run in parallel (default: one for each processor)
    #[arg(long, value_parser = |text: &str| whole(text, 1..=256), allow_negative_numbers = true)]
    pub jobs: Option<u64>,
    /// Run a part of the matrix: AXIS=VALUE,… or AXIS!=VALUE,… (may be repeated; values of one axis are alternatives)
    #[arg(long, value_name = "AXIS=VALUE,…")]
    pub only: Vec<String>,
    /// Run one of several parts of the study, as in 3/16; `raidlab merge` joins their stores
    #[arg(long, value_name = "NUMBER/COUNT", allow_negative_numbers = true)]
    pub shard: Option<Shard>,
    /// Measure the first stack twice, as an A/A control (default: on with `--on host`, off in the lab)
    #[arg(long, value_enum)]
    pub aa_control: Option<Switch>,
    /// If another raidlab writes this run, wait for it to end instead of refusing
    #[arg(long)]
    pub wait: bool,
    /// Print every command that would be run, without running any
    #[arg(long)]
    pub dry_run: bool,
    /// Write a trace of every request of every disk into this folder, one file per trial; `raidlab trace` reads them
    #[arg(long, value_name = "FOLDER")]
    pub trace: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct PlanArguments {
    /// The study file
    pub study: PathBuf,
    /// Show a part of the matrix: AXIS=VALUE,… or AXIS!=VALUE,… (may be repeated; values of one axis are alternatives)
    #[arg(long, value_name = "AXIS=VALUE,…")]
    pub only: Vec<String>,
    /// Show one of several parts of the study, as in 3/16
    #[arg(long, value_name = "NUMBER/COUNT", allow_negative_numbers = true)]
    pub shard: Option<Shard>,
    /// Seed of all random choices of the run
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// Number of guests in parallel (default: one for each processor)
    #[arg(long, value_parser = |text: &str| whole(text, 1..=256), allow_negative_numbers = true)]
    pub jobs: Option<u64>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Debug, Subcommand)]
pub enum DiskCommand {
    /// List the models of the catalogue, with your own of ~/.config/raidlab/disks
    List {
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Show a model: geometry, seek curve, MB/s across the disk, random reads, flushes
    Show {
        /// A model of the catalogue, a model file (.toml), or a DiskSim parameter file (.diskspecs)
        model: String,
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Run models and compare them with published or measured figures of their disks
    Check {
        /// Models of the catalogue, model files (.toml), or DiskSim parameter files (.diskspecs) (default: the
        /// whole catalogue, which takes about a minute, and 3 GiB of memory for an SSD of 4 TB)
        models: Vec<String>,
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Replay a validation trace and compare with the measured response times
    Replay {
        /// A model of the catalogue, a model file (.toml), or a DiskSim parameter file (.diskspecs)
        model: String,
        /// One line per request: R|W, Hit|Miss, first block, blocks, response time in µs, gap in µs
        trace: PathBuf,
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
        /// Plot the two distributions into this file; `-` is standard output
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
    },
    /// Measure a disk of this machine with timed requests and write a model of it
    ///
    /// Nothing is written to the disk without --destroy. The disk must not be in use, since other requests would be
    /// measured with it. Platters take 20 minutes and more, an SSD a few, and with --destroy twice --precondition and more.
    /// Results are kept next to the output file after each step: the same command continues an interrupted measurement
    /// (Ctrl-C).
    Measure {
        /// The whole disk, such as /dev/sdb or its name in /dev/disk/by-id
        device: PathBuf,
        /// Where to write the model: a new file (.toml), or `-` for standard output
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Also measure writes and flushes: the disk with this serial number is overwritten, and all of its data is lost
        #[arg(long, value_name = "SERIAL")]
        destroy: Option<String>,
        /// With --destroy, for an SSD: fill it, then write at random until it is in steady state; time limit of each
        /// step
        #[arg(long, value_name = "TIME", default_value = "30m", value_parser = time)]
        precondition: Duration,
        /// Plot the measurements and the behaviour of the model into this file
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
    },
    /// Read a DiskSim parameter file, and print it in the catalogue's format
    Import {
        /// A .diskspecs file; the files that it names are in the same folder
        file: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Print a trace as blkparse(1) does
    Show {
        /// A file written by `raidlab run --trace FOLDER`
        trace: PathBuf,
        /// Only this disk: 0 is /dev/vda
        #[arg(long, value_name = "NUMBER")]
        disk: Option<u8>,
    },
    /// Write a trace in a format of another tool
    Export {
        /// A file written by `raidlab run --trace FOLDER`
        trace: PathBuf,
        /// fio: an iolog for `read_iolog`
        #[arg(long, value_enum)]
        format: TraceFormat,
        /// Only this disk: 0 is /dev/vda
        #[arg(long, value_name = "NUMBER")]
        disk: Option<u8>,
        /// Where to write it (default: `-`, standard output)
        #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
        output: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub enum KernelCommand {
    /// Build a kernel from a version of Debian's linux-source packages or from your own tree
    Build {
        /// `6.12` (the default), `6.12+more`, `6.12+zfs`, `7.3`, `7.3+more`, or the path of a kernel tree
        what: Option<String>,
        /// Name of a tree's kernel in studies (default: the folder's name)
        #[arg(long)]
        name: Option<String>,
    },
    /// List the kernels that are built
    List {
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
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

/// Where trials run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum On {
    Lab,
    Host,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    Fio,
    Blkparse,
    Csv,
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
