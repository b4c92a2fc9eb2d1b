//! XFS.

use crate::make::JOURNAL_BYTES;
use crate::{Amount, BlockSizes, Checker, Filesystem, Journal, KernelSupport, Made, Mkfs, Need, Program, Request};

const MIB: u64 = 1 << 20;

pub static MKFS: Program = Program::new("mkfs.xfs", "xfsprogs").version_argument("-V");
static XFS_REPAIR: Program = Program::new("xfs_repair", "xfsprogs").version_argument("-V");

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["xfs"],
    name: "XFS",
    title: "XFS",
    smallest_bytes: 300 * MIB,
    // With stripes, mkfs.xfs makes more allocation groups, each of which must have room for the 64 MiB log.
    smallest_striped_bytes: 513 * MIB,
    // Hosts with large folios can mount blocks larger than a page since 6.12. The lab's kernel has no large folios.
    block_sizes: BlockSizes::UpToPage {
        least_bytes: 1 << 10,
        larger_on_host: true,
    },
    journal: Some(Journal {
        // xfsprogs 5.15 and later reject a smaller log on filesystems of 300 MiB and more.
        least: Amount::Bytes(64 * MIB),
        most: Amount::Bytes(2038 * MIB),
        is_in_mib: false,
        signature: "xfs_external_log",
        device: None,
        mount_option: Some("logdev={}"),
    }),
    aligns: true,
    has_log_buffers: true,
    kernel: KernelSupport {
        config: &["CONFIG_XFS_FS=y", "CONFIG_XFS_SUPPORT_V4=y"],
        ..KernelSupport::PLAIN
    },
    made: Made::Mkfs(Mkfs {
        block_size: &["-b", "size={}"],
        computed: Some(stripes_and_log),
        uuid: &["-m", "uuid={}"],
        ..Mkfs::new(&MKFS, &["-f", "-q", "-K"])
    }),
    signatures: &["xfs"],
    checker: Some(Checker {
        program: &XFS_REPAIR,
        arguments: &["-n"],
    }),
    needs: &[Need {
        file: "mkfs.xfs",
        package: "xfsprogs",
        why: "makes XFS",
    }],
    mount_options: Some(
        "allocsize attr2 bsdgroups dax discard filestreams gqnoenforce gquota grpid grpquota ikeep inode32 \
        inode64 largeio logbsize logbufs logdev noalign noquota norecovery nouuid pqnoenforce pquota \
        prjquota qnoenforce quota rtdev sunit swalloc swidth sysvgroups uqnoenforce uquota usrquota wsync",
    ),
    trims: true,
    ..Filesystem::PLAIN
};

fn stripes_and_log(request: &Request) -> Result<Vec<String>, String> {
    let mut arguments = Vec::new();
    match request.stripes() {
        Some(Some(stripes)) => {
            let (unit, width) = (stripes.unit_bytes, stripes.data_disks);
            arguments.extend(["-d".to_owned(), format!("su={unit},sw={width}")]);
        }
        Some(None) => arguments.extend(["-d", "noalign"].map(str::to_owned)),
        None => {}
    }
    match (request.journal, request.spec.journal_size_bytes) {
        (Some(device), size) => {
            let size = size.unwrap_or(JOURNAL_BYTES);
            arguments.extend(["-l".to_owned(), format!("logdev={device},size={size}")]);
        }
        (None, Some(bytes)) => arguments.extend(["-l".to_owned(), format!("internal,size={bytes}")]),
        (None, None) => {}
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use crate::FilesystemKind::Xfs;
    use crate::make::tests::{chosen, plain, spec, striped};
    use crate::{Align, FilesystemSpec, Stripes};

    #[test]
    fn the_call_of_mkfs() {
        assert_eq!(plain(Xfs), "mkfs.xfs -f -q -K");
        assert_eq!(
            chosen(Xfs, 4096, Some(64 << 20)),
            "mkfs.xfs -f -q -K -b size=4096 -l internal,size=67108864"
        );
    }

    #[test]
    fn mkfs_is_told_of_stripes() {
        let stripes = Stripes {
            unit_bytes: 64 << 10,
            data_disks: 3,
        };
        let options = |align| {
            let spec = FilesystemSpec { align, ..spec(Xfs) };
            striped(&spec, false, [6, 1, 0], Some(stripes)).expect("is possible")
        };
        assert!(options(Align::Right).ends_with("-d su=65536,sw=3"));
        assert!(options(Align::Off).ends_with("-d noalign"));
        assert!(options(Align::Wrong).ends_with("-d su=98304,sw=4"));
    }
}
