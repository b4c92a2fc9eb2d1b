//! Expected wall time of a trial, used to divide a study's trials into shards of equal duration.
//!
//! The estimate depends only on the plan and uses integers, so every machine and build computes the same. Only
//! ratios between cells matter. The remaining time is estimated from completed trials.

use study::act::{Act, ActKind};
use study::plan::Cell;
use study::workload::{AgeSpec, IoSpec, Work};

/// Start of a guest, stack up and down.
const TRIAL_US: u64 = 250_000;

/// One system call, including the requests that it causes.
const OPERATION_US: u64 = 20;

/// Recovering and checking the disks after one power cut.
const POWER_CUT_STATE_US: u64 = 40_000;

/// A file is created, written, closed and deleted.
const CALLS_OF_AGED_FILE: u64 = 4;

/// Bytes per microsecond that a guest transfers to and from all members of the array.
const BYTES_PER_US: u64 = 500;

/// Operations per second on a fast disk in a test with a time limit.
const OPERATIONS_PER_S: u64 = 20_000;

/// Blocks per second of all jobs of a test with a time limit, at most what the disks do.
fn a_second(io: &IoSpec, of_disks: u64) -> u64 {
    let of_job = io.limit_iops().unwrap_or(of_disks);
    of_job.saturating_mul(u64::from(io.jobs)).min(of_disks)
}

/// What md transfers for the acts: each that synchronises reads or writes all members. 0 if they are whole disks, whose
/// size the plan does not say.
fn bytes_of_acts(cell: &Cell) -> u64 {
    let member = cell.stack.array.member_size_bytes.unwrap_or(0);
    let synchronises = |act: &&Act| {
        use ActKind::{Add, Check, Grow, ReAdd, Repair, Replace};
        matches!(act.kind, Add | ReAdd | Replace | Grow | Check | Repair)
    };
    let times = cell.acts.iter().filter(synchronises).count() as u64;
    member
        .saturating_mul(u64::from(cell.member_count()))
        .saturating_mul(times)
}

/// Expected wall time of ageing the filesystem of a cell, 0 if it is new. `disk_bytes`: the size of its disks if known, which counts
/// where the study says no `size`.
pub fn ageing_us(cell: &Cell, disk_bytes: Option<u64>) -> u64 {
    let Some(age) = &cell.workload.age else { return 0 };
    let member = cell.stack.array.member_size_bytes.or(disk_bytes).unwrap_or(0);
    // With copies and parity.
    let all = member.saturating_mul(u64::from(cell.member_count().max(1)));
    let bytes = age.written_bytes(all);
    let files = bytes / age.profile.mean_bytes(AgeSpec::file_bytes_max(all)).max(1);
    let calls = files.saturating_mul(CALLS_OF_AGED_FILE);
    TRIAL_US
        .saturating_add(calls.saturating_mul(OPERATION_US))
        .saturating_add(bytes / BYTES_PER_US)
}

/// Operations and bytes of the jobs of `io` and of job files, with the files that are written before they are read.
fn of_jobs(cell: &Cell, of_disks: impl Fn(&IoSpec) -> u64) -> (u64, u64) {
    let has_files = !cell.stack.filesystem.kind.is_raw();
    let (mut operations, mut bytes) = (0_u64, 0_u64);
    for job in cell.workload.work.spec().jobs() {
        let io = &job.io;
        let block = io.block_bytes.max(1);
        let mut blocks = (io.size_bytes / block).saturating_mul(u64::from(io.jobs));
        if let Some(runtime_ns) = io.runtime_ns {
            let milliseconds = runtime_ns.saturating_add(io.ramp_ns) / 1_000_000;
            let within = milliseconds.saturating_mul(a_second(io, of_disks(io))) / 1000;
            blocks = if io.time_based { within } else { blocks.min(within) };
        }
        operations = operations.saturating_add(blocks);
        bytes = bytes.saturating_add(blocks.saturating_mul(block));
        if has_files && io.pattern.has_reads() {
            bytes = bytes.saturating_add(job.files_bytes());
        }
    }
    (operations, bytes)
}

/// Expected wall time of one trial of a cell, whatever its disks are.
pub fn expected_us(cell: &Cell) -> u64 {
    expected_us_on(cell, None, |_| OPERATIONS_PER_S)
}

/// The same with the size of its disks, and the requests per second that they do in a test with a time limit. Ageing counts where each
/// trial does it.
pub fn expected_us_on(cell: &Cell, disk_bytes: Option<u64>, of_disks: impl Fn(&IoSpec) -> u64) -> u64 {
    let work = &cell.workload.work;
    // Their jobs are summed; the directions of a mix are tests, but no further work.
    let tests = match work {
        Work::Io(_) | Work::FioFile(_) => 1,
        _ => (work.tests().len() as u64).max(1),
    };
    let (operations, bytes) = match work {
        Work::Tree(tree) => (u64::from(tree.files).saturating_mul(tests), work.spec().bytes(1)),
        Work::Io(_) | Work::FioFile(_) => of_jobs(cell, of_disks),
        // Each character is a system call, once to write and once to read it.
        Work::Bonnie(bonnie) => {
            let characters = if bonnie.per_char { bonnie.char_bytes } else { 0 };
            let operations = u64::from(bonnie.seeks).saturating_add(characters.saturating_mul(2));
            (operations, work.spec().bytes(4096))
        }
        Work::Iozone(iozone) => {
            let records = iozone.file_bytes / iozone.record_bytes.max(1);
            let of_tests = records
                .saturating_mul(u64::from(iozone.processes))
                .saturating_mul(tests);
            (of_tests, work.spec().bytes(4096))
        }
        _ => (0, work.spec().bytes(4096)),
    };
    let states = match work {
        Work::PowerCut(cut) => u64::from(cut.points).saturating_mul(u64::from(cut.subsets) + 1),
        _ => 0,
    };
    let disks = cell.member_count().max(1);
    let bytes = cell.stack.array.member_bytes_min(disks, bytes).saturating_mul(tests);
    let bytes = bytes.saturating_add(bytes_of_acts(cell));
    TRIAL_US
        .saturating_add(operations.saturating_mul(OPERATION_US))
        .saturating_add(bytes / BYTES_PER_US)
        .saturating_add(states.saturating_mul(POWER_CUT_STATE_US))
        .saturating_add(if cell.machine.create_once {
            0
        } else {
            ageing_us(cell, disk_bytes)
        })
        // Sums of many costs must not overflow.
        .min(u64::from(u32::MAX) * 1000)
}
