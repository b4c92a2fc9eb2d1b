use super::*;
use std::process::Command;
use study::stack::{ArraySpec, JournalMode, Level};
use tools::{Invocation, Tools, Version};

/// mkfs on one device without stripes.
fn invocation(spec: &FilesystemSpec, device: &Path, zeroed: bool, mkfs: &Version) -> Result<Invocation, Cause> {
    let making = Making {
        spec,
        devices: &[device.to_owned()],
        of_tier: &[],
        journal: None,
        stripes: None,
        zeroed,
        mkfs,
    };
    Ok(making.invocation()?.expect("makes one"))
}

fn plain(kind: FilesystemKind) -> FilesystemSpec {
    FilesystemSpec {
        kind,
        ..FilesystemSpec::default()
    }
}

/// With all options of each filesystem.
fn chosen(kind: FilesystemKind) -> FilesystemSpec {
    let journal = kind.journal.as_ref();
    FilesystemSpec {
        block_size_bytes: (!matches!(kind.block_sizes, BlockSizes::None { .. })).then_some(4096),
        journal_size_bytes: journal.map(|journal| journal.least.bytes(4096).next_multiple_of(1 << 20)),
        ..plain(kind)
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_touched() {
    use FilesystemKind::{Btrfs, Ext2, Jfs, Raw, Xfs};
    let ordered = |kind| FilesystemSpec {
        journal_mode: Some(JournalMode::Ordered),
        ..plain(kind)
    };
    let with_journal = FilesystemSpec {
        journal_size_bytes: Some(1 << 20),
        ..plain(Btrfs)
    };
    let small_blocks = |kind| FilesystemSpec {
        block_size_bytes: Some(1024),
        ..plain(kind)
    };
    let refused = [
        check(&ordered(Xfs), &[]),
        check(&ordered(Ext2), &[]),
        check(&with_journal, &[]),
        check(&small_blocks(Jfs), &[]),
        check(&small_blocks(Raw), &[]),
        check(&plain(Raw), &["noatime".into()]),
    ];
    let reasons = refused.map(|result| match result {
        Err(Cause::Impossible(reason)) => reason,
        other => panic!("{other:?}"),
    });
    insta::assert_snapshot!(reasons.join("\n"));
}

#[test]
fn what_mkfs_cannot_count_is_refused() {
    let spec = FilesystemSpec {
        journal_size_bytes: Some(1000),
        ..plain(FilesystemKind::Ext3)
    };
    match invocation(&spec, Path::new("/dev/md100"), true, &version([1, 47, 0])) {
        Err(Cause::Impossible(reason)) => assert_eq!(reason, "a journal of 1000 bytes: its mkfs takes whole MiB"),
        other => panic!("{other:?}"),
    }
}

fn version(numbers: [u32; 3]) -> Version {
    Version {
        line: String::new(),
        numbers,
    }
}

#[test]
fn only_the_tools_that_a_stack_uses_are_needed() {
    let stack = |level, kind| StackSpec {
        array: ArraySpec {
            level,
            bitmap: Bitmap::None,
            ..ArraySpec::default()
        },
        filesystem: plain(kind),
        ..StackSpec::default()
    };
    let (raw, xfs) = (FilesystemKind::Raw, FilesystemKind::Xfs);
    let mkfs_xfs = Tool::Filesystem(&filesystems::xfs::MKFS);
    assert_eq!(tools_needed(&stack(Level::Single, raw), Teardown::Full), []);
    assert_eq!(tools_needed(&stack(Level::Raid1, raw), Teardown::Full), [Tool::Mdadm]);
    assert_eq!(
        tools_needed(&stack(Level::Raid1, xfs), Teardown::None),
        [Tool::Mdadm, mkfs_xfs]
    );
    assert_eq!(
        tools_needed(&stack(Level::Single, xfs), Teardown::Full),
        [mkfs_xfs, Tool::Wipefs]
    );
}

#[test]
fn own_mount_options_name_journal_and_devices() {
    let devices: Vec<PathBuf> = ["/dev/vda", "/dev/vdb"].map(PathBuf::from).to_vec();
    let journal = Some(Path::new("/dev/vdc"));
    let own = |spec: &FilesystemSpec| own_options(spec, &devices, journal).join(",");
    let compressed = FilesystemSpec {
        compression: Some("zstd:3".to_owned()),
        ..plain(FilesystemKind::Btrfs)
    };
    assert_eq!(own(&compressed), "device=/dev/vdb,compress=zstd:3");
    let buffered = FilesystemSpec {
        log_buffers: Some(8),
        ..plain(FilesystemKind::Xfs)
    };
    assert_eq!(own(&buffered), "logdev=/dev/vdc,logbufs=8");
    assert_eq!(own(&plain(FilesystemKind::Reiserfs)), "jdev=/dev/vdc");
    assert_eq!(own(&plain(FilesystemKind::Ext4)), "");
    let all = mount_source(FilesystemKind::Bcachefs, &devices);
    assert_eq!(all, Path::new("/dev/vda:/dev/vdb"));
}

/// Runs the real mkfs with every argument of raidlab on a file: the result has the signatures that are erased
/// later, and its checker finds no errors.
#[test]
fn every_mkfs_takes_its_arguments() {
    for &kind in FilesystemKind::ALL {
        if kind.is_raw() || kind.is_pool() {
            continue;
        }
        let tool = mkfs_of(kind).expect("it is made by a program");
        let mut tools = match Tools::find(&[tool]) {
            Ok(tools) => tools,
            Err(missing) => {
                requirements::skip_part(format!("{}: {missing}", kind.name));
                continue;
            }
        };
        let version = tools.version(tool, &mut |_| ()).expect("says its version");
        for (spec, zeroed) in [(plain(kind), true), (plain(kind), false), (chosen(kind), true)] {
            make_on_a_file(&spec, zeroed, &tools, &version);
        }
    }
}

fn make_on_a_file(spec: &FilesystemSpec, zeroed: bool, tools: &Tools, version: &Version) {
    let (kind, file) = (spec.kind, tempfile::NamedTempFile::new().expect("a file"));
    file.as_file().set_len(2 << 30).expect("sparse");
    let call = invocation(spec, file.path(), zeroed, version).expect("is possible");
    tools.run(&call, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    let found = Command::new("wipefs").arg("--noheadings").arg(file.path()).output();
    let found = String::from_utf8(found.expect("wipefs runs").stdout).expect("UTF-8");
    let seen: Vec<_> = found
        .split_whitespace()
        .filter(|word| kind.signatures.contains(word))
        .collect();
    assert!(!seen.is_empty(), "{call}: {found}");
    if kind.signatures.contains(&kind.word()) {
        assert!(seen.contains(&kind.word()), "{call}: {found}");
    }
    check_file(kind, file.path());
}

fn check_file(kind: FilesystemKind, file: &Path) {
    let Some(checker) = &kind.checker else { return };
    let tool = Tool::Filesystem(checker.program);
    match Tools::find(&[tool]) {
        Ok(tools) => {
            let call = Invocation::new(tool).args(checker.arguments).arg(file);
            tools.run(&call, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
        }
        Err(missing) => requirements::skip_part(format!("{}: {missing}", kind.name)),
    }
}
