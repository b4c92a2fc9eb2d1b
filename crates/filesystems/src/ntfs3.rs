//! NTFS with the kernel's own driver, and what it shares with the FUSE driver. Linux has no checker: ntfsfix repairs a
//! few things and leaves the rest to Windows.

use crate::{BlockSizes, Filesystem, Flavour, KernelSupport, Made, Mkfs, Need, Program};

static MKFS: Program = Program::new("mkfs.ntfs", "ntfs-3g").version_argument("-V");

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["ntfs3"],
    title: "NTFS (ntfs3)",
    kernel: KernelSupport {
        flavour: Flavour::More,
        config: &["CONFIG_NTFS3_FS=y"],
        ..KernelSupport::PLAIN
    },
    ..NTFS
};

pub(crate) const NTFS: Filesystem = Filesystem {
    name: "NTFS",
    smallest_bytes: 16 << 20,
    smallest_striped_bytes: 16 << 20,
    block_sizes: BlockSizes::Clusters,
    made: Made::Mkfs(Mkfs {
        block_size: &["-c", "{}"],
        ..Mkfs::new(&MKFS, &["-F", "-Q", "-q"])
    }),
    // The boot sector has the signature of a partition table, which wipefs reports once NTFS is gone.
    signatures: &["ntfs", "dos"],
    needs: &[Need {
        file: "ntfs-3g",
        package: "ntfs-3g",
        why: "makes NTFS and mounts it",
    }],
    mount_options: Some(
        "acl discard dmask fmask force gid hide_dot_files hidden iocharset nls nocase prealloc showmeta \
        sparse sys_immutable uid umask windows_names",
    ),
    trims: true,
    ..Filesystem::PLAIN
};

#[cfg(test)]
mod tests {
    use crate::FilesystemKind::Ntfs3;
    use crate::make::tests::{chosen, plain};

    #[test]
    fn the_call_of_mkfs() {
        assert_eq!(plain(Ntfs3), "mkfs.ntfs -F -Q -q");
        assert_eq!(chosen(Ntfs3, 4096, None), "mkfs.ntfs -F -Q -q -c 4096");
    }
}
