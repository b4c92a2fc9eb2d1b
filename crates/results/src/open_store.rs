//! Opening a store to read a run of it, for the commands that show results.

use crate::Error;
use lab::disks::Models;
use prepare::advice;
use report::{DiskInfo, Input, ModelFit, RunInfo, ShownPart, TrialInfo, TrialState};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use store::{RunChoice, RunId, RunSummary, Selection, Store, StoreError, TrialRecord, TrialStatus};
use study::plan::{Cell, Plan};
use study::stack::{DiskGroup, MachineKind};
use study::{CellId, Measurement, TestId, TrialKey};

/// Everything of the chosen run, or of the part that `only` leaves, and of the runs of imported results that are shown
/// with it.
pub fn shown(path: &Path, run: Option<&RunChoice>, with: &[RunChoice], only: &[String]) -> Result<Input, Error> {
    let (store, mut chosen) = open(path, run)?;
    if run.is_none() && !with.is_empty() {
        let is_own = |run: &RunSummary| run.machine != MachineKind::Foreign;
        chosen = store.runs()?.into_iter().rfind(is_own).unwrap_or(chosen);
    }
    input_with(&store, &chosen, with, only)
}

/// The selected run, or the last one.
pub fn open(path: &Path, run: Option<&RunChoice>) -> Result<(Store, RunSummary), Error> {
    let store = Store::open_existing(path)?;
    let summary = match run {
        Some(choice) => chosen(&store, choice)?,
        None => store
            .latest_run()?
            .ok_or_else(|| Error::NoRun { store: path.to_owned() })?,
    };
    Ok((store, summary))
}

/// The chosen run. Runs of one name are in stores of earlier versions and in those that were merged.
fn chosen(store: &Store, choice: &RunChoice) -> Result<RunSummary, StoreError> {
    let chosen = store.chosen_run(choice)?;
    if let RunChoice::Name(name) = choice {
        let runs = store.runs()?;
        let named = runs.iter().filter(|run| run.name.as_ref() == Some(name)).count();
        if named > 1 {
            let id = chosen.id.0;
            log::warn!("warning: {named} runs are named `{name}`: the last of them is used, run {id}");
        }
    }
    Ok(chosen)
}

/// A complete run, as input for the table and the report.
pub fn input(store: &Store, run: &RunSummary) -> Result<Input, Error> {
    input_of(store, run, &[])
}

/// The same, together with the cells of runs of imported results. They are shown, but not ranked.
fn input_with(store: &Store, run: &RunSummary, with: &[RunChoice], only: &[String]) -> Result<Input, Error> {
    let mut whole = input_of(store, run, only)?;
    let mut runs_of_cells: HashMap<CellId, RunId> = HashMap::new();
    let mut imports: Vec<Input> = Vec::new();
    let mut seen = HashSet::new();
    for choice in with {
        let imported = chosen(store, choice)?;
        if !seen.insert(imported.id.0) {
            continue;
        }
        if imported.machine != MachineKind::Foreign || imported.id == run.id {
            return Err(Error::NotImported { run: imported.id.0 });
        }
        let mut other = input(store, &imported)?;
        align(&mut other, &whole);
        for cell in &mut other.plan.cells {
            if let Some(first) = runs_of_cells.insert(cell.id, imported.id) {
                return Err(Error::ImportedTwice {
                    runs: [first.0, imported.id.0],
                    stack: cell.stack_label.clone(),
                    workload: cell.workload.name.clone(),
                });
            }
            cell.stack_label.push_str(report::IMPORTED);
        }
        imports.push(other);
    }
    for mut other in imports {
        whole.plan.cells.append(&mut other.plan.cells);
        whole.trials.append(&mut other.trials);
        whole.samples.append(&mut other.samples);
        whole.guards.append(&mut other.guards);
        whole.latencies.append(&mut other.latencies);
        whole.throughput.append(&mut other.throughput);
        whole.facts.append(other.facts);
    }
    Ok(whole)
}

/// The workloads and tests of a run's figures.
#[derive(Default)]
struct OwnTests<'a> {
    by_test: HashMap<&'a TestId, HashSet<&'a str>>,
    by_workload: HashMap<&'a str, HashSet<&'a TestId>>,
}

impl<'a> OwnTests<'a> {
    fn of(run: &'a Input) -> Self {
        let cells = run.plan.cells_by_id();
        let mut own = Self::default();
        for sample in &run.samples {
            if let Some(cell) = cells.get(&sample.trial.cell) {
                let (test, workload) = (&sample.entry.test, cell.workload.name.as_str());
                own.by_test.entry(test).or_default().insert(workload);
                // Not what is counted next to them: requests of each member.
                if cell.workload.work.tests().iter().any(|name| *test == **name) {
                    own.by_workload.entry(workload).or_default().insert(test);
                }
            }
        }
        own
    }

    /// The only workload that has this test; or the workload of this name, if it has a single test.
    fn counterpart(&self, test: &TestId) -> Option<(&'a str, &'a TestId)> {
        if let Some((test, workloads)) = self.by_test.get_key_value(test) {
            return Some((only(workloads)?, test));
        }
        let (workload, tests) = self.by_workload.iter().find(|(name, _)| *test == **name)?;
        Some((workload, only(tests)?))
    }
}

/// The element of a set that has one.
fn only<T: Copy>(set: &HashSet<T>) -> Option<T> {
    set.iter().next().copied().filter(|_| set.len() == 1)
}

/// Gives imported figures the workload of the run that has their test, so that they stand in one table with the run's: a
/// file's jobs are workloads of a study, whose test may be called `read` or `write`. A test of several workloads stays where the
/// name of its own workload puts it.
fn align(imported: &mut Input, run: &Input) {
    let own = OwnTests::of(run);
    let mut aligned: BTreeMap<(CellId, String), Cell> = BTreeMap::new();
    let cells: HashMap<CellId, Cell> = imported.plan.cells.iter().map(|cell| (cell.id, cell.clone())).collect();
    let mut place = |trial: &mut TrialKey, test: &mut TestId| {
        let (Some(cell), Some((only, own_test))) = (cells.get(&trial.cell), own.counterpart(test)) else {
            return;
        };
        own_test.clone_into(test);
        if cell.workload.name == only {
            return;
        }
        let moved = aligned.entry((cell.id, only.to_owned())).or_insert_with(|| {
            let mut moved = cell.clone();
            moved.workload.name = only.to_owned();
            moved.axes.retain(|(axis, _)| axis != "workload");
            moved.axes.push(("workload".to_owned(), only.to_owned()));
            moved.id = CellId::of(&moved);
            moved
        });
        trial.cell = moved.id;
    };
    for sample in &mut imported.samples {
        place(&mut sample.trial, &mut sample.entry.test);
    }
    for latency in &mut imported.latencies {
        place(&mut latency.trial, &mut latency.entry.test);
    }
    for throughput in &mut imported.throughput {
        place(&mut throughput.trial, &mut throughput.entry.test);
    }
    // A cell all of whose figures were moved would collide with that of another import.
    let samples = imported.samples.iter().map(|sample| sample.trial.cell);
    let latencies = imported.latencies.iter().map(|latency| latency.trial.cell);
    let throughput = imported.throughput.iter().map(|throughput| throughput.trial.cell);
    let left: HashSet<CellId> = samples.chain(latencies).chain(throughput).collect();
    let is_moved = |cell: &Cell| {
        aligned
            .range((cell.id, String::new())..)
            .next()
            .is_some_and(|((of, _), _)| *of == cell.id)
    };
    imported
        .plan
        .cells
        .retain(|cell| left.contains(&cell.id) || !is_moved(cell));
    imported.plan.cells.extend(aligned.into_values());
}

/// More cells than a person reads or than fit on a page of reasonable size.
const CELLS_MAX: usize = 4_000;

/// How many stacks are shown if a run has more cells.
fn stacks_max(workloads: usize) -> usize {
    (CELLS_MAX / workloads.max(1)).clamp(20, 200)
}

/// The run, or the requested part of it; if there are very many stacks, the best ones.
fn input_of(store: &Store, run: &RunSummary, only: &[String]) -> Result<Input, Error> {
    let failed = Error::StoreUnderWay;
    let digest = store.digest(run.id).map_err(failed)?;
    let mut plan = store.plan(run.id).map_err(failed)?;
    if let Some(changed) = store.changed(run.id).map_err(failed)? {
        log::warn!(
            "warning: run {} was changed after it was recorded: {}; its figures are not those that were measured",
            run.id.0,
            changed.words(&plan)
        );
    }
    let mut part = None;
    if !only.is_empty() {
        study_file::Only::parse(only, &plan)?.keep_in(&mut plan);
        part = Some(plan.stack_labels().len());
    }
    let mut samples = store.samples_of(&selection(run.id, &plan)).map_err(failed)?;
    let all_stacks = plan.stack_labels().len();
    let most = stacks_max(plan.workload_names().len());
    if plan.cells.len() > CELLS_MAX && all_stacks > most {
        let best = stats::best_stacks(&plan, &samples, most);
        let best: HashSet<String> = best.into_iter().map(str::to_owned).collect();
        plan.cells.retain(|cell| best.contains(&cell.stack_label));
        part = Some(all_stacks);
    }
    let read = selection(run.id, &plan);
    samples.retain(|sample| read.has(sample.trial.cell));
    let part = part.map(|all_stacks| ShownPart {
        all_stacks,
        only: only.to_vec(),
    });
    read_input(store, run, plan, samples, part, digest).map_err(failed)
}

fn selection(run: RunId, plan: &Plan) -> Selection {
    Selection::of(run, plan.cells.iter().map(|cell| cell.id).collect())
}

fn read_input(
    store: &Store,
    run: &RunSummary,
    plan: Plan,
    samples: Vec<Measurement>,
    part: Option<ShownPart>,
    digest: String,
) -> Result<Input, StoreError> {
    let read = selection(run.id, &plan);
    let mut trials = store.trials(run.id)?;
    trials.retain(|trial| read.has(trial.key.cell));
    let advice = advice::advice(&plan);
    let mut facts = store.facts_of(&read)?;
    for drawn in &mut facts.drawn {
        drawn.entry.figure = lab::disks::drawn_words(&drawn.entry.figure);
    }
    Ok(Input {
        of_caches: advice.of_caches,
        of_safety: advice.of_safety,
        advice: advice.sentences,
        disks: disk_infos(&plan),
        run: run_info(run, digest),
        trials: trials.into_iter().map(trial_info).collect(),
        samples,
        guards: store.guards_of(&read)?,
        latencies: store.latencies_of(&read)?,
        throughput: store.throughput_of(&read)?,
        calls: store.calls_of(&read)?,
        facts,
        part,
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

/// A trial, as input for the table and the report.
pub(crate) fn trial_info(trial: TrialRecord) -> TrialInfo {
    let state = match (trial.status, trial.failure) {
        (TrialStatus::Done, _) => TrialState::Done,
        (TrialStatus::Failed, Some(failure)) => TrialState::Failed(failure),
        _ => TrialState::Unfinished,
    };
    TrialInfo {
        key: trial.key,
        // Numbers increase with each start, including repeated trials.
        started: u64::try_from(trial.id.0).ok().filter(|_| !trial.is_reused),
        state,
        wall_ns: trial.wall_ns,
        machine_ns: trial.machine_ns,
    }
}

fn disk_infos(plan: &Plan) -> Vec<DiskInfo> {
    let models = Models::of(plan);
    let mut groups: Vec<&DiskGroup> = plan.cells.iter().flat_map(|cell| &cell.machine.disks).collect();
    // Those in the state of their model come first.
    groups.sort_unstable_by_key(|group| (&group.model, group.state.is_some()));
    groups.dedup_by_key(|group| &group.model);
    let resyncs = plan.cells.iter().any(|cell| cell.stack.array.resyncs_after_a_crash());
    let info = |group: &DiskGroup| {
        let found = models.find(group).ok()?;
        let mut words = found.file.title.clone();
        if let Some(sha256) = &group.model_sha256 {
            words.push_str(&format!(" (the study's own model, SHA-256 {sha256})"));
        }
        Some(DiskInfo {
            model: group.model.clone(),
            words,
            bytes: lab::disks::bytes(&found),
            has_heads: lab::disks::has_heads(&found),
            is_full_drive: group.state.is_none() && lab::disks::is_full_drive(&found),
            unverified: lab::disks::estimates(&found),
            fit: group
                .model_sha256
                .is_none()
                .then(|| lab::disks::fit(&found.file.name))
                .flatten()
                .map(|fit| ModelFit {
                    figures: fit.figures,
                    met: fit.met,
                    median_percent: fit.median_percent,
                    worst: fit.worst,
                    off_percent: fit.off_percent,
                }),
            pass_hours: resyncs
                .then(|| lab::disks::rebuild_time::pass_hours(group, &found))
                .flatten(),
        })
    };
    groups.into_iter().filter_map(info).collect()
}
