//! Stores results that other programs measured elsewhere as a run of their own.
//!
//! Nothing is known of the machine, the stack or the circumstances, so such a run is marked wherever it is shown, and
//! no run of raidlab's own is ever ranked with it; `show --with` and `report --with` put the two side by side.

use crate::Error;
use files::{published_path, read_file};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use store::{Ending, RunId, RunSpec, RunState, Store};
use study::event::Event;
use study::plan::{Cell, Plan, Trial};
use study::stack::MachineKind;
use study::workload::{ImportedSpec, Work};
use study::{CellId, TestId};
use tools::shell_word;
use workload::foreign::{self, Foreign};

/// json+ output of many jobs can be tens of MiB.
const BYTES_MAX: u64 = 64 << 20;
/// Limit of all files together: their texts are stored with the run.
const ALL_BYTES_MAX: usize = 128 << 20;

/// Template for a plan about which nothing is known: each result becomes a cell.
const FRAME: &str = "machine = \"host\"\n[[workload]]\nname = \"imported\"\nio = {}\n[precision]\ntrials = 1\n";

/// Imported results depend only on their own files, so they are never reused.
const ORIGIN: &str = "imported";

/// A file and its results.
struct Read {
    path: PathBuf,
    text: String,
    results: Vec<Foreign>,
}

/// Parameters from the command line.
pub struct ImportOptions {
    pub files: Vec<PathBuf>,
    pub stack: Option<String>,
    pub workload: Option<String>,
    pub test: Option<String>,
    pub store: PathBuf,
}

/// The run of imported results.
pub struct Imported {
    pub run: RunId,
    /// `None` if the store already had the run.
    pub results: Option<usize>,
    /// What was left out of which file, and why.
    pub notes: Vec<String>,
}

/// Reads all files before anything is stored.
pub fn import(options: &ImportOptions) -> Result<Imported, Error> {
    for (option, name) in [
        ("--stack", &options.stack),
        ("--workload", &options.workload),
        ("--test", &options.test),
    ] {
        if let Some(reason) = name.as_deref().and_then(foreign::unusable) {
            return Err(Error::ForeignName { option, reason });
        }
    }
    let files = read_all(&options.files)?;
    let (plan, trials) = plan_of(&files, options)?;
    let version = prepare::version()?;
    let command = command_line(options);
    let spec = RunSpec {
        plan: &plan,
        seed: 0,
        machine: MachineKind::Foreign,
        devices: &[],
        only: &[],
        shard: None,
        raidlab_version: &version,
        command: &command,
        started_at_unix_s: prepare::now_unix_s(),
    };
    let mut store = Store::open(&options.store)?;
    let (run, results) = store.all_or_nothing(|store| stored(store, &spec, &trials))?;
    Ok(Imported {
        run,
        results,
        notes: notes(&files),
    })
}

/// Stores what is not in the store yet. `None` if it already had the run.
fn stored(
    store: &mut Store,
    spec: &RunSpec<'_>,
    trials: &[ImportedTrial],
) -> Result<(RunId, Option<usize>), Error> {
    let run = store.open_run(spec)?;
    if run.found == RunState::Finished {
        return Ok((run.summary.id, None));
    }
    let failed = Error::StoreUnderWay;
    for (trial, events) in trials {
        if run.is_done(trial.cell.id, trial.index) {
            continue;
        }
        let id = store.begin_trial(&run, trial, ORIGIN).map_err(failed)?;
        for event in events {
            store.append(id, event).map_err(failed)?;
        }
        store.end_trial(id, &Ending::Done, 0).map_err(failed)?;
    }
    store.finish_run(&run, prepare::now_unix_s()).map_err(failed)?;
    Ok((run.summary.id, Some(trials.len())))
}

fn read_all(paths: &[PathBuf]) -> Result<Vec<Read>, Error> {
    let mut files: Vec<Read> = Vec::new();
    let mut refused = Vec::new();
    let mut bytes = 0;
    for path in paths {
        let file = match read(path) {
            Ok(file) => file,
            Err(error) => {
                refused.push(error);
                continue;
            }
        };
        bytes += file.text.len();
        if bytes > ALL_BYTES_MAX {
            return Err(Error::ForeignResults {
                path: file.path,
                reason: format!("and the files before it have more than {} MiB", ALL_BYTES_MAX >> 20),
            });
        }
        files.push(file);
    }
    match refused.len() {
        0 => Ok(files),
        1 => Err(refused.remove(0)),
        _ => Err(Error::SeveralRefused {
            all: paths.len(),
            refused,
        }),
    }
}

/// Each once for a file, whose results may share it.
fn notes(files: &[Read]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for file in files {
        let mut known = HashSet::new();
        let mut of_file: Vec<&String> = file.results.iter().flat_map(|result| &result.notes).collect();
        of_file.retain(|note| known.insert(note.as_str()));
        notes.extend(
            of_file
                .into_iter()
                .map(|note| format!("`{}`: {note}", file.path.display())),
        );
    }
    notes
}

fn read(path: &Path) -> Result<Read, Error> {
    let text = read_file::read(path, BYTES_MAX).map_err(|error| error.of(path, "; nothing was stored"))?;
    let results = foreign::read(&text).map_err(|reason| Error::ForeignResults {
        path: path.to_owned(),
        reason,
    })?;
    Ok(Read {
        path: path.to_owned(),
        text,
        results,
    })
}

/// A trial with its events.
type ImportedTrial = (Trial, Vec<Event>);

/// A trial for every result, with its events: each with its own stack, or all with the same stack.
fn plan_of(files: &[Read], options: &ImportOptions) -> Result<(Plan, Vec<ImportedTrial>), Error> {
    let mut plan =
        study_file::read(FRAME, "import", &study_file::Known::default()).map_err(prepare::Error::from)?;
    let frame = plan.cells[0].clone();
    plan.cells.clear();
    let mut trials: Vec<ImportedTrial> = Vec::new();
    let mut labels = Labels::default();
    let has_one_work = has_one_work(files);
    for file in files {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for result in &file.results {
            let workload = match &options.workload {
                Some(workload) if has_one_work => workload.clone(),
                Some(workload) => format!("{workload} {}", result.work),
                None => format!("{} {}", result.program, result.work),
            };
            let workload = workload.trim_end();
            let stack = match &options.stack {
                Some(stack) => labels.of_same_work(format!("{stack} {}", result.machine).trim(), &result.settings),
                None => labels.unlike_others(format!("{name} {}", result.machine).trim(), workload),
            };
            let cell = cell(&frame, stack, workload, result.program);
            let index = labels.next_trial(cell.id);
            if index == 0 {
                plan.cells.push(cell.clone());
            }
            let mut events = vec![Event::Provenance {
                key: "imported.from".to_owned(),
                value: name.clone(),
            }];
            let settings = result.settings.iter().map(|(name, value)| format!("{name}={value}"));
            let settings: Vec<String> = settings.collect();
            if !settings.is_empty() {
                events.push(Event::Provenance {
                    key: report::IMPORTED_SETTINGS.to_owned(),
                    value: settings.join(", "),
                });
            }
            events.extend(result.events.iter().cloned());
            if let Some(test) = &options.test {
                call_test(&mut events, test, file)?;
            }
            trials.push((Trial { cell, index, seed: 0 }, events));
        }
    }
    let names: Vec<String> = files.iter().map(|file| published_path(&file.path)).collect();
    plan.title = format!("Imported: {}", names.join(", "));
    plan.description =
        "Results measured elsewhere by another program. Raidlab knows nothing about the machine, the stack and \
                        the conditions, and does not rank its own results against them."
            .to_owned();
    // The files and their descriptions identify the run: the same ones again are the same run.
    plan.source = match (&options.stack, &options.workload, &options.test) {
        (None, None, None) => String::new(),
        (Some(stack), None, None) => format!("# {stack}\n"),
        (stack, workload, test) => format!("# {stack:?} {workload:?} {test:?}\n"),
    };
    for file in files {
        plan.source
            .push_str(&format!("# {}\n{}\n", published_path(&file.path), file.text));
    }
    let most = trials.iter().map(|(trial, _)| trial.index + 1).max().unwrap_or(1);
    (plan.precision.min_trials, plan.precision.max_trials) = (most, most);
    Ok((plan, trials))
}

/// Whether all results are of the same work, so that one name is enough for it.
fn has_one_work(files: &[Read]) -> bool {
    let mut works = files.iter().flat_map(|file| &file.results).map(|result| &result.work);
    let first = works.next();
    works.all(|work| Some(work) == first)
}

/// The labels of stacks, and their trials so far.
#[derive(Default)]
struct Labels {
    used: HashMap<(String, String), u32>,
    settings: HashMap<String, BTreeMap<String, String>>,
    trials: HashMap<CellId, u32>,
}

impl Labels {
    /// A label that no cell of this workload has yet.
    fn unlike_others(&mut self, label: &str, workload: &str) -> String {
        let count = self.used.entry((label.to_owned(), workload.to_owned())).or_default();
        *count += 1;
        match *count {
            1 => label.to_owned(),
            count => format!("{label} #{count}"),
        }
    }

    /// The label of the first result with this work: results of other work are not trials of it.
    fn of_same_work(&mut self, label: &str, settings: &BTreeMap<String, String>) -> String {
        let first = self
            .settings
            .entry(label.to_owned())
            .or_insert_with(|| settings.clone());
        let differs = |(name, value): &(&String, &String)| first.get(*name).is_some_and(|other| other != *value);
        let others: Vec<String> = settings
            .iter()
            .filter(differs)
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if others.is_empty() {
            return label.to_owned();
        }
        format!("{label} ({})", others.join(", "))
    }

    fn next_trial(&mut self, cell: CellId) -> u32 {
        let next = self.trials.entry(cell).or_default();
        *next += 1;
        *next - 1
    }
}

/// Renames the only test of a result.
fn call_test(events: &mut [Event], name: &str, file: &Read) -> Result<(), Error> {
    fn test_of(event: &mut Event) -> Option<&mut TestId> {
        match event {
            Event::Sample(sample) => Some(&mut sample.test),
            Event::Latency(latency) => Some(&mut latency.test),
            Event::Throughput(throughput) => Some(&mut throughput.test),
            Event::Guard(guard) => guard.test.as_mut(),
            _ => None,
        }
    }
    // The directions of a mix keep their names.
    let is_part = |test: &str| ["read", "write", "trim"].contains(&test);
    let mut tests: BTreeSet<TestId> = events.iter_mut().filter_map(test_of).map(|test| test.clone()).collect();
    // The latencies of a job's syncs keep their name as well.
    if tests.iter().any(|test| test != "fsync") {
        tests.retain(|test| test != "fsync");
    }
    let wholes: Vec<&TestId> = match tests.len() {
        1 => tests.iter().collect(),
        _ => tests.iter().filter(|test| !is_part(test)).collect(),
    };
    let [whole] = wholes[..] else {
        let names: Vec<String> = tests.iter().take(5).map(|test| format!("`{test}`")).collect();
        return Err(Error::ForeignResults {
            path: file.path.clone(),
            reason: format!("has more than one test, {}: leave --test out", names.join(", ")),
        });
    };
    for test in events.iter_mut().filter_map(test_of).filter(|test| *test == whole) {
        *test = name.into();
    }
    Ok(())
}

fn cell(frame: &Cell, label: String, workload: &str, program: &str) -> Cell {
    let mut cell = frame.clone();
    cell.key = format!("{label} | {workload}");
    cell.axes = vec![
        ("imported".to_owned(), label.clone()),
        ("workload".to_owned(), workload.to_owned()),
    ];
    cell.stack_label = label;
    cell.workload.name = workload.to_owned();
    cell.workload.work = Work::Imported(ImportedSpec {
        program: program.to_owned(),
    });
    cell.machine_mut().kind = MachineKind::Foreign;
    cell.machine_mut().ram_bytes = 0;
    cell.machine_mut().kernel = "unknown".to_owned();
    cell.machine_mut().disks.clear();
    cell.id = CellId::of(&cell);
    cell
}

fn command_line(options: &ImportOptions) -> String {
    let mut words = vec!["raidlab".to_owned(), "import".to_owned()];
    words.extend(options.files.iter().map(|path| published_path(path)));
    for (option, value) in [
        ("--stack", &options.stack),
        ("--workload", &options.workload),
        ("--test", &options.test),
    ] {
        if let Some(value) = value {
            words.extend([option.to_owned(), value.clone()]);
        }
    }
    words.extend(["--store".to_owned(), published_path(&options.store)]);
    let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
    words.join(" ")
}
