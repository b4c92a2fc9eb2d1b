//! `raidlab report`: one HTML file.

use super::show;
use crate::cli::ReportArguments;
use crate::error::ExpectedError;
use crate::progress::note;
use files::Output;
use std::process::ExitCode;

pub fn report(arguments: &ReportArguments) -> Result<ExitCode, ExpectedError> {
    let output = Output::check(&arguments.output, Some(&arguments.shown.stored.store))?;
    output.write(&report::html(&show::shown(&arguments.shown)?))?;
    if output.file().is_some() {
        note(&format!("raidlab: the report is in {}", arguments.output.display()));
    }
    Ok(ExitCode::SUCCESS)
}
