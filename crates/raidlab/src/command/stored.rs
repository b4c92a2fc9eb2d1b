//! Opening a store to read a run of it, for the commands that show results.

use super::advice;
use crate::cli::ShownRun;
use crate::expected::ExpectedError;
use lab::disks::Models;
use report::{DiskInfo, Input, RunInfo, TrialInfo, TrialState};
use std::path::Path;
use store::{RunChoice, RunSummary, Store, TrialRecord, TrialStatus};
use study::plan::Plan;
use study::stack::{DiskGroup, MachineKind};

/// Everything of the run that the arguments choose, and of the one that is shown with it.
pub fn shown(arguments: &ShownRun) -> Result<Input, ExpectedError> {
    let (store, run) = open(&arguments.stored.store, arguments.stored.run.as_ref())?;
    input_with(&store, &run, arguments.with.as_ref())
}

/// The run that was chosen, or the last.
pub fn open(path: &Path, run: Option<&RunChoice>) -> Result<(Store, RunSummary), ExpectedError> {
    let store = Store::open_existing(path)?;
    let summary = match run {
        Some(choice) => store.chosen_run(choice)?,
        None => store
            .latest_run()?
            .ok_or_else(|| ExpectedError::NoRun { store: path.to_owned() })?,
    };
    Ok((store, summary))
}

/// A run, whole, as the table and the report want it.
pub fn input(store: &Store, run: &RunSummary) -> Result<Input, ExpectedError> {
    read_input(store, run).map_err(ExpectedError::StoreUnderWay)
}

/// The same, with the cells of a run of imported results next to its own. They are shown, and not ranked with them.
fn input_with(store: &Store, run: &RunSummary, with: Option<&RunChoice>) -> Result<Input, ExpectedError> {
    let mut whole = input(store, run)?;
    let Some(choice) = with else { return Ok(whole) };
    let imported = store.chosen_run(choice)?;
    if imported.machine != MachineKind::Foreign || imported.id == run.id {
        return Err(ExpectedError::NotImported { run: imported.id.0 });
    }
    let mut other = input(store, &imported)?;
    for cell in &mut other.plan.cells {
        cell.stack_label.push_str(" (imported)");
    }
    whole.plan.cells.append(&mut other.plan.cells);
    whole.trials.append(&mut other.trials);
    whole.samples.append(&mut other.samples);
    whole.guards.append(&mut other.guards);
    whole.latencies.append(&mut other.latencies);
    whole.provenance.append(&mut other.provenance);
    Ok(whole)
}

fn read_input(store: &Store, run: &RunSummary) -> Result<Input, store::StoreError> {
    let plan = store.plan(run.id)?;
    Ok(Input {
        advice: advice::of(&plan),
        disks: disk_infos(&plan),
        run: run_info(run, store.digest(run.id)?),
        trials: store.trials(run.id)?.into_iter().map(trial_info).collect(),
        samples: store.samples(run.id)?,
        guards: store.guards(run.id)?,
        latencies: store.latencies(run.id)?,
        calls: store.calls(run.id)?,
        provenance: store.provenance(run.id)?,
        plan,
    })
}

fn run_info(run: &RunSummary, digest_sha256: String) -> RunInfo {
    RunInfo {
        machine: run.machine,
        seed: run.seed,
        only: run.only.clone(),
        raidlab_version: run.raidlab_version.clone(),
        command: run.command.clone(),
        study_sha256: run.study_sha256.clone(),
        digest_sha256,
        started_at_unix_s: run.started_at_unix_s,
        finished_at_unix_s: run.finished_at_unix_s,
    }
}

fn trial_info(trial: TrialRecord) -> TrialInfo {
    let state = match (trial.status, trial.failure) {
        (TrialStatus::Done, _) => TrialState::Done,
        (TrialStatus::Failed, Some(failure)) => TrialState::Failed(failure),
        _ => TrialState::Unfinished,
    };
    TrialInfo {
        key: trial.key,
        state,
        wall_ns: trial.wall_ns,
        machine_ns: trial.machine_ns,
    }
}

fn disk_infos(plan: &Plan) -> Vec<DiskInfo> {
    let models = Models::of(plan);
    let mut groups: Vec<&DiskGroup> = plan.cells.iter().flat_map(|cell| &cell.machine.disks).collect();
    groups.sort_unstable_by_key(|group| &group.model);
    groups.dedup_by_key(|group| &group.model);
    let info = |group: &DiskGroup| {
        let mut words = models.find(group).ok()?.file.title;
        if let Some(sha256) = &group.model_sha256 {
            words.push_str(&format!(" (the study's own model, SHA-256 {sha256})"));
        }
        Some(DiskInfo {
            model: group.model.clone(),
            words,
        })
    };
    groups.into_iter().filter_map(info).collect()
}
