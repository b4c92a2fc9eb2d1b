//! The arguments of `raidlab cpu`.

use super::Format;
use clap::Subcommand;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum CpuCommand {
    /// List the processor models, with your own of ~/.config/raidlab/cpus
    List {
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Show a processor model: every figure, its certainty and its source
    Show {
        /// Name in the catalogue, or a model file (.toml)
        model: String,
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Measure this machine's processor and write a model of it
    Measure {
        /// Name of the model
        #[arg(long, default_value = "this-machine")]
        name: String,
        /// Where to write it; `-` is standard output
        #[arg(short, long, default_value = "-")]
        output: PathBuf,
    },
}
