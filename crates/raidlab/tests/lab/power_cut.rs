//! The contents of disks outlive their guest: all of them if the guest exited, without volatile data if the power
//! was cut.

use crate::guest::{Guest, Seen};
use disksim::description::Device;
use disksim::faults::SectorRange;
use lab::guest::{DiskContents, PowerCut};
use lab::job::{self, GuestJob, ProgramJob};
use std::path::PathBuf;
use std::sync::Arc;
use study::event::Event;
use trial::ProcessEnd;

/// A job that runs commands in the guest.
fn commands(text: &str) -> Vec<u8> {
    let job = GuestJob::Program(ProgramJob {
        path: PathBuf::from("/bin/bash"),
        arguments: vec!["-ec".to_owned(), text.to_owned()],
    });
    job::encode(&job, &[])
}

fn new_contents() -> Arc<DiskContents> {
    Arc::new(DiskContents::new(1 << 30, &std::env::temp_dir()).expect("contents"))
}

/// Runs commands in this guest with these contents of its disks.
fn run(guest: &Guest, contents: &Arc<DiskContents>, power_cut: Option<PowerCut>, text: &str) -> Seen {
    Guest {
        job: commands(text),
        contents: Some(contents.clone()),
        power_cut,
        disks: guest.disks.clone(),
        kernel: guest.kernel.clone(),
        init: None,
        program: None,
        folder: None,
        ..*guest
    }
    .run()
}

/// Runs commands on the same disks as the earlier guests; returns their output.
fn go_on(guest: &Guest, contents: &Arc<DiskContents>, text: &str) -> Vec<String> {
    let seen = run(guest, contents, None, text);
    assert_eq!(
        seen.ended.end,
        ProcessEnd::Exited,
        "its console: {}",
        seen.ended.console
    );
    let words = seen.words();
    let failed = words
        .iter()
        .any(|line| line.contains("\"failed\"") || line.contains("Failed"));
    assert!(!failed, "{words:?}, its console: {}", seen.ended.console);
    words
}

/// Digests of the contents of each disk, as reported by the guest's init at its end.
fn digests(words: &[String]) -> Vec<String> {
    let digest = |line: &String| match serde_json::from_str(line) {
        Ok(Event::DiskCounters(disk)) => disk.contents,
        _ => None,
    };
    words.iter().filter_map(digest).collect()
}

#[test]
fn a_filesystem_on_raid_5_is_there_for_the_next_guest() {
    let Some(guest) = Guest::new() else { return };
    let guest = Guest {
        disks: crate::guest::disks("wd-500gb-2007", 4),
        ram_bytes: 128 << 20,
        ..guest
    };
    let contents = new_contents();
    let made = go_on(
        &guest,
        &contents,
        "mdadm --create /dev/md100 --config=none --run --level=5 --raid-devices=4 --size=262144K --bitmap=none \
         --assume-clean /dev/vd[abcd]\n\
         mkfs.ext4 -q -E nodiscard /dev/md100\nmkdir /tmp/m\nmount /dev/md100 /tmp/m\n\
         yes 0123456 | head -c 64M >/tmp/m/large\nseq 100000 >/tmp/m/small\nmd5sum /tmp/m/large /tmp/m/small >/tmp/m/sums\n\
         umount /tmp/m\nmdadm --stop /dev/md100",
    );
    let found = go_on(
        &guest,
        &contents,
        "mdadm --assemble /dev/md100 --config=none --run /dev/vd[abcd]\nmkdir /tmp/m\n\
         mount -o ro,noload /dev/md100 /tmp/m\nmd5sum --check --quiet /tmp/m/sums && echo sums agree >/dev/raidlab\n\
         umount /tmp/m\nmdadm --stop /dev/md100",
    );
    assert!(found.contains(&"sums agree".to_owned()), "{found:?}");
    assert_eq!(digests(&made).len(), 4);
    // A third guest does nothing, and finds what the second one left.
    assert_eq!(digests(&go_on(&guest, &contents, "true")), digests(&found));
}

/// Cuts the power while a disk is written to, and reads its contents in another guest.
fn cut_while_writing(guest: &Guest, seed: u64) -> Vec<String> {
    let contents = new_contents();
    let at_ns = 6_000_000_000;
    let text = "yes 0123456 | dd of=/dev/vda bs=64k iflag=fullblock oflag=direct";
    let seen = run(guest, &contents, Some(PowerCut { at_ns, seed }), text);
    assert_eq!(
        seen.ended.end,
        ProcessEnd::Exited,
        "its console: {}",
        seen.ended.console
    );
    assert!(seen.ended.heartbeat.power_cut, "its console: {}", seen.ended.console);
    assert_eq!(seen.ended.heartbeat.virtual_ns, at_ns);
    let left = go_on(
        guest,
        &contents,
        "dd if=/dev/vda bs=1M count=32 iflag=direct | md5sum >/dev/raidlab",
    );
    // `yes 0123456 | head -c 32M | md5sum`: data written long before the cut is on the media.
    assert!(left[0].starts_with(DIGEST_OF_32_MIB), "{left:?}");
    digests(&left)
}

/// md5 of 32 MiB of `yes 0123456`.
const DIGEST_OF_32_MIB: &str = "a4b5a619b343a0e31ef77b00ffb3667f";

#[test]
fn a_power_cut_takes_what_its_seed_says_out_of_the_cache() {
    let Some(guest) = Guest::new() else { return };
    let one = cut_while_writing(&guest, 1);
    assert_eq!(cut_while_writing(&guest, 1), one, "the same seed takes the same");
    let others = [2, 3, 4].map(|seed| cut_while_writing(&guest, seed));
    assert!(
        others.iter().any(|other| *other != one),
        "another seed takes something else"
    );
    let mut disks = guest.disks.clone();
    for disk in &mut disks.disks {
        let Device::Mechanical(drive) = &mut disk.device else {
            panic!("it has platters")
        };
        drive.write_cache.enabled = false;
    }
    let guest = Guest { disks, ..guest };
    let one = cut_while_writing(&guest, 1);
    for seed in [2, 3] {
        assert_eq!(cut_while_writing(&guest, seed), one, "without a cache nothing is lost");
    }
}

/// Data that was synced before the cut survives, on a filesystem that relies on the disk's flushes.
#[test]
fn a_synced_file_survives_a_power_cut() {
    let Some(guest) = Guest::new() else { return };
    for seed in 1..=3 {
        let contents = new_contents();
        let at_ns = 9_000_000_000 + seed * 1_234_567;
        let text = "mkfs.ext4 -q /dev/vda 512M\nmkdir /tmp/m\nmount /dev/vda /tmp/m\nseq 200000 >/tmp/m/kept\n\
                    sync /tmp/m/kept\necho synced >/dev/raidlab\n\
                    for i in $(seq 100000); do yes $i | head -c 200K >/tmp/m/$((i % 300)); sync /tmp/m/$((i % 300)); done";
        let seen = run(&guest, &contents, Some(PowerCut { at_ns, seed }), text);
        assert!(seen.ended.heartbeat.power_cut, "its console: {}", seen.ended.console);
        assert_eq!(seen.words(), ["synced"], "its console: {}", seen.ended.console);
        let found = go_on(
            &guest,
            &contents,
            "mkdir /tmp/m\nmount /dev/vda /tmp/m\nseq 200000 | cmp - /tmp/m/kept\nls /tmp/m | wc -l >/dev/raidlab\n\
             umount /tmp/m\ne2fsck -fn /dev/vda && echo checked >/dev/raidlab",
        );
        assert!(found.contains(&"checked".to_owned()), "{found:?}");
        // Its own, lost+found, and some of the 300 that were being written.
        let files: u32 = found[0].parse().expect("a number");
        assert!(files > 2, "the cut came before the work");
    }
}

/// Sectors that read wrong without an error do so in one guest, and are as written in the next one, whose disks
/// have no such fault.
#[test]
fn corrupt_sectors_read_wrong_and_are_not_changed() {
    let Some(guest) = Guest::new() else { return };
    let mut disks = guest.disks.clone();
    disks.disks[0].faults.corrupt = vec![SectorRange {
        sector: 1000,
        sectors: 3,
    }];
    let bad = Guest {
        disks,
        kernel: guest.kernel.clone(),
        init: None,
        program: None,
        folder: None,
        job: Vec::new(),
        contents: None,
        ..guest
    };
    let contents = new_contents();
    let compare = "yes 0123456 | head -c 1M >/tmp/all\ndd if=/dev/vda of=/tmp/read bs=64k count=16 iflag=direct\n\
                   { cmp -l /tmp/all /tmp/read || true; } | awk '{ print int(($1 - 1) / 512) }' | uniq | tr '\\n' ' ' \
                   | sed 's/^/differ: /; s/ $//' >/dev/raidlab\necho >/dev/raidlab";
    let wrong = go_on(
        &bad,
        &contents,
        &format!("yes 0123456 | dd of=/dev/vda bs=64k count=16 iflag=fullblock oflag=direct\n{compare}"),
    );
    assert_eq!(wrong[0], "differ: 1000 1001 1002");
    let right = go_on(&guest, &contents, compare);
    assert_eq!(right[0], "");
}
