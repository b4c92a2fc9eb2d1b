//! Expected wall time of a trial, to divide a study's trials into parts that take equally long.
//!
//! An estimate from the plan alone, in whole numbers: every machine and every build finds the same. Only ratios between
//! cells matter. How much time is left is estimated from trials that have ended.

use study::plan::Cell;
use study::workload::Work;

/// Start of a guest, stack up and down.
const TRIAL_US: u64 = 250_000;

/// One system call, with the requests that it causes.
const OPERATION_US: u64 = 20;

/// Bytes that a guest moves in a microsecond, to and from all members of the array.
const BYTES_PER_US: u64 = 500;

/// Operations of a fast disk in a second of a test with a time limit.
const OPERATIONS_PER_S: u64 = 20_000;

/// Expected wall time of one trial of a cell.
pub fn expected_us(cell: &Cell) -> u64 {
    let work = &cell.workload.work;
    let tests = (work.tests().len() as u64).max(1);
    let (operations, bytes) = match work {
        Work::Tree(tree) => (u64::from(tree.files).saturating_mul(tests), work.spec().bytes(1)),
        Work::Io(io) => {
            let block = io.block_bytes.max(1);
            let mut blocks = (io.size_bytes / block).saturating_mul(u64::from(io.jobs));
            if let Some(runtime_ns) = io.runtime_ns {
                let within =
                    (runtime_ns.saturating_add(io.ramp_ns) / 1_000_000).saturating_mul(OPERATIONS_PER_S / 1000);
                blocks = if io.time_based { within } else { blocks.min(within) };
            }
            (blocks, blocks.saturating_mul(block))
        }
        _ => (0, work.spec().bytes(4096)),
    };
    let disks = cell.machine.disks.first().map_or(1, |group| group.count);
    let bytes = cell.stack.array.member_bytes_min(disks, bytes).saturating_mul(tests);
    TRIAL_US
        .saturating_add(operations.saturating_mul(OPERATION_US))
        .saturating_add(bytes / BYTES_PER_US)
        // Sums of many of them must not overflow.
        .min(u64::from(u32::MAX) * 1000)
}
