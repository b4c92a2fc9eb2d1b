//! More requests a second than a processor would allow, in a guest whose processor takes no time.

use super::OnStack;
use super::disks::Disks;
use study::plan::Cell;
use study::stack::{Layer, MachineKind};
use study::wording::number;

/// Threads for stripes, where a stripe takes no time of a processor.
pub(super) fn threads(cell: &Cell) -> Option<String> {
    let threads = cell.stack.array.group_thread_cnt.filter(|threads| *threads > 0)?;
    cell.machine.processor.is_none().then(|| {
        format!(
            "has `group_thread_cnt = {threads}`, whose threads share the processor's time for stripes; without `cpu` this time is not \
             modelled, and they change nothing: write `cpu` and `cores`"
        )
    })
}

/// Encryption that takes no time.
pub(super) fn encryption(cell: &Cell) -> Option<String> {
    let is_encrypted = cell.stack.all_layers().any(|layer| matches!(layer, Layer::Luks(_)));
    (is_encrypted && cell.machine.kind == MachineKind::Lab && cell.machine.processor.is_none()).then(|| {
        "`luks`: without `cpu` encryption takes no time: figures of encrypted stacks are upper bounds; write `cpu` and `cores` \
         (`raidlab cpu list`)"
            .to_owned()
    })
}

/// Requests a second from which on the kernel's own time decides. 5 µs each, which a fast processor needs for a direct
/// read of 4 KiB through ext4, are half a core.
const REQUESTS_S_MIN: f64 = 100e3;

/// Requests beyond this size are limited by the disks' interface.
const SMALL_MAX_BYTES: u64 = 16 << 10;

/// Whether the disks could serve a job faster than a kernel with a processor would.
pub(super) fn of_job(on_stack: &OnStack<'_>, disks: &Disks) -> Option<String> {
    let io = on_stack.io();
    let is_small = io.pattern.is_random() && io.pattern.has_reads() && io.block_bytes <= SMALL_MAX_BYTES;
    if disks.has_heads() || on_stack.cell.machine.processor.is_some() || !is_small || io.limit_iops().is_some() {
        return None;
    }
    let depth = match io.ignores_depth() {
        Some(_) => 1,
        None => io.queue_depth.max(1),
    };
    let requests_s = disks.random_reads_s(u64::from(io.jobs.max(1)) * u64::from(depth))?;
    (requests_s >= REQUESTS_S_MIN).then(|| {
        format!(
            "may reach {} requests a second with {} in flight, of which each takes a kernel 5 to 50 µs of a core; without \
             `cpu` this time is not modelled: the figures are upper bounds, and another stack may lead; write `cpu` and \
             `cores` (`raidlab cpu list` has models, `raidlab cpu measure` makes one of your machine)",
            number((requests_s / 1e3).round() * 1e3, 0),
            u64::from(io.jobs.max(1)) * u64::from(depth)
        )
    })
}
