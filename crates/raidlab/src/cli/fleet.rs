//! The arguments of the commands for studies that run on several machines.

use super::{Format, On, exit_status, seed, whole};
use clap::Args;
use std::path::PathBuf;
use study::Shard;

#[derive(Args, Debug)]
#[command(after_help = exit_status::help(exit_status::OF_MERGE))]
pub struct MergeArguments {
    /// The store to create; it must not exist
    pub target: PathBuf,
    /// The stores of `raidlab run --shard`, or of several machines
    #[arg(required = true, value_name = "STORE")]
    pub parts: Vec<PathBuf>,
    /// Merge what there is, although trials are missing
    #[arg(long)]
    pub partial: bool,
}

#[derive(Args, Debug)]
pub struct StatusArguments {
    /// A folder of `raidlab submit`, or the stores of a study's shards
    #[arg(required = true, value_name = "FOLDER|STORE")]
    pub places: Vec<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = exit_status::help(exit_status::OF_SUBMIT))]
pub struct SubmitArguments {
    /// The study file
    pub study: PathBuf,
    /// Submit to Slurm: an array job, and a job that merges its stores when the last task has ended
    #[arg(long, required = true)]
    pub slurm: bool,
    /// Partition (default: the cluster's)
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// Run at most as many tasks at a time as this number of nodes of the partition has cores
    #[arg(long, value_parser = |text: &str| whole(text, 1..=100_000), allow_negative_numbers = true)]
    pub nodes: Option<u64>,
    /// Number of shards, each of which is a task (default: one for each core)
    #[arg(long, allow_negative_numbers = true,
        value_parser = |text: &str| whole(text, 1..=u64::from(Shard::COUNT_MAX)))]
    pub tasks: Option<u64>,
    /// Time limit of a task, as sbatch takes it: 2-12, 12:00:00; a task that reaches it is requeued and continues
    #[arg(long)]
    pub time: Option<String>,
    /// Memory of a task, as sbatch takes it: 4G
    #[arg(long, value_name = "SIZE")]
    pub mem: Option<String>,
    /// Another option of sbatch: --sbatch=--account=storage (may be repeated)
    #[arg(long = "sbatch", value_name = "OPTION", allow_hyphen_values = true)]
    pub options: Vec<String>,
    /// Folder of the job's scripts, stores and logs, on a filesystem that all nodes share (default: the study's name and
    /// seed, as in mine-seed1.job)
    #[arg(long)]
    pub folder: Option<PathBuf>,
    /// Seed of all random choices of the run
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// Run a part of the matrix: AXIS=VALUE,… or AXIS!=VALUE,… (may be repeated; values of one axis are alternatives)
    #[arg(long, value_name = "AXIS=VALUE,…")]
    pub only: Vec<String>,
    /// Where trials run (default: as the study says)
    #[arg(long, value_enum)]
    pub on: Option<On>,
    /// With `--on host`: a TOML file with the disks of each node that may be overwritten
    #[arg(long, value_name = "FILE")]
    pub inventory: Option<PathBuf>,
    /// Print the scripts without submitting them
    #[arg(long)]
    pub dry_run: bool,
}
