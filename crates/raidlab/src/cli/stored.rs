//! The arguments of the commands that read stored runs, and of the one that imports them.

use super::{COUNT_MAX, ExportFormat, Format, exit_status, whole};
use clap::{Args, ValueEnum};
use report::RateUnit;
use std::path::PathBuf;
use store::{RunChoice, RunId};

/// A run of a store.
#[derive(Args, Debug)]
pub struct StoredRun {
    #[arg(long, default_value = "raidlab.db")]
    pub store: PathBuf,
    /// Number or name of a run in the store (default: the last)
    #[arg(long, value_parser = run_choice, allow_negative_numbers = true)]
    pub run: Option<RunChoice>,
}

/// A run of a store, optionally with another one for comparison.
#[derive(Args, Debug)]
pub struct ShownRun {
    #[command(flatten)]
    pub stored: StoredRun,
    /// Number or name of a run of imported results to show with it (may be repeated)
    #[arg(long, value_name = "RUN", value_parser = run_choice, allow_negative_numbers = true)]
    pub with: Vec<RunChoice>,
    /// Show a part of the run: AXIS=VALUE,… or AXIS!=VALUE,… (may be repeated)
    #[arg(long, value_name = "AXIS=VALUE,…")]
    pub only: Vec<String>,
}

#[derive(Args, Debug)]
pub struct ShowArguments {
    #[command(flatten)]
    pub shown: ShownRun,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Unit of throughputs: 2^20 or 10^6 bytes a second
    #[arg(long, value_enum, ignore_case = true, default_value_t = Rate::MiB)]
    pub unit: Rate,
}

/// Unit of throughputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Rate {
    #[value(name = "MiB")]
    MiB,
    #[value(name = "MB")]
    MB,
}

impl From<Rate> for RateUnit {
    fn from(rate: Rate) -> Self {
        match rate {
            Rate::MiB => Self::MiB,
            Rate::MB => Self::MB,
        }
    }
}

#[derive(Args, Debug)]
pub struct ReportArguments {
    #[command(flatten)]
    pub shown: ShownRun,
    /// Where to write the report; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

#[derive(Args, Debug)]
pub struct RunsArguments {
    #[arg(long, default_value = "raidlab.db")]
    pub store: PathBuf,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct ExportArguments {
    #[command(flatten)]
    pub stored: StoredRun,
    #[arg(long, value_enum, default_value_t = ExportFormat::Json)]
    pub format: ExportFormat,
    /// Where to write them (default: `-`, standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub output: PathBuf,
}

#[derive(Args, Debug)]
#[command(after_help = exit_status::help(exit_status::OF_DIGEST))]
pub struct DigestArguments {
    /// A store, or a run exported with `raidlab export`
    #[arg(value_name = "RUN", default_value = "raidlab.db")]
    pub one: PathBuf,
    /// Another run to compare with; reports the first cell, trial, sample and disk that differ
    #[arg(value_name = "OTHER")]
    pub other: Option<PathBuf>,
    /// Number or name of a run in the first store (default: the last)
    #[arg(long, value_parser = run_choice, allow_negative_numbers = true)]
    pub run: Option<RunChoice>,
    /// Number or name of a run in the other store (default: the last)
    #[arg(long, value_name = "RUN", value_parser = run_choice, allow_negative_numbers = true)]
    pub other_run: Option<RunChoice>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ComparisonFormat {
    Text,
    Json,
    Html,
}

#[derive(Args, Debug)]
pub struct CompareArguments {
    /// A store (its last run), STORE:RUN, or a run's number or name; @AXIS=VALUE selects a part: `3@kernel=6.12`
    pub a: String,
    /// The same; compared with A
    pub b: String,
    /// Store of runs that are given by number or name
    #[arg(long, default_value = "raidlab.db")]
    pub store: PathBuf,
    /// `html` is one self-contained page
    #[arg(long, value_enum, default_value_t = ComparisonFormat::Text)]
    pub format: ComparisonFormat,
    /// Where to write it (default: `-`, standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub output: PathBuf,
}

#[derive(Args, Debug)]
pub struct ImportArguments {
    /// Output of fio (JSON, terse or text), Bonnie++ (CSV or table) or IOzone: docs/import.md
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Name of the measured stack; each file is one trial of it (default: each file is a stack with one trial)
    #[arg(long, value_name = "NAME")]
    pub stack: Option<String>,
    /// Name of the workload in a study, to show both in one table (default: name of the program)
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// Raidlab's name of the test, such as randwrite, if each file has one test (default: the program's name)
    #[arg(long, value_name = "NAME")]
    pub test: Option<String>,
    #[arg(long, default_value = "raidlab.db")]
    pub store: PathBuf,
}

/// A run's number or name.
pub fn run_choice(text: &str) -> Result<RunChoice, String> {
    if text.parse::<i128>().is_ok() {
        return whole(text, 1..=COUNT_MAX).map(|number| RunChoice::Number(RunId(number as i64)));
    }
    run_name(text).map(RunChoice::Name)
}

/// A name that cannot be mistaken for a run's number.
pub(super) fn run_name(text: &str) -> Result<String, String> {
    if text.trim().is_empty() || text.parse::<i128>().is_ok() {
        return Err("write a name that is not a number".to_owned());
    }
    Ok(text.to_owned())
}
