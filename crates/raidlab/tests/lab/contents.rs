//! Contents of the disks: zeros when new, and the written data, wherever it is stored.

use crate::guest::{Guest, Seen, script, trials};
use lab::job::GuestJob;
use std::process::Command;
use study::event::Event;
use trial::ProcessEnd;

/// `mdadm --assume-clean` is correct for new disks: copies and parity match without a resync. A trial with an act ends
/// with a check of the whole array.
#[test]
fn new_disks_agree_without_a_resync() {
    let study = "ram = \"128M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 4\n[[stack]]\n\
        array = { level = [1, 4, 5, 6, 10], size = \"96M\" }\nfs = { type = [\"raw\", \"ext4\"] }\n\
        [[act]]\ndo = \"check\"\nat = \"1ms\"\n[[workload]]\nname = \"some\"\n\
        io = { rw = \"randwrite\", bs = \"12K\", size = \"6M\", iodepth = 4, direct = true }\n";
    for trial in trials(study) {
        let Some(guest) = Guest::for_job(&GuestJob::Trial(Box::new(trial.clone())), &trial) else {
            return;
        };
        let seen = guest.run();
        assert_passed(&seen);
        let checked = seen.events().into_iter().any(|event| {
            matches!(event, Event::Guard(guard) if guard.name == "array-clean"
                && guard.detail == "0 sectors disagree")
        });
        assert!(checked, "{}: md checked nothing", trial.cell.key);
    }
}

/// md's check, which the test above relies on, detects a copy that differs.
#[test]
fn a_check_sees_what_disagrees() {
    let Some(guest) = Guest::new() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let init = script(
        &folder,
        "mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t tmpfs tmpfs /run; mount -t tmpfs tmpfs /tmp\n\
         mdadm --create /dev/md100 --config=none --run --level=1 --raid-devices=2 --size=65536K --bitmap=none \
         --assume-clean /dev/vda /dev/vdb\n\
         check() { echo check >/sys/block/md100/md/sync_action\n\
         until [ \"$(cat /sys/block/md100/md/sync_action)\" = idle ]; do sleep 1; done\n\
         cat /sys/block/md100/md/mismatch_cnt >/dev/raidlab; }\n\
         check\ndd if=/dev/urandom of=/dev/vdb bs=4096 count=16 seek=34000 conv=fsync\ncheck\nexit 0",
    );
    let seen = Guest {
        init: Some(init),
        ..guest
    }
    .run();
    assert_eq!(seen.words(), ["0", "128"], "its console: {}", seen.ended.console);
}

/// The first block of every file is unique: 40 MiB of distinct blocks.
const FILES: &str = "ram = \"128M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 2\n[[stack]]\n\
    array = { level = 0 }\nfs = { type = \"ext4\" }\n[[workload]]\nname = \"files\"\n\
    tree = { files = 10000, size = \"4K\", tests = [\"write\", \"read\"] }\n";

/// Less than that.
const BUDGET_BYTES: u64 = 32 << 20;

#[test]
fn contents_past_the_memory_budget_are_kept_in_a_file() {
    let trial = trials(FILES).remove(0);
    let job = GuestJob::Trial(Box::new(trial.clone()));
    let Some(guest) = Guest::for_job(&job, &trial) else {
        return;
    };
    let in_memory = guest.run();
    let spilt = Guest {
        memory_budget_bytes: BUDGET_BYTES,
        ..guest
    }
    .run();
    assert_passed(&spilt);
    assert_eq!(spilt.lines, in_memory.lines, "where contents are kept must not show");
}

#[test]
fn contents_without_room_fail_the_trial_with_its_reason() {
    let trial = trials(FILES).remove(0);
    let Some(guest) = Guest::for_job(&GuestJob::Trial(Box::new(trial.clone())), &trial) else {
        return;
    };
    let Some(room) = SmallFolder::mount("16M") else { return };
    let folder = Some(room.folder.path().to_owned());
    let seen = Guest {
        memory_budget_bytes: BUDGET_BYTES,
        folder,
        ..guest
    }
    .run();
    assert_eq!(
        seen.ended.end,
        ProcessEnd::NoSpace,
        "its console: {}",
        seen.ended.console
    );
}

fn assert_passed(seen: &Seen) {
    assert_eq!(seen.ended.end, ProcessEnd::Exited, "{}", seen.ended.console);
    let events = seen.events();
    assert!(matches!(events.last(), Some(Event::Done { .. })), "{:?}", events.last());
    for event in &events {
        if let Event::Guard(guard) = event {
            assert!(guard.passed, "{guard:?}");
        }
    }
}

/// A filesystem with little room, for the superuser only.
struct SmallFolder {
    folder: tempfile::TempDir,
}

impl SmallFolder {
    fn mount(size: &str) -> Option<SmallFolder> {
        let folder = tempfile::tempdir().expect("a folder");
        let options = format!("size={size}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder.path());
        if !mount.output().is_ok_and(|output| output.status.success()) {
            requirements::skip("a small filesystem cannot be mounted (not the superuser?)");
            return None;
        }
        Some(SmallFolder { folder })
    }
}

impl Drop for SmallFolder {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.folder.path()).status();
    }
}
