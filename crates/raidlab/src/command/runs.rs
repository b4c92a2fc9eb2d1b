//! `raidlab runs`: the runs of a store.

use super::{print, print_json};
use crate::cli::{Format, RunsArguments};
use crate::error::ExpectedError;
use results::{runs_json, runs_text};
use std::process::ExitCode;
use store::Store;

pub fn runs(arguments: &RunsArguments) -> Result<ExitCode, ExpectedError> {
    let runs = Store::open_existing(&arguments.store)?.runs()?;
    match arguments.format {
        Format::Text => print(&runs_text(&runs))?,
        Format::Json => print_json(&runs_json(&runs))?,
    }
    Ok(ExitCode::SUCCESS)
}
