//! The arguments of `raidlab cpu`.

use super::Format;
use clap::Subcommand;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum CpuCommand {
    /// All processors
    List {
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Every figure of a processor, how sure it is, and where it is from
    Show {
        /// Name in the catalogue, or a model file (.toml)
        model: String,
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Measure this machine's processor and write a model of it
    Measure {
        /// What the model is called
        #[arg(long, default_value = "this-machine")]
        name: String,
        /// Where it is written; - is standard output
        #[arg(short, long, default_value = "-")]
        output: PathBuf,
    },
}
