//! All samples of a run, and the verdicts on the study's claims, in the formats of other tools.

use crate::{claims, open_store};
use report::Warnings;
use serde_json::{Value, json};
use store::{ClaimCase, Judged, RunId, Selection, Store, StoreError};
use study::Measurement;
use study::plan::Plan;
use study::stack::MachineKind;

/// A format of exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    Json,
    Csv,
    Parquet,
    Junit,
    Openmetrics,
}

/// A run in that format; all but Parquet are text.
pub fn export(store: &Store, run: RunId, format: ExportFormat) -> Result<Vec<u8>, StoreError> {
    let text = match format {
        ExportFormat::Parquet => return store.export_parquet(run),
        ExportFormat::Json => store.export_json(run, &judged(store, run)?),
        ExportFormat::Csv => store.export_csv(run),
        ExportFormat::Junit => store.export_junit(run, &claim_cases(store, run)?),
        ExportFormat::Openmetrics => store.export_openmetrics(run),
    };
    text.map(String::into_bytes)
}

fn judged(store: &Store, run: RunId) -> Result<Judged, StoreError> {
    let (plan, samples) = (store.plan(run)?, store.samples(run)?);
    let warnings = warnings(store, run, &plan, &samples)?;
    let tables = plan.tables.iter().enumerate();
    let tables = tables.map(|(at, table)| (table.title.clone(), warnings.of_table(at)));
    let names = plan.workload_names().into_iter();
    let rankings = names.map(|name| (name.to_owned(), warnings.of_ranking(name)));
    let warned = |all: &mut dyn Iterator<Item = (String, Vec<String>)>| -> Value {
        let warned = all.filter(|(_, warnings)| !warnings.is_empty());
        Value::Object(warned.map(|(name, warnings)| (name, json!(warnings))).collect())
    };
    let (tables, workloads) = (warned(&mut tables.into_iter()), warned(&mut rankings.into_iter()));
    Ok(Judged {
        claims: claims::as_json(&plan, &samples, &warnings),
        control: claims::control_as_json(&plan, &samples),
        warnings: json!({ "run": warnings.run, "tables": tables, "workloads": workloads }),
    })
}

fn claim_cases(store: &Store, run: RunId) -> Result<Vec<ClaimCase>, StoreError> {
    let (plan, samples) = (store.plan(run)?, store.samples(run)?);
    let warnings = warnings(store, run, &plan, &samples)?;
    Ok(claims::as_cases(&plan, &samples, &warnings))
}

fn warnings(store: &Store, run: RunId, plan: &Plan, samples: &[Measurement]) -> Result<Warnings, StoreError> {
    let trials = store.trials(run)?.into_iter().map(open_store::trial_info);
    let is_host = store.run(run)?.machine == MachineKind::Host;
    let order = report::order_of(trials.filter(|_| is_host));
    let facts = store.facts_of(&Selection::whole(run))?;
    Ok(Warnings::of(plan, samples, &order, &facts.loads))
}
