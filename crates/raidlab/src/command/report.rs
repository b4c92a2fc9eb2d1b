//! `raidlab report`: one HTML file.

use super::output::Output;
use super::stored;
use crate::cli::ReportArguments;
use crate::expected::ExpectedError;
use crate::progress::say;
use std::process::ExitCode;

pub fn report(arguments: &ReportArguments) -> Result<ExitCode, ExpectedError> {
    let output = Output::check(&arguments.output, Some(&arguments.shown.stored.store))?;
    output.write(&report::html(&stored::shown(&arguments.shown)?))?;
    if output.file().is_some() {
        say(&format!("raidlab: the report is in {}", arguments.output.display()));
    }
    Ok(ExitCode::SUCCESS)
}
