//! `raidlab report`: one HTML file.

use super::output::Output;
use super::stored;
use crate::cli::ReportArguments;
use crate::expected::ExpectedError;
use crate::progress::say;
use std::process::ExitCode;

pub fn report(arguments: &ReportArguments) -> Result<ExitCode, ExpectedError> {
    let output = Output::check(&arguments.output, Some(&arguments.store))?;
    let (store, run) = stored::open(&arguments.store, arguments.run.as_ref())?;
    output.write(&report::html(&stored::input_with(
        &store,
        &run,
        arguments.with.as_ref(),
    )?))?;
    if output.file().is_some() {
        say(&format!("raidlab: the report is in {}", arguments.output.display()));
    }
    Ok(ExitCode::SUCCESS)
}
