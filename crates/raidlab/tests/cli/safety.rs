//! Protected data is not overwritten, whatever is below it, above it or inside it, and other people's objects are
//! not touched. Each test is named after what it prevents.

use crate::desk::{Desk, Ran};
use crate::machine::in_a_world_of_its_own;
use crate::on_host::refused::md_superblock_at;
use crate::on_host::rig::{Bystander, RUN, STUDY, desk, run_on, system};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

/// Deterministic bytes without any signature.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

/// Raidlab is asked to overwrite a disk and refuses; no byte of the backing files changes.
fn refused(desk: &Desk, arguments: &[&str], files: &[&Path], words: &str) {
    let contents = || {
        system("sync", &[]);
        let read = |file: &&Path| fs::read(file).expect("the file");
        files.iter().map(read).collect::<Vec<_>>()
    };
    let before = contents();
    let ran = desk.run(&[&["run", "host.toml", "--on", "host"], arguments].concat());
    assert!(contents() == before, "bytes were written: {words}\n{}", ran.stderr);
    assert_eq!(
        (ran.exit, ran.stdout.as_str()),
        (Some(2), ""),
        "{words}\n{}",
        ran.stderr
    );
    assert!(ran.stderr.contains(words), "`{words}` is not said: {}", ran.stderr);
}

fn write_at(disk: &Bystander, bytes: &[u8], at: u64) {
    let file = fs::File::options().write(true).open(&disk.file).expect("the file");
    file.write_all_at(bytes, at).expect("written");
    file.sync_all().expect("synced");
    system("blockdev", &["--flushbufs", &disk.node]);
}

/// A loop device with two partitions of 24 MiB each; whether the kernel has scanned them.
fn partitioned(desk: &Desk, name: &str) -> (Bystander, bool) {
    let script = "label: gpt\nstart=2048, size=49152\nstart=51200, size=49152\n";
    let path = desk.folder().join(name);
    fs::File::create(&path)
        .and_then(|file| file.set_len(64 * MIB))
        .expect("sparse");
    let file = path.to_str().expect("UTF-8").to_owned();
    let mut sfdisk = Command::new("sfdisk")
        .args(["--quiet", &file])
        .env("PATH", tools::SEARCH_PATH)
        .stdin(Stdio::piped())
        .spawn()
        .expect("sfdisk");
    std::io::Write::write_all(&mut sfdisk.stdin.take().expect("a pipe"), script.as_bytes()).expect("written");
    assert!(sfdisk.wait().expect("ended").success());
    let node = system("losetup", &["--find", "--show", "--partscan", &file]);
    let disk = Bystander { node, file: path };
    let is_scanned = Path::new(&format!("{}p1", disk.node)).exists();
    (disk, is_scanned)
}

struct EndsWithTest(Child);

impl Drop for EndsWithTest {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn root_loop_a_mounted_device_behind_a_loop_device_is_not_overwritten() {
    let Some((desk, _turn)) = desk() else { return };
    let disk = Bystander::new(&desk, "disk").with_ext4();
    let folder = desk.folder().join("mnt");
    fs::create_dir(&folder).expect("a folder");
    let folder = folder.to_str().expect("UTF-8");
    system("mount", &["-o", "ro,noload", &disk.node, folder]);
    let upper = system("losetup", &["--find", "--show", &disk.node]);
    let name = &upper["/dev/".len()..];
    let words = format!("{} is mounted on {folder}", disk.name());
    refused(&desk, &["--devices", &upper, "--destroy", name], &[&disk.file], &words);
    system("losetup", &["--detach", &upper]);
    system("umount", &[folder]);
}

#[test]
fn root_loop_another_loop_device_on_the_same_bytes_is_not_overwritten() {
    let Some((desk, _turn)) = desk() else { return };
    let disk = Bystander::new(&desk, "disk");
    let file = disk.file.to_str().expect("UTF-8");
    let sibling = system("losetup", &["--find", "--show", "--offset", "8388608", file]);
    let words = format!("it shares bytes with {}", &sibling["/dev/".len()..]);
    refused(&desk, &["--devices", &disk.node], &[&disk.file], &words);
    system("losetup", &["--detach", &sibling]);
}

#[test]
fn root_loop_a_partition_of_a_disk_that_is_a_member_or_open_for_writing_is_not_overwritten() {
    let Some((desk, _turn)) = desk() else { return };
    let (disk, is_scanned) = partitioned(&desk, "disk");
    if !is_scanned {
        requirements::skip("this kernel shows no partitions of loop devices");
        return;
    }
    let first = format!("{}p1", disk.node);
    let held = fs::File::options()
        .read(true)
        .write(true)
        .open(&disk.node)
        .expect("root may");
    let words = format!("{} is open in process {}", disk.name(), std::process::id());
    refused(&desk, &["--devices", &first], &[&disk.file], &words);
    drop(held);

    // A filesystem on the whole disk, at an offset that reaches into the partition.
    let inner = system("losetup", &["--find", "--show", "--offset", "2097152", &disk.node]);
    let words = format!("it shares bytes with {}", &inner["/dev/".len()..]);
    refused(&desk, &["--devices", &first], &[&disk.file], &words);
    system("losetup", &["--detach", &inner]);

    // md's metadata 1.0 is at the end of the disk, outside of all partitions.
    let end = fs::metadata(&disk.file).expect("it is there").len();
    md_superblock_at(&disk.file, [0xfc, 0x4e, 0x2b, 0xa9], (end - 16 * 512) / 4096 * 4096);
    system("blockdev", &["--flushbufs", &disk.node]);
    if system("wipefs", &["--noheadings", &disk.node]).contains("linux_raid_member") {
        let words = format!("{} is a member of an md array", disk.name());
        refused(&desk, &["--devices", &first], &[&disk.file], &words);
    }
}

#[test]
fn root_loop_a_device_open_under_another_name_is_not_overwritten() {
    let Some((desk, _turn)) = desk() else { return };
    let disk = Bystander::new(&desk, "disk");
    let numbers = system(
        "lsblk",
        &["--nodeps", "--noheadings", "--output", "MAJ:MIN", &disk.node],
    );
    let (major, minor) = numbers.split_once(':').expect("two numbers");
    let node = desk.folder().join("a node of its own");
    let node = node.to_str().expect("UTF-8");
    system("mknod", &[node, "b", major, minor]);
    let script = "exec 3< \"$0\"; echo open; exec sleep 600";
    let mut opener = Command::new("sh")
        .args(["-c", script, node])
        .stdout(Stdio::piped())
        .spawn()
        .expect("sh");
    let mut line = [0; 5];
    let said = std::io::Read::read_exact(opener.stdout.as_mut().expect("a pipe"), &mut line);
    let opener = EndsWithTest(opener);
    if said.is_err() {
        requirements::skip("nodes cannot be opened in the temporary folder");
        return;
    }
    let words = format!("{} is open in process {}", disk.name(), opener.0.id());
    refused(&desk, &["--devices", &disk.node], &[&disk.file], &words);
}

#[test]
fn root_loop_members_of_any_kind_are_not_given_up() {
    let Some((desk, _turn)) = desk() else { return };
    let stratis: &[u8] = b"!Stra0tis\x86\xff\x02^\x41rh";
    /// Bytes and their offset on the disk.
    type Written<'a> = &'a [(&'a [u8], u64)];
    let kinds: [(&str, Written<'_>, &str); 5] = [
        (
            "stratis",
            &[(stratis, 512 + 4), (stratis, 9 * 512 + 4)],
            "is a member of a",
        ),
        ("vmfs", &[(&[0x0d, 0xd0, 0x01, 0xc0], MIB)], "is a member of a"),
        ("ceph", &[(b"bluestore block device", 0)], "is a member of a"),
        // Where no label is looked for: the table that referred to it is gone.
        (
            "lvm",
            &[(b"LABELONE", 3 * MIB + 512), (b"LVM2 001", 3 * MIB + 536)],
            "is a member of an LVM volume group",
        ),
        (
            "btrfs",
            &[(b"_BHRfS_M", 64 * MIB + 0x40), (&[2], 64 * MIB + 0x88)],
            "is a member of a btrfs",
        ),
    ];
    for (name, writes, words) in kinds {
        let disk = Bystander::new(&desk, name);
        fs::File::options()
            .write(true)
            .open(&disk.file)
            .and_then(|file| file.set_len(96 * MIB))
            .expect("sparse");
        system("losetup", &["--set-capacity", &disk.node]);
        for (bytes, at) in writes {
            write_at(&disk, bytes, *at);
        }
        let destroy = ["--devices", &disk.node, "--destroy", disk.name()];
        refused(&desk, &destroy, &[&disk.file], words);
    }
}

#[test]
fn root_loop_a_physical_volume_in_a_partition_nobody_scanned_is_not_given_up() {
    let Some((desk, _turn)) = desk() else { return };
    let (disk, is_scanned) = partitioned(&desk, "disk");
    let second = 51_200 * 512;
    write_at(&disk, b"LABELONE\x01\0\0\0\0\0\0\0", second + 512);
    write_at(&disk, b"LVM2 001", second + 512 + 24);
    // As if another program had attached it: the kernel sees no partitions.
    if is_scanned {
        system("partx", &["--delete", &disk.node]);
    }
    let destroy = ["--devices", &disk.node, "--destroy", disk.name()];
    refused(&desk, &destroy, &[&disk.file], "is a member of an LVM volume group");
}

#[test]
fn root_loop_what_nobody_recognises_is_not_overwritten_without_a_question() {
    let Some((desk, _turn)) = desk() else { return };
    let random = Bystander::new(&desk, "random");
    write_at(&random, &noise(20 << 20), 30 * MIB);
    let headless = Bystander::new(&desk, "headless").with_ext4();
    write_at(&headless, &[0; 4096], 0);
    let offset = Bystander::new(&desk, "offset");
    let inner = Bystander::new(&desk, "inner").with_ext4();
    write_at(&offset, &inner.contents()[..32 << 20], 16 * MIB);
    for disk in [&random, &headless, &offset] {
        let words = format!("{} is not blank", disk.name());
        refused(&desk, &["--devices", &disk.node], &[&disk.file], &words);
    }
}

/// A released disk is used; the data of a finished run belongs to nobody.
#[test]
fn root_loop_what_is_given_up_and_what_a_run_left_goes_through() {
    let Some((desk, _turn)) = desk() else { return };
    let disk = Bystander::new(&desk, "random");
    fs::File::options()
        .write(true)
        .open(&disk.file)
        .and_then(|file| file.set_len(512 * MIB))
        .expect("sparse");
    system("losetup", &["--set-capacity", &disk.node]);
    write_at(&disk, &noise(20 << 20), 30 * MIB);
    let run = |more: &[&str]| desk.run(&run_on(&disk.node, more));
    let ran = run(&["--destroy", disk.name()]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let ran = run(&["--seed", "2"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    write_at(&disk, b"mine", 200 * MIB);
    write_at(&disk, b"mine", 4 * MIB);
    let ran = run(&["--seed", "3"]);
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("is not blank"), "{}", ran.stderr);
}

#[test]
fn root_a_ledger_of_another_users_is_not_acted_upon() {
    if !rustix::process::geteuid().is_root() {
        requirements::skip("needs root, whose acts are in question");
        return;
    }
    let desk = Desk::new();
    let (state, mine) = (desk.state(), desk.folder().join("mine"));
    fs::create_dir(&state).expect("a folder");
    fs::set_permissions(&state, PermissionsExt::from_mode(0o777)).expect("ours");
    fs::write(&mine, "mine").expect("written");
    let header = r#"{"session":{"version":V,"name":"raidlab-1","pid":1,"boot_id":"","command":"x","claims":[]}}"#;
    let path = serde_json::to_string(&mine).expect("a word");
    let undo = [
        format!(r#"{{"intend":{{"entry":1,"undo":{{"file":{{"path":{path},"made":null}}}}}}}}"#),
        format!(
            r#"{{"intend":{{"entry":2,"undo":{{"stack":{{"undo":"attribute","path":{path},"value":"theirs"}}}}}}}}"#
        ),
    ];
    for version in ["1", "2"] {
        for undo in &undo {
            let ledger = state.join("raidlab-1.ledger");
            let _ = fs::remove_file(&ledger);
            fs::write(&ledger, format!("{}\n{undo}\n", header.replace('V', version))).expect("written");
            std::os::unix::fs::chown(&ledger, Some(65_534), Some(65_534)).expect("root may");
            let ran = desk.run(&["clean"]);
            assert_eq!(
                fs::read_to_string(&mine).expect("it is there"),
                "mine",
                "{}",
                ran.stderr
            );
            assert_eq!(ran.exit, Some(3), "{}{}", ran.stdout, ran.stderr);
        }
    }
}

/// Exits by itself, and soon.
fn ends_soon(mut command: Command) -> Ran {
    let mut child = command.spawn().expect("raidlab is run");
    let until = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("ours").is_none() {
        if Instant::now() > until {
            let _ = child.kill();
            panic!("it hangs");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ran::from(child.wait_with_output().expect("ours"))
}

#[test]
fn root_loop_a_path_that_is_no_text_does_not_hang() {
    let Some((desk, _turn)) = desk() else { return };
    let name = std::ffi::OsStr::from_bytes(b"nu\xff");
    let folder = desk.folder().join(name);
    fs::create_dir(&folder).expect("a folder");
    let mut command = desk.raidlab(&RUN);
    command.arg("--loop-folder").arg(&folder);
    let ran = ends_soon(command);
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing was touched"), "{}", ran.stderr);
    let mut command = desk.raidlab(&RUN);
    command.env("RAIDLAB_STATE", &folder);
    let ran = ends_soon(command);
    assert_eq!(ran.exit, Some(3), "{}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
}

#[test]
fn a_mount_option_that_ends_the_machine_is_refused() {
    let desk = Desk::new();
    for option in ["errors=panic", "noatime,fatal_errors=panic"] {
        let study = STUDY.replace("\n[[workload]]", &format!("mount = \"{option}\"\n\n[[workload]]"));
        desk.write("host.toml", study);
        let ran = desk.run_without_touching(&["plan", "host.toml"]);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.exit, Some(2), "{all}");
        assert!(all.contains("panic` makes the kernel panic on an error"), "{all}");
    }
}

#[test]
fn root_loop_no_label_gives_orders_to_the_terminal() {
    let Some((desk, _turn)) = desk() else { return };
    let disk = Bystander::new(&desk, "disk");
    system("mke2fs", &["-q", "-t", "ext4", "-L", "\x1b]0;x\x07\x1b[2J", &disk.node]);
    let ran = desk.run(&["run", "host.toml", "--on", "host", "--devices", &disk.node]);
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("carries ext4"), "{}", ran.stderr);
    let is_order = |c: char| c.is_control() && c != '\n';
    assert!(!ran.stderr.contains(is_order), "{:?}", ran.stderr);
}

#[test]
fn a_job_file_that_is_a_link_is_not_read() {
    let desk = Desk::new();
    desk.write("secret", "root:$6$salt$hash\n");
    let start = STUDY.find("tree = ").expect("it has a workload");
    let end = STUDY.find("[precision]").expect("it says how often");
    let study = [&STUDY[..start], "fio_file = \"job.fio\"\n\n", &STUDY[end..]].concat();
    desk.write("host.toml", study);
    for target in ["secret", "/dev/zero", "/etc/shadow"] {
        let link = desk.folder().join("job.fio");
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(target, &link).expect("made");
        let mut command = desk.raidlab(&["plan", "host.toml"]);
        command.stdin(Stdio::null());
        let ran = ends_soon(command);
        assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("is a symbolic link"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("root:"), "{}", ran.stderr);
    }
}

#[test]
fn root_loop_files_without_room_are_refused_and_files_in_memory_are_told() {
    let Some((desk, _turn)) = desk() else { return };
    fs::create_dir(desk.folder().join("disk")).expect("a folder");
    desk.write("large.toml", STUDY.replace("size = \"16K\"", "size = \"4M\""));
    let run = [
        "run",
        "large.toml",
        "--on",
        "host",
        "--loop",
        "1x1G",
        "--loop-folder",
        "disk",
    ];
    let mount = |size: &str| format!("mount -t tmpfs -o size={size} tmpfs disk");
    let Some(ran) = in_a_world_of_its_own(&desk, &mount("48m"), &run) else {
        return;
    };
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("the study writes at least 160 MiB"),
        "{}",
        ran.stderr
    );
    let run = [&RUN as &[&str], &["--loop-folder", "disk", "--only", "type=ext2"]].concat();
    let ran = in_a_world_of_its_own(&desk, &mount("600m"), &run).expect("it went before");
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let export = desk.run(&["export", "--format", "json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&export).expect("JSON");
    let guards = json["guards"].as_array().expect("guards");
    let guard = guards
        .iter()
        .find(|guard| guard["guard"] == "loop-files")
        .expect("it is judged");
    assert_eq!(guard["passed"], false, "{guard}");
}
