//! `raidlab status`: progress of a study that runs in several stores.

use super::{print, print_json};
use crate::cli::{Format, StatusArguments};
use crate::error::ExpectedError;
use fleet::StudyStatus;
use std::process::ExitCode;

pub fn status(arguments: &StatusArguments) -> Result<ExitCode, ExpectedError> {
    let status = StudyStatus::read(&arguments.places)?;
    match arguments.format {
        Format::Text => print(&status.text())?,
        Format::Json => print_json(&status.json())?,
    }
    Ok(ExitCode::SUCCESS)
}
