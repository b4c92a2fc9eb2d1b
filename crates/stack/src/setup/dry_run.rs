//! The dry run: what would be done for a stack, as commands.

use crate::around_test::snapshots::take_snapshots;
use crate::machine::access::Access;
use crate::machine::context::{Context, DiskKind, StackSetting};
use crate::machine::disk_check::NoDiskCheck;
use crate::machine::disks::Disks;
use crate::machine::error::Cause;
use crate::machine::executor::{Command, Executor, Listed};
use crate::machine::ledger::MemoryLedger;
use crate::setup::up::{down, up};
use crate::simulated::{DryRunOn, SimulatedMachine};
use std::path::PathBuf;
use std::time::Instant;
use study::stack::StackSpec;
use tools::Tools;

/// The commands that set up a stack, and those that tear it down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DryRun {
    pub up: Vec<Command>,
    /// Empty if the machine ends with the trial.
    pub down: Vec<Command>,
    /// Where the workload would run: the mount point or the device.
    pub place: PathBuf,
}

/// Lists what [`up`], [`take_snapshots`] and [`down`] do by running them on a machine in memory. Programs are called only for their
/// versions.
pub fn dry_run(
    spec: &StackSpec,
    disks: &Disks,
    on: DryRunOn,
    setting: StackSetting<'_>,
    tools: &mut Tools,
) -> Result<DryRun, Cause> {
    // The disks of a guest are created with the stack's write cache setting.
    let write_cache = spec.write_cache.unwrap_or(true) || setting.disk_kind == DiskKind::Real;
    let mut machine = SimulatedMachine::new(on, disks.all(), write_cache, Some(tools));
    let mut listed = Listed::new(&mut machine);
    let ledger = &mut MemoryLedger::default();
    let stack = with(&mut listed, ledger, setting, |context| up(spec, disks, context));
    let stack = stack.map_err(|error| error.cause)?;
    let place = stack.mount_point.as_ref().unwrap_or(&stack.block_device).clone();
    with(&mut listed, ledger, setting, |context| {
        take_snapshots(&stack, spec, context)
    })?;
    let commands = listed.take();
    let torn_down = with(&mut listed, ledger, setting, |context| down(stack, context));
    torn_down.map_err(|error| Cause::State(error.to_string()))?;
    Ok(DryRun {
        up: commands,
        down: listed.take(),
        place,
    })
}

fn with<T>(
    executor: &mut dyn Executor,
    ledger: &mut MemoryLedger,
    setting: StackSetting<'_>,
    act: impl FnOnce(&mut Context<'_>) -> T,
) -> T {
    act(&mut Context {
        access: Access {
            executor,
            recorder: &mut |_| (),
            check: &mut NoDiskCheck,
        },
        ledger,
        began: Instant::now(),
        setting,
    })
}
