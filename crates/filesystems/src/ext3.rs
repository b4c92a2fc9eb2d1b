//! ext3. The kernel's ext4 driver mounts it.

use crate::ext2::{CHECKER, NEEDS, SIGNATURES, SMALLEST_BYTES, mke2fs};
use crate::ext4::{JOURNAL, MOUNT_OPTIONS};
use crate::{Filesystem, Made};

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["ext3"],
    name: "ext3",
    title: "ext3",
    smallest_bytes: SMALLEST_BYTES,
    smallest_striped_bytes: SMALLEST_BYTES,
    journal: Some(JOURNAL),
    has_journal_modes: true,
    aligns: true,
    made: Made::Mkfs(mke2fs(&["-q", "-F", "-t", "ext3"])),
    signatures: SIGNATURES,
    checker: Some(CHECKER),
    needs: NEEDS,
    mount_options: Some(MOUNT_OPTIONS),
    ..Filesystem::PLAIN
};

#[cfg(test)]
mod tests {
    use crate::FilesystemKind::Ext3;
    use crate::FilesystemSpec;
    use crate::make::tests::{call, chosen, plain, spec};

    #[test]
    fn the_call_of_mke2fs() {
        assert_eq!(
            plain(Ext3),
            "mke2fs -q -F -t ext3 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0"
        );
        assert_eq!(
            chosen(Ext3, 4096, Some(16 << 20)),
            "mke2fs -q -F -t ext3 -b 4096 -J size=16 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0"
        );
        let odd = FilesystemSpec {
            journal_size_bytes: Some(1000),
            ..spec(Ext3)
        };
        assert_eq!(
            call(&odd, false, [1, 47, 0]),
            Err("a journal of 1000 bytes: its mkfs takes whole MiB".to_owned())
        );
    }
}
