//! The global allocator: dlmalloc over memory that the host maps.

use crate::host;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use dlmalloc::Dlmalloc;

/// Memory is asked of the host in pieces of at least this size.
const PIECE_BYTES: usize = 4 << 20;

struct HostPages;

// SAFETY: every piece is fresh, zeroed, page-aligned and never given back.
unsafe impl dlmalloc::Allocator for HostPages {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let size = size.next_multiple_of(PIECE_BYTES);
        match host::map(size) {
            Some(piece) => (piece.as_ptr(), size, 0),
            None => (core::ptr::null_mut(), 0, 0),
        }
    }

    fn remap(&self, _ptr: *mut u8, _old: usize, _new: usize, _can_move: bool) -> *mut u8 {
        core::ptr::null_mut()
    }

    fn free_part(&self, _ptr: *mut u8, _old: usize, _new: usize) -> bool {
        false
    }

    fn free(&self, _ptr: *mut u8, _size: usize) -> bool {
        false
    }

    fn can_release_part(&self, _flags: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        4096
    }
}

struct Allocator(UnsafeCell<Dlmalloc<HostPages>>);

// SAFETY: the driver calls the model from one thread, with interrupts off.
unsafe impl Sync for Allocator {}

// SAFETY: dlmalloc keeps the contract; access is exclusive as said above.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: exclusive as said above.
        unsafe { (*self.0.get()).malloc(layout.size(), layout.align()) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: exclusive as said above.
        unsafe { (*self.0.get()).calloc(layout.size(), layout.align()) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: exclusive as said above; `ptr` came from here.
        unsafe { (*self.0.get()).free(ptr, layout.size(), layout.align()) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: exclusive as said above; `ptr` came from here.
        unsafe { (*self.0.get()).realloc(ptr, layout.size(), layout.align(), new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Allocator = Allocator(UnsafeCell::new(Dlmalloc::new_with_allocator(HostPages)));
