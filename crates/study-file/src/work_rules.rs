//! What work cannot be, and cannot be on a given stack.

use crate::rules::{Impossible, PAGE_BYTES, impossible, room_bytes};
use crate::unit::{describe_size, format_size};
use study::stack::{Level, MachineSpec, StackSpec};
use study::workload::{
    BonnieSpec, FioFileSpec, IoEngine, IoSpec, IozoneEngine, IozoneSpec, TreeSpec, TreeTest, Work,
};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

const ROOM: &[&str] = &[
    "collection",
    "files",
    "file_size",
    "io_size",
    "numjobs",
    "offset",
    "bonnie_size",
    "volumes",
    "file",
    "processes",
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
    if raw && let Some(what) = needs_files(work) {
        let mend = "use `io` or `fio` there, or give the stack a filesystem";
        return impossible(&["tree", "type"], what.to_owned(), mend)
            .into_iter()
            .collect();
    }
    let mut all = match work {
        Work::Tree(tree) => check_groups(tree, machine, stack),
        Work::Io(io) => check_io(io, raw),
        Work::FioFile(_) => Vec::new(),
        Work::Bonnie(bonnie) => check_bonnie(bonnie),
        Work::Iozone(iozone) => check_iozone(iozone),
    };
    all.extend(largest_file(stack, work));
    let Some(there) = room_bytes(machine, stack, disk_bytes) else {
        return all;
    };
    let block = stack.filesystem.block_size_bytes.unwrap_or(PAGE_BYTES);
    let needs = work_bytes(work, block);
    // A filesystem keeps some of the array for itself, ext4 about 2 % (and 5 % for root, who works here).
    let usable = if raw { there } else { there / 100 * 97 };
    if needs > usable {
        let level = if stack.array.level == Level::Single {
            "the disk"
        } else {
            "the array"
        };
        let (needs, there) = (describe_size(needs), describe_size(there));
        let reason = format!("the work needs about {needs}, and {level} has {there}");
        all.extend(impossible(ROOM, reason, "less work, or a larger array"));
    }
    all
}

/// What does not go on a raw device.
fn needs_files(work: &Work) -> Option<&'static str> {
    match work {
        Work::Tree(_) => Some("a raw device holds no files"),
        Work::Bonnie(_) => Some("Bonnie++ works on files, and a raw device holds none"),
        Work::Iozone(_) => Some("IOzone works on files, and a raw device holds none"),
        Work::FioFile(_) => Some("the jobs of a job file have files of their own, and a raw device holds none"),
        Work::Io(_) => None,
    }
}

/// About what the work takes on the filesystem.
fn work_bytes(work: &Work, block_bytes: u64) -> u64 {
    match work {
        Work::Tree(tree) => tree_bytes(tree, block_bytes),
        Work::Io(io) => {
            let step = io.offset_increment_bytes.unwrap_or(io.size_bytes);
            let last = step.saturating_mul(u64::from(io.jobs.saturating_sub(1)));
            io.offset_bytes.saturating_add(last).saturating_add(io.size_bytes)
        }
        Work::FioFile(FioFileSpec { sections, .. }) => sections.iter().fold(0, |sum: u64, section| {
            sum.saturating_add(section.size_bytes.saturating_mul(u64::from(section.jobs)))
        }),
        Work::Bonnie(bonnie) => {
            let all = bonnie.size_bytes.saturating_mul(u64::from(bonnie.volumes));
            let file = (bonnie.file_min_bytes / 2 + bonnie.file_max_bytes / 2).next_multiple_of(block_bytes);
            let files = file.saturating_mul(u64::from(bonnie.files));
            all.max(files).saturating_mul(u64::from(bonnie.processes))
        }
        Work::Iozone(iozone) => iozone.file_bytes.saturating_mul(u64::from(iozone.processes)),
    }
}

fn largest_file(stack: &StackSpec, work: &Work) -> Option<Impossible> {
    let kind = stack.filesystem.kind;
    let most = kind.largest_file_bytes?;
    let largest = match work {
        Work::Tree(tree) => tree.size.max_bytes,
        Work::Io(io) => io.size_bytes,
        Work::FioFile(file) => file
            .sections
            .iter()
            .map(|section| section.size_bytes)
            .max()
            .unwrap_or(0),
        // Bonnie++ parts its volume into files of 1 GiB.
        Work::Bonnie(_) => 0,
        Work::Iozone(iozone) => iozone.file_bytes,
    };
    if largest <= most {
        return None;
    }
    let reason = format!(
        "{} has no files of {} and more, and the work has one of {}",
        kind.name,
        describe_size(most + 1),
        describe_size(largest)
    );
    impossible(
        &["file_size", "io_size", "type"],
        reason,
        "write type = \"exfat\", or smaller files",
    )
}

/// About what a tree takes: files of median size, in whole blocks, twice if they are copied.
fn tree_bytes(tree: &TreeSpec, block_bytes: u64) -> u64 {
    let file = tree
        .size
        .median_bytes
        .max(1)
        .div_ceil(block_bytes)
        .saturating_mul(block_bytes);
    let copies = if tree.tests.contains(&TreeTest::Copy) { 2 } else { 1 };
    file.saturating_mul(u64::from(tree.files)).saturating_mul(copies)
}

/// The groups that a tree names are there.
fn check_groups(tree: &TreeSpec, machine: &MachineSpec, stack: &StackSpec) -> Vec<Impossible> {
    const ABOUT: &[&str] = &["from", "to"];
    let mut all = Vec::new();
    for (key, name, test) in [("from", &tree.from, TreeTest::Write), ("to", &tree.to, TreeTest::Read)] {
        let Some(name) = name else { continue };
        if !machine.disks.iter().any(|group| group.name == *name) || name == "data" {
            let reason = format!("`{key}` is a group of disks beside those under test, and `{name}` is none");
            all.extend(impossible(
                ABOUT,
                reason,
                format!("write [disks.{name}] with its model"),
            ));
        } else if !stack.beside.iter().any(|beside| beside.group == *name) {
            let reason = format!("`{key}` names the group `{name}`, on which there is no filesystem");
            let mend = format!("write fs = {{ type = \"ext4\" }} or another in [disks.{name}]");
            all.extend(impossible(ABOUT, reason, mend));
        }
        if !tree.tests.contains(&test) {
            let reason = format!(
                "`{key}` is for the test `{}`, which is not among the tests",
                test.name()
            );
            all.extend(impossible(ABOUT, reason, format!("leave `{key}` out")));
        }
    }
    all
}

fn check_io(io: &IoSpec, raw: bool) -> Vec<Impossible> {
    let mut all = Vec::new();
    if io.block_bytes > io.size_bytes {
        let (block, size) = (format_size(io.block_bytes), format_size(io.size_bytes));
        let reason = format!("`bs` ({block}) is larger than `size` ({size})");
        all.extend(impossible(
            &["bs", "io_size"],
            reason,
            "write a smaller `bs` or a larger `size`",
        ));
    }
    if io.direct && !io.block_bytes.is_multiple_of(512) {
        let reason = format!(
            "direct I/O goes by sectors, and `bs` is {}",
            format_size(io.block_bytes)
        );
        all.extend(impossible(
            &["bs", "direct"],
            reason,
            "write a `bs` that is a multiple of 512B",
        ));
    }
    if io.direct && !io.offset_bytes.is_multiple_of(512) {
        let reason = format!(
            "direct I/O goes by sectors, and `offset` is {}",
            format_size(io.offset_bytes)
        );
        all.extend(impossible(&["offset", "direct"], reason, "write a multiple of 512B"));
    }
    if io.offset_increment_bytes.is_some() && !raw {
        let reason = "`offset_increment` is for raw devices; on a filesystem each job has a file of its own";
        all.extend(impossible(
            &["offset_increment", "type"],
            reason.to_owned(),
            "leave `offset_increment` out",
        ));
    }
    if io.skip_bytes.unsigned_abs() >= io.size_bytes {
        let reason = "what `rw` leaves out after a block is larger than `size`".to_owned();
        all.extend(impossible(&["rw", "io_size"], reason, "leave out less, as \"read:8K\""));
    }
    if io.verify.is_some() && !io.pattern.has_writes() {
        let reason = format!(
            "`verify` compares what was written, and {} writes nothing",
            io.pattern.name()
        );
        all.extend(impossible(&["verify", "rw"], reason, "leave `verify` out"));
    }
    if io.engine == IoEngine::Native {
        all.extend(check_native(io));
    }
    if io.fio_options.iter().any(|(name, _)| name == "nrfiles") && raw {
        let reason = "`nrfiles` is for filesystems, and this is a raw device".to_owned();
        all.extend(impossible(&["nrfiles", "type"], reason, "leave `nrfiles` out"));
    }
    all
}

/// What fio can and raidlab's engine cannot.
fn check_native(io: &IoSpec) -> Vec<Impossible> {
    let mut all = Vec::new();
    if !io.skip_bytes.unsigned_abs().is_multiple_of(io.block_bytes) {
        let reason = "raidlab's engine leaves out whole blocks only".to_owned();
        let mend = "leave out a multiple of `bs`, or use `fio`";
        all.extend(impossible(&["rw", "bs"], reason, mend));
    }
    all
}

fn check_bonnie(bonnie: &BonnieSpec) -> Vec<Impossible> {
    let mut all = Vec::new();
    if !bonnie.size_bytes.is_multiple_of(MIB) {
        let reason = format!(
            "Bonnie++ counts in whole MiB, and `size` is {}",
            format_size(bonnie.size_bytes)
        );
        all.extend(impossible(&["bonnie_size"], reason, "write whole MiB"));
    }
    if !bonnie.files.is_multiple_of(1024) {
        let (below, above) = (bonnie.files / 1024 * 1024, bonnie.files.next_multiple_of(1024));
        let reason = format!(
            "Bonnie++ counts files in multiples of 1024, and `files` is {}",
            bonnie.files
        );
        all.extend(impossible(&["files"], reason, format!("write {below} or {above}")));
    }
    if bonnie.size_bytes == 0 && bonnie.files == 0 {
        let reason = "without `size` and `files` Bonnie++ has nothing to do".to_owned();
        all.extend(impossible(&["bonnie_size", "files"], reason, "give one of the two"));
    }
    if bonnie.file_min_bytes > bonnie.file_max_bytes {
        let reason = "`file_min` is larger than `file_max`".to_owned();
        all.extend(impossible(&["file_min", "file_max"], reason, "file_min ≤ file_max"));
    }
    all
}

fn check_iozone(iozone: &IozoneSpec) -> Vec<Impossible> {
    let mut all = Vec::new();
    if !iozone.file_bytes.is_multiple_of(KIB) || !iozone.record_bytes.is_multiple_of(KIB) {
        let reason = "IOzone counts in whole KiB".to_owned();
        all.extend(impossible(&["file", "record"], reason, "write whole KiB"));
    }
    if !iozone.file_bytes.is_multiple_of(iozone.record_bytes) {
        let (file, record) = (format_size(iozone.file_bytes), format_size(iozone.record_bytes));
        let reason = format!("a file of {file} holds no whole number of records of {record}");
        all.extend(impossible(
            &["record", "file"],
            reason,
            "make `file` a multiple of `record`",
        ));
    }
    if iozone.engine == IozoneEngine::Iozone && iozone.processes > 256 {
        let reason = "IOzone has 256 processes at most".to_owned();
        all.extend(impossible(&["processes", "engine"], reason, "write 256 or fewer"));
    }
    all
}
