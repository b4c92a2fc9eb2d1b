//! Why a study was not submitted.

use std::io;
use std::path::PathBuf;

/// Nothing was submitted, and nothing is left behind.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    #[error(
        "there is no Slurm on this machine (no program `sbatch`): install it with `apt-get install slurm-client` on a \
         machine of the cluster, or divide the study with `raidlab run --shard`; nothing was submitted"
    )]
    NoSlurm,
    #[error(
        "Slurm is not installed on this machine, so the number of cores is unknown: give --tasks instead of --nodes"
    )]
    NoCores,
    #[error("partition `{partition}` has no cores: `sinfo` lists the partitions; nothing was submitted")]
    NoNodes { partition: String },
    #[error("cannot run `{program}`: {source}; nothing was submitted")]
    Program { program: &'static str, source: io::Error },
    #[error("Slurm refused the job (`{program}`): {message}; nothing was submitted, and nothing is left behind")]
    Refused { program: &'static str, message: String },
    #[error(
        "`{}` exists, from an earlier job: `sbatch {}/run.sbatch` continues it; choose another folder with --folder \
            for a \
         new one; nothing was submitted",
        folder.display(), folder.display()
    )]
    FolderExists { folder: PathBuf },
    #[error("cannot use `{}`: {}; nothing was submitted", folder.display(), files::reason(source))]
    Folder { folder: PathBuf, source: io::Error },
    #[error(
        "`{word}` cannot be an option of sbatch: write it as in `--partition batch` or `--sbatch=--account=storage`"
    )]
    Word { word: String },
    #[error("--inventory is for trials on the nodes themselves: add `--on host`; nothing was submitted")]
    InventoryOfLab,
    #[error(
        "trials on the nodes themselves need the disks that they may overwrite: name them by node in a file, with \
         --inventory FILE; nothing was submitted"
    )]
    NoInventory,
    #[error(
        "--tasks and --nodes are for the lab: with `--on host` each node of the inventory runs the whole study; nothing \
         was submitted"
    )]
    TasksOfHost,
}

impl SubmitError {
    /// Whether the machine or the cluster is the cause, not the request.
    pub fn is_of_machine(&self) -> bool {
        match self {
            Self::NoSlurm | Self::NoCores | Self::Program { .. } => true,
            Self::Refused { message, .. } => is_of_cluster(message),
            _ => false,
        }
    }
}

/// Whether the error is caused by the cluster and not by the request.
fn is_of_cluster(message: &str) -> bool {
    let message = message.to_lowercase();
    ["contact slurm", "connection", "socket timed out", "configuration"]
        .iter()
        .any(|words| message.contains(words))
}
