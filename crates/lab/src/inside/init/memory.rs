//! The guest's memory before a trial: the init's heap is allocated completely at the start, so that free memory
//! does not depend on how this program was compiled; then a part of the memory is allocated as the seed determines.

use crate::protocol::{HEAP_ADDRESS, HEAP_BYTES};
use disksim::random::mix;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
use std::ffi::c_void;
use std::hint::black_box;
use std::io;

/// Blocks of at least this size come from mmap(2) and go back to the kernel when freed.
const MMAP_BYTES: i32 = 128 << 10;

/// Growth of the heap once it is full.
const GROWTH_BYTES: i32 = 1 << 20;

/// Extends the heap to its full size and populates all its pages. A different compiler, optimisation level or size
/// of thread-local data then only moves blocks within it.
///
/// All threads share one arena, and the threshold for mmap(2) is fixed instead of following the sizes of freed
/// blocks.
pub(super) fn take_heap() -> io::Result<()> {
    // SAFETY: no other thread runs yet; the block is freed once, and unused.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
        libc::mallopt(libc::M_TOP_PAD, GROWTH_BYTES);
        libc::mallopt(libc::M_MMAP_MAX, 0);
        // Without black_box the optimiser removes an allocation that is freed unused, and the heap stays small.
        libc::free(black_box(libc::malloc(black_box(HEAP_BYTES as usize))));
        libc::mallopt(libc::M_MMAP_MAX, 65_536);
        libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_BYTES);
    }
    // SAFETY: the pages belong to the heap, and their contents do not change. The heap reaches beyond them: `malloc`
    // extended it by at least this much; if it had not, the call would fail.
    unsafe {
        madvise(
            std::ptr::without_provenance_mut::<c_void>(HEAP_ADDRESS as usize),
            HEAP_BYTES as usize,
            Advice::LinuxPopulateWrite,
        )?
    };
    Ok(())
}

const PAGE_BYTES: u64 = 4096;

/// Up to 1/256 of the memory is allocated; a random half of it is freed again.
const SHARE: u64 = 256;

/// Varies the layout of free memory by the seed, as it varies between boots of a real machine: the addresses of
/// allocations, and the amount of free memory, which determines dirty limits. So the interval over several seeds
/// covers the effect of layout changes, such as those of another kernel.
pub(super) fn take_pages(seed: u64, ram_bytes: u64) -> io::Result<()> {
    let layout = mix(seed ^ u64::from_le_bytes(*b"memory__"));
    let pages = layout % (ram_bytes / PAGE_BYTES / SHARE).max(1);
    if pages == 0 {
        return Ok(());
    }
    let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
    let length = (pages * PAGE_BYTES) as usize;
    // SAFETY: a new mapping, which nobody else uses; it is never unmapped.
    let taken = unsafe { mmap_anonymous(std::ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, flags)? };
    for page in 0..pages {
        if mix(layout ^ page) & 1 == 0 {
            // SAFETY: the page is within the mapping, and unused.
            unsafe {
                madvise(
                    taken.byte_add((page * PAGE_BYTES) as usize),
                    PAGE_BYTES as usize,
                    Advice::LinuxDontNeed,
                )?
            };
        }
    }
    Ok(())
}
