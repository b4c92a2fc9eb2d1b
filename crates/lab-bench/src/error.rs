//! Errors of a measurement.

use files::OutputError;

/// Something that the machine lacks, or a guest or a program that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Prepare(#[from] prepare::Error),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("cannot run the two cells: {0}")]
    Cells(String),
    #[error("the guest failed ({how}): {message}\n{console}")]
    Guest {
        how: String,
        message: String,
        console: String,
    },
    #[error("no model of this processor: {0}")]
    NoProcessorModel(String),
    #[error("interrupted")]
    Interrupted,
}
