//! ext4.

use crate::ext2::{CHECKER, NEEDS, SIGNATURES, SMALLEST_BYTES, mke2fs};
use crate::ext3::JOURNAL;
use crate::{Filesystem, Kernel, Made};

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
    kernel: Kernel {
        config: &["CONFIG_EXT4_FS=y", "CONFIG_EXT4_FS_POSIX_ACL=y"],
        ..Kernel::PLAIN
    },
    made: Made::Mkfs(mke2fs(&["-q", "-F", "-t", "ext4"])),
    signatures: SIGNATURES,
    checker: Some(CHECKER),
    needs: NEEDS,
    ..Filesystem::PLAIN
};

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
}
