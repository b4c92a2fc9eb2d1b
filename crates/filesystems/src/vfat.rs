//! vfat, as FAT32.

use crate::{BlockSizes, Checker, Filesystem, Flavour, KernelSupport, Made, Mkfs, Need, Program};

// It prints its version, followed by its usage.
static MKFS: Program = Program::new("mkfs.vfat", "dosfstools").version_argument("--help");
// It prints its version only during a check.
static FSCK: Program = Program::new("fsck.vfat", "dosfstools").version_argument("-v");

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["vfat", "fat32"],
    name: "vfat",
    title: "vfat",
    smallest_bytes: 64 << 20,
    smallest_striped_bytes: 64 << 20,
    block_sizes: BlockSizes::Clusters,
    largest_file_bytes: Some((4 << 30) - 1),
    kernel: KernelSupport {
        flavour: Flavour::More,
        config: &["CONFIG_VFAT_FS=y"],
        ..KernelSupport::PLAIN
    },
    made: Made::Mkfs(Mkfs {
        block_size: &["-s", "{}"],
        block_unit_bytes: 512,
        // FAT32 at any size, and also on whole disks.
        ..Mkfs::new(&MKFS, &["-F", "32", "-I"])
    }),
    signatures: &["vfat"],
    checker: Some(Checker {
        program: &FSCK,
        arguments: &["-n"],
    }),
    needs: &[Need {
        file: "mkfs.vfat",
        package: "dosfstools",
        why: "makes vfat",
    }],
    mount_options: Some(
        "allow_utime check codepage conv debug discard dmask dos1xfloppy dots dotsOK errors flush fmask gid \
        iocharset nfs nocase nonumtail quiet rodir shortname showexec sys_immutable time_offset tz uid umask \
        uni_xlate usefree utf8",
    ),
    trims: true,
    ..Filesystem::PLAIN
};

#[cfg(test)]
mod tests {
    use crate::FilesystemKind::Vfat;
    use crate::make::tests::{chosen, plain};

    #[test]
    fn the_call_of_mkfs() {
        assert_eq!(plain(Vfat), "mkfs.vfat -F 32 -I");
        assert_eq!(chosen(Vfat, 4096, None), "mkfs.vfat -F 32 -I -s 8");
    }
}
