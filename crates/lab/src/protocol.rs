//! What a guest and the program outside agree on: the job, the files that come with it, and the guest's settings and
//! memory. What the kernel's driver also knows is in `kernel/driver/raidlab.h`.

pub mod carried;
pub mod job;
pub mod setting;

/// Address at which the driver puts the loader of the init.
pub(crate) const LOADER_ADDRESS: u64 = 0x40_0000;

/// Start of the init's heap: above the loader's page.
pub(crate) const HEAP_ADDRESS: u64 = LOADER_ADDRESS + 4096;

/// Bytes of heap that the init allocates at its start (`inside::init::memory::take_heap`).
pub(crate) const HEAP_BYTES: u64 = 16 << 20;
