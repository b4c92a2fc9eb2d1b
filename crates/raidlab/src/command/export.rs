//! `raidlab export`: all samples of a run, and what they say of the study's claims.

use super::output::{Output, OutputError};
use super::{claims, stored};
use crate::cli::{ExportArguments, ExportFormat};
use crate::expected::ExpectedError;
use std::io::IsTerminal;
use std::process::ExitCode;
use store::{ClaimCase, RunId, Store, StoreError};

pub fn export(arguments: &ExportArguments) -> Result<ExitCode, ExpectedError> {
    let output = Output::check(&arguments.output, Some(&arguments.stored.store))?;
    let (store, run) = stored::open(&arguments.stored.store, arguments.stored.run.as_ref())?;
    let text = match arguments.format {
        ExportFormat::Parquet => return parquet(&output, &store, run.id),
        ExportFormat::Json => json(&store, run.id),
        ExportFormat::Csv => store.export_csv(run.id),
        ExportFormat::Junit => claim_cases(&store, run.id).and_then(|claims| store.export_junit(run.id, &claims)),
        ExportFormat::Openmetrics => store.export_openmetrics(run.id),
    };
    output.write(&text.map_err(ExpectedError::StoreUnderWay)?)?;
    Ok(ExitCode::SUCCESS)
}

fn parquet(output: &Output, store: &Store, run: RunId) -> Result<ExitCode, ExpectedError> {
    if matches!(output, Output::Standard) && std::io::stdout().is_terminal() {
        return Err(OutputError::Binary.into());
    }
    let bytes = store.export_parquet(run).map_err(ExpectedError::StoreUnderWay)?;
    output.write_with(&mut |out| out.write_all(&bytes))?;
    Ok(ExitCode::SUCCESS)
}

fn json(store: &Store, run: RunId) -> Result<String, StoreError> {
    let (plan, samples) = (store.plan(run)?, store.samples(run)?);
    let claims = claims::as_json(&plan, &samples);
    store.export_json(run, &claims, &claims::control_as_json(&plan, &samples))
}

fn claim_cases(store: &Store, run: RunId) -> Result<Vec<ClaimCase>, StoreError> {
    Ok(claims::as_cases(&store.plan(run)?, &store.samples(run)?))
}
