//! exFAT.

use crate::{BlockSizes, Checker, Filesystem, Flavour, KernelSupport, Made, Mkfs, Need, Program};

static MKFS: Program = Program::new("mkfs.exfat", "exfatprogs").version_argument("-V");
static FSCK: Program = Program::new("fsck.exfat", "exfatprogs").version_argument("-V");

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["exfat"],
    name: "exFAT",
    title: "exFAT",
    smallest_bytes: 8 << 20,
    smallest_striped_bytes: 8 << 20,
    block_sizes: BlockSizes::Clusters,
    kernel: KernelSupport {
        flavour: Flavour::More,
        config: &["CONFIG_EXFAT_FS=y"],
        ..KernelSupport::PLAIN
    },
    made: Made::Mkfs(Mkfs {
        block_size: &["-c", "{}"],
        ..Mkfs::new(&MKFS, &[])
    }),
    // The boot sector has the signature of a partition table, which wipefs reports once exFAT is gone.
    signatures: &["exfat", "dos"],
    checker: Some(Checker {
        program: &FSCK,
        arguments: &["-n"],
    }),
    needs: &[Need {
        file: "mkfs.exfat",
        package: "exfatprogs",
        why: "makes exFAT",
    }],
    mount_options: Some(
        "allow_utime discard dmask errors fmask gid iocharset keep_last_dots sys_tz time_offset uid umask \
        zero_size_dir",
    ),
    trims: true,
    ..Filesystem::PLAIN
};

#[cfg(test)]
mod tests {
    use crate::FilesystemKind::Exfat;
    use crate::make::tests::{chosen, plain};

    #[test]
    fn the_call_of_mkfs() {
        assert_eq!(plain(Exfat), "mkfs.exfat");
        assert_eq!(chosen(Exfat, 32 << 10, None), "mkfs.exfat -c 32768");
    }
}
