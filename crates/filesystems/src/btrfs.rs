//! btrfs.

use crate::{
    BlockSizes, Checker, Compression, Filesystem, FilesystemSpec, KernelSupport, Made, Mkfs, MountSource, Mounting,
    Need, Profile, Program, Request, Several, SeveralDevices,
};

static MKFS: Program = Program::new("mkfs.btrfs", "btrfs-progs");
pub static BTRFS: Program = Program::new("btrfs", "btrfs-progs");

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["btrfs"],
    name: "btrfs",
    title: "btrfs",
    smallest_bytes: 115 << 20,
    smallest_striped_bytes: 115 << 20,
    block_sizes: BlockSizes::Page {
        reason: "btrfs supports only 4 KiB sectors, the page size",
    },
    reads_ahead_itself: true,
    compression: Some(Compression {
        words: &["off", "zlib", "lzo", "zstd"],
        levels: &[("zlib:", 9), ("zstd:", 15)],
        shown: "off, lzo, zlib, zlib:1 … zlib:9, zstd, zstd:1 … zstd:15",
        is_default: false,
        mount_option: Some("compress={}"),
    }),
    several: Some(SeveralDevices {
        kind: Several::Profiles,
        usable_bytes,
    }),
    has_data_checksums: true,
    without_data_checksums: &["nodatacow", "nodatasum"],
    kernel: KernelSupport {
        config: &["CONFIG_BTRFS_FS=y", "CONFIG_BTRFS_FS_POSIX_ACL=y"],
        ..KernelSupport::PLAIN
    },
    made: Made::Mkfs(Mkfs {
        computed: Some(profiles),
        uuid: &["-U", "{}"],
        ..Mkfs::new(&MKFS, &["-q", "-f", "-K"])
    }),
    mounting: Mounting {
        // Without udev, nothing else reports the other devices to the kernel.
        source: MountSource::FirstAndOption("device={}"),
        ..Mounting::PLAIN
    },
    signatures: &["btrfs"],
    checker: Some(Checker {
        program: &BTRFS,
        arguments: &["check", "--readonly"],
    }),
    needs: &[Need {
        file: "mkfs.btrfs",
        package: "btrfs-progs",
        why: "makes btrfs",
    }],
    mount_options: Some(
        "acl autodefrag barrier clear_cache commit compress compress-force datacow datasum degraded device \
        discard enospc_debug fatal_errors flushoncommit fragment max_inline metadata_ratio norecovery \
        ref_verify rescan_uuid_tree rescue skip_balance space_cache ssd ssd_spread subvol subvolid \
        thread_pool treelog user_subvol_rm_allowed",
    ),
    trims: true,
    ..Filesystem::PLAIN
};

fn profiles(request: &Request) -> Result<Vec<String>, String> {
    // These profiles have been the defaults of btrfs-progs since 5.15; older versions chose by the kind of disk.
    let data = request.spec.data_profile.map_or("single", Profile::word);
    let many = if request.devices > 1 { "raid1" } else { "dup" };
    let metadata = request.spec.metadata_profile.map_or(many, Profile::word);
    let mut arguments = ["-d", data, "-m", metadata].map(str::to_owned).to_vec();
    arguments.extend(request.block_size(&["-s", "{}"], 1));
    Ok(arguments)
}

fn usable_bytes(spec: &FilesystemSpec, devices: u64, bytes: u64) -> u64 {
    let without = |parity: u64| bytes / devices.max(1) * devices.saturating_sub(parity);
    match spec.data_profile.unwrap_or(Profile::Single) {
        Profile::Single | Profile::Raid0 => bytes,
        Profile::Dup | Profile::Raid1 | Profile::Raid10 => bytes / 2,
        Profile::Raid1c3 => bytes / 3,
        Profile::Raid1c4 => bytes / 4,
        Profile::Raid5 => without(1),
        Profile::Raid6 => without(2),
    }
}

#[cfg(test)]
mod tests {
    use crate::FilesystemKind::Btrfs;
    use crate::make::tests::{chosen, plain};

    #[test]
    fn the_call_of_mkfs() {
        assert_eq!(plain(Btrfs), "mkfs.btrfs -q -f -K -d single -m dup");
        assert_eq!(
            chosen(Btrfs, 4096, None),
            "mkfs.btrfs -q -f -K -d single -m dup -s 4096"
        );
    }
}
