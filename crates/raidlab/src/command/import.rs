//! `raidlab import`: results of other programs, measured elsewhere, as a run of their own.
//!
//! Nothing is known of the machine, the stack or the circumstances, so such a run is marked wherever it is shown, and
//! no run of raidlab's own is ever ranked with it; `show --with` and `report --with` put the two side by side.

use super::{run, text};
use crate::cli::ImportArguments;
use crate::expected::ExpectedError;
use crate::progress::note;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::{Ending, Found, RunSpec, Store};
use study::CellId;
use study::event::Event;
use study::plan::{Cell, Plan, Trial};
use study::stack::MachineKind;
use study::workload::{ImportedSpec, Work};
use tools::shell_word;
use workload::foreign::{self, Foreign};

/// json+ of many jobs runs to tens of MiB.
const BYTES_MAX: u64 = 256 << 20;

/// What stands in a plan where nothing is known: a cell is made of it for every result.
const FRAME: &str = "machine = \"host\"\n[[workload]]\nname = \"imported\"\nio = {}\n[precision]\ntrials = 1\n";

/// What an imported result depends on, besides its own file: it is no other run's.
const ORIGIN: &str = "imported";

/// A file, and what is in it.
struct Read {
    path: PathBuf,
    text: String,
    results: Vec<Foreign>,
}

pub fn import(arguments: &ImportArguments) -> Result<ExitCode, ExpectedError> {
    // All are read before anything is stored.
    let files: Vec<Read> = arguments
        .files
        .iter()
        .map(|path| read(path))
        .collect::<Result<_, _>>()?;
    let (plan, trials) = plan_of(&files, arguments)?;
    let mut store = Store::open(&arguments.store)?;
    let run = store.open_run(&RunSpec {
        plan: &plan,
        seed: 0,
        machine: MachineKind::Foreign,
        devices: &[],
        only: &[],
        shard: None,
        raidlab_version: &run::version()?,
        command: &command_line(arguments),
        started_at_unix_s: run::now_unix_s(),
    })?;
    if run.found == Found::Finished {
        note(&format!(
            "raidlab: these results are already in the store, as run {}",
            run.summary.id.0
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let failed = ExpectedError::StoreUnderWay;
    for (trial, events) in &trials {
        if run.is_done(trial.cell.id, trial.index) {
            continue;
        }
        let id = store.begin_trial(&run, trial, ORIGIN).map_err(failed)?;
        for event in events {
            store.append(id, event).map_err(failed)?;
        }
        store.end_trial(id, &Ending::Done, 0).map_err(failed)?;
    }
    store.finish_run(&run, run::now_unix_s()).map_err(failed)?;
    note(&format!(
        "raidlab: imported {} of {} as run {} of {}: `raidlab show --run {}` shows them",
        report::count(trials.len(), "result"),
        report::count(files.len(), "file"),
        run.summary.id.0,
        arguments.store.display(),
        run.summary.id.0
    ));
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<Read, ExpectedError> {
    let text = text::read(path, BYTES_MAX).map_err(|source| ExpectedError::File {
        path: path.to_owned(),
        source,
        advice: "; nothing was stored",
    })?;
    let results = foreign::read(&text).map_err(|reason| ExpectedError::ForeignResults {
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

/// A trial for every result, with its events: of a stack of its own, or of the one that all files are of.
fn plan_of(files: &[Read], arguments: &ImportArguments) -> Result<(Plan, Vec<ImportedTrial>), ExpectedError> {
    let mut plan = study_file::read(FRAME, "import", &study_file::Known::default())?;
    let frame = plan.cells[0].clone();
    plan.cells.clear();
    let mut trials: Vec<ImportedTrial> = Vec::new();
    for file in files {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for result in &file.results {
            let workload = arguments.workload.as_deref().unwrap_or(result.program);
            let stack = match &arguments.stack {
                Some(stack) => format!("{stack} {}", result.label).trim().to_owned(),
                None => unlike_others(&plan, format!("{name} {}", result.label).trim()),
            };
            let cell = cell(&frame, stack, workload, result.program);
            let index = trials.iter().filter(|(trial, _)| trial.cell.id == cell.id).count() as u32;
            if index == 0 {
                plan.cells.push(cell.clone());
            }
            let mut events = vec![Event::Provenance {
                key: "imported.from".to_owned(),
                value: name.clone(),
            }];
            events.extend(result.events.iter().cloned());
            if let Some(test) = &arguments.test {
                call_test(&mut events, test, file)?;
            }
            trials.push((Trial { cell, index, seed: 0 }, events));
        }
    }
    let names: Vec<String> = files.iter().map(|file| file.path.display().to_string()).collect();
    plan.title = format!("Imported: {}", names.join(", "));
    plan.description =
        "Results measured elsewhere by another program. Raidlab knows nothing about the machine, the stack and \
                        the conditions, and does not rank its own results against them."
            .to_owned();
    // The files themselves, and what they were said to be, are what this run is: the same ones again are the same run.
    let said = [&arguments.stack, &arguments.workload, &arguments.test];
    let said: Vec<&str> = said.into_iter().flatten().map(String::as_str).collect();
    plan.source = if said.is_empty() {
        String::new()
    } else {
        format!("# {}\n", said.join(", "))
    };
    for file in files {
        plan.source
            .push_str(&format!("# {}\n{}\n", file.path.display(), file.text));
    }
    let most = trials.iter().map(|(trial, _)| trial.index + 1).max().unwrap_or(1);
    (plan.precision.min_trials, plan.precision.max_trials) = (most, most);
    Ok((plan, trials))
}

/// A label that no cell of the plan has yet.
fn unlike_others(plan: &Plan, label: &str) -> String {
    let same = |cell: &&Cell| cell.stack_label == label || cell.stack_label.starts_with(&format!("{label} #"));
    match plan.cells.iter().filter(same).count() {
        0 => label.to_owned(),
        before => format!("{label} #{}", before + 1),
    }
}

/// Gives the only test of a result another name.
fn call_test(events: &mut [Event], name: &str, file: &Read) -> Result<(), ExpectedError> {
    fn test_of(event: &mut Event) -> Option<&mut String> {
        match event {
            Event::Sample(sample) => Some(&mut sample.test),
            Event::Latency(latency) => Some(&mut latency.test),
            Event::Course(course) => Some(&mut course.test),
            Event::Guard(guard) => guard.test.as_mut(),
            _ => None,
        }
    }
    let mut known: Option<String> = None;
    for test in events.iter_mut().filter_map(test_of) {
        match &known {
            Some(first) if first != test => {
                return Err(ExpectedError::ForeignResults {
                    path: file.path.clone(),
                    reason: format!("has more than one test, `{first}` and `{test}`: leave --test out"),
                });
            }
            _ => known = Some(std::mem::replace(test, test.clone())),
        }
    }
    for test in events.iter_mut().filter_map(test_of) {
        name.clone_into(test);
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
    cell.machine.kind = MachineKind::Foreign;
    cell.machine.ram_bytes = 0;
    cell.machine.kernel = "unknown".to_owned();
    cell.machine.disks.clear();
    cell.id = CellId::of(&cell);
    cell
}

fn command_line(arguments: &ImportArguments) -> String {
    let mut words = vec!["raidlab".to_owned(), "import".to_owned()];
    words.extend(arguments.files.iter().map(|path| path.display().to_string()));
    for (option, value) in [
        ("--stack", &arguments.stack),
        ("--workload", &arguments.workload),
        ("--test", &arguments.test),
    ] {
        if let Some(value) = value {
            words.extend([option.to_owned(), value.clone()]);
        }
    }
    words.extend(["--store".to_owned(), arguments.store.display().to_string()]);
    let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
    words.join(" ")
}
