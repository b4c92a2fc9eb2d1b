//! Failures, guards, and calls of external programs: nothing is omitted silently.

use crate::input::{Input, TrialState};
use crate::words::figure::{count, nanoseconds};
use serde::Serialize;
use study::TrialKey;

#[derive(Serialize)]
pub(super) struct Failures {
    /// Summary of what went well.
    summary: String,
    failed: Vec<FailedTrial>,
    unfinished: Vec<String>,
    guards: Vec<FailedGuard>,
    programs: Vec<Program>,
    calls: String,
}

#[derive(Serialize)]
struct FailedTrial {
    cell: String,
    trial: u32,
    seed: u64,
    step: String,
    message: String,
}

/// A failed guard, with the number of trials of a cell in which it failed and one of its observations.
#[derive(Serialize)]
struct FailedGuard {
    cell: String,
    trials: Vec<u32>,
    guard: String,
    test: String,
    detail: String,
}

/// All calls of one external program.
#[derive(Serialize)]
struct Program {
    name: String,
    calls: usize,
    failed: usize,
    duration: String,
}

pub(super) fn failures(input: &Input) -> Failures {
    let keys = input.cell_keys();
    let key = |trial: TrialKey| keys.get(&trial.cell).copied().unwrap_or_default();
    let failed: Vec<FailedTrial> = input
        .trials
        .iter()
        .filter_map(|trial| match &trial.state {
            TrialState::Failed(failure) => Some(FailedTrial {
                cell: key(trial.key).to_owned(),
                trial: trial.key.index + 1,
                seed: trial.key.seed,
                step: failure.step.clone(),
                message: failure.message.clone(),
            }),
            TrialState::Done | TrialState::Unfinished => None,
        })
        .collect();
    let guards = failed_guards(input);
    let guards_failed = input.guards.iter().filter(|row| !row.entry.passed).count();
    let unfinished = input
        .trials
        .iter()
        .filter(|trial| trial.state == TrialState::Unfinished)
        .map(|trial| format!("{}, trial {}", key(trial.key), trial.key.index + 1))
        .collect();
    Failures {
        summary: summary(input, failed.len(), guards_failed),
        failed,
        unfinished,
        guards,
        programs: programs(input),
        calls: count(input.calls.len(), "call"),
    }
}

/// Each guard of each test of a cell once, however many trials it failed in.
fn failed_guards(input: &Input) -> Vec<FailedGuard> {
    let keys = input.cell_keys();
    let mut all: Vec<FailedGuard> = Vec::new();
    for row in input.guards.iter().filter(|row| !row.entry.passed) {
        let cell = keys.get(&row.trial.cell).copied().unwrap_or_default();
        let test = row.entry.test.as_deref().unwrap_or("all tests");
        let known = all
            .iter_mut()
            .find(|known| known.cell == cell && known.test == test && known.guard == row.entry.name);
        match known {
            Some(known) => known.trials.push(row.trial.index + 1),
            None => all.push(FailedGuard {
                cell: cell.to_owned(),
                trials: vec![row.trial.index + 1],
                guard: row.entry.name.clone(),
                test: test.to_owned(),
                detail: row.entry.detail.clone(),
            }),
        }
    }
    all
}

fn summary(input: &Input, failed: usize, guards_failed: usize) -> String {
    let trials = match failed {
        0 => "No trial failed".to_owned(),
        failed => format!("{} of {} failed", count(failed, "trial"), input.trials.len()),
    };
    let guards = match (input.guards.len(), guards_failed) {
        (0, _) => "no guard was set".to_owned(),
        (all, 0) => format!("all {} passed", count(all, "guard")),
        (all, failed) => format!("{failed} of {} failed", count(all, "guard")),
    };
    format!("{trials}; {guards}.")
}

fn programs(input: &Input) -> Vec<Program> {
    let mut programs: Vec<(String, usize, usize, u64)> = Vec::new();
    for row in &input.calls {
        let path = row.entry.argv.first().map_or("", String::as_str);
        let name = path.rsplit('/').next().unwrap_or(path);
        let failed = usize::from(row.entry.exit != Some(0));
        match programs.iter_mut().find(|(known, ..)| known == name) {
            Some((_, calls, failures, duration_ns)) => {
                *calls += 1;
                *failures += failed;
                *duration_ns += row.entry.duration_ns;
            }
            None => programs.push((name.to_owned(), 1, failed, row.entry.duration_ns)),
        }
    }
    programs.sort();
    let program = |(name, calls, failed, duration_ns)| Program {
        name,
        calls,
        failed,
        duration: nanoseconds(duration_ns),
    };
    programs.into_iter().map(program).collect()
}
