//! Traces of requests.

use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    Fio,
    Blkparse,
    Csv,
}
