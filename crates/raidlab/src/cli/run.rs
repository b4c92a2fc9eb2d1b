//! Running and planning a study.

use super::stored::run_name;
use super::{Format, seed, time, whole};
use clap::{Args, ValueEnum};
use prepare::LoopFiles;
use std::path::PathBuf;
use std::time::Duration;
use study::Shard;

#[derive(Args, Clone, Debug, Default)]
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
    /// Time limit of a trial on this machine: 90m, 6h, 2d (with `--on host`; default: 24h)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub trial_limit: Option<Duration>,
    /// Store complete serial numbers of disks; otherwise only their last characters are stored (with `--on host`)
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
    /// Trials of each cell with one figure of its disks' models moved, for `raidlab disk sensitivity`.
    #[arg(skip)]
    pub moves_figures: Option<u32>,
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
