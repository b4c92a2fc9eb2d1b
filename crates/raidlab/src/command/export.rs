//! `raidlab export`: all samples of a run, and the verdicts on the study's claims.

use crate::cli::ExportArguments;
use crate::error::ExpectedError;
use files::{Output, OutputError, escape_json};
use results::ExportFormat;
use std::io::IsTerminal;
use std::process::ExitCode;

pub fn export(arguments: &ExportArguments) -> Result<ExitCode, ExpectedError> {
    let output = Output::check(&arguments.output, Some(&arguments.stored.store))?;
    let (store, run) = results::open(&arguments.stored.store, arguments.stored.run.as_ref())?;
    let format = arguments.format.into();
    if format == ExportFormat::Parquet && matches!(output, Output::Standard) && std::io::stdout().is_terminal() {
        return Err(OutputError::Binary.into());
    }
    let bytes = results::export(&store, run.id, format).map_err(ExpectedError::StoreUnderWay)?;
    match format {
        ExportFormat::Parquet => output.write_with(&mut |out| out.write_all(&bytes))?,
        ExportFormat::Json => output.write(&escape_json(&String::from_utf8_lossy(&bytes)))?,
        // The terminal gets text that is sanitized.
        _ => output.write(&String::from_utf8_lossy(&bytes))?,
    }
    Ok(ExitCode::SUCCESS)
}
