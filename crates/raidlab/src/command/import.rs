//! `raidlab import`: results of other programs, measured elsewhere, as a run of their own.
//!
//! Nothing is known of the machine, the stack or the circumstances, so such a run is marked wherever it is shown, and
//! no run of raidlab's own is ever ranked with it.

use super::{run, text};
use crate::cli::ImportArguments;
use crate::expected::ExpectedError;
use crate::progress::say;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::{Ending, Found, RunSpec, Store};
use study::event::Event;
use study::plan::{Cell, Plan, Trial};
use study::stack::MachineKind;
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
    let (plan, events) = plan_of(&files)?;
    let mut store = Store::open(&arguments.store)?;
    let run = store.open_run(&RunSpec {
        plan: &plan,
        seed: 0,
        machine: MachineKind::Foreign,
        devices: &[],
        only: &[],
        raidlab_version: &run::version()?,
        command: &command_line(arguments),
        started_at_unix_s: run::now_unix_s(),
    })?;
    if run.found == Found::Finished {
        say(&format!(
            "raidlab: these results are in the store already, as run {}",
            run.summary.id.0
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let failed = ExpectedError::StoreUnderWay;
    for (cell, events) in plan.cells.iter().zip(&events) {
        if run.is_done(cell.id, 0) {
            continue;
        }
        let trial = Trial {
            cell: cell.clone(),
            index: 0,
            seed: 0,
        };
        let id = store.begin_trial(&run, &trial, ORIGIN).map_err(failed)?;
        for event in events {
            store.append(id, event).map_err(failed)?;
        }
        store.end_trial(id, &Ending::Done, 0).map_err(failed)?;
    }
    store.finish_run(&run, run::now_unix_s()).map_err(failed)?;
    say(&format!(
        "raidlab: {} of {} as run {} of {}: `raidlab show --run {}` shows them",
        report::count(plan.cells.len(), "result"),
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

/// A cell for every result, and its events.
fn plan_of(files: &[Read]) -> Result<(Plan, Vec<Vec<Event>>), ExpectedError> {
    let mut plan = study_file::read(FRAME, "import", &study_file::Known::default())?;
    let frame = plan.cells[0].clone();
    plan.cells.clear();
    let mut all = Vec::new();
    for file in files {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for result in &file.results {
            let mut label = format!("{name} {}", result.label).trim().to_owned();
            let same =
                |cell: &&Cell| cell.stack_label == label || cell.stack_label.starts_with(&format!("{label} #"));
            let before = plan.cells.iter().filter(same).count();
            if before > 0 {
                label = format!("{label} #{}", before + 1);
            }
            plan.cells.push(cell(&frame, label, result.program));
            let mut events = vec![Event::Provenance {
                key: "imported.from".to_owned(),
                value: name.clone(),
            }];
            events.extend(result.events.iter().cloned());
            all.push(events);
        }
    }
    let names: Vec<String> = files.iter().map(|file| file.path.display().to_string()).collect();
    plan.title = format!("Imported: {}", names.join(", "));
    plan.description =
        "Results that another program measured elsewhere. raidlab knows nothing of the machine, the \
                        stack and the circumstances, and ranks none of its own with them."
            .to_owned();
    // The files themselves are what this run is: the same ones again are the same run.
    plan.source = files
        .iter()
        .map(|file| format!("# {}\n{}\n", file.path.display(), file.text))
        .collect();
    Ok((plan, all))
}

fn cell(frame: &Cell, label: String, program: &str) -> Cell {
    let mut cell = frame.clone();
    cell.key = format!("{label} | {program}");
    cell.axes = vec![
        ("imported".to_owned(), label.clone()),
        ("workload".to_owned(), program.to_owned()),
    ];
    cell.stack_label = label;
    cell.workload.name = program.to_owned();
    cell.machine.kind = MachineKind::Foreign;
    cell.machine.ram_bytes = 0;
    cell.machine.kernel = "unknown".to_owned();
    cell.machine.disks.clear();
    cell
}

fn command_line(arguments: &ImportArguments) -> String {
    let files: Vec<String> = arguments.files.iter().map(|path| path.display().to_string()).collect();
    format!(
        "raidlab import {} --store {}",
        files.join(" "),
        arguments.store.display()
    )
}
