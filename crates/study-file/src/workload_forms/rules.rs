//! Rules for workloads, alone and on a given stack.

use crate::rules::impossible::{Impossible, PAGE_BYTES, impossible};
use crate::rules::stack::room_bytes;
use crate::rules::{memory, parallel};
use crate::syntax::unit::describe_size;
use crate::workload_forms::age;
use study::stack::{Level, MachineSpec, StackSpec};
use study::wording::number;
use study::workload::Work;
use study::workload::{AgeSpec, ImportedSpec, WorkloadSpec};

/// The rules of one kind of work. By default no axis determines its space, and every stack can run it.
pub(super) trait Rules {
    /// The axes that determine its space, the one to change first.
    fn room_axes(&self) -> &'static [&'static str] {
        &[]
    }

    /// The axes that determine the size of its largest file.
    fn file_size_axes(&self) -> &'static [&'static str] {
        &[]
    }

    /// All reasons why it is impossible, alone or on this stack, except space.
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
        Work::PowerCut(spec) => spec,
        Work::Imported(spec) => spec,
    }
}

/// The axes that determine the space of a stack.
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

/// All reasons why the work is impossible on a possible stack.
pub(crate) fn check_work(
    machine: &MachineSpec,
    stack: &StackSpec,
    workload: &WorkloadSpec,
    disk_bytes: Option<u64>,
) -> Vec<Impossible> {
    let work = &workload.work;
    let raw = stack.filesystem.kind.is_raw();
    if raw && let Some(what) = work.spec().needs_files() {
        let help = "use `io` or `fio` there, or give the stack a filesystem";
        return impossible(&["type"], what.to_owned(), help).into_iter().collect();
    }
    let mut all = rules(work).check(machine, stack);
    all.extend(largest_file(stack, work));
    all.extend(memory::of_work(machine, stack, work, disk_bytes));
    all.extend(parallel::of_work(machine, work));
    if machine.create_once && matches!(work, Work::PowerCut(_)) {
        all.extend(impossible(
            &["create_once"],
            "a power cut is explored from the creation of the stack on".to_owned(),
            "write `create_once = false`, or leave it out",
        ));
    }
    let room = room_bytes(machine, stack, disk_bytes);
    all.extend(inodes(stack, work, room));
    if let Some(spec) = &workload.age {
        all.extend(age::check(machine, stack, work, spec, room));
    }
    let Some(there) = room else {
        return all;
    };
    let block = stack.filesystem.block_size_bytes.unwrap_or(PAGE_BYTES);
    let needs = work.spec().bytes(block);
    // A filesystem uses some of the array itself, ext4 about 2 % (and 5 % for root, which runs the workload).
    let usable = if raw { there } else { there / 100 * 97 };
    if needs > usable {
        let level = if stack.array.level == Level::Single {
            "the disk"
        } else {
            "the array"
        };
        let (needs, there) = (describe_size(needs), describe_size(there));
        let reason = format!("the workload needs about {needs}, but {level} has {there}");
        let about = [rules(work).room_axes(), STACK_ROOM].concat();
        all.extend(impossible(&about, reason, "reduce the workload, or use a larger array"));
    } else if let Some(spec) = workload.age.as_ref().filter(|_| !raw) {
        all.extend(next_to_aged(work, spec, needs, there));
    }
    all
}

/// Whether the files of the work fit into what ageing leaves. Some of that is for the metadata of the files.
fn next_to_aged(work: &Work, age: &AgeSpec, needs: u64, there: u64) -> Option<Impossible> {
    let left = there / 100 * u64::from(100_u8.saturating_sub(age.fill_percent));
    if needs <= left / 100 * 95 {
        return None;
    }
    let (needs, left) = (describe_size(needs), describe_size(left));
    let reason = format!(
        "the workload needs about {needs}, but a filesystem that is {} % full has {left} left",
        age.fill_percent
    );
    let about = [rules(work).room_axes(), &["fill"], STACK_ROOM].concat();
    impossible(&about, reason, "reduce the workload or `fill`, or use a larger array")
}

fn largest_file(stack: &StackSpec, work: &Work) -> Option<Impossible> {
    let kind = stack.filesystem.kind;
    let most = kind.largest_file_bytes?;
    let largest = work.spec().largest_file_bytes();
    if largest <= most {
        return None;
    }
    let reason = format!(
        "{} has no files of {} or more, but the workload has one of {}",
        kind.name,
        describe_size(most + 1),
        describe_size(largest)
    );
    let about = [rules(work).file_size_axes(), &["type"]].concat();
    impossible(&about, reason, "use type = \"exfat\", or smaller files")
}

/// Bytes for each inode of an ext filesystem, by its size: `inode_ratio` of mke2fs.conf for its usage types.
const fn inode_ratio(bytes: u64) -> u64 {
    const MIB: u64 = 1 << 20;
    const TIB: u64 = 1 << 40;
    if bytes < 512 * MIB {
        4096
    } else if bytes < 4 * TIB {
        16384
    } else if bytes < 16 * TIB {
        32768
    } else {
        65536
    }
}

fn inodes(stack: &StackSpec, work: &Work, room_bytes: Option<u64>) -> Option<Impossible> {
    let (files, directories) = match work {
        Work::Tree(spec) => (spec.files, spec.directories),
        Work::Server(spec) if spec.tests.iter().any(|test| test.has_files()) => (spec.files, spec.directories),
        _ => return None,
    };
    let room = room_bytes?;
    let kind = stack.filesystem.kind;
    if !matches!(kind.name, "ext2" | "ext3" | "ext4") {
        return None;
    }
    let needs = u64::from(files) + u64::from(directories);
    let most = room / inode_ratio(room);
    let reason = format!(
        "{} of this size has about {} inodes, but the workload has {} files and {} directories",
        kind.name,
        number(most as f64, 0),
        number(f64::from(files), 0),
        number(f64::from(directories), 0)
    );
    let about = [&["directories", "files"], STACK_ROOM].concat();
    (needs > most)
        .then(|| {
            impossible(
                &about,
                reason,
                "reduce the workload, use a larger array, or type = \"xfs\"",
            )
        })
        .flatten()
}

/// It was run before, outside of studies.
impl Rules for ImportedSpec {}
