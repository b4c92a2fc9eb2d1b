//! ZFS: OpenZFS, which is not part of Linux.

use crate::{
    BlockSizes, Compression, Filesystem, FilesystemSpec, Flavour, KernelSupport, Made, Need, Pool, Program,
    Several, SeveralDevices,
};

pub static ZPOOL: Program = Program {
    is_carried: true,
    // Otherwise zpool waits for udev to name each device at import, even without udev.
    environment: &[("ZFS_VDEV_DEVID_OPT_OUT", "YES"), ("ZPOOL_IMPORT_UDEV_TIMEOUT_MS", "1")],
    ..Program::new("zpool", "zfsutils-linux").version_argument("version")
};

/// Makes volumes of a pool (zvols).
pub static ZFS: Program = Program {
    is_carried: true,
    ..Program::new("zfs", "zfsutils-linux").version_argument("version")
};

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["zfs"],
    name: "ZFS",
    title: "ZFS",
    smallest_bytes: 64 << 20,
    smallest_striped_bytes: 64 << 20,
    block_sizes: BlockSizes::None {
        reason: "ZFS has no block size: it has a record size",
        instead: "write `recordsize`",
    },
    compression: Some(Compression {
        words: &["off", "on", "lz4", "lzjb", "zle", "gzip", "zstd", "zstd-fast"],
        levels: &[("gzip-", 9), ("zstd-", 19)],
        shown: "off, on, lz4, lzjb, zle, gzip, gzip-1 … gzip-9, zstd, zstd-1 … zstd-19, zstd-fast",
        is_default: true,
        mount_option: None,
    }),
    several: Some(SeveralDevices {
        kind: Several::Pool,
        usable_bytes,
    }),
    has_data_checksums: true,
    kernel: KernelSupport {
        flavour: Flavour::Zfs,
        // Debian's newest backport for stable, which is built into the lab's kernels.
        release: Some(("2.3", (6, 14))),
        is_in_linux: false,
        ..KernelSupport::PLAIN
    },
    made: Made::Pool(&ZPOOL),
    signatures: &["zfs_member"],
    needs: &[
        Need {
            file: "/lib/x86_64-linux-gnu/libtirpc.so.3",
            package: "libtirpc3",
            why: "OpenZFS's programs are linked with it",
        },
        Need {
            file: "/lib/x86_64-linux-gnu/libcrypto.so.3",
            package: "libssl3",
            why: "OpenZFS's programs are linked with it",
        },
        Need {
            file: "sfdisk",
            package: "fdisk",
            why: "partitions the disks of ZFS's pools",
        },
    ],
    ..Filesystem::PLAIN
};

fn usable_bytes(spec: &FilesystemSpec, devices: u64, bytes: u64) -> u64 {
    let width = spec.zfs.vdev_disks.map_or(devices, u64::from).max(1);
    let data_of_vdev = match spec.zfs.pool.unwrap_or(Pool::Stripe) {
        Pool::Stripe => return bytes,
        Pool::Mirror => 1,
        Pool::Raidz1 | Pool::Draid1 => width.saturating_sub(1),
        Pool::Raidz2 | Pool::Draid2 => width.saturating_sub(2),
        Pool::Raidz3 => width.saturating_sub(3),
    };
    bytes / devices.max(1) * (devices / width) * data_of_vdev
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ZfsSpec;

    /// Usable disks of a pool of eight.
    fn usable(pool: Pool, vdev_disks: Option<u32>) -> u64 {
        let spec = FilesystemSpec {
            zfs: ZfsSpec {
                pool: Some(pool),
                vdev_disks,
                ..ZfsSpec::default()
            },
            ..FilesystemSpec::default()
        };
        usable_bytes(&spec, 8, 8 << 40) >> 40
    }

    #[test]
    fn each_vdev_has_its_own_copies_and_parity() {
        assert_eq!(usable(Pool::Stripe, None), 8);
        assert_eq!(usable(Pool::Mirror, None), 1);
        assert_eq!(usable(Pool::Mirror, Some(8)), 1);
        assert_eq!(usable(Pool::Mirror, Some(2)), 4);
        assert_eq!(usable(Pool::Raidz1, None), 7);
        assert_eq!(usable(Pool::Raidz1, Some(4)), 6);
        assert_eq!(usable(Pool::Raidz2, None), 6);
        assert_eq!(usable(Pool::Raidz2, Some(4)), 4);
        assert_eq!(usable(Pool::Raidz3, Some(4)), 2);
    }
}
