//! Whole stacks on one loop device with this machine's kernel; needs root.

use crate::rig::{Rig, kernel_has, loops, passed, program, read, run, spec, undone};
use stack::{Disks, Quiesce, StackError, Undo};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use study::stack::{FilesystemKind, JournalMode, Level, StackSpec};
use tools::Tools;

const DISK_BYTES: u64 = 1 << 30;

fn single(kind: FilesystemKind) -> StackSpec {
    spec(Level::Single, kind)
}

/// Set up, written, quiesced, read cold, torn down, and nothing left.
fn whole_life(kind: &str, spec: &StackSpec) -> Result<(), String> {
    kernel_has(kind)?;
    let mut rig = loops(1, DISK_BYTES)?;
    let stack = rig.up(spec, "raidlab-life").unwrap_or_else(|error| panic!("{error}"));
    let folder = stack.mount_point.clone().expect("is mounted");
    assert!(folder.starts_with(rig.folder.path()));
    assert_eq!(rig.provenance("mount.type"), Some(kind));
    let file = folder.join("file");
    fs::write(&file, vec![7; 3 << 20]).expect("written");

    let quick = Quiesce {
        quiet: Duration::from_millis(100),
        at_most: Duration::from_secs(60),
        degraded: false,
    };
    passed(
        &rig.with(spec, "raidlab-life", |context| stack::quiesce(&stack, quick, context))
            .expect("quiesces"),
    );
    // Another test may just have dropped the machine's caches.
    let is_cached = || {
        fs::read(&file).expect("read");
        stack::cached_bytes(&file).expect("looked at") == 3 << 20
    };
    assert!((0..50).any(|_| is_cached()), "what was read is cached");
    let cold = rig.with(spec, "raidlab-life", |context| {
        stack::drop_caches(&stack, std::slice::from_ref(&file), context)
    });
    passed(&cold.expect("dropped"));
    assert_eq!(stack::cached_bytes(&file).expect("looked at"), 0);

    let before = stack::counters(&stack).expect("counted");
    assert_eq!(fs::read(&file).expect("read"), vec![7; 3 << 20]);
    let read = stack::counters(&stack).expect("counted").remove(0) - &before[0];
    assert!(
        read.sectors_read >= (3 << 20) / 512,
        "a cold read must reach the device: {read:?}"
    );

    rig.down(spec, "raidlab-life", stack);
    rig.must_be_as_new();
    Ok(())
}

#[test]
fn loop_ext2() {
    run(|| whole_life("ext2", &single(FilesystemKind::Ext2)));
}

#[test]
fn loop_ext3_with_blocks_of_1_kib_and_a_data_journal() {
    run(|| {
        let mut spec = single(FilesystemKind::Ext3);
        spec.filesystem.block_size_bytes = Some(1024);
        spec.filesystem.journal_mode = Some(JournalMode::Journal);
        whole_life("ext3", &spec)
    });
}

#[test]
fn loop_ext4() {
    run(|| whole_life("ext4", &single(FilesystemKind::Ext4)));
}

#[test]
fn loop_xfs() {
    run(|| whole_life("xfs", &single(FilesystemKind::Xfs)));
}

#[test]
fn loop_btrfs() {
    run(|| whole_life("btrfs", &single(FilesystemKind::Btrfs)));
}

#[test]
fn loop_jfs() {
    run(|| whole_life("jfs", &single(FilesystemKind::Jfs)));
}

#[test]
fn loop_reiserfs() {
    run(|| whole_life("reiserfs", &single(FilesystemKind::Reiserfs)));
}

#[test]
fn loop_raw_is_only_looked_at() {
    run(|| {
        let mut rig = loops(1, DISK_BYTES)?;
        let spec = single(FilesystemKind::Raw);
        let stack = rig.up(&spec, "raidlab-raw").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((&stack.block_device, &stack.mount_point), (&rig.devices[0], &None));
        assert_eq!(rig.ledger.open, []);
        rig.down(&spec, "raidlab-raw", stack);
        Ok(())
    });
}

#[test]
fn loop_options_reach_the_kernel() {
    run(|| {
        kernel_has("ext4")?;
        let mut rig = loops(1, DISK_BYTES)?;
        let mut spec = single(FilesystemKind::Ext4);
        spec.mount_options = vec!["noatime,commit=30".into(), "nodev".into()];
        spec.filesystem.journal_mode = Some(JournalMode::Writeback);
        let stack = rig
            .up(&spec, "raidlab-options")
            .unwrap_or_else(|error| panic!("{error}"));
        let shown = rig.provenance("mount.options").expect("is recorded");
        for option in ["noatime", "nodev", "commit=30", "data=writeback"] {
            assert!(
                shown.split(',').any(|word| word == option),
                "{option} is missing in {shown}"
            );
        }
        rig.down(&spec, "raidlab-options", stack);
        rig.must_be_as_new();
        Ok(())
    });
}

#[test]
fn loop_ext4_has_nothing_left_to_initialise() {
    run(|| {
        kernel_has("ext4")?;
        let mut rig = loops(1, DISK_BYTES)?;
        let spec = single(FilesystemKind::Ext4);
        let stack = rig.up(&spec, "raidlab-lazy").unwrap_or_else(|error| panic!("{error}"));
        let groups = program("dumpe2fs")
            .arg(&rig.devices[0])
            .output()
            .expect("dumpe2fs runs")
            .stdout;
        let groups = String::from_utf8_lossy(&groups).into_owned();
        let all = groups
            .lines()
            .filter(|line| line.starts_with("Group ") && line.contains(": (Blocks "))
            .count();
        let zeroed = groups.lines().filter(|line| line.contains("ITABLE_ZEROED")).count();
        assert!(all > 0 && all == zeroed, "{zeroed} of {all} groups");
        rig.down(&spec, "raidlab-lazy", stack);
        Ok(())
    });
}

#[test]
fn loop_queue_settings_are_set_and_restored() {
    run(|| {
        let mut rig = loops(1, DISK_BYTES)?;
        let queue = PathBuf::from("/sys/block")
            .join(rig.devices[0].file_name().expect("a name"))
            .join("queue");
        let before = (read(queue.join("scheduler")), read(queue.join("read_ahead_kb")));
        let other = if before.0.contains("[none]") {
            "mq-deadline"
        } else {
            "none"
        };
        if !before.0.contains(other) {
            return Err(format!("this kernel has no scheduler {other}"));
        }
        let mut spec = single(FilesystemKind::Raw);
        spec.scheduler = Some(other.into());
        spec.read_ahead_sectors = Some(4096);
        let stack = rig.up(&spec, "raidlab-queue").unwrap_or_else(|error| panic!("{error}"));
        assert!(read(queue.join("scheduler")).contains(&format!("[{other}]")));
        assert_eq!(read(queue.join("read_ahead_kb")), "2048\n");
        assert_eq!(rig.provenance("read_ahead_sectors"), Some("4096"));
        rig.down(&spec, "raidlab-queue", stack);
        assert_eq!(
            (read(queue.join("scheduler")), read(queue.join("read_ahead_kb"))),
            before
        );

        spec.scheduler = Some("elevator".into());
        let error = rig.up(&spec, "raidlab-queue").expect_err("there is none of that name");
        assert!(
            error.to_string().contains("has no I/O scheduler `elevator`; it has "),
            "{error}"
        );
        rig.must_be_as_new();
        Ok(())
    });
}

#[test]
fn loop_btrfs_reads_ahead_as_told() {
    run(|| {
        kernel_has("btrfs")?;
        let mut rig = loops(1, DISK_BYTES)?;
        let mut spec = single(FilesystemKind::Btrfs);
        spec.read_ahead_sectors = Some(1024);
        let stack = rig.up(&spec, "raidlab-ahead").unwrap_or_else(|error| panic!("{error}"));
        let name = rig.devices[0].file_name().expect("a name").to_owned();
        let mut ours = fs::read_dir("/sys/fs/btrfs")
            .expect("btrfs is there")
            .flatten()
            .map(|entry| entry.path());
        let ours = ours
            .find(|folder| folder.join("devices").join(&name).exists())
            .expect("is mounted");
        assert_eq!(read(ours.join("bdi/read_ahead_kb")), "512\n");
        rig.down(&spec, "raidlab-ahead", stack);
        Ok(())
    });
}

fn fails(rig: &mut Rig, spec: &StackSpec) -> StackError {
    rig.up(spec, "raidlab-fails").expect_err("must fail")
}

#[test]
fn loop_a_refused_mount_leaves_nothing() {
    run(|| {
        kernel_has("ext4")?;
        let mut rig = loops(1, DISK_BYTES)?;
        let mut spec = single(FilesystemKind::Ext4);
        spec.mount_options = vec!["no_such_option".into()];
        let error = fails(&mut rig, &spec);
        assert_eq!(error.step, "mount");
        assert!(error.to_string().contains("as ext4 with `no_such_option`"), "{error}");
        if fs::File::open("/dev/kmsg").is_ok() {
            assert!(error.to_string().contains("(kernel: "), "{error}");
        }
        assert!(error.failed_undo.is_empty());
        rig.must_be_as_new();
        Ok(())
    });
}

#[test]
fn loop_a_refused_mkfs_tells_its_words() {
    run(|| {
        let mut rig = loops(1, 8 << 20)?;
        let error = fails(&mut rig, &single(FilesystemKind::Xfs));
        assert_eq!(error.step, "mkfs");
        assert!(error.to_string().contains("`mkfs.xfs -f -q -K /dev/loop"), "{error}");
        rig.must_be_as_new();
        Ok(())
    });
}

#[test]
fn loop_what_is_in_use_is_not_touched() {
    run(|| {
        kernel_has("ext4")?;
        let mut rig = loops(1, DISK_BYTES)?;
        let spec = single(FilesystemKind::Ext4);
        let stack = rig.up(&spec, "raidlab-first").unwrap_or_else(|error| panic!("{error}"));
        fs::write(
            stack.mount_point.as_ref().expect("is mounted").join("mine"),
            "still here",
        )
        .expect("written");
        let before = rig.calls("-F");
        let error = rig.up(&spec, "raidlab-second").expect_err("is mounted");
        assert!(
            error
                .to_string()
                .ends_with("is in use: mounted, or part of another device"),
            "{error}"
        );
        assert_eq!(rig.calls("-F"), before, "mkfs must not even be tried");
        assert_eq!(
            read(stack.mount_point.as_ref().expect("is mounted").join("mine")),
            "still here"
        );
        rig.down(&spec, "raidlab-first", stack);
        Ok(())
    });
}

#[test]
fn loop_odd_devices_are_refused() {
    run(|| {
        let mut rig = loops(1, DISK_BYTES)?;
        let link = rig.folder.path().join("link");
        std::os::unix::fs::symlink(&rig.devices[0], &link).expect("linked");
        let disk = rig.devices[0].clone();
        let mut refused = |devices: Vec<PathBuf>, level| {
            let spec = spec(level, FilesystemKind::Raw);
            let up = rig.with(&spec, "raidlab-odd", |context| {
                stack::up(&spec, &Disks::data(&devices), context)
            });
            up.expect_err("is odd").to_string()
        };
        let same = refused(vec![disk.clone(), link.clone()], Level::Raid1);
        assert!(same.contains("are the same device, loop"), "{same}");
        let file = refused(vec![link.with_file_name("disk0")], Level::Single);
        assert!(file.ends_with("disk0 is not a block device"), "{file}");
        let gone = refused(vec!["/dev/nonexistent".into()], Level::Single);
        assert!(gone.contains("could not stat /dev/nonexistent: No such file"), "{gone}");
        Ok(())
    });
}

#[test]
fn loop_what_a_killed_run_left_is_undone_from_the_ledger() {
    run(|| {
        kernel_has("xfs")?;
        let mut rig = loops(1, DISK_BYTES)?;
        let spec = single(FilesystemKind::Xfs);
        let stack = rig
            .up(&spec, "raidlab-killed")
            .unwrap_or_else(|error| panic!("{error}"));
        drop(stack);
        let written = serde_json::to_string(&rig.ledger.open.iter().map(|act| &act.undo).collect::<Vec<_>>());
        let read_later: Vec<Undo> = serde_json::from_str(&written.expect("is plain data")).expect("comes back");
        assert_eq!(read_later.len(), 3, "filesystem, folder, mount: {read_later:?}");
        let mut tools = Tools::find(&[tools::Tool::Wipefs]).expect("is installed");
        for _twice in 0..2 {
            for act in read_later.iter().rev() {
                undone(act, &mut tools).unwrap_or_else(|error| panic!("{act}: {error}"));
            }
        }
        rig.ledger.open.clear();
        rig.must_be_as_new();
        Ok(())
    });
}

#[test]
fn loop_a_busy_mount_stays_and_is_told() {
    run(|| {
        kernel_has("ext4")?;
        let mut rig = loops(1, DISK_BYTES)?;
        let spec = single(FilesystemKind::Ext4);
        let stack = rig.up(&spec, "raidlab-busy").unwrap_or_else(|error| panic!("{error}"));
        let open = fs::File::create(stack.mount_point.as_ref().expect("is mounted").join("open")).expect("made");
        let error = rig
            .with(&spec, "raidlab-busy", |context| stack::down(stack, context))
            .expect_err("is busy");
        assert!(error.to_string().contains("could not unmount "), "{error}");
        assert!(!rig.ledger.open.is_empty(), "what is not undone stays in the ledger");
        drop(open);
        let mut tools = Tools::find(&[tools::Tool::Wipefs]).expect("is installed");
        for act in rig.ledger.open.drain(..).rev() {
            undone(&act.undo, &mut tools).unwrap_or_else(|error| panic!("{error}"));
        }
        rig.must_be_as_new();
        Ok(())
    });
}
