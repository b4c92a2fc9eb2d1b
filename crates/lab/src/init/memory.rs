//! The init's heap: allocated whole at the start, so that the guest's free memory does not depend on how this program
//! was compiled.

use crate::guest::init::{HEAP_ADDRESS, HEAP_BYTES};
use rustix::mm::{Advice, madvise};
use std::ffi::c_void;

/// Blocks of at least this size come from mmap(2) and go back to the kernel when freed.
const MMAP_BYTES: i32 = 128 << 10;

/// Growth of the heap once it is full.
const GROWTH_BYTES: i32 = 1 << 20;

/// Extends the heap to its full size and populates all its pages. A different compiler, level of optimisation or size
/// of thread-local data then only moves blocks within it.
///
/// All threads share one arena, and the threshold for mmap(2) is fixed instead of following the sizes of freed blocks.
pub(super) fn take_heap() {
    // SAFETY: no other thread runs yet; the block is freed once, and unused.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
        libc::mallopt(libc::M_TOP_PAD, GROWTH_BYTES);
        libc::mallopt(libc::M_MMAP_MAX, 0);
        libc::free(libc::malloc(HEAP_BYTES as usize));
        libc::mallopt(libc::M_MMAP_MAX, 65_536);
        libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_BYTES);
    }
    // SAFETY: the pages belong to the heap, and their contents do not change. The heap reaches beyond them: `malloc`
    // extended it by at least this much.
    let _ = unsafe {
        madvise(
            std::ptr::without_provenance_mut::<c_void>(HEAP_ADDRESS as usize),
            HEAP_BYTES as usize,
            Advice::LinuxPopulateWrite,
        )
    };
}
