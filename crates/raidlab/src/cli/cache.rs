//! The cache of kernels and stacks.

use super::Format;
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    /// List what the cache has, with sizes
    List {
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Delete some of it; runs create it again when they need it
    Drop(CacheDropArguments),
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub struct CacheDropArguments {
    /// Names from `raidlab cache list`
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// What this version of raidlab does not run: kernels and stacks of other versions, objects of builds
    #[arg(long)]
    pub unused: bool,
    /// Everything, Debian's packages included
    #[arg(long)]
    pub all: bool,
}
