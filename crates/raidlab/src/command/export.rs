//! `raidlab export`: all samples of a run, and what they say of the study's claims.

use super::output::{Output, OutputError};
use super::{claims, stored};
use crate::cli::{ExportArguments, ExportFormat};
use crate::expected::ExpectedError;
use report::Doubts;
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::process::ExitCode;
use store::{ClaimCase, Judged, RunId, Store, StoreError};
use study::Measurement;
use study::plan::Plan;
use study::stack::MachineKind;

pub fn export(arguments: &ExportArguments) -> Result<ExitCode, ExpectedError> {
    let output = Output::check(&arguments.output, Some(&arguments.stored.store))?;
    let (store, run) = stored::open(&arguments.stored.store, arguments.stored.run.as_ref())?;
    let text = match arguments.format {
        ExportFormat::Parquet => return parquet(&output, &store, run.id),
        ExportFormat::Json => judged(&store, run.id).and_then(|judged| store.export_json(run.id, &judged)),
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

fn judged(store: &Store, run: RunId) -> Result<Judged, StoreError> {
    let (plan, samples) = (store.plan(run)?, store.samples(run)?);
    let doubts = doubts(store, run, &plan, &samples)?;
    let tables = plan.tables.iter().enumerate();
    let tables = tables.map(|(at, table)| (table.title.clone(), doubts.of_table(at)));
    let names = plan.workload_names().into_iter();
    let rankings = names.map(|name| (name.to_owned(), doubts.of_ranking(name)));
    let warned = |all: &mut dyn Iterator<Item = (String, Vec<String>)>| -> Value {
        let warned = all.filter(|(_, warnings)| !warnings.is_empty());
        Value::Object(warned.map(|(name, warnings)| (name, json!(warnings))).collect())
    };
    let (tables, workloads) = (warned(&mut tables.into_iter()), warned(&mut rankings.into_iter()));
    Ok(Judged {
        claims: claims::as_json(&plan, &samples, &doubts),
        control: claims::control_as_json(&plan, &samples),
        warnings: json!({ "run": doubts.run, "tables": tables, "workloads": workloads }),
    })
}

fn claim_cases(store: &Store, run: RunId) -> Result<Vec<ClaimCase>, StoreError> {
    let (plan, samples) = (store.plan(run)?, store.samples(run)?);
    let doubts = doubts(store, run, &plan, &samples)?;
    Ok(claims::as_cases(&plan, &samples, &doubts))
}

fn doubts(store: &Store, run: RunId, plan: &Plan, samples: &[Measurement]) -> Result<Doubts, StoreError> {
    let trials = store.trials(run)?.into_iter().map(stored::trial_info);
    let is_host = store.run(run)?.machine == MachineKind::Host;
    let order = report::order_of(trials.filter(|_| is_host));
    Ok(Doubts::of(plan, samples, &order, &store.provenance(run)?))
}
