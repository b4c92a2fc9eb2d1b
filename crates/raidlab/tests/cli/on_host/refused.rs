//! Disks that are not overwritten.

use super::rig::{Bystander, desk, system};
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

#[test]
fn root_loop_disks_that_are_refused_stay_as_they_are() {
    let Some((desk, _turn)) = desk() else { return };
    let run = |devices: &str, more: &[&str]| {
        let arguments = [&["run", "host.toml", "--on", "host", "--devices", devices], more].concat();
        let ran = desk.run(&arguments);
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("nothing was touched"), "{}", ran.stderr);
        assert!(!desk.folder().join("raidlab.db").exists());
        ran.stderr
    };
    let disk = Bystander::new(&desk, "disk").with_ext4();
    let (node, name) = (disk.node.as_str(), disk.name());
    let before = disk.contents();

    let words = run(node, &[]);
    assert!(
        words.contains(&format!(
            "{name} carries ext4, labelled `photos`; `--destroy {name}` allows it to be overwritten"
        )),
        "{words}"
    );
    let words = run(node, &["--destroy", "S3Z9NB0K"]);
    assert!(
        words.contains("--destroy S3Z9NB0K: no disk of --devices has this serial number"),
        "{words}"
    );

    // The others cannot be overridden.
    let folder = desk.folder().join("mnt");
    fs::create_dir(&folder).expect("a folder");
    let folder = folder.to_str().expect("UTF-8");
    system("mount", &["-o", "ro,noload", node, folder]);
    let words = run(node, &["--destroy", name]);
    assert!(words.contains(&format!("{name} is mounted on {folder}")), "{words}");
    system("umount", &[folder]);

    let held = fs::File::open(node).expect("root may");
    let words = run(node, &["--destroy", name]);
    assert!(
        words.contains(&format!("{name} is open in process {}", std::process::id())),
        "{words}"
    );
    drop(held);

    system("blockdev", &["--setro", node]);
    let words = run(node, &["--destroy", name]);
    assert!(words.contains("it is read-only"), "{words}");
    system("blockdev", &["--setrw", node]);

    let upper = system("losetup", &["--find", "--show", node]);
    let words = run(node, &["--destroy", name]);
    system("losetup", &["--detach", &upper]);
    assert!(
        words.contains(&format!("{name} is the backing device of {}", &upper[5..])),
        "{words}"
    );

    std::os::unix::fs::symlink(node, desk.folder().join("alias")).expect("a link");
    let words = run(&format!("{node},alias"), &["--destroy", name]);
    assert!(
        words.contains(&format!("{node} and alias are the same disk")),
        "{words}"
    );

    let words = run("/dev/nothing-there,/dev/null,host.toml", &[]);
    assert!(words.contains("there is no `/dev/nothing-there`"), "{words}");
    assert!(words.contains("`/dev/null` is not a block device"), "{words}");

    assert_eq!(disk.contents(), before, "not a byte was written");
}

/// Behind the header of the smallest swap area, where the kernel itself writes when this machine is short of memory.
const SWAPPED: Range<usize> = 4096..10 * 4096;

#[test]
fn root_loop_members_and_swap_are_refused() {
    let Some((desk, _turn)) = desk() else { return };
    let disk = Bystander::new(&desk, "disk");
    let (node, name) = (disk.node.as_str(), disk.name());
    let refused = |words: &str, swapped: Range<usize>| {
        let before = disk.contents();
        let ran = desk.run(&["run", "host.toml", "--on", "host", "--devices", node, "--destroy", name]);
        assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        let after = disk.contents();
        assert!(
            before[..swapped.start] == after[..swapped.start] && before[swapped.end..] == after[swapped.end..],
            "not a byte was written: {words}"
        );
    };
    // The signature alone makes it a member: the array need not run.
    let raid = [0xfc_u8, 0x4e, 0x2b, 0xa9];
    if Command::new("pvcreate")
        .env("PATH", tools::SEARCH_PATH)
        .arg("--version")
        .output()
        .is_ok()
    {
        system("pvcreate", &["-qq", node]);
        refused(&format!("{name} is a member of an LVM volume group"), 0..0);
        system("wipefs", &["--all", "--quiet", node]);
    }
    md_superblock(&disk.file, raid);
    system("blockdev", &["--flushbufs", node]);
    if system("wipefs", &["--noheadings", node]).contains("linux_raid_member") {
        refused(&format!("{name} is a member of an md array"), 0..0);
    }
    system("wipefs", &["--all", "--quiet", "--force", node]);
    system("mkswap", &["-q", node, &(SWAPPED.end / 1024).to_string()]);
    system("swapon", &[node]);
    refused(&format!("{name} is in use as swap"), SWAPPED);
    system("swapoff", &[node]);
}

/// A superblock of format 1.2, 4 KiB from the start.
fn md_superblock(file: &Path, magic: [u8; 4]) {
    md_superblock_at(file, magic, 4096);
}

/// A superblock that blkid recognises: magic, major version 1, its own offset, a valid checksum.
pub fn md_superblock_at(file: &Path, magic: [u8; 4], at: u64) {
    use std::os::unix::fs::FileExt;
    let mut block = [0_u8; 256];
    block[..4].copy_from_slice(&magic);
    block[4] = 1;
    block[16..32].copy_from_slice(&[7; 16]);
    // super_offset, in sectors.
    block[144..152].copy_from_slice(&(at / 512).to_le_bytes());
    let sum: u64 = block
        .chunks(4)
        .map(|word| u64::from(u32::from_le_bytes(word.try_into().expect("four"))))
        .sum();
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    block[216..220].copy_from_slice(&(sum as u32).to_le_bytes());
    let disk = fs::File::options().write(true).open(file).expect("the file");
    disk.write_all_at(&block, at).expect("written");
    disk.sync_all().expect("synced");
}
