//! F2FS.

use crate::{BlockSizes, Checker, Filesystem, Flavour, KernelSupport, Made, Mkfs, Need, Program};

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
    kernel: KernelSupport {
        flavour: Flavour::More,
        config: &["CONFIG_F2FS_FS=y", "CONFIG_F2FS_FS_XATTR=y"],
        ..KernelSupport::PLAIN
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
    mount_options: Some(
        "acl active_logs age_extent_cache alloc_mode atgc background_gc barrier checkpoint checkpoint_merge \
        compress_algorithm compress_cache compress_chksum compress_extension compress_log_size compress_mode \
        data_flush disable_ext_identify disable_roll_forward discard discard_unit errors extent_cache \
        fastboot fault_injection fault_type flush_merge fsync_mode gc_merge grpjquota grpquota heap \
        inline_data inline_dentry inline_xattr inline_xattr_size inlinecrypt jqfmt memory mode nat_bits \
        nocompress_extension norecovery prjjquota prjquota quota reserve_root resgid resuid \
        test_dummy_encryption user_xattr usrjquota usrquota",
    ),
    trims: true,
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
