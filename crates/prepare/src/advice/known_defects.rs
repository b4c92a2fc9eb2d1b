//! Defects of a kernel that decide figures: better than they should be (`docs/findings`), or worse than those of newer kernels.

use super::disks::Disks;
use study::plan::Cell;
use study::stack::{Level, MachineKind};
use study::workload::Work;

const KERNEL: &str = "6.12";

/// Here md sends the flush before the commit, but waits for it no more than 6.12 does: an NVMe drive takes writes meanwhile.
const KERNEL_BY_NVME: &str = "7.3";

/// `max_sectors` of md arrays on simulated disks: smaller requests are split by chunks alone.
const UNSPLIT_BYTES: u64 = 1 << 20;

fn is_of_kernel(cell: &Cell, kernel: &str) -> bool {
    cell.machine.kind == MachineKind::Lab && cell.machine.kernel == kernel
}

/// Commits that are written before the flush that they depend on: `docs/findings/md-preflush.md`. The sentence does not name the cell, so
/// that a plan has it once.
pub(super) fn early_syncs(cell: &Cell, disks: Option<&Disks>) -> Option<String> {
    let by_nvme = is_of_kernel(cell, KERNEL_BY_NVME) && disks.is_some_and(Disks::are_nvme);
    if disks.is_some_and(Disks::need_no_flush) || !(by_nvme || is_of_kernel(cell, KERNEL)) {
        return None;
    }
    let is_of_level = matches!(cell.stack.array.level, Level::Raid0 | Level::Raid1 | Level::Raid10);
    (is_of_level && !cell.stack.filesystem.kind.is_raw() && syncs(&cell.workload.work)).then(|| {
        format!(
            "on RAID 0, 1 and 10 md of Linux {KERNEL}, and on NVMe drives that of {KERNEL_BY_NVME} as well, writes a journal's commit before \
             the flush that it depends on: after a power cut the filesystem may not mount (in the lab after 45 of 400 cuts with ext4 on RAID 1 \
             of SATA disks with {KERNEL}, after 1 of 100 on RAID 1 of NVMe drives with {KERNEL_BY_NVME}). Drives with power-loss protection, and RAID 5 and 6, are not affected. Syncs are faster there than is safe, and \
             other levels and kernels look slower next to them (raidlab's docs/findings/md-preflush.md)"
        )
    })
}

/// Requests that are split twice, by size and by chunk, and reach the disks in the wrong order: corrected in Linux 6.18 by
/// commit b2f5974079d8, "block: fix ordering of recursive split IO". The sentence does not name the cell, either.
pub(super) fn split_reads(cell: &Cell, disks: Option<&Disks>) -> Option<String> {
    let is_split = cell.workload.work.spec().largest_file_bytes() > UNSPLIT_BYTES
        && cell.workload.work.spec().jobs().iter().any(|job| {
            let pattern = job.io.pattern;
            let is_large = !job.io.direct || job.io.block_bytes > UNSPLIT_BYTES;
            pattern.has_reads() && !pattern.is_random() && is_large
        });
    (is_of_kernel(cell, KERNEL) && cell.stack.array.has_parity() && is_split && disks.is_some_and(Disks::has_heads)).then(|| {
        format!(
            "Linux {KERNEL} sends large sequential reads of RAID 4, 5 and 6 to the disks out of order, which costs up to 50 % \
             of their throughput, depending on chunk and read-ahead; RAID 0, 1 and 10 are not affected; corrected in Linux 6.18 (commit \
             b2f5974079d8); `kernel = [\"{KERNEL}\", \"{KERNEL_BY_NVME}\"]` shows the difference"
        )
    })
}

/// Whether syncs are part of what is measured.
fn syncs(work: &Work) -> bool {
    matches!(work, Work::Server(_)) || work.spec().jobs().iter().any(|job| job.io.syncs())
}
