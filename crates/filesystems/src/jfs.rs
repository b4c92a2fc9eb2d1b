//! JFS.

use crate::make::mebibytes;
use crate::{Amount, BlockSizes, Checker, Filesystem, Journal, KernelSupport, Made, Mkfs, Need, Program, Request};

const MIB: u64 = 1 << 20;

static MKFS: Program = Program::new("mkfs.jfs", "jfsutils").version_argument("-V");
static FSCK: Program = Program::new("jfs_fsck", "jfsutils").version_argument("-V");

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["jfs"],
    name: "JFS",
    title: "JFS",
    smallest_bytes: 16 * MIB,
    smallest_striped_bytes: 16 * MIB,
    block_sizes: BlockSizes::Page {
        reason: "JFS supports only 4 KiB blocks",
    },
    journal: Some(Journal {
        least: Amount::Bytes(MIB),
        most: Amount::Bytes(128 * MIB),
        is_in_mib: true,
        signature: "jfs",
        device: None,
        mount_option: None,
    }),
    kernel: KernelSupport {
        config: &["CONFIG_JFS_FS=y"],
        ..KernelSupport::PLAIN
    },
    made: Made::Mkfs(Mkfs {
        computed: Some(journal),
        ..Mkfs::new(&MKFS, &["-q"])
    }),
    signatures: &["jfs"],
    checker: Some(Checker {
        program: &FSCK,
        arguments: &["-n", "-f"],
    }),
    needs: &[Need {
        file: "mkfs.jfs",
        package: "jfsutils",
        why: "makes JFS",
    }],
    mount_options: Some("discard errors gid grpquota integrity iocharset quota resize uid umask usrquota"),
    trims: true,
    ..Filesystem::PLAIN
};

fn journal(request: &Request) -> Result<Vec<String>, String> {
    let mut arguments = Vec::new();
    if let Some(device) = request.journal {
        arguments.extend(["-j".to_owned(), device.to_owned()]);
    }
    if let Some(bytes) = request.spec.journal_size_bytes {
        arguments.extend(["-s".to_owned(), mebibytes("log", bytes)?.to_string()]);
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use crate::FilesystemKind::Jfs;
    use crate::make::tests::{chosen, plain};

    #[test]
    fn the_call_of_mkfs() {
        assert_eq!(plain(Jfs), "mkfs.jfs -q");
        assert_eq!(chosen(Jfs, 4096, Some(16 << 20)), "mkfs.jfs -q -s 16");
    }
}
