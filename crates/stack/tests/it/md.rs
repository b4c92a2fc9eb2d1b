//! Arrays on loop devices, if the kernel has md: in a lab guest, or on a host with md. Needs root.

use crate::rig::{Rig, kernel_has, loops, passed, program, read, run, spec, undone};
use stack::{Disks, Quiesce, Undo};
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::stack::{Bitmap, FilesystemKind, Level, StackSpec};
use tools::{Tool, Tools};

const MEMBER_BYTES: u64 = 64 << 20;

fn members(count: usize) -> Result<Rig, String> {
    if !Path::new("/proc/mdstat").exists() {
        return Err("this kernel has no md".to_owned());
    }
    loops(count, MEMBER_BYTES)
}

fn raw(level: Level) -> StackSpec {
    spec(level, FilesystemKind::Raw)
}

fn attribute(stack: &stack::Stack, name: &str) -> String {
    let device = &stack.array.as_ref().expect("is an array").device;
    read(Path::new("/sys/block").join(&device.kernel_name).join("md").join(name))
        .trim_end()
        .to_owned()
}

/// Writes arbitrary contents, so that copies and parity do not match by chance.
fn scribble(rig: &Rig) {
    for (index, disk) in rig.devices.iter().enumerate() {
        std::fs::write(disk, vec![1_u8 << index; MEMBER_BYTES as usize]).expect("written");
    }
    rustix::fs::sync();
}

#[test]
fn md_every_level_comes_and_goes() {
    run(|| {
        use Level::{Linear, Raid0, Raid1, Raid4, Raid5, Raid6, Raid10};
        let mut rig = members(4)?;
        let usable = [
            (Linear, 4),
            (Raid0, 4),
            (Raid1, 1),
            (Raid4, 3),
            (Raid5, 3),
            (Raid6, 2),
            (Raid10, 2),
        ];
        for (level, disks) in usable {
            let spec = raw(level);
            let stack = rig
                .up(&spec, "raidlab-level")
                .unwrap_or_else(|error| panic!("{level:?}: {error}"));
            let bytes = stack
                .array
                .as_ref()
                .expect("is an array")
                .device
                .size_bytes()
                .expect("has a size");
            let share = bytes as f64 / (disks * MEMBER_BYTES) as f64;
            assert!((0.9..=1.0).contains(&share), "{level:?}: {bytes} bytes");
            let mismatches = rig.with(&spec, "raidlab-level", |context| {
                stack::array_mismatches(&stack, context)
            });
            assert_eq!(mismatches.expect("checked"), 0, "{level:?}: zeroed members agree");
            rig.down(&spec, "raidlab-level", stack);
            rig.must_be_as_new();
            assert!(!read("/proc/mdstat").contains("md100"), "{level:?}");
        }
        Ok(())
    });
}

#[test]
fn md_what_was_said_is_what_the_kernel_made() {
    run(|| {
        let mut rig = members(5)?;
        let mut spec = raw(Level::Raid5);
        spec.array.chunk_bytes = Some(64 << 10);
        spec.array.bitmap = Bitmap::Internal;
        spec.array.spares = 1;
        spec.array.member_size_bytes = Some(32 << 20);
        spec.array.layout = Some("right-asymmetric".into());
        spec.array.metadata = Some("1.0".into());
        let stack = rig.up(&spec, "raidlab-said").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(attribute(&stack, "chunk_size"), "65536");
        assert_eq!(attribute(&stack, "raid_disks"), "4");
        assert_eq!(attribute(&stack, "layout"), "1");
        assert_eq!(attribute(&stack, "metadata_version"), "1.0");
        assert_eq!(attribute(&stack, "component_size"), (32 << 10).to_string());
        assert_ne!(attribute(&stack, "bitmap/location"), "none");
        let status = read("/proc/mdstat");
        let spare = rig.devices[4]
            .file_name()
            .expect("a name")
            .to_str()
            .expect("UTF-8")
            .to_owned();
        assert!(status.contains(&format!("{spare}[4](S)")), "{status}");
        let detail = program("mdadm")
            .arg("--detail")
            .arg(&stack.block_device)
            .output()
            .expect("mdadm runs");
        let detail = String::from_utf8(detail.stdout).expect("UTF-8");
        let name = detail
            .lines()
            .find(|line| line.contains(" Name : "))
            .expect("has a name");
        assert_eq!(
            name.split_whitespace().nth(2),
            Some("raidlab-said"),
            "no home host: {name}"
        );
        rig.down(&spec, "raidlab-said", stack);
        rig.must_be_as_new();
        Ok(())
    });
}

#[test]
fn md_settings_are_what_the_kernel_shows() {
    run(|| {
        let mut rig = members(3)?;
        let mut parity = raw(Level::Raid5);
        parity.array.bitmap = Bitmap::Internal;
        parity.array.bitmap_chunk_bytes = Some(1 << 20);
        parity.array.group_thread_cnt = Some(2);
        parity.array.rmw_level = Some(0);
        parity.array.skip_copy = Some(1);
        parity.array.sync_speed_min = Some(5000);
        parity.array.sync_speed_max = Some(50_000);
        let stack = rig.up(&parity, "raidlab-set").unwrap_or_else(|error| panic!("{error}"));
        let mismatches = rig.with(&parity, "raidlab-set", |context| {
            stack::array_mismatches(&stack, context)
        });
        assert_eq!(mismatches.expect("checked"), 0);
        assert_eq!(attribute(&stack, "bitmap/chunksize"), (1 << 20).to_string());
        assert_eq!(attribute(&stack, "group_thread_cnt"), "2");
        assert_eq!(attribute(&stack, "rmw_level"), "0");
        assert_eq!(attribute(&stack, "skip_copy"), "1");
        assert_eq!(attribute(&stack, "sync_speed_min"), "5000 (local)");
        assert_eq!(attribute(&stack, "sync_speed_max"), "50000 (local)");
        rig.down(&parity, "raidlab-set", stack);
        rig.must_be_as_new();
        let mut mirror = raw(Level::Raid1);
        mirror.array.bitmap = Bitmap::Internal;
        mirror.array.write_mostly = Some(2);
        mirror.array.write_behind = Some(64);
        let stack = rig.up(&mirror, "raidlab-set").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(attribute(&stack, "bitmap/backlog"), "64");
        let states: Vec<String> = rig
            .devices
            .iter()
            .map(|disk| disk.file_name().expect("a name").to_string_lossy().into_owned())
            .map(|name| attribute(&stack, &format!("dev-{name}/state")))
            .collect();
        assert_eq!(states, ["in_sync", "in_sync,write_mostly", "in_sync,write_mostly"]);
        rig.down(&mirror, "raidlab-set", stack);
        rig.must_be_as_new();
        Ok(())
    });
}

/// mdadm's limits for the chunk of an internal bitmap are the limits in studies.
#[test]
fn md_has_bitmaps_with_the_smallest_chunk_that_studies_can_have() {
    run(|| {
        let mut rig = members(2)?;
        let mut spec = raw(Level::Raid1);
        spec.array.bitmap = Bitmap::Internal;
        spec.array.bitmap_chunk_bytes = Some(4 << 10);
        let stack = rig.up(&spec, "raidlab-chunk").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(attribute(&stack, "bitmap/chunksize"), "4096");
        rig.down(&spec, "raidlab-chunk", stack);
        rig.must_be_as_new();
        Ok(())
    });
}

#[test]
fn md_used_members_are_brought_to_agree() {
    run(|| {
        for level in [Level::Raid1, Level::Raid5, Level::Raid6, Level::Raid10] {
            let mut rig = members(4)?;
            scribble(&rig);
            let spec = raw(level);
            let devices = rig.devices.clone();
            let stack = rig.with(&spec, "raidlab-used", |context| {
                context.setting.zeroed = false;
                stack::up(&spec, &Disks::data(&devices), context)
            });
            let stack = stack.unwrap_or_else(|error| panic!("{level:?}: {error}"));
            assert_eq!(attribute(&stack, "degraded"), "0");
            assert_eq!(attribute(&stack, "sync_action"), "idle");
            let mismatches = rig.with(&spec, "raidlab-used", |context| {
                stack::array_mismatches(&stack, context)
            });
            assert_eq!(mismatches.expect("checked"), 0, "{level:?}");
            rig.down(&spec, "raidlab-used", stack);
        }
        Ok(())
    });
}

/// The check that verifies `--assume-clean` can fail.
#[test]
fn md_a_false_claim_to_be_zeroed_is_found() {
    run(|| {
        let mut rig = members(3)?;
        scribble(&rig);
        let spec = raw(Level::Raid5);
        let stack = rig.up(&spec, "raidlab-false").unwrap_or_else(|error| panic!("{error}"));
        let mismatches = rig.with(&spec, "raidlab-false", |context| {
            stack::array_mismatches(&stack, context)
        });
        assert!(mismatches.expect("checked") > 0);
        rig.down(&spec, "raidlab-false", stack);
        Ok(())
    });
}

#[test]
fn md_carries_every_filesystem() {
    run(|| {
        use FilesystemKind::{Btrfs, Ext2, Ext3, Ext4, Jfs, Reiserfs, Xfs};
        let kinds = [
            ("ext2", Ext2),
            ("ext3", Ext3),
            ("ext4", Ext4),
            ("xfs", Xfs),
            ("jfs", Jfs),
            ("reiserfs", Reiserfs),
            ("btrfs", Btrfs),
        ];
        if !Path::new("/proc/mdstat").exists() {
            return Err("this kernel has no md".to_owned());
        }
        for (name, kind) in kinds {
            if let Err(reason) = kernel_has(name) {
                requirements::skip(reason);
                continue;
            }
            let mut rig = loops(4, 256 << 20)?;
            let spec = StackSpec {
                array: spec(Level::Raid5, kind).array,
                ..spec(Level::Raid5, kind)
            };
            let stack = rig.up(&spec, "raidlab-fs").unwrap_or_else(|error| panic!("{error}"));
            let file = stack.mount_point.as_ref().expect("is mounted").join("file");
            std::fs::write(&file, vec![9; 1 << 20]).expect("written");
            let quick = Quiesce {
                quiet: Duration::from_millis(500),
                at_most: Duration::from_secs(60),
                degraded: false,
            };
            passed(
                &rig.with(&spec, "raidlab-fs", |c| stack::quiesce(&stack, quick, c))
                    .expect("quiesces"),
            );
            let witness = std::slice::from_ref(&file);
            passed(
                &rig.with(&spec, "raidlab-fs", |c| stack::drop_caches(&stack, witness, c))
                    .expect("drops"),
            );
            assert_eq!(std::fs::read(&file).expect("read"), vec![9; 1 << 20], "{name}");
            rig.down(&spec, "raidlab-fs", stack);
            rig.must_be_as_new();
        }
        Ok(())
    });
}

#[test]
fn md_of_others_is_left_alone() {
    run(|| {
        let mut rig = members(4)?;
        let theirs: Vec<PathBuf> = rig.devices.split_off(2);
        let node = Path::new("/dev/md42");
        let made = program("mdadm")
            .args([
                "--create",
                "/dev/md42",
                "--run",
                "--level=1",
                "--raid-devices=2",
                "--assume-clean",
            ])
            .args(&theirs)
            .status();
        assert!(made.expect("mdadm runs").success());
        let error = rig.with(&raw(Level::Raid1), "raidlab-theirs", |context| {
            stack::up(&raw(Level::Raid1), &Disks::data(&theirs), context).expect_err("is part of an array")
        });
        assert!(error.to_string().contains("is in use"), "{error}");

        // A line of the ledger about a device number that another array has meanwhile.
        let mut tools = Tools::find(&[Tool::Mdadm, Tool::Wipefs]).expect("are installed");
        let uuid = "00000000:00000000:00000000:00000001".to_owned();
        let array = Undo::Array {
            node: node.to_owned(),
            uuid: uuid.clone(),
            members: theirs.clone(),
        };
        let kind = FilesystemKind::Ext4;
        let filesystem = Undo::Filesystem {
            device: node.to_owned(),
            kind,
            array_uuid: Some(uuid),
            uuid: None,
        };
        for act in [filesystem, array] {
            undone(&act, &mut tools).expect("nothing of ours is there");
        }
        assert!(read("/proc/mdstat").contains("md42 : active raid1"));

        let spec = raw(Level::Raid1);
        let stack = rig.up(&spec, "raidlab-ours").unwrap_or_else(|error| panic!("{error}"));
        rig.down(&spec, "raidlab-ours", stack);
        assert!(read("/proc/mdstat").contains("md42 : active raid1"));
        program("mdadm")
            .args(["--stop", "/dev/md42"])
            .status()
            .expect("mdadm runs");
        rig.devices.extend(theirs);
        Ok(())
    });
}

#[test]
fn md_a_refused_array_leaves_nothing() {
    run(|| {
        let mut rig = members(3)?;
        let mut spec = raw(Level::Raid10);
        spec.array.layout = Some("n7".into());
        let error = rig.up(&spec, "raidlab-refused").expect_err("has no 7 disks");
        assert_eq!(error.step, "create array");
        assert!(error.to_string().contains("at least 7 devices"), "{error}");
        rig.must_be_as_new();
        Ok(())
    });
}
