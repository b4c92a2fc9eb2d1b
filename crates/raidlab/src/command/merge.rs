//! `raidlab merge`: the stores of shards as one store.

use super::print;
use crate::cli::MergeArguments;
use crate::error::{EXIT_TRIAL_FAILED, ExpectedError};
use fleet::MergeOptions;
use std::process::ExitCode;

pub fn merge(arguments: &MergeArguments) -> Result<ExitCode, ExpectedError> {
    let options = MergeOptions {
        target: arguments.target.clone(),
        parts: arguments.parts.clone(),
        partial: arguments.partial,
    };
    let merged = fleet::merge(&options)?;
    print(&merged.words(&options))?;
    Ok(match merged.failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(EXIT_TRIAL_FAILED),
    })
}
