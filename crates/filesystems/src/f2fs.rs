//! F2FS.

use crate::{BlockSizes, Checker, Filesystem, Flavour, Kernel, Made, Mkfs, Need, Program};

static MKFS: Program = Program::new("mkfs.f2fs", "f2fs-tools").version_argument("-V");
static FSCK: Program = Program::new("fsck.f2fs", "f2fs-tools").version_argument("-V");

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["f2fs"],
    name: "F2FS",
    title: "F2FS",
    smallest_bytes: 64 << 20,
    smallest_striped_bytes: 64 << 20,
    block_sizes: BlockSizes::Page {
        reason: "F2FS supports only 4 KiB blocks",
    },
    kernel: Kernel {
        flavour: Flavour::More,
        config: &["CONFIG_F2FS_FS=y", "CONFIG_F2FS_FS_XATTR=y"],
        ..Kernel::PLAIN
    },
    made: Made::Mkfs(Mkfs::new(&MKFS, &["-f", "-q", "-t", "0"])),
    signatures: &["f2fs"],
    checker: Some(Checker {
        program: &FSCK,
        arguments: &["--dry-run"],
    }),
    needs: &[Need {
        file: "mkfs.f2fs",
        package: "f2fs-tools",
        why: "makes F2FS",
    }],
    ..Filesystem::PLAIN
};

#[cfg(test)]
mod tests {
    use crate::FilesystemKind::F2fs;
    use crate::make::tests::plain;

    #[test]
    fn the_call_of_mkfs() {
        assert_eq!(plain(F2fs), "mkfs.f2fs -f -q -t 0");
    }
}
