//! UDF on disks. udftools has no checker. By default mkudffs uses the disk's sector size as the block size and at most
//! 2³² − 1 blocks: 2 TiB of a disk with 512-byte sectors.

use crate::{BlockSizes, Filesystem, Flavour, KernelSupport, Made, Mkfs, Need, Program};

static MKUDFFS: Program = Program::new("mkudffs", "udftools").version_argument("--help");

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["udf"],
    name: "UDF",
    title: "UDF",
    smallest_bytes: 8 << 20,
    smallest_striped_bytes: 8 << 20,
    block_sizes: BlockSizes::UpToPage {
        least_bytes: 512,
        larger_on_host: false,
    },
    kernel: KernelSupport {
        flavour: Flavour::More,
        config: &["CONFIG_UDF_FS=y"],
        ..KernelSupport::PLAIN
    },
    made: Made::Mkfs(Mkfs {
        block_size: &["--blocksize={}"],
        // Without the partition table that mkudffs would write for Windows.
        ..Mkfs::new(&MKUDFFS, &["--media-type=hd", "--bootarea=erase"])
    }),
    signatures: &["udf"],
    needs: &[Need {
        file: "mkudffs",
        package: "udftools",
        why: "makes UDF",
    }],
    mount_options: Some(
        "adinicb anchor bs dmode fileset gid iocharset lastblock longad mode nostrict novrs partition rootdir \
        session shortad uid umask undelete unhide utf8 volume",
    ),
    ..Filesystem::PLAIN
};

#[cfg(test)]
mod tests {
    use crate::FilesystemKind::Udf;
    use crate::make::tests::{chosen, plain};

    #[test]
    fn the_call_of_mkudffs() {
        assert_eq!(plain(Udf), "mkudffs --media-type=hd --bootarea=erase");
        assert_eq!(
            chosen(Udf, 4096, None),
            "mkudffs --media-type=hd --bootarea=erase --blocksize=4096"
        );
    }
}
