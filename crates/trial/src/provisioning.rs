//! Checks, on a machine that ends afterwards, that the dry run lists the same commands as the real run, and that a
//! failure of any act of provisioning leaves nothing behind.

use crate::TrialSetting;
use stack::{
    Access, Command, Context, DryRunOn, Executor, FailAt, Listed, MemoryLedger, Moment, NoDiskCheck, Stack,
    StackError, System,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use study::event::{Event, Failure};
use study::stack::StackSpec;
use tools::{Invocation, Tool, Tools};

/// More acts than any stack has.
const ACTS_MAX: u32 = 200;

/// Lists the commands of the dry run (`dry-run.up`, `dry-run.down`) and those of the real run (`up`, `down`), one
/// per line, as provenance. With `failures`, the stack is then set up repeatedly with another act failing each
/// time: `failed.before` and `failed.after` list the acts whose failure left nothing behind.
pub fn compare_and_fail(
    spec: &StackSpec,
    setting: &TrialSetting,
    failures: bool,
    sink: &mut dyn FnMut(Event),
) -> Result<(), Failure> {
    let failed = |step: &str, message: String| Failure {
        step: step.to_owned(),
        message,
    };
    let mut wanted = stack::tools_needed(spec, setting.teardown);
    wanted.push(Tool::Wipefs);
    let mut tools = Tools::find(&wanted).map_err(|missing| failed("find programs", missing.to_string()))?;
    let before = Remains::of(setting, &mut tools).map_err(|why| failed("look at disks", why))?;
    let dry = stack::dry_run(spec, &setting.disks, DryRunOn::Guest, setting.of_stack(), &mut tools)
        .map_err(|cause| failed("dry run", cause.to_string()))?;
    report("dry-run.up", &dry.up, sink);
    report("dry-run.down", &dry.down, sink);
    let mut trying = Trying {
        spec,
        setting,
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
    setting: &'s TrialSetting,
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
            setting: self.setting.of_stack(),
        })
    }

    fn up(&mut self, executor: &mut dyn Executor) -> Result<Stack, StackError> {
        let (spec, setting) = (self.spec, self.setting);
        self.with(executor, |context| stack::up(spec, &setting.disks, context))
    }

    fn down(&mut self, stack: Stack, executor: &mut dyn Executor) -> Result<(), Failure> {
        let down = self.with(executor, |context| stack::down(stack, context));
        down.map_err(|error| Failure {
            step: "tear down".to_owned(),
            message: error.to_string(),
        })
    }

    fn nothing_remains(&self, before: &Remains, tools: &mut Tools) -> Result<(), Failure> {
        let failed = |message: String| Failure {
            step: "look for leftovers".to_owned(),
            message,
        };
        if let Some(act) = self.ledger.open.first() {
            return Err(failed(format!("the ledger still has `{}`", act.undo)));
        }
        let now = Remains::of(self.setting, tools).map_err(failed)?;
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
    fn of(setting: &TrialSetting, tools: &mut Tools) -> Result<Remains, String> {
        let mut remains = Remains {
            signatures: BTreeMap::new(),
            settings: BTreeMap::new(),
            names: Vec::new(),
            mounts: Vec::new(),
        };
        for disk in setting.disks.all() {
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
        remains.names.extend(names_in(&setting.folder));
        let folder = setting.folder.display().to_string();
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
