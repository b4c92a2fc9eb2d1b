//! `raidlab run`.

use super::{not_yet, print, studied};
use crate::cli::{Machine, RunArguments};
use crate::expected::{EXIT_INTERRUPTED, EXIT_TRIAL_FAILED, ExpectedError};
use crate::progress::clock;
use crate::run::{Kernels, Laboratory, Outcome, Session, Stop};
use lab::kernel::Cache;
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
    // Opened before the kernel is built: a store that cannot be written is the user's mistake, to be told at once.
    let mut store = Store::open(&arguments.store).map_err(|error| ExpectedError::Input(error.to_string()))?;
    let spec = RunSpec {
        plan: &plan,
        seed: arguments.seed,
        machine: MachineKind::Lab,
        only: &only,
        raidlab_version: &version()?,
        command: &command_line(arguments),
        started_at_unix_s: now_unix_s(),
    };
    let run = store
        .open_run(&spec)
        .map_err(|error| ExpectedError::Input(error.to_string()))?;
    let stop = Stop::on_signals()?;
    let jobs = arguments.jobs.map_or_else(processors, |jobs| jobs as usize);
    let outcome = if run.found == Found::Finished && everything_done(&plan, &run, arguments.seed) {
        eprintln!(
            "raidlab: all trials of this study with seed {} are in the store already",
            arguments.seed
        );
        Outcome {
            resumed: run.trials.len() as u64,
            ..Outcome::default()
        }
    } else {
        let laboratory = laboratory(arguments, &plan, cache, jobs)?;
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
    let failed = |error: store::StoreError| ExpectedError::Failed(error.to_string());
    let here = if outcome.resumed > 0 {
        format!(", {} were there already", outcome.resumed)
    } else {
        String::new()
    };
    if outcome.interrupted {
        eprintln!(
            "raidlab: interrupted: {} trials done{here}; what was measured is kept; to go on: {}",
            outcome.done,
            command_line(arguments)
        );
        return Ok(ExitCode::from(EXIT_INTERRUPTED));
    }
    store.finish_run(run, now_unix_s()).map_err(failed)?;
    let digest = store.digest(run.summary.id).map_err(failed)?;
    let store_option = if arguments.store == Path::new("raidlab.db") {
        String::new()
    } else {
        format!(" --store {}", arguments.store.display())
    };
    print(&format!(
        "{} trials done, {} failed{here}; {} wall; digest {digest}\n",
        outcome.done,
        outcome.failed,
        clock(began.elapsed()),
    ))?;
    eprintln!(
        "raidlab: `raidlab show{store_option}` shows the table, `raidlab report{store_option} -o report.html` the report"
    );
    Ok(if outcome.failed > 0 {
        ExitCode::from(EXIT_TRIAL_FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

/// The command that repeats, or resumes, this run.
fn command_line(arguments: &RunArguments) -> String {
    let mut words = vec![
        "raidlab".to_owned(),
        "run".to_owned(),
        arguments.study.display().to_string(),
    ];
    words.extend(["--seed".to_owned(), arguments.seed.to_string()]);
    if let Some(only) = &arguments.only {
        words.extend(["--only".to_owned(), format!("'{only}'")]);
    }
    if arguments.store != Path::new("raidlab.db") {
        words.extend(["--store".to_owned(), arguments.store.display().to_string()]);
    }
    words.join(" ")
}

/// Names this very build: a run is never carried on by another one.
fn version() -> Result<String, ExpectedError> {
    let build = lab::own_build()
        .map_err(|error| ExpectedError::Machine(format!("cannot read this program's own file: {error}")))?;
    Ok(format!("{}+{build}", env!("CARGO_PKG_VERSION")))
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
