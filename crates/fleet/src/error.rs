//! Errors of merging and showing stores, and of submitting a study.

use crate::{PartsError, SubmitError};
use store::StoreError;

/// Bad input, or something that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Prepare(#[from] prepare::Error),
    #[error(transparent)]
    Parts(#[from] PartsError),
    #[error(transparent)]
    Submit(#[from] SubmitError),
    #[error(transparent)]
    Store(#[from] StoreError),
}
