//! NTFS with the FUSE driver.

use crate::ntfs3::NTFS;
use crate::{Filesystem, Flavour, KernelSupport, Mounting, Program};

static NTFS_3G: Program = Program::new("ntfs-3g", "ntfs-3g");

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["ntfs-3g"],
    title: "NTFS (ntfs-3g)",
    kernel: KernelSupport {
        mount_type: "fuseblk",
        flavour: Flavour::More,
        config: &["# NTFS by its FUSE driver.", "CONFIG_FUSE_FS=y"],
        is_in_linux: false,
        ..KernelSupport::PLAIN
    },
    mounting: Mounting {
        program: Some(&NTFS_3G),
        ..Mounting::PLAIN
    },
    ..NTFS
};
