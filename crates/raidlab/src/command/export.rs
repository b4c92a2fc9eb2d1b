//! `raidlab export`: all samples of a run.

use super::{print, stored};
use crate::cli::{ExportArguments, ExportFormat};
use crate::expected::ExpectedError;
use std::process::ExitCode;

pub fn export(arguments: &ExportArguments) -> Result<ExitCode, ExpectedError> {
    let (store, run) = stored::open(&arguments.store, arguments.run)?;
    let text = match arguments.format {
        ExportFormat::Json => store.export_json(run.id),
        ExportFormat::Csv => store.export_csv(run.id),
    };
    print(&text.map_err(|error| ExpectedError::Failed(error.to_string()))?)?;
    Ok(ExitCode::SUCCESS)
}
