use super::*;
use study::stack::{ArraySpec, Level};
use tools::{Invocation, Tools, Version};

/// mkfs on one device without stripes.
fn invocation(
    spec: &FilesystemSpec,
    device: &Path,
    zeroed: bool,
    mkfs: &Version,
) -> Result<Option<Invocation>, Cause> {
    Making {
        spec,
        devices: &[device.to_owned()],
        journal: None,
        stripes: None,
        zeroed,
        mkfs,
    }
    .invocation()
}

const KINDS: [FilesystemKind; 8] = [
    FilesystemKind::Raw,
    FilesystemKind::Ext2,
    FilesystemKind::Ext3,
    FilesystemKind::Ext4,
    FilesystemKind::Xfs,
    FilesystemKind::Jfs,
    FilesystemKind::Reiserfs,
    FilesystemKind::Btrfs,
];

fn plain(kind: FilesystemKind) -> FilesystemSpec {
    FilesystemSpec {
        kind,
        ..FilesystemSpec::default()
    }
}

/// As much as each kind lets one choose.
fn chosen(kind: FilesystemKind) -> FilesystemSpec {
    use FilesystemKind::{Btrfs, Ext2, Raw};
    FilesystemSpec {
        block_size_bytes: (kind != Raw).then_some(4096),
        journal_size_bytes: (!matches!(kind, Raw | Ext2 | Btrfs)).then_some(16 << 20),
        ..plain(kind)
    }
}

fn version(numbers: [u32; 3]) -> Version {
    Version {
        line: String::new(),
        numbers,
    }
}

fn line(spec: &FilesystemSpec, zeroed: bool) -> String {
    let call = invocation(spec, Path::new("/dev/md100"), zeroed, &version([1, 47, 0])).expect("is possible");
    call.map_or("nothing".to_owned(), |call| call.to_string())
}

#[test]
fn mkfs_for_every_kind() {
    let lines = KINDS.map(|kind| {
        let name = kernel_name(kind);
        let (zeroed, used, chosen) = (
            line(&plain(kind), true),
            line(&plain(kind), false),
            line(&chosen(kind), true),
        );
        format!("{name}\n    on zeroed disks: {zeroed}\n    on used disks:   {used}\n    all chosen:      {chosen}")
    });
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn an_old_mke2fs_writes_its_tables() {
    let spec = plain(FilesystemKind::Ext4);
    let call = invocation(&spec, Path::new("/dev/md100"), true, &version([1, 46, 5])).expect("is possible");
    let line = call.expect("makes one").to_string();
    assert_eq!(
        line,
        "mke2fs -q -F -t ext4 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 /dev/md100"
    );
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_touched() {
    use FilesystemKind::{Btrfs, Ext2, Ext3, Jfs, Raw, Reiserfs, Xfs};
    let ordered = Some(JournalMode::Ordered);
    let refused = [
        check(
            &FilesystemSpec {
                journal_mode: ordered,
                ..plain(Xfs)
            },
            &[],
        ),
        check(
            &FilesystemSpec {
                journal_mode: ordered,
                ..plain(Ext2)
            },
            &[],
        ),
        check(
            &FilesystemSpec {
                journal_size_bytes: Some(1 << 20),
                ..plain(Btrfs)
            },
            &[],
        ),
        check(
            &FilesystemSpec {
                block_size_bytes: Some(1024),
                ..plain(Jfs)
            },
            &[],
        ),
        check(
            &FilesystemSpec {
                block_size_bytes: Some(1024),
                ..plain(Raw)
            },
            &[],
        ),
        check(&plain(Raw), &["noatime".into()]),
        impossible(FilesystemSpec {
            journal_size_bytes: Some(1000),
            ..plain(Ext3)
        }),
        impossible(FilesystemSpec {
            journal_size_bytes: Some(5000),
            ..plain(Reiserfs)
        }),
    ];
    let reasons = refused.map(|result| match result {
        Err(Cause::Impossible(reason)) => reason,
        other => panic!("{other:?}"),
    });
    insta::assert_snapshot!(reasons.join("\n"));
}

fn impossible(spec: FilesystemSpec) -> Result<(), Cause> {
    invocation(&spec, Path::new("/dev/md100"), true, &version([1, 47, 0])).map(drop)
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
    assert_eq!(tools_needed(&stack(Level::Single, raw), Teardown::Full), []);
    assert_eq!(tools_needed(&stack(Level::Raid1, raw), Teardown::Full), [Tool::Mdadm]);
    assert_eq!(
        tools_needed(&stack(Level::Raid1, xfs), Teardown::None),
        [Tool::Mdadm, Tool::MkfsXfs]
    );
    assert_eq!(
        tools_needed(&stack(Level::Single, xfs), Teardown::Full),
        [Tool::MkfsXfs, Tool::Wipefs]
    );
}

/// The real mkfs, with every argument that we give, on a file.
#[test]
fn every_mkfs_takes_its_arguments() {
    for kind in KINDS {
        let Some(tool) = mkfs_of(kind) else { continue };
        let mut tools = match Tools::find(&[tool]) {
            Ok(tools) => tools,
            Err(missing) => {
                println!("skipped: {}: {missing}", kernel_name(kind));
                continue;
            }
        };
        let version = tools.version(tool, &mut |_| ()).expect("says its version");
        for (spec, zeroed) in [(plain(kind), true), (plain(kind), false), (chosen(kind), true)] {
            if kind == FilesystemKind::Xfs && spec.journal_size_bytes.is_some() {
                // 16 MiB is less than mkfs.xfs allows since 5.19.
                continue;
            }
            make_on_a_file(&spec, zeroed, &tools, &version);
        }
    }
}

fn make_on_a_file(spec: &FilesystemSpec, zeroed: bool, tools: &Tools, version: &Version) {
    let file = tempfile::NamedTempFile::new().expect("a file");
    file.as_file().set_len(2 << 30).expect("sparse");
    let call = invocation(spec, file.path(), zeroed, version)
        .expect("is possible")
        .expect("makes one");
    tools.run(&call, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    let found = std::process::Command::new("wipefs")
        .arg("--noheadings")
        .arg(file.path())
        .output();
    let found = String::from_utf8(found.expect("wipefs runs").stdout).expect("UTF-8");
    let wanted: Vec<_> = signatures(spec.kind).split(',').collect();
    let seen: Vec<_> = found.split_whitespace().filter(|word| wanted.contains(word)).collect();
    assert_eq!(seen, [kernel_name(spec.kind)], "{call}: {found}");
}

#[test]
fn stripes_are_told_right_wrong_or_not_at_all() {
    use crate::stripes::Stripes;
    use study::stack::Align;
    let told = |kind, align| {
        let making = Making {
            spec: &FilesystemSpec { align, ..plain(kind) },
            devices: &["/dev/md100".into()],
            journal: None,
            stripes: Some(Stripes {
                unit_bytes: 64 << 10,
                data_disks: 3,
            }),
            zeroed: false,
            mkfs: &version([1, 47, 0]),
        };
        making
            .invocation()
            .expect("is possible")
            .expect("is a call")
            .to_string()
    };
    let (ext4, xfs) = (FilesystemKind::Ext4, FilesystemKind::Xfs);
    assert!(told(ext4, Align::Right).contains(",stride=16,stripe_width=48"));
    assert!(told(ext4, Align::Off).contains(",stride=0,stripe_width=0"));
    assert!(told(ext4, Align::Wrong).contains(",stride=24,stripe_width=96"));
    assert!(told(xfs, Align::Right).contains("-d su=65536,sw=3"));
    assert!(told(xfs, Align::Off).contains("-d noalign"));
    assert!(told(xfs, Align::Wrong).contains("-d su=98304,sw=4"));
}
