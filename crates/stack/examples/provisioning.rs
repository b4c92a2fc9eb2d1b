//! Runs in a guest of the lab's tests (crates/raidlab/tests/lab/provisioning.rs): sets stacks up and tears them down, one
//! after the other. Checks that the dry run lists the same commands as the real run, and that a failure of any act of
//! provisioning leaves nothing behind. Reports events to /dev/raidlab.

use serde::Deserialize;
use stack::{
    Access, Command, Context, DiskKind, Disks, DryRunOn, Executor, FailAt, Listed, MemoryLedger, Moment,
    NoDiskCheck, Stack, StackError, StackSetting, System, Teardown,
};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use study::event::{Event, Failure};
use study::stack::{DiskGroup, StackSpec};
use tools::{CARRIED, Invocation, Tool, Tools};

/// More acts than any stack has.
const ACTS_MAX: u32 = 200;

#[derive(Deserialize)]
struct ProvisionedStack {
    disks: Vec<DiskGroup>,
    spec: StackSpec,
    /// The start of each disk is zeroed first, and provisioning assumes that the whole disk is zeroed.
    zeroed: bool,
    /// Make each act fail once before and once after it is done.
    failures: bool,
}

fn main() {
    let lab = File::options().write(true).open("/dev/raidlab");
    let mut lab = lab.expect("this runs in a guest of the lab, and overwrites its disks");
    let stacks = fs::read(Path::new(CARRIED).join("stacks.json")).expect("the test wrote them");
    let stacks: Vec<ProvisionedStack> = serde_json::from_slice(&stacks).expect("they are stacks");
    let mut say = |event: Event| {
        let line = serde_json::to_string(&event).expect("an event is plain data") + "\n";
        lab.write_all(line.as_bytes()).expect("the lab reads it");
    };
    for stack in &stacks {
        if let Err(failure) = provision(stack, &mut say) {
            return say(Event::Failed(failure));
        }
    }
}

fn failed(step: &str, message: String) -> Failure {
    Failure {
        step: step.to_owned(),
        message,
    }
}

fn provision(stack: &ProvisionedStack, sink: &mut dyn FnMut(Event)) -> Result<(), Failure> {
    let nodes = ('a'..='z').map(|letter| PathBuf::from(format!("/dev/vd{letter}")));
    let nodes: Vec<PathBuf> = nodes.filter(|node| node.exists()).collect();
    if stack.zeroed {
        let zeroed = nodes.iter().try_for_each(|node| zero_the_start(node));
        zeroed.map_err(|error| failed("zero disks", error.to_string()))?;
    }
    let setting = StackSetting {
        work_folder: Path::new("/tmp/raidlab"),
        name: "raidlab",
        zeroed: stack.zeroed,
        created: false,
        disk_kind: DiskKind::Simulated,
        teardown: Teardown::Full,
    };
    let machine = Machine {
        disks: Disks::of(&stack.disks, &nodes).map_err(|why| failed("deal disks", why.to_string()))?,
        setting,
    };
    compare_and_fail(&stack.spec, &machine, stack.failures, sink)
}

/// Writes zeros over the first 64 MiB of a disk. mke2fs reads its reserved inodes and, with assume_storage_prezeroed,
/// expects zeros there; an earlier stack may have left inodes.
fn zero_the_start(node: &Path) -> std::io::Result<()> {
    let block = vec![0; 1 << 20];
    let mut disk = File::options().write(true).open(node)?;
    for _ in 0..64 {
        disk.write_all(&block)?;
    }
    disk.sync_all()
}

/// The disks of a stack, and its setting on them.
struct Machine {
    disks: Disks,
    setting: StackSetting<'static>,
}

/// Lists the commands of the dry run (`dry-run.up`, `dry-run.down`) and those of the real run (`up`, `down`), one
/// per line, as provenance. With `failures`, the stack is then set up repeatedly with another act failing each
/// time: `failed.before` and `failed.after` list the acts whose failure left nothing behind.
fn compare_and_fail(
    spec: &StackSpec,
    machine: &Machine,
    failures: bool,
    sink: &mut dyn FnMut(Event),
) -> Result<(), Failure> {
    let mut wanted = stack::tools_needed(spec, machine.setting.teardown);
    wanted.push(Tool::Wipefs);
    let mut tools = Tools::find(&wanted).map_err(|missing| failed("find programs", missing.to_string()))?;
    let before = Remains::of(machine, &mut tools).map_err(|why| failed("look at disks", why))?;
    let dry = stack::dry_run(spec, &machine.disks, DryRunOn::Guest, machine.setting, &mut tools)
        .map_err(|cause| failed("dry run", cause.to_string()))?;
    report("dry-run.up", &dry.up, sink);
    report("dry-run.down", &dry.down, sink);
    let mut trying = Trying {
        spec,
        machine,
        ledger: MemoryLedger::default(),
    };
    let mut system = System::new(&mut tools);
    let mut listed = Listed::new(&mut system);
    let stack = trying.up(&mut listed).map_err(|error| error.failure())?;
    report("up", &listed.take(), sink);
    trying.down(stack, &mut listed)?;
    report("down", &listed.take(), sink);
    trying.nothing_remains(&before, &mut tools)?;
    for (moment, key) in [(Moment::Before, "failed.before"), (Moment::After, "failed.after")] {
        let mut all = Vec::new();
        for act in (1..ACTS_MAX).take_while(|_| failures) {
            let mut system = System::new(&mut tools);
            let mut failing = FailAt::new(&mut system, act, moment);
            let outcome = trying.up(&mut failing);
            let what = failing.failed().map(str::to_owned);
            match (outcome, what) {
                (Err(error), Some(what)) if error.failed_undo.is_empty() => all.push(what),
                (Err(error), _) => return Err(error.failure()),
                // Some failures are tolerated, but everything that was done is undone.
                (Ok(stack), what) => {
                    trying.down(stack, &mut System::new(&mut tools))?;
                    trying.nothing_remains(&before, &mut tools)?;
                    match what {
                        Some(what) => all.push(format!("{what} (ignored)")),
                        None => break,
                    }
                }
            }
            let here = format!(
                "act {act}, failing {moment:?} ({}): ",
                all.last().map_or("", String::as_str)
            );
            trying.nothing_remains(&before, &mut tools).map_err(|failure| Failure {
                message: here + &failure.message,
                ..failure
            })?;
        }
        sink(Event::Provenance {
            key: key.to_owned(),
            value: all.join("\n"),
        });
    }
    Ok(())
}

fn report(key: &str, commands: &[Command], sink: &mut dyn FnMut(Event)) {
    let lines: Vec<String> = commands.iter().map(ToString::to_string).collect();
    sink(Event::Provenance {
        key: key.to_owned(),
        value: lines.join("\n"),
    });
}

/// A stack that is set up repeatedly.
struct Trying<'s> {
    spec: &'s StackSpec,
    machine: &'s Machine,
    ledger: MemoryLedger,
}

impl Trying<'_> {
    fn with<T>(&mut self, executor: &mut dyn Executor, act: impl FnOnce(&mut Context<'_>) -> T) -> T {
        act(&mut Context {
            access: Access {
                executor,
                recorder: &mut |_| (),
                check: &mut NoDiskCheck,
            },
            ledger: &mut self.ledger,
            began: Instant::now(),
            setting: self.machine.setting,
        })
    }

    fn up(&mut self, executor: &mut dyn Executor) -> Result<Stack, StackError> {
        let (spec, machine) = (self.spec, self.machine);
        self.with(executor, |context| stack::up(spec, &machine.disks, context))
    }

    fn down(&mut self, stack: Stack, executor: &mut dyn Executor) -> Result<(), Failure> {
        let down = self.with(executor, |context| stack::down(stack, context));
        down.map_err(|error| failed("tear down", error.to_string()))
    }

    fn nothing_remains(&self, before: &Remains, tools: &mut Tools) -> Result<(), Failure> {
        let failed = |message: String| failed("look for leftovers", message);
        if let Some(act) = self.ledger.open.first() {
            return Err(failed(format!("the ledger still has `{}`", act.undo)));
        }
        let now = Remains::of(self.machine, tools).map_err(failed)?;
        match now == *before {
            true => Ok(()),
            false => Err(failed(format!("before: {before:?}; now: {now:?}"))),
        }
    }
}

/// Everything that a stack could leave on a machine.
#[derive(Debug, PartialEq, Eq)]
struct Remains {
    /// The signatures that blkid finds, by disk.
    signatures: BTreeMap<PathBuf, String>,
    /// The queue settings, by disk.
    settings: BTreeMap<PathBuf, String>,
    /// Running arrays, volumes, and the entries of the work folder.
    names: Vec<String>,
    mounts: Vec<String>,
}

impl Remains {
    fn of(machine: &Machine, tools: &mut Tools) -> Result<Remains, String> {
        let mut remains = Remains {
            signatures: BTreeMap::new(),
            settings: BTreeMap::new(),
            names: Vec::new(),
            mounts: Vec::new(),
        };
        for disk in machine.disks.all() {
            let call = Invocation::new(Tool::Wipefs).arg("--noheadings").arg(disk);
            let found = tools.run(&call, &mut |_| ()).map_err(|error| error.to_string())?;
            remains.signatures.insert(disk.clone(), found.stdout);
            let queue = Path::new("/sys/class/block")
                .join(disk.file_name().unwrap_or_default())
                .join("queue");
            let values = ["scheduler", "read_ahead_kb", "write_cache"].map(|name| text(&queue.join(name)));
            remains.settings.insert(disk.clone(), values.concat());
        }
        for name in names_in(Path::new("/sys/block")) {
            let state = text(&Path::new("/sys/block").join(&name).join("md/array_state"));
            // The node of a stopped array may remain.
            if name.starts_with("dm-") || !matches!(state.trim(), "" | "clear") {
                remains.names.push(name);
            }
        }
        remains.names.extend(names_in(machine.setting.work_folder));
        let folder = machine.setting.work_folder.display().to_string();
        let mounts = text(Path::new("/proc/self/mounts"));
        let ours = mounts.lines().filter(|line| line.contains(&folder));
        remains.mounts.extend(ours.map(str::to_owned));
        Ok(remains)
    }
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
