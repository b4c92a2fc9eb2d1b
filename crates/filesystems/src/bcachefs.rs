//! bcachefs, which was in Linux from 6.7 to 6.17.

use crate::{
    BlockSizes, Compression, Filesystem, FilesystemSpec, Flavour, KernelSupport, Made, Mkfs, MountSource, Mounting,
    Program, Request, Several, SeveralDevices,
};

pub static BCACHEFS: Program = Program {
    suite: Some("experimental"),
    is_carried: true,
    ..Program::new("bcachefs", "bcachefs-tools").version_argument("version")
};

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["bcachefs"],
    name: "bcachefs",
    title: "bcachefs",
    smallest_bytes: 136 << 20,
    smallest_striped_bytes: 136 << 20,
    block_sizes: BlockSizes::UpToPage {
        least_bytes: 512,
        larger_on_host: false,
    },
    compression: Some(Compression {
        words: &["off", "lz4", "gzip", "zstd"],
        levels: &[("gzip:", 9), ("zstd:", 15)],
        shown: "off, lz4, gzip, gzip:1 … gzip:9, zstd, zstd:1 … zstd:15",
        is_default: false,
        mount_option: None,
    }),
    several: Some(SeveralDevices {
        kind: Several::Replicas,
        usable_bytes: |spec, _, bytes| bytes / u64::from(spec.replicas.unwrap_or(1).max(1)),
    }),
    has_data_checksums: true,
    without_data_checksums: &["data_checksum=none", "nochecksums"],
    kernel: KernelSupport {
        flavour: Flavour::More,
        config: &["CONFIG_BCACHEFS_FS=y"],
        since: Some((6, 7)),
        last: Some((6, 17)),
        ..KernelSupport::PLAIN
    },
    made: Made::Mkfs(Mkfs {
        computed: Some(options),
        ..Mkfs::new(&BCACHEFS, &["format", "--force", "--quiet"])
    }),
    mounting: Mounting {
        source: MountSource::All,
        ..Mounting::PLAIN
    },
    signatures: &["bcachefs"],
    ..Filesystem::PLAIN
};

/// Labels of the disks of the tier, and of the others.
const FAST: &str = "fast";
const SLOW: &str = "slow";

/// The label of a device, before its name, where there is a tier.
pub fn label(is_of_tier: bool) -> String {
    let label = if is_of_tier { FAST } else { SLOW };
    format!("--label={label}")
}

fn options(request: &Request) -> Result<Vec<String>, String> {
    let FilesystemSpec {
        replicas,
        compression,
        tier,
        ..
    } = request.spec;
    let mut arguments = Vec::new();
    arguments.extend(replicas.map(|copies| format!("--replicas={copies}")));
    let word = compression.as_deref().filter(|word| *word != "off");
    arguments.extend(word.map(|word| format!("--compression={word}")));
    arguments.extend(request.block_size(&["--block_size={}"], 1));
    if tier.is_some() {
        arguments.push(format!("--foreground_target={FAST}"));
        arguments.push(format!("--promote_target={FAST}"));
        arguments.push(format!("--background_target={SLOW}"));
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use crate::FilesystemKind::Bcachefs;
    use crate::FilesystemSpec;
    use crate::make::tests::{call, spec};

    #[test]
    fn the_call_of_format() {
        let spec = FilesystemSpec {
            replicas: Some(2),
            compression: Some("zstd:3".to_owned()),
            block_size_bytes: Some(4096),
            ..spec(Bcachefs)
        };
        assert_eq!(
            call(&spec, false, [1, 25, 0]).expect("is possible"),
            "bcachefs format --force --quiet --replicas=2 --compression=zstd:3 --block_size=4096"
        );
        let spec = FilesystemSpec {
            tier: Some("ssd".to_owned()),
            ..spec
        };
        assert!(
            call(&spec, false, [1, 25, 0])
                .expect("is possible")
                .ends_with("--foreground_target=fast --promote_target=fast --background_target=slow")
        );
    }
}
