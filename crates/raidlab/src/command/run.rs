//! `raidlab run`.

use super::{print, show, store_option};
use crate::cli::{On, RunArguments, Switch};
use crate::error::{EXIT_INTERRUPTED, EXIT_TRIAL_FAILED, ExpectedError};
use crate::progress::{KernelBar, RunDisplay, note, say};
use crate::signals::Signals;
use lab::kernel::Cache;
use prepare::{
    Options, Prepared, PreparedHost, aa_control, advice, cells_without_tools, dry_run_text, inventory, lab_run,
    load_study, now_unix_s, processors, refusals, sensitivity, version,
};
use runner::{Outlook, Place, RunOutcome, Runner};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use store::{OpenRun, RunSpec, RunState, RunSummary, Store, StoreError};
use study::Shard;
use study::plan::Plan;
use study::stack::MachineKind;
use tools::shell_word;

pub fn run(arguments: &RunArguments) -> Result<ExitCode, ExpectedError> {
    let began = Instant::now();
    let arguments = &on_this_node(arguments)?;
    let options = options(arguments);
    let cache = Cache::of_user();
    let read = match arguments.on {
        Some(On::Host) => load_study::read_for_host,
        Some(On::Lab) | None => load_study::read,
    };
    let (mut plan, only) = read(&arguments.study, &arguments.only, &cache)?;
    // Every shard of a study has the same cells.
    if arguments.shard.is_none() {
        let machine = machine_kind(arguments, &plan);
        cells_without_tools::leave_out_missing(&mut plan, machine)?;
    }
    let wanted = match machine_kind(arguments, &plan) {
        MachineKind::Lab => Prepared::Lab(cache),
        MachineKind::Host | MachineKind::Foreign => {
            refusals::refuse_power_cuts(&plan)?;
            refusals::refuse_acts(&plan)?;
            Prepared::Host(PreparedHost::of(&options, &mut plan)?)
        }
    };
    if let Some(trials) = arguments.moves_figures {
        sensitivity::expand(&mut plan, trials)?;
    }
    // A dry run already has the commands of the first stack.
    if !arguments.dry_run {
        let asked = arguments.aa_control.map(|wanted| wanted == Switch::On);
        aa_control::add(asked, wanted.kind(), &mut plan);
    }
    refusals::refuse_shards_of_claims(&plan, arguments.shard)?;
    let part = runner::part_of(&plan, arguments.shard);
    if let Prepared::Lab(cache) = &wanted {
        lab_run::check(&options, &part, cache)?;
    }
    if arguments.dry_run {
        return print(&dry_run_text::commands(&part, &wanted)?).map(|()| ExitCode::SUCCESS);
    }
    for note in advice::notes(&plan) {
        say(&format!("raidlab: note: {note}"));
    }
    for sentence in advice::of(&plan) {
        say(&format!("raidlab: warning: {sentence}"));
    }
    // Opened before the kernel is built: a store that cannot be written is reported at once.
    let mut store = Store::open(&arguments.store)?;
    let spec = RunSpec {
        plan: &plan,
        seed: arguments.seed,
        machine: wanted.kind(),
        devices: &wanted.devices(),
        only: &only,
        shard: arguments.shard,
        raidlab_version: &version()?,
        command: &command_line(arguments, &wanted.stored_devices(&options), files::published_path),
        started_at_unix_s: now_unix_s(),
    };
    let run = open_run(arguments, &mut store, &spec)?;
    let resume = again(arguments);
    let signals = Signals::watch(format!(
        "raidlab: interrupted before the first trial; to continue: {resume}"
    ))?;
    let jobs = arguments.jobs.map_or_else(processors, |jobs| jobs as usize);
    if let Some(shard) = arguments.shard.filter(|_| part.cells.is_empty()) {
        return conclude_empty(&mut store, &run, shard);
    }
    let outcome = if run.found == RunState::Finished && everything_done(&plan, &store, &run)? {
        let shard = arguments.shard.map(|shard| format!("shard {shard} of "));
        note(&format!(
            "raidlab: all trials of {}this study with seed {} are already in the store",
            shard.unwrap_or_default(),
            arguments.seed
        ));
        RunOutcome {
            resumed: run.trials.len() as u64,
            ..RunOutcome::default()
        }
    } else {
        let place: Box<dyn Place> = match wanted {
            Prepared::Lab(cache) => Box::new(lab_run::place(&options, &part, cache, jobs, KernelBar::show_build)?),
            Prepared::Host(prepared) => {
                Box::new(prepared.begin(&options, resume, &mut || signals.begin_session())?)
            }
        };
        signals.begin_session();
        run_trials(arguments, &plan, place, &mut store, &run, &signals)?
    };
    conclude(arguments, &part, &mut store, &run, outcome, began)
}

/// Runs the trials that are not in the store, and shows their progress.
fn run_trials(
    arguments: &RunArguments,
    plan: &Plan,
    place: Box<dyn Place>,
    store: &mut Store,
    run: &OpenRun,
    signals: &Signals,
) -> Result<RunOutcome, ExpectedError> {
    let places = [place];
    let mut display = RunDisplay::default();
    let outcome = Runner {
        plan,
        places: &places,
        store,
        run,
        // Only trials that run can be traced.
        reuse: arguments.trace.is_none(),
        interrupt: signals.interrupt(),
        observer: &mut |progress| display.show(progress),
    }
    .run(arguments.seed);
    display.finish();
    for words in places.into_iter().flat_map(Place::end) {
        say(&format!("raidlab: {words}"));
    }
    Ok(outcome?)
}

/// The arguments, completed by the inventory's entry for this node.
fn on_this_node(arguments: &RunArguments) -> Result<RunArguments, ExpectedError> {
    let mut arguments = arguments.clone();
    let Some(path) = &arguments.inventory else {
        return Ok(arguments);
    };
    if arguments.on != Some(On::Host) {
        return Err(prepare::Error::OptionOfHost { option: "--inventory" }.into());
    }
    let node = inventory::of_this_node(path)?;
    arguments.devices = node.devices;
    arguments.destroy = node.destroy;
    arguments.loops = node.loops;
    arguments.loop_folder = node.loop_folder;
    // A separate run in the merged store, which is compared with other nodes by this name.
    arguments.name.get_or_insert(node.name);
    Ok(arguments)
}

fn options(arguments: &RunArguments) -> Options {
    Options {
        devices: arguments.devices.clone(),
        destroy: arguments.destroy.clone(),
        loops: arguments.loops,
        loop_folder: arguments.loop_folder.clone(),
        store: arguments.store.clone(),
        trial_limit: arguments.trial_limit,
        serials: arguments.serials,
        jobs: arguments.jobs,
        trace: arguments.trace.clone(),
        dry_run: arguments.dry_run,
    }
}

fn machine_kind(arguments: &RunArguments, plan: &Plan) -> MachineKind {
    let of_study = plan.cells.first().map_or(MachineKind::Lab, |cell| cell.machine.kind);
    match arguments.on {
        Some(On::Lab) => MachineKind::Lab,
        Some(On::Host) => MachineKind::Host,
        None => of_study,
    }
}

fn devices(arguments: &RunArguments) -> Vec<String> {
    arguments
        .devices
        .iter()
        .map(|path| path.display().to_string())
        .collect()
}

/// The run in the store. With `--wait`, waits for a process that is writing it.
fn open_run(arguments: &RunArguments, store: &mut Store, spec: &RunSpec<'_>) -> Result<OpenRun, ExpectedError> {
    const LOOK_EVERY: Duration = Duration::from_secs(1);
    let mut is_reported = false;
    loop {
        match store.all_or_nothing(|store| opened(arguments, store, spec)) {
            Err(error @ StoreError::Taken { .. }) if arguments.wait => {
                if !is_reported {
                    say(&format!("raidlab: waiting: {error}"));
                }
                is_reported = true;
                std::thread::sleep(LOOK_EVERY);
            }
            other => return Ok(other?),
        }
    }
}

/// The run with its name. A name that is refused leaves no run behind.
fn opened(arguments: &RunArguments, store: &mut Store, spec: &RunSpec<'_>) -> Result<OpenRun, StoreError> {
    let run = store.open_run(spec)?;
    if let Some(name) = &arguments.name
        && let Some(earlier) = store.name_run(&run, name)?
    {
        let number = run.summary.id.0;
        note(&format!(
            "raidlab: run {number} was named `{earlier}`, and is `{name}` now"
        ));
    }
    Ok(run)
}

/// Also if the previous session ended between the last trial and its own end.
fn everything_done(plan: &Plan, store: &Store, run: &OpenRun) -> Result<bool, ExpectedError> {
    let samples = store.samples(run.summary.id)?;
    let outlook = Outlook::of(plan, &run.summary, &run.trials, samples);
    Ok(outlook.left == 0 && outlook.failed == 0)
}

/// There are more shards than trials: the store is a part like any other.
fn conclude_empty(store: &mut Store, run: &OpenRun, shard: Shard) -> Result<ExitCode, ExpectedError> {
    store
        .finish_run(run, now_unix_s())
        .map_err(ExpectedError::StoreUnderWay)?;
    say(&format!(
        "raidlab: shard {shard} of this study has no trials: nothing to do"
    ));
    Ok(ExitCode::SUCCESS)
}

fn conclude(
    arguments: &RunArguments,
    plan: &Plan,
    store: &mut Store,
    run: &OpenRun,
    outcome: RunOutcome,
    began: Instant,
) -> Result<ExitCode, ExpectedError> {
    let failed = ExpectedError::StoreUnderWay;
    let here = if outcome.resumed > 0 {
        format!(", {} were already in the store", outcome.resumed)
    } else {
        String::new()
    };
    if outcome.interrupted {
        say(&format!(
            "raidlab: interrupted: {} trials done{here}; all measurements are kept; to continue: {}",
            outcome.done,
            again(arguments)
        ));
        return Ok(ExitCode::from(EXIT_INTERRUPTED));
    }
    let finished_at_unix_s = now_unix_s();
    store.finish_run(run, finished_at_unix_s).map_err(failed)?;
    let summary = RunSummary {
        finished_at_unix_s: Some(finished_at_unix_s),
        ..run.summary.clone()
    };
    let digest = store.digest(run.summary.id).map_err(failed)?;
    let mut store_option = store_option(&arguments.store);
    let compare = compare_kernels(plan, run.summary.id.0, &store_option);
    // A run that was continued may not be the last one.
    if store
        .latest_run()
        .map_err(failed)?
        .is_some_and(|latest| latest.id != run.summary.id)
    {
        store_option.push_str(&format!(" --run {}", run.summary.id.0));
    }
    print(&format!(
        "{} trials done, {} failed{here}; {} wall; digest {digest}\n",
        outcome.done,
        outcome.failed,
        report::clock(began.elapsed()),
    ))?;
    print("\n")?;
    show::print_table(store, &summary)?;
    note(&format!(
        "raidlab: `raidlab show{store_option}` shows this table again, \
         `raidlab report{store_option} -o report.html` writes the report{compare}"
    ));
    Ok(if outcome.failed > 0 {
        ExitCode::from(EXIT_TRIAL_FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

/// A hint that follows the others, if the cells are on different kernels.
fn compare_kernels(plan: &Plan, run: i64, store_option: &str) -> String {
    let mut kernels: Vec<&str> = Vec::new();
    for cell in &plan.cells {
        if !kernels.contains(&cell.machine.kernel.as_str()) {
            kernels.push(&cell.machine.kernel);
        }
    }
    match kernels[..] {
        [first, second, ..] => format!(
            ", `raidlab compare{store_option} {run}@kernel={first} {run}@kernel={second}` compares trials of the same seed on \
             two kernels"
        ),
        _ => String::new(),
    }
}

/// The command that continues this run here.
fn again(arguments: &RunArguments) -> String {
    command_line(arguments, &devices(arguments), |path| path.display().to_string())
}

/// The command that repeats this run.
fn command_line(arguments: &RunArguments, devices: &[String], path: fn(&Path) -> String) -> String {
    let mut words = vec!["raidlab".to_owned()];
    match arguments.moves_figures {
        Some(trials) => words.extend(["disk", "sensitivity", "--trials", &trials.to_string()].map(str::to_owned)),
        None => words.push("run".to_owned()),
    }
    words.push(path(&arguments.study));
    words.extend(["--seed".to_owned(), arguments.seed.to_string()]);
    for only in &arguments.only {
        words.extend(["--only".to_owned(), only.clone()]);
    }
    if let Some(shard) = arguments.shard {
        words.extend(["--shard".to_owned(), shard.to_string()]);
    }
    if let Some(name) = &arguments.name {
        words.extend(["--name".to_owned(), name.clone()]);
    }
    if arguments.store != Path::new("raidlab.db") {
        words.extend(["--store".to_owned(), path(&arguments.store)]);
    }
    if let Some(folder) = &arguments.trace {
        words.extend(["--trace".to_owned(), path(folder)]);
    }
    if arguments.on == Some(On::Host) {
        words.extend(["--on".to_owned(), "host".to_owned()]);
    }
    if let Some(wanted) = arguments.aa_control {
        let word = if wanted == Switch::On { "on" } else { "off" };
        words.extend(["--aa-control".to_owned(), word.to_owned()]);
    }
    if !devices.is_empty() {
        words.extend(["--devices".to_owned(), devices.join(",")]);
    }
    if let Some(files) = arguments.loops {
        words.extend(["--loop".to_owned(), files.to_string()]);
    }
    if let Some(folder) = &arguments.loop_folder {
        words.extend(["--loop-folder".to_owned(), path(folder)]);
    }
    let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
    words.join(" ")
}
