//! What work cannot be, and cannot be on a given stack.

use crate::impossible::{Impossible, PAGE_BYTES, impossible};
use crate::rules::room_bytes;
use crate::unit::describe_size;
use study::stack::{Level, MachineSpec, StackSpec};
use study::workload::{ImportedSpec, Work};

/// The rules of one kind of work. By default a study sets none of its sizes, and it can be on every stack.
pub(super) trait Rules {
    /// The axes that say how much room it takes, the one to change first.
    fn room_axes(&self) -> &'static [&'static str] {
        &[]
    }

    /// The axes that say how large its largest file is.
    fn file_size_axes(&self) -> &'static [&'static str] {
        &[]
    }

    /// Why it cannot be, or not on this stack: every reason but room.
    fn check(&self, _: &MachineSpec, _: &StackSpec) -> Vec<Impossible> {
        Vec::new()
    }
}

fn rules(work: &Work) -> &dyn Rules {
    match work {
        Work::Tree(spec) => spec,
        Work::Io(spec) => spec,
        Work::FioFile(spec) => spec,
        Work::Bonnie(spec) => spec,
        Work::Iozone(spec) => spec,
        Work::Server(spec) => spec,
        Work::Imported(spec) => spec,
    }
}

/// The axes that say how much room a stack has.
const STACK_ROOM: &[&str] = &[
    "size",
    "type",
    "model",
    "count",
    "level",
    "spares",
    "layout",
    "block_size",
];

/// Why the work cannot be done on a stack that can be, every reason.
pub(crate) fn check_work(
    machine: &MachineSpec,
    stack: &StackSpec,
    work: &Work,
    disk_bytes: Option<u64>,
) -> Vec<Impossible> {
    let raw = stack.filesystem.kind.is_raw();
    if raw && let Some(what) = work.spec().needs_files() {
        let help = "use `io` or `fio` there, or give the stack a filesystem";
        return impossible(&["type"], what.to_owned(), help).into_iter().collect();
    }
    let mut all = rules(work).check(machine, stack);
    all.extend(largest_file(stack, work));
    let Some(there) = room_bytes(machine, stack, disk_bytes) else {
        return all;
    };
    let block = stack.filesystem.block_size_bytes.unwrap_or(PAGE_BYTES);
    let needs = work.spec().bytes(block);
    // A filesystem keeps some of the array for itself, ext4 about 2 % (and 5 % for root, who works here).
    let usable = if raw { there } else { there / 100 * 97 };
    if needs > usable {
        let level = if stack.array.level == Level::Single {
            "the disk"
        } else {
            "the array"
        };
        let (needs, there) = (describe_size(needs), describe_size(there));
        let reason = format!("the workload needs about {needs}, and {level} has {there}");
        let about = [rules(work).room_axes(), STACK_ROOM].concat();
        all.extend(impossible(&about, reason, "reduce the workload, or use a larger array"));
    }
    all
}

fn largest_file(stack: &StackSpec, work: &Work) -> Option<Impossible> {
    let kind = stack.filesystem.kind;
    let most = kind.largest_file_bytes?;
    let largest = work.spec().largest_file_bytes();
    if largest <= most {
        return None;
    }
    let reason = format!(
        "{} has no files of {} and more, and the workload has one of {}",
        kind.name,
        describe_size(most + 1),
        describe_size(largest)
    );
    let about = [rules(work).file_size_axes(), &["type"]].concat();
    impossible(&about, reason, "use type = \"exfat\", or smaller files")
}

/// It was done already, and by no study.
impl Rules for ImportedSpec {}
