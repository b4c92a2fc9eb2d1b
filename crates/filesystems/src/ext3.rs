//! ext3, which is mounted by the kernel's ext4 driver, and the journal that both share.

use crate::ext2::{CHECKER, NEEDS, SIGNATURES, SMALLEST_BYTES, mke2fs};
use crate::make::JOURNAL_BYTES;
use crate::{Amount, Filesystem, FilesystemSpec, Journal, Made};

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
    mount_options: Some(crate::ext4::MOUNT_OPTIONS),
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

    #[test]
    fn a_journal_on_a_device_of_its_own_is_made_first() {
        let arguments = super::journal_device(&spec(Ext3), "/dev/vdb").join(" ");
        assert_eq!(arguments, "-q -F -O journal_dev -b 4096 /dev/vdb 262144");
    }
}
