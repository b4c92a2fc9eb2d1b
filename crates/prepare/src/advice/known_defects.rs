//! Defects of a kernel that decide figures: better than they should be (`docs/findings`), or worse than those of newer kernels.

use super::disks::Disks;
use study::plan::Cell;
use study::stack::{Level, MachineKind};
use study::workload::Work;

const KERNEL: &str = "6.12";

/// `max_sectors` of md arrays on simulated disks: smaller requests are split by chunks alone.
const UNSPLIT_BYTES: u64 = 1 << 20;

/// Sentences that do not name the cell, so that a plan has each once.
pub(super) fn of_cell(cell: &Cell, disks: Option<&Disks>) -> impl Iterator<Item = String> {
    let is_of_kernel = cell.machine.kind == MachineKind::Lab && cell.machine.kernel == KERNEL;
    let sentences = [early_syncs(cell, disks), split_reads(cell, disks)];
    sentences.into_iter().flatten().filter(move |_| is_of_kernel)
}

/// Syncs that end before the flush that makes them safe: `docs/findings/md-preflush.md`.
fn early_syncs(cell: &Cell, disks: Option<&Disks>) -> Option<String> {
    if disks.is_some_and(Disks::need_no_flush) {
        return None;
    }
    let is_of_level = matches!(cell.stack.array.level, Level::Raid0 | Level::Raid1 | Level::Raid10);
    (is_of_level && !cell.stack.filesystem.kind.is_raw() && syncs(&cell.workload.work)).then(|| {
        format!(
            "md of Linux {KERNEL} does not wait for the flush before a journal's commit on RAID 0, 1 and 10: syncs are faster \
             there than is safe, and other levels and kernels look slower next to them (docs/findings/md-preflush.md)"
        )
    })
}

/// Requests that are split twice, by size and by chunk, and reach the disks in the wrong order: corrected in Linux 6.18 by
/// commit b2f5974079d8, "block: fix ordering of recursive split IO".
fn split_reads(cell: &Cell, disks: Option<&Disks>) -> Option<String> {
    let is_split = cell.workload.work.spec().largest_file_bytes() > UNSPLIT_BYTES
        && cell.workload.work.spec().jobs().iter().any(|job| {
            let pattern = job.io.pattern;
            let is_large = !job.io.direct || job.io.block_bytes > UNSPLIT_BYTES;
            pattern.has_reads() && !pattern.is_random() && is_large
        });
    (cell.stack.array.has_parity() && is_split && disks.is_some_and(Disks::has_heads)).then(|| {
        format!(
            "Linux {KERNEL} sends large sequential reads of RAID 4, 5 and 6 to the disks out of order, which costs up to 50 % \
             of their throughput, depending on chunk and read-ahead; corrected in Linux 6.18 (commit b2f5974079d8)"
        )
    })
}

/// Whether syncs are part of what is measured.
fn syncs(work: &Work) -> bool {
    matches!(work, Work::Server(_)) || work.spec().jobs().iter().any(|job| job.io.syncs())
}
