//! What a guest and the program outside agree on: the job, the files that come with it, and the guest's settings and
//! memory. What the kernel's driver also knows is in `kernel/driver/raidlab.h`.

pub mod carried;
pub mod job;
pub mod setting;

/// Bytes of the memory that an init is loaded into, its stack included (`RL_INIT_BYTES`).
pub(crate) const MEMORY_BYTES: u64 = 64 << 20;

/// Address of that memory in the init (`RAIDLAB_KERNEL_END` in `kernel/driver/init.h`). User-Mode Linux with three levels of
/// page tables has 512 GiB of address space.
pub(crate) const MEMORY_ADDRESS: u64 = 0x10_0000_0000;

/// Where in that memory the driver writes where the init jumps to for system calls, or 0
/// (`RL_INIT_ENTRY`).
pub(crate) const ENTRY_OFFSET: u64 = 32;

/// Address at which the driver puts the loader of the init.
pub(crate) const LOADER_ADDRESS: u64 = 0x40_0000;

/// Start of the init's heap: above the loader's page.
pub(crate) const HEAP_ADDRESS: u64 = LOADER_ADDRESS + 4096;

/// Bytes of heap that the init allocates at its start (`inside::init::memory::take_heap`).
pub(crate) const HEAP_BYTES: u64 = 16 << 20;
