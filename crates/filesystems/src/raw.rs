//! No filesystem: the workload uses the block device itself.

use crate::{BlockSizes, Filesystem, KernelSupport};

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["raw", "none"],
    name: "the raw device",
    title: "none (the block device itself)",
    block_sizes: BlockSizes::None {
        reason: "the raw device has no block size",
        instead: "leave `block_size` out",
    },
    kernel: KernelSupport {
        is_in_linux: false,
        ..KernelSupport::PLAIN
    },
    ..Filesystem::PLAIN
};
