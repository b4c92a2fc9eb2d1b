//! `raidlab export`: all samples of a run.

use super::output::Output;
use super::stored;
use crate::cli::{ExportArguments, ExportFormat};
use crate::expected::ExpectedError;
use std::process::ExitCode;

pub fn export(arguments: &ExportArguments) -> Result<ExitCode, ExpectedError> {
    let output = Output::check(&arguments.output, Some(&arguments.store))?;
    let (store, run) = stored::open(&arguments.store, arguments.run)?;
    let text = match arguments.format {
        ExportFormat::Json => store.export_json(run.id),
        ExportFormat::Csv => store.export_csv(run.id),
    };
    output.write(&text.map_err(ExpectedError::StoreUnderWay)?)?;
    Ok(ExitCode::SUCCESS)
}
