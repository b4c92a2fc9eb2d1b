//! Defects of a kernel that make figures better than they should be (`docs/findings`).

use super::disks::Disks;
use study::plan::Cell;
use study::stack::{Level, MachineKind};
use study::workload::Work;

/// md's flushes in Linux 6.12: `docs/findings/md-preflush.md`.
const KERNEL: &str = "6.12";

/// Whether the cell's syncs end before the flush that makes them safe; the sentence does not name the cell, so that a plan
/// has it once.
pub(super) fn of_cell(cell: &Cell, disks: Option<&Disks>) -> Option<String> {
    if disks.is_some_and(Disks::need_no_flush) {
        return None;
    }
    let is_of_kernel = cell.machine.kind == MachineKind::Lab && cell.machine.kernel == KERNEL;
    let is_of_level = matches!(cell.stack.array.level, Level::Raid0 | Level::Raid1 | Level::Raid10);
    (is_of_kernel && is_of_level && !cell.stack.filesystem.kind.is_raw() && syncs(&cell.workload.work)).then(|| {
        format!(
            "md of Linux {KERNEL} does not wait for the flush before a journal's commit on RAID 0, 1 and 10: syncs are faster \
             there than is safe, and other levels and kernels look slower next to them (docs/findings/md-preflush.md)"
        )
    })
}

/// Whether syncs are part of what is measured.
fn syncs(work: &Work) -> bool {
    matches!(work, Work::Server(_)) || work.spec().jobs().iter().any(|job| job.io.syncs())
}
