//! Why a disk is not measured.

use disksim::catalogue;
use files::OutputError;
use std::path::PathBuf;
use tools::MissingTools;

/// Bad input, a disk that is in use, or one that cannot be read or modelled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}; nothing was written")]
    Refused(String),
    #[error("`{}` {source}{written}", device.display())]
    NotMeasured {
        device: PathBuf,
        source: measure::Error,
        /// A statement about what was written, after a semicolon.
        written: &'static str,
    },
    #[error(transparent)]
    Claimed(#[from] host::Refused),
    #[error(transparent)]
    Tools(#[from] MissingTools),
    #[error(transparent)]
    Model(#[from] catalogue::Error),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("{0}")]
    Simulation(String),
}
