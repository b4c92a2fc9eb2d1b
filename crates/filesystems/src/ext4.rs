//! ext4, and what ext3 shares with it: the driver and the journal.

use crate::ext2::{CHECKER, NEEDS, SIGNATURES, SMALLEST_BYTES, mke2fs};
use crate::make::JOURNAL_BYTES;
use crate::{Amount, Filesystem, FilesystemSpec, Journal, KernelSupport, Made};

/// Names in fs/ext4/super.c, which also mounts ext3.
pub(crate) const MOUNT_OPTIONS: &str = "abort acl auto_da_alloc barrier bh block_validity bsddf bsdgroups check commit data data_err dax \
    debug debug_want_extra_isize delalloc dioread_lock dioread_nolock discard errors fc_debug_force \
    fc_debug_max_replay grpid grpjquota grpquota i_version init_itable inlinecrypt inode_readahead_blks \
    journal journal_async_commit journal_checksum journal_dev journal_ioprio journal_path jqfmt \
    max_batch_time max_dir_size_kb mb_optimize_scan mblk_io_submit min_batch_time minixdf no_mbcache \
    no_prefetch_block_bitmaps nombcache noload norecovery oldalloc orlov prefetch_block_bitmaps prjquota \
    quota reservation resgid resuid sb stripe sysvgroups test_dummy_encryption uid32 user_xattr \
    usrjquota usrquota warn_on_error";

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["ext4"],
    name: "ext4",
    title: "ext4",
    smallest_bytes: SMALLEST_BYTES,
    smallest_striped_bytes: SMALLEST_BYTES,
    journal: Some(JOURNAL),
    has_journal_modes: true,
    aligns: true,
    initialises_lazily: true,
    kernel: KernelSupport {
        config: &["CONFIG_EXT4_FS=y", "CONFIG_EXT4_FS_POSIX_ACL=y"],
        ..KernelSupport::PLAIN
    },
    made: Made::Mkfs(mke2fs(&["-q", "-F", "-t", "ext4"])),
    signatures: SIGNATURES,
    checker: Some(CHECKER),
    needs: NEEDS,
    mount_options: Some(MOUNT_OPTIONS),
    trims: true,
    ..Filesystem::PLAIN
};

pub(crate) const JOURNAL: Journal = Journal {
    least: Amount::Blocks(1024),
    most: Amount::Blocks(10_240_000),
    is_in_mib: true,
    signature: "jbd",
    device: Some(journal_device),
    mount_option: None,
};

fn journal_device(spec: &FilesystemSpec, device: &str) -> Vec<String> {
    let block_bytes = spec.block_size_bytes.unwrap_or(4096);
    let blocks = spec.journal_size_bytes.unwrap_or(JOURNAL_BYTES) / block_bytes;
    let before = ["-q", "-F", "-O", "journal_dev", "-b"].map(str::to_owned);
    let after = [block_bytes.to_string(), device.to_owned(), blocks.to_string()];
    before.into_iter().chain(after).collect()
}

#[cfg(test)]
mod tests {
    use crate::FilesystemKind::Ext4;
    use crate::FilesystemSpec;
    use crate::make::tests::{call, chosen, plain, spec};

    #[test]
    fn the_call_of_mke2fs() {
        assert_eq!(
            plain(Ext4),
            "mke2fs -q -F -t ext4 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0"
        );
        assert_eq!(
            chosen(Ext4, 4096, Some(16 << 20)),
            "mke2fs -q -F -t ext4 -b 4096 -J size=16 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0"
        );
        let lazy = FilesystemSpec {
            lazy_init: true,
            ..spec(Ext4)
        };
        assert_eq!(
            call(&lazy, true, [1, 47, 0]).expect("is possible"),
            "mke2fs -q -F -t ext4 -E nodiscard,lazy_itable_init=1,lazy_journal_init=1"
        );
    }

    #[test]
    fn a_journal_on_a_device_of_its_own_is_made_first() {
        let arguments = super::journal_device(&spec(Ext4), "/dev/vdb").join(" ");
        assert_eq!(arguments, "-q -F -O journal_dev -b 4096 /dev/vdb 262144");
    }
}
