//! `raidlab export`: all samples of a run, and what they say of the study's claims.

use super::output::Output;
use super::stored;
use crate::cli::{ExportArguments, ExportFormat};
use crate::expected::ExpectedError;
use serde_json::{Value, json};
use stats::JudgedClaim;
use stats::claims::Verdict;
use std::process::ExitCode;
use store::{RunId, Store, StoreError};
use study::plan::Claim;

pub fn export(arguments: &ExportArguments) -> Result<ExitCode, ExpectedError> {
    let output = Output::check(&arguments.output, Some(&arguments.stored.store))?;
    let (store, run) = stored::open(&arguments.stored.store, arguments.stored.run.as_ref())?;
    let text = match arguments.format {
        ExportFormat::Json => claims(&store, run.id).and_then(|claims| store.export_json(run.id, &claims)),
        ExportFormat::Csv => store.export_csv(run.id),
    };
    output.write(&text.map_err(ExpectedError::StoreUnderWay)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Every claim with its verdict, in the study's order.
fn claims(store: &Store, run: RunId) -> Result<Value, StoreError> {
    let plan = store.plan(run)?;
    let judged = stats::judge_claims(&plan, &store.samples(run)?);
    Ok(plan
        .claims
        .iter()
        .zip(&judged)
        .map(|(claim, judged)| one(claim, judged))
        .collect())
}

fn one(claim: &Claim, judged: &JudgedClaim) -> Value {
    let filter = claim.filter.iter().map(|(axis, value)| (axis.clone(), json!(value)));
    let effect = judged.effect.as_ref().map(|effect| {
        json!({
            "first": effect.first, "second": effect.second, "times_faster": effect.ratio,
            "low": effect.interval.map(|interval| interval.low),
            "high": effect.interval.map(|interval| interval.high),
            "trials": effect.trials,
        })
    });
    let (further_trials, reason) = match &judged.verdict {
        Verdict::Undecided { further_trials } => (*further_trials, None),
        Verdict::Untestable { reason } => (None, Some(reason)),
        Verdict::Supported | Verdict::Refuted => (None, None),
    };
    json!({
        "says": claim.says, "where": Value::Object(filter.collect()), "that": claim.that,
        "published": claim.published, "verdict": judged.verdict.word(), "reason": reason,
        "further_trials": further_trials, "effect": effect,
        "pairs": judged.compared, "pairs_that_seem_to_hold": judged.seems_to_hold,
    })
}
