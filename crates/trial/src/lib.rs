//! One trial on this machine, a lab guest or the host: set up the stack, run the workload, tear the stack down.
//!
//! Everything is reported as events, in order; nothing is stored here. This crate does not know whether the machine is
//! real: [`TrialSetting`] describes the differences.

mod acts_and_tests;
pub mod power_cut;
mod process;
mod stack_environment;

pub use process::{Limits, OUTPUT_BYTES_MAX, ProcessEnd};
pub use stack::{Command, DryRun, DryRunOn};
pub use stack::{DiskCheck, DiskKind, Disks, Ledger, MemoryLedger, NoDiskCheck, Stack, Teardown};
use stack_environment::StackHost;
pub use tools::CARRIED;
pub use workload::{BareJob, Target, WorkloadError};

use stack::{Access, Context, DiskStats, System};
use std::path::PathBuf;
use std::time::Instant;
use study::TestId;
use study::act::ActKind;
use study::event::{Event, Failure, Guard, Sample};
use study::metric::Metric;
use study::plan::{Cell, Trial};
use study::stack::{InitialResync, StackSpec};
use study::workload::Work;
use tools::{Tool, Tools};

/// The environment of a trial.
#[derive(Clone, Debug)]
pub struct TrialSetting {
    /// The disks of every group of the study's machine.
    pub disks: Disks,
    /// Folder of the mount point; nothing is created elsewhere.
    pub folder: PathBuf,
    /// The stack's unique name on this machine: `raidlab-3f2c`.
    pub name: String,
    /// The disks are all zeros.
    pub zeroed: bool,
    /// The stack was created on these disks before ([`create`]).
    pub created: bool,
    pub disk_kind: DiskKind,
    pub teardown: Teardown,
}

impl TrialSetting {
    /// The part for the stack.
    fn of_stack(&self) -> stack::StackSetting<'_> {
        stack::StackSetting {
            work_folder: &self.folder,
            name: &self.name,
            zeroed: self.zeroed,
            created: self.created,
            disk_kind: self.disk_kind,
            teardown: self.teardown,
        }
    }
}

/// The safety mechanisms of a trial.
pub struct Safety<'a> {
    /// Every act that changes the machine is in it before it is done.
    pub ledger: &'a mut dyn Ledger,
    /// Checks disks before each act that writes to them.
    pub check: &'a mut dyn DiskCheck,
}

/// Runs a trial and reports events to `sink`. The last event is `Done`, or `Failed`. Every act that changes the
/// machine is in the ledger before it is done.
pub fn run(trial: &Trial, setting: &TrialSetting, safety: Safety<'_>, sink: &mut dyn FnMut(Event)) {
    let began = Instant::now();
    let outcome = run_steps(trial, setting, safety, began, sink);
    sink(last_event(outcome, began));
}

fn last_event(outcome: Result<(), Failure>, began: Instant) -> Event {
    match outcome {
        Ok(()) => Event::Done {
            at_ns: nanoseconds_since(began),
        },
        Err(failure) => Event::Failed(failure),
    }
}

/// The dry run of a trial: the commands for its stack.
pub fn dry_run(trial: &Trial, setting: &TrialSetting, on: DryRunOn) -> Result<DryRun, Failure> {
    let failed = |message: String| Failure {
        step: "dry run".to_owned(),
        message,
    };
    let wanted = tools_needed(&trial.cell, setting.teardown);
    let found = match on {
        DryRunOn::Guest => Tools::find_as_in_guest(&wanted),
        DryRunOn::LoopFiles | DryRunOn::ThisMachine => Tools::find(&wanted),
    };
    let mut tools = found.map_err(|error| failed(error.to_string()))?;
    let spec = &trial.cell.stack;
    stack::dry_run(spec, &setting.disks, on, setting.of_stack(), &mut tools)
        .map_err(|cause| failed(cause.to_string()))
}

/// The programs that trials of this cell call.
pub fn tools_needed(cell: &Cell, teardown: Teardown) -> Vec<Tool> {
    let mut tools = stack::tools_needed(&cell.stack, teardown);
    let mut kinds = cell.stack.filesystem_kinds();
    if cell.machine.create_once && kinds.any(|kind| kind.is_pool()) {
        tools.push(Tool::Partx);
    }
    tools.extend(workload::tool(&cell.workload.work));
    if matches!(cell.workload.work, Work::PowerCut(_)) {
        tools.extend(stack::tools_of_recovery(&cell.stack));
    }
    if !cell.acts.is_empty() {
        let disks = cell.member_count().max(1);
        tools.extend(stack::tools_of_acts(&cell.stack, disks, &cell.acts));
    }
    tools
}

fn run_steps(
    trial: &Trial,
    setting: &TrialSetting,
    safety: Safety<'_>,
    began: Instant,
    sink: &mut dyn FnMut(Event),
) -> Result<(), Failure> {
    let tools = tools_needed(&trial.cell, setting.teardown);
    let spec = &trial.cell.stack;
    with_stack(spec, &tools, setting, safety, began, sink, &mut |stack, context| {
        let degraded = work(trial, stack, context)?;
        // A rebuild must have written data that matches the other members.
        let acted = !trial.cell.acts.is_empty();
        // Corruption by an act was already checked.
        let corrupts = trial.cell.acts.iter().any(|act| act.kind == ActKind::Corrupt);
        let is_assumed = spec.array.initial_resync == Some(InitialResync::AssumeClean);
        if acted && !degraded && !corrupts && !is_assumed {
            check_array(stack, context)?;
        }
        // Last: no figure depends on it.
        check_settings(stack, spec, acted, context);
        Ok(())
    })
}

/// The trial whose creation is that of this one: an aged filesystem is the same for all trials of a cell, whatever their seed, and for
/// all workloads with the same age.
pub fn creation_of(trial: &Trial) -> Trial {
    let mut creation = trial.clone();
    if trial.cell.workload.age.is_some() {
        creation.index = 0;
        creation.seed = study::trial_seed(0, trial.cell.replicate);
    }
    creation
}

/// Everything that the disks depend on after [`create`]: trials with the same key can start from copies of the same disks.
pub fn creation_key(trial: &Trial) -> String {
    let cell = &trial.cell;
    let (machine, stack) = (&cell.machine, &cell.stack);
    let key = match &cell.workload.age {
        Some(age) => serde_json::to_string(&(machine, stack, cell.replicate, age)),
        None => {
            let has_files = !stack.filesystem.kind.is_raw();
            let files = has_files.then(|| workload::prepared_files(&cell.workload)).flatten();
            serde_json::to_string(&(machine, stack, trial.seed, files))
        }
    };
    key.expect("a stack is plain data")
}

/// Creates the stack of a trial on a machine that ends with it, aged or with the files that its workload finds filled, and leaves
/// both on the disks for the machines of trials. The last event is `Done`, or `Failed`.
pub fn create(trial: &Trial, setting: &TrialSetting, sink: &mut dyn FnMut(Event)) {
    let spec = &trial.cell.stack;
    let tools = stack::tools_needed(spec, setting.teardown);
    let safety = Safety {
        ledger: &mut MemoryLedger::default(),
        check: &mut NoDiskCheck,
    };
    let began = Instant::now();
    let created = with_stack(spec, &tools, setting, safety, began, sink, &mut |stack, context| {
        prepare_files(trial, stack, context)?;
        stack::put_down(stack, context).map_err(|error| Failure {
            step: "put the stack down".to_owned(),
            message: error.to_string(),
        })
    });
    sink(last_event(created, began));
}

/// Sets up a stack on a machine that ends with it, calls `act` with it, and tears it down.
pub fn with_stack_up(
    spec: &StackSpec,
    setting: &TrialSetting,
    sink: &mut dyn FnMut(Event),
    act: &mut dyn FnMut(&Stack),
) -> Result<(), Failure> {
    let tools = stack::tools_needed(spec, setting.teardown);
    let safety = Safety {
        ledger: &mut MemoryLedger::default(),
        check: &mut NoDiskCheck,
    };
    with_stack(spec, &tools, setting, safety, Instant::now(), sink, &mut |stack, _| {
        act(stack);
        Ok(())
    })
}

/// The same with the stack of a trial, whose filesystem is aged if its workload asks for that.
pub fn with_stack_of_trial_up(
    trial: &Trial,
    setting: &TrialSetting,
    sink: &mut dyn FnMut(Event),
    act: &mut dyn FnMut(&Stack),
) -> Result<(), Failure> {
    let spec = &trial.cell.stack;
    let tools = stack::tools_needed(spec, setting.teardown);
    let safety = Safety {
        ledger: &mut MemoryLedger::default(),
        check: &mut NoDiskCheck,
    };
    with_stack(
        spec,
        &tools,
        setting,
        safety,
        Instant::now(),
        sink,
        &mut |stack, context| {
            if trial.cell.workload.age.is_some() {
                prepare_files(trial, stack, context)?;
            }
            act(stack);
            Ok(())
        },
    )
}

fn prepare_files(trial: &Trial, stack: &Stack, context: &mut Context<'_>) -> Result<(), Failure> {
    let mount_point = stack.mount_point.clone();
    let target = Target {
        mount_point: mount_point.as_deref(),
        block_device: &stack.block_device,
    };
    let workload = &trial.cell.workload;
    let mut host = StackHost::new(trial, stack, context, &[]);
    workload::prepare_files(workload, &target, trial.seed, &mut host).map_err(|error| Failure {
        step: if workload.age.is_some() { "age" } else { "prepare files" }.to_owned(),
        message: error.to_string(),
    })
}

fn with_stack(
    spec: &StackSpec,
    tools: &[Tool],
    setting: &TrialSetting,
    safety: Safety<'_>,
    began: Instant,
    mut sink: &mut dyn FnMut(Event),
    act: &mut dyn FnMut(&Stack, &mut Context<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut tools = Tools::find(tools).map_err(|missing| Failure {
        step: "find programs".to_owned(),
        message: missing.to_string(),
    })?;
    let mut context = Context {
        access: Access {
            executor: &mut System::new(&mut tools),
            recorder: &mut sink,
            check: safety.check,
        },
        ledger: safety.ledger,
        began,
        setting: setting.of_stack(),
    };
    let stack = stack::up(spec, &setting.disks, &mut context).map_err(|error| error.failure())?;
    let outcome = act(&stack, &mut context);
    // Also if the workload failed; its error takes precedence.
    let down = stack::down(stack, &mut context).map_err(|error| Failure {
        step: "tear down".to_owned(),
        message: error.to_string(),
    });
    outcome.and(down)
}

fn check_array(stack: &Stack, context: &mut Context<'_>) -> Result<(), Failure> {
    stack::array_mismatches(stack, context)
        .map(drop)
        .map_err(|error| Failure {
            step: "check array".to_owned(),
            message: error.to_string(),
        })
}

/// Whether the kernel has what the study asked for. What cannot be read is not known to be so.
fn check_settings(stack: &Stack, spec: &StackSpec, has_acts: bool, context: &mut Context<'_>) {
    if let Err(cause) = stack::as_asked(stack, spec, has_acts, context) {
        context.access.recorder.record(Event::Guard(Guard {
            name: "as-asked".to_owned(),
            test: None,
            passed: false,
            detail: format!("the settings could not be compared with the study: {cause}"),
        }));
    }
}

/// Returns whether the study's acts left the array without a member.
fn work(trial: &Trial, stack: &Stack, context: &mut Context<'_>) -> Result<bool, Failure> {
    let counters = |step: &str| {
        stack::counters(stack).map_err(|error| Failure {
            step: step.to_owned(),
            message: error.to_string(),
        })
    };
    let before = counters("count requests")?;
    let mount_point = stack.mount_point.clone();
    let target = Target {
        mount_point: mount_point.as_deref(),
        block_device: &stack.block_device,
    };
    if mount_point.is_none() {
        let judged = context.access.before_write(&[&stack.block_device]);
        judged.map_err(|cause| Failure {
            step: "check disks".to_owned(),
            message: cause.to_string(),
        })?;
    }
    let work = &trial.cell.workload.work;
    let tests: Vec<String> = work.tests().into_iter().map(str::to_owned).collect();
    let mut host = StackHost::new(trial, stack, context, &tests);
    let outcome = workload::run(&trial.cell.workload, &target, trial.seed, &mut host);
    // Also if the workload failed.
    let acts = host.end_acts();
    outcome.map_err(|error| Failure {
        step: trial.cell.workload.name.clone(),
        message: match &acts {
            Ok(()) => error.to_string(),
            Err(of_acts) => format!("{error}; the acts: {of_acts}"),
        },
    })?;
    acts.map_err(|error| Failure {
        step: "acts".to_owned(),
        message: error.to_string(),
    })?;
    let degraded = host.degraded;
    for (after, before) in counters("count requests")?.into_iter().zip(&before) {
        report_member(after - before, context);
    }
    Ok(degraded)
}

/// I/O of one member disk during the workload, including preparation.
fn report_member(disk: DiskStats, context: &mut Context<'_>) {
    let figures = [
        (Metric::MemberReads, disk.reads),
        (Metric::MemberWrites, disk.writes),
        (Metric::MemberSectorsRead, disk.sectors_read),
        (Metric::MemberSectorsWritten, disk.sectors_written),
        (Metric::MemberFlushes, disk.flushes),
    ];
    for (metric, value) in figures {
        context.access.recorder.record(Event::Sample(Sample {
            test: TestId::member(&disk.device),
            metric,
            value: value as f64,
        }));
    }
}

fn nanoseconds_since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
