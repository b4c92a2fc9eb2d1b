//! The arguments of the commands for studies that run on several machines.

use super::Format;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "exit status: 0 merged, 1 merged, and a trial has failed, 2 the stores are not the parts of one \
    run, or one is missing (nothing was written), 3 no space")]
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
