//! NILFS2. nilfs-tools has no checker.

use crate::{Filesystem, Flavour, KernelSupport, Made, Mkfs, Need, Program};

static MKFS: Program = Program::new("mkfs.nilfs2", "nilfs-tools").version_argument("-V");

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["nilfs2", "nilfs"],
    name: "NILFS2",
    title: "NILFS2",
    smallest_bytes: 136 << 20,
    smallest_striped_bytes: 136 << 20,
    kernel: KernelSupport {
        flavour: Flavour::More,
        config: &["CONFIG_NILFS2_FS=y"],
        ..KernelSupport::PLAIN
    },
    made: Made::Mkfs(Mkfs {
        block_size: &["-b", "{}"],
        ..Mkfs::new(&MKFS, &["-f", "-q", "-K"])
    }),
    signatures: &["nilfs2"],
    needs: &[Need {
        file: "mkfs.nilfs2",
        package: "nilfs-tools",
        why: "makes NILFS2",
    }],
    mount_options: Some("barrier cp discard errors norecovery order pp"),
    trims: true,
    ..Filesystem::PLAIN
};

#[cfg(test)]
mod tests {
    use crate::FilesystemKind::Nilfs2;
    use crate::make::tests::{chosen, plain};

    #[test]
    fn the_call_of_mkfs() {
        assert_eq!(plain(Nilfs2), "mkfs.nilfs2 -f -q -K");
        assert_eq!(chosen(Nilfs2, 1024, None), "mkfs.nilfs2 -f -q -K -b 1024");
    }
}
