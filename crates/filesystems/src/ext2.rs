//! ext2, and what it shares with ext3 and ext4: mke2fs.

use crate::make::mebibytes;
use crate::{Checker, Filesystem, KernelSupport, Made, Mkfs, Need, Program, Request};

pub static MKE2FS: Program = Program {
    // Without this file mke2fs uses its compiled-in defaults, which are the same on every machine.
    environment: &[("MKE2FS_CONFIG", "/nonexistent/mke2fs.conf")],
    ..Program::new("mke2fs", "e2fsprogs").version_argument("-V")
};

pub static E2FSCK: Program = Program::new("e2fsck", "e2fsprogs").version_argument("-V");

pub(crate) const NEEDS: &[Need] = &[Need {
    file: "mke2fs",
    package: "e2fsprogs",
    why: "makes ext2, ext3, ext4",
}];

/// blkid chooses among the three by features, not by the name passed to mke2fs.
pub(crate) const SIGNATURES: &[&str] = &["ext2", "ext3", "ext4"];

pub(crate) const CHECKER: Checker = Checker {
    program: &E2FSCK,
    arguments: &["-f", "-n"],
};

pub(crate) const SMALLEST_BYTES: u64 = 8 << 20;

/// First version of mke2fs with `assume_storage_prezeroed`.
const PREZEROED_SINCE: [u32; 3] = [1, 47, 0];

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["ext2"],
    name: "ext2",
    title: "ext2",
    smallest_bytes: SMALLEST_BYTES,
    smallest_striped_bytes: SMALLEST_BYTES,
    aligns: true,
    kernel: KernelSupport {
        config: &["CONFIG_EXT2_FS=y", "CONFIG_EXT2_FS_XATTR=y"],
        ..KernelSupport::PLAIN
    },
    made: Made::Mkfs(mke2fs(&["-q", "-F", "-t", "ext2"])),
    signatures: SIGNATURES,
    checker: Some(CHECKER),
    needs: NEEDS,
    mount_options: Some(
        "abort acl auto_da_alloc barrier bh block_validity bsddf bsdgroups check commit data data_err dax \
        debug debug_want_extra_isize delalloc dioread_lock dioread_nolock discard errors fc_debug_force \
        fc_debug_max_replay grpid grpjquota grpquota i_version init_itable inlinecrypt inode_readahead_blks \
        journal journal_async_commit journal_checksum journal_dev journal_ioprio journal_path jqfmt \
        max_batch_time max_dir_size_kb mb_optimize_scan mblk_io_submit min_batch_time minixdf no_mbcache \
        no_prefetch_block_bitmaps nobh noload nombcache norecovery nouid32 oldalloc orlov \
        prefetch_block_bitmaps prjquota quota reservation resgid resuid sb stripe sysvgroups \
        test_dummy_encryption uid32 user_xattr usrjquota usrquota warn_on_error xip",
    ),
    ..Filesystem::PLAIN
};

pub(crate) const fn mke2fs(arguments: &'static [&'static str]) -> Mkfs {
    Mkfs {
        block_size: &["-b", "{}"],
        computed: Some(journal_and_tables),
        uuid: &["-U", "{}"],
        ..Mkfs::new(&MKE2FS, arguments)
    }
}

fn journal_and_tables(request: &Request) -> Result<Vec<String>, String> {
    let spec = request.spec;
    let mut arguments = Vec::new();
    match (request.journal, spec.journal_size_bytes) {
        (Some(device), _) => arguments.extend(["-J".to_owned(), format!("device={device}")]),
        (None, Some(bytes)) => {
            arguments.extend(["-J".to_owned(), format!("size={}", mebibytes("journal", bytes)?)]);
        }
        (None, None) => {}
    }
    let stripes = match request.stripes() {
        Some(Some(stripes)) => {
            let stride = (stripes.unit_bytes / request.block_bytes()).max(1);
            format!(",stride={stride},stripe_width={}", stride * stripes.data_disks)
        }
        // Without explicit values mke2fs queries the block device.
        Some(None) => ",stride=0,stripe_width=0".to_owned(),
        None => String::new(),
    };
    // The kernel must not initialise anything during the first measurement: either all tables are written now, or they
    // are known to be zero and marked as such.
    let prezeroed = request.zeroed && request.version >= PREZEROED_SINCE;
    let tables = match (spec.lazy_init, prezeroed) {
        (true, _) => "nodiscard,lazy_itable_init=1,lazy_journal_init=1",
        (false, true) => "nodiscard,assume_storage_prezeroed=1",
        (false, false) => "nodiscard,lazy_itable_init=0,lazy_journal_init=0",
    };
    arguments.extend(["-E".to_owned(), format!("{tables}{stripes}")]);
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use crate::FilesystemKind::{Ext2, Ext4};
    use crate::make::tests::{call, chosen, plain, spec, striped};
    use crate::{Align, FilesystemSpec, Stripes};

    #[test]
    fn the_call_of_mke2fs() {
        assert_eq!(
            plain(Ext2),
            "mke2fs -q -F -t ext2 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0"
        );
        assert_eq!(
            chosen(Ext2, 4096, None),
            "mke2fs -q -F -t ext2 -b 4096 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0"
        );
    }

    #[test]
    fn tables_of_zeroed_disks_are_not_written_again_by_a_mke2fs_that_knows_how() {
        let on_zeroed = |version| call(&spec(Ext2), true, version).expect("is possible");
        assert_eq!(
            on_zeroed([1, 47, 0]),
            "mke2fs -q -F -t ext2 -E nodiscard,assume_storage_prezeroed=1"
        );
        assert_eq!(
            on_zeroed([1, 46, 5]),
            "mke2fs -q -F -t ext2 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0"
        );
    }

    #[test]
    fn mke2fs_is_told_of_stripes() {
        let stripes = Stripes {
            unit_bytes: 64 << 10,
            data_disks: 3,
        };
        let options = |align| {
            let spec = FilesystemSpec { align, ..spec(Ext4) };
            striped(&spec, false, [1, 47, 0], Some(stripes)).expect("is possible")
        };
        assert!(options(Align::Right).ends_with(",stride=16,stripe_width=48"));
        assert!(options(Align::Off).ends_with(",stride=0,stripe_width=0"));
        assert!(options(Align::Wrong).ends_with(",stride=24,stripe_width=96"));
    }
}
