//! `raidlab run`.

use super::{not_yet, print, reason, studied};
use crate::cli::{Machine, RunArguments};
use crate::expected::{EXIT_INTERRUPTED, EXIT_TRIAL_FAILED, ExpectedError};
use crate::progress::{clock, say};
use crate::run::{Kernels, Laboratory, Outcome, Session, Stop};
use lab::kernel::Cache;
use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use store::{Found, OpenRun, RunSpec, Store};
use study::plan::{Plan, Trial};
use study::stack::MachineKind;

/// Of the memory that is free, the share that the contents of simulated disks may take before they go to a file.
const MEMORY_SHARE: u64 = 2;

pub fn run(arguments: &RunArguments) -> Result<ExitCode, ExpectedError> {
    let began = Instant::now();
    let cache = Cache::of_user();
    let (plan, only) = studied::read(&arguments.study, arguments.only.as_deref(), &cache)?;
    on_lab(arguments, &plan)?;
    if arguments.dry_run {
        return Err(not_yet("--dry-run"));
    }
    check_tools(&plan)?;
    check_kernels(&plan, &cache)?;
    check_trace_folder(arguments.trace.as_deref())?;
    // Opened before the kernel is built: a store that cannot be written is the user's mistake, to be told at once.
    let mut store = Store::open(&arguments.store)?;
    let spec = RunSpec {
        plan: &plan,
        seed: arguments.seed,
        machine: MachineKind::Lab,
        only: &only,
        raidlab_version: &version()?,
        command: &command_line(arguments),
        started_at_unix_s: now_unix_s(),
    };
    let run = store.open_run(&spec)?;
    let stop = Stop::on_signals(format!(
        "raidlab: interrupted before the first trial; to go on: {}",
        command_line(arguments)
    ))?;
    let jobs = arguments.jobs.map_or_else(processors, |jobs| jobs as usize);
    let outcome = if run.found == Found::Finished && everything_done(&plan, &run, arguments.seed) {
        say(&format!(
            "raidlab: all trials of this study with seed {} are in the store already",
            arguments.seed
        ));
        Outcome {
            resumed: run.trials.len() as u64,
            ..Outcome::default()
        }
    } else {
        let laboratory = laboratory(arguments, &plan, cache, jobs)?;
        stop.begin_session();
        Session {
            plan: &plan,
            laboratory: &laboratory,
            store: &mut store,
            run: &run,
            jobs,
            stop: &stop,
        }
        .run(arguments.seed)?
    };
    conclude(arguments, &mut store, &run, outcome, began)
}

fn on_lab(arguments: &RunArguments, plan: &Plan) -> Result<(), ExpectedError> {
    let wants_host = plan.cells.iter().any(|cell| cell.machine.kind == MachineKind::Host);
    if arguments.on == Some(Machine::Host)
        || (wants_host && arguments.on.is_none())
        || !arguments.devices.is_empty()
    {
        return Err(not_yet("running on the host's own disks"));
    }
    Ok(())
}

/// Every program that some trial will call must be here before the first begins.
fn check_tools(plan: &Plan) -> Result<(), ExpectedError> {
    let mut wanted = Vec::new();
    for cell in &plan.cells {
        let trial = Trial {
            cell: cell.clone(),
            index: 0,
            seed: 0,
        };
        wanted.extend(trial::tools_needed(&trial, trial::Teardown::None));
    }
    wanted.sort_unstable();
    wanted.dedup();
    tools::Tools::find(&wanted)
        .map(drop)
        .map_err(|missing| ExpectedError::Machine(missing.to_string()))
}

fn check_kernels(plan: &Plan, cache: &Cache) -> Result<(), ExpectedError> {
    let names: BTreeSet<&str> = plan.cells.iter().map(|cell| cell.machine.kernel.as_str()).collect();
    Ok(names.into_iter().try_for_each(|name| cache.check(name))?)
}

fn check_trace_folder(folder: Option<&Path>) -> Result<(), ExpectedError> {
    let Some(folder) = folder else { return Ok(()) };
    if folder.is_file() {
        return Err(ExpectedError::Input(format!(
            "`{}` is a file: --trace names a folder",
            folder.display()
        )));
    }
    std::fs::create_dir_all(folder)
        .and_then(|()| tempfile::tempfile_in(folder))
        .map(drop)
        .map_err(|error| {
            let (folder, reason) = (folder.display(), reason(&error));
            ExpectedError::Input(format!(
                "no trace can be written into `{folder}`: {reason}; --trace names a folder"
            ))
        })
}

fn laboratory(
    arguments: &RunArguments,
    plan: &Plan,
    cache: Cache,
    jobs: usize,
) -> Result<Laboratory, ExpectedError> {
    let mut kernels = Kernels::new();
    for cell in &plan.cells {
        let name = &cell.machine.kernel;
        if !kernels.contains_key(name) {
            kernels.insert(name.clone(), super::kernel::ready(&cache, name)?);
        }
    }
    Ok(Laboratory {
        kernels,
        cache,
        init: std::env::current_exe()
            .map_err(|error| ExpectedError::Machine(format!("cannot find this program's own file: {error}")))?,
        memory_budget_bytes: free_memory_bytes() / MEMORY_SHARE / jobs as u64,
        trace_folder: arguments.trace.clone(),
    })
}

/// Also when the session before ended between the last trial and its own end.
fn everything_done(plan: &Plan, run: &OpenRun, seed: u64) -> bool {
    let first = stats::looks(&plan.precision)[0] as usize;
    plan.rounds(seed)
        .take(first)
        .flatten()
        .all(|trial| run.is_done(&trial.cell.key, trial.index))
}

fn conclude(
    arguments: &RunArguments,
    store: &mut Store,
    run: &OpenRun,
    outcome: Outcome,
    began: Instant,
) -> Result<ExitCode, ExpectedError> {
    let failed = |error: store::StoreError| ExpectedError::store_under_way(&error);
    let here = if outcome.resumed > 0 {
        format!(", {} were there already", outcome.resumed)
    } else {
        String::new()
    };
    if outcome.interrupted {
        say(&format!(
            "raidlab: interrupted: {} trials done{here}; what was measured is kept; to go on: {}",
            outcome.done,
            command_line(arguments)
        ));
        return Ok(ExitCode::from(EXIT_INTERRUPTED));
    }
    store.finish_run(run, now_unix_s()).map_err(failed)?;
    let digest = store.digest(run.summary.id).map_err(failed)?;
    let store_option = if arguments.store == Path::new("raidlab.db") {
        String::new()
    } else {
        format!(" --store {}", shell_word(&arguments.store.display().to_string()))
    };
    print(&format!(
        "{} trials done, {} failed{here}; {} wall; digest {digest}\n",
        outcome.done,
        outcome.failed,
        clock(began.elapsed()),
    ))?;
    say(&format!(
        "raidlab: `raidlab show{store_option}` shows the table, \
         `raidlab report{store_option} -o report.html` the report"
    ));
    Ok(if outcome.failed > 0 {
        ExitCode::from(EXIT_TRIAL_FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

/// The command that repeats, or resumes, this run.
fn command_line(arguments: &RunArguments) -> String {
    let path = |path: &Path| path.display().to_string();
    let mut words = vec!["raidlab".to_owned(), "run".to_owned(), path(&arguments.study)];
    words.extend(["--seed".to_owned(), arguments.seed.to_string()]);
    if let Some(only) = &arguments.only {
        words.extend(["--only".to_owned(), only.clone()]);
    }
    if arguments.store != Path::new("raidlab.db") {
        words.extend(["--store".to_owned(), path(&arguments.store)]);
    }
    if let Some(folder) = &arguments.trace {
        words.extend(["--trace".to_owned(), path(folder)]);
    }
    let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
    words.join(" ")
}

/// Names this very build: a run is never carried on by another one.
fn version() -> Result<String, ExpectedError> {
    let build = lab::own_build()
        .map_err(|error| ExpectedError::Machine(format!("cannot read this program's own file: {error}")))?;
    Ok(format!("{}+{build}", env!("CARGO_PKG_VERSION")))
}

/// Quoted where a shell would take it for something else.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

fn free_memory_bytes() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = available.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.map_or(1 << 30, |kib| kib << 10)
}

fn now_unix_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs())
}
