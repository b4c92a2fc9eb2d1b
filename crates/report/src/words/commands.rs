//! Commands for the user's disks, derived from those that raidlab ran. Arguments that are only safe in a lab are
//! omitted: identities, arrays assumed clean, filesystems that assume zeroed disks, and everything that overwrites
//! without asking.

use crate::input::Input;
use crate::words::figure::bytes;
use crate::words::layers;
use study::plan::Cell;
use study::stack::{FilesystemKind, Level, StackSpec};

/// Arguments that are omitted.
const ALONE: [&str; 9] = [
    "-q",
    "-K",
    "-f",
    "-F",
    "--yes",
    "--run",
    "--assume-clean",
    "--nosync",
    "--quiet",
];

/// Prefixes of such arguments with a value.
const BEGINNINGS: [&str; 6] = [
    "--config=",
    "--homehost=",
    "--name=",
    "--uuid=",
    "--size=",
    "--wipe-bcache",
];

/// Options that are omitted together with the next argument.
const PAIRS: [(&str, &str); 8] = [
    ("--cset-uuid", ""),
    ("--poolmetadataspare", ""),
    ("--config", ""),
    ("--wipesignatures", ""),
    ("--zero", ""),
    ("--size", ""),
    ("-o", "cachefile=none"),
    ("-O", "mountpoint=legacy"),
];

/// Extended options of mke2fs that are only for zeroed disks.
const EXTENDED: [&str; 2] = ["nodiscard", "assume_storage_prezeroed=1"];

/// Lines to copy, and notes on them.
pub(crate) fn of(input: &Input, cell: &Cell) -> (Vec<String>, Vec<String>) {
    let calls = input
        .calls
        .iter()
        .filter(|row| row.trial.cell == cell.id && row.trial.index == 0 && row.entry.exit == Some(0));
    let mut disks = Disks::default();
    let mut made: Vec<Vec<String>> = calls
        .map(|row| row.entry.argv.as_slice())
        .filter(|argv| makes(argv))
        .map(|argv| cleaned(argv, &mut disks))
        .collect();
    if cell.lacks_bitmap_by_size() {
        for word in made.iter_mut().flatten().filter(|word| *word == "--bitmap=none") {
            "--bitmap=internal".clone_into(word);
        }
    }
    let image = made.iter().position(|argv| makes_image(argv));
    // The filesystem in it is the guest's.
    let image = image.and_then(|at| made.drain(at..).next());
    let Some(last) = made.last() else {
        return (Vec::new(), Vec::new());
    };
    let device = last.iter().rev().find(|word| word.starts_with("/dev/")).cloned();
    let device = device.unwrap_or_else(|| "/dev/md0".to_owned());
    let mut lines: Vec<String> = made.iter().map(|argv| shell_line(argv)).collect();
    // Settings of md follow the line that creates the array.
    let after = made
        .iter()
        .rposition(|argv| argv[0] == "mdadm")
        .map_or(0, |place| place + 1);
    let settings = settings(&cell.stack, &device, disks.known.len());
    lines.splice(after..after, settings);
    let under = cell.stack.under_image();
    lines.extend(mount(under.as_ref().unwrap_or(&cell.stack), &device));
    lines.extend(image.map(|argv| shell_line(&argv)));
    let mut notes = notes(cell, &disks);
    notes.extend(layers::notes(&cell.stack));
    if lines.iter().any(|line| line.contains(" > /sys/")) {
        notes.push("Settings in /sys last until the next boot, or until the array is assembled again.".to_owned());
    }
    (lines, notes)
}

/// An argv as a shell command.
pub(crate) fn shell_line(argv: &[String]) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_=+./:,@%".contains(character);
    let quoted = |word: &String| match !word.is_empty() && word.chars().all(plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    argv.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Whether a call creates something: the others query versions, wait, or tear down.
fn makes(argv: &[String]) -> bool {
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    let Some((program, rest)) = words.split_first() else {
        return false;
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    let is_version = matches!(rest, ["--version" | "-V" | "version" | "--help"]);
    let makes = match name {
        "mdadm" => rest.contains(&"--create"),
        "lvm" => {
            matches!(
                rest.first(),
                Some(&("pvcreate" | "vgcreate" | "lvcreate" | "lvconvert"))
            ) && !rest.contains(&"--snapshot")
        }
        "zpool" | "zfs" => rest.first() == Some(&"create"),
        "truncate" | "fallocate" => true,
        "integritysetup" | "cryptsetup" | "blkdiscard" | "make-bcache" => true,
        "pvcreate" | "vgcreate" | "lvcreate" | "mkreiserfs" | "mke2fs" | "mkntfs" | "bcachefs" => true,
        _ => name.starts_with("mkfs"),
    };
    makes && !is_version
}

/// Whether a call makes the image that carries the stack's filesystem.
fn makes_image(argv: &[String]) -> bool {
    argv.first()
        .is_some_and(|name| matches!(name.as_str(), "truncate" | "fallocate" | "zfs"))
}

/// The disks of the trial, with their names in these commands.
#[derive(Default)]
struct Disks {
    known: Vec<String>,
}

impl Disks {
    /// `/dev/vda` becomes `/dev/DISK1`, `/dev/md100` becomes `/dev/md0`, also within an argument.
    fn renamed(&mut self, word: &str) -> String {
        let Some(at) = word.find("/dev/") else {
            return word.to_owned();
        };
        let (before, rest) = word.split_at(at);
        let (device, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
        let name = &device["/dev/".len()..];
        if name.starts_with("md") {
            return format!("{before}/dev/md0{after}");
        }
        if name.starts_with("bcache") {
            return word.to_owned();
        }
        // A logical volume is in its group's folder; disks have folders for their serial numbers.
        if name.contains('/') && !name.starts_with("disk/") {
            return word.to_owned();
        }
        let place = self.known.iter().position(|known| known == device);
        let place = place.unwrap_or_else(|| {
            self.known.push(device.to_owned());
            self.known.len() - 1
        });
        format!("{before}/dev/DISK{}{after}", place + 1)
    }
}

fn cleaned(argv: &[String], disks: &mut Disks) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = argv.iter().map(String::as_str).peekable();
    if let Some(program) = rest.next() {
        words.push(program.rsplit('/').next().unwrap_or(program).to_owned());
    }
    while let Some(word) = rest.next() {
        let next = rest.peek().copied().unwrap_or_default();
        if PAIRS
            .iter()
            .any(|(option, value)| *option == word && (value.is_empty() || *value == next))
        {
            rest.next();
        } else if word == "-E" {
            rest.next();
            let kept: Vec<&str> = next.split(',').filter(|option| !EXTENDED.contains(option)).collect();
            if !kept.is_empty() {
                words.extend(["-E".to_owned(), kept.join(",")]);
            }
        } else if !ALONE.contains(&word) && !BEGINNINGS.iter().any(|begin| word.starts_with(begin)) {
            words.push(match word.ends_with("-host/image") && word.starts_with('/') {
                true => "/mnt/image".to_owned(),
                false => disks.renamed(word),
            });
            let is_size =
                matches!(word, "--virtualsize" | "--length" | "-V") || (word == "-s" && words[0] == "truncate");
            if is_size {
                rest.next();
                words.push("SIZE".to_owned());
            }
        }
    }
    let has_size = words
        .iter()
        .any(|word| matches!(word.as_str(), "--extents" | "--virtualsize"));
    if words.get(1).is_some_and(|word| word == "lvcreate") && !has_size {
        words.splice(2..2, ["--extents".to_owned(), "100%FREE".to_owned()]);
    }
    words
}

/// The study's settings in /sys and on disks.
fn settings(stack: &StackSpec, device: &str, disks: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for disk in 1..=disks {
        let queue = format!("/sys/block/DISK{disk}");
        lines.extend(
            stack
                .scheduler
                .as_ref()
                .map(|name| format!("echo {name} > {queue}/queue/scheduler")),
        );
        lines.extend(
            stack
                .queue_depth
                .map(|depth| format!("echo {depth} > {queue}/device/queue_depth")),
        );
        lines.extend(
            stack
                .write_cache
                .map(|on| format!("hdparm -W{} /dev/DISK{disk}", u8::from(on))),
        );
    }
    let array = &stack.array;
    let of_md = [
        ("stripe_cache_size", array.stripe_cache_pages),
        ("group_thread_cnt", array.group_thread_cnt),
        ("rmw_level", array.rmw_level),
        ("skip_copy", array.skip_copy),
        ("sync_speed_min", array.sync_speed_min),
        ("sync_speed_max", array.sync_speed_max),
    ];
    lines.extend(
        array
            .journal_write_back
            .then(|| "echo write-back > /sys/block/md0/md/journal_mode".to_owned()),
    );
    lines.extend(layers::settings(stack));
    let of_md = of_md.into_iter().filter_map(|(name, value)| Some((name, value?)));
    lines.extend(of_md.map(|(name, value)| format!("echo {value} > /sys/block/md0/md/{name}")));
    lines.extend(
        stack
            .read_ahead_sectors
            .map(|sectors| format!("blockdev --setra {sectors} {device}")),
    );
    lines
}

/// ZFS mounts itself if `mountpoint` is not `legacy`; a raw device is not mounted.
fn mount(stack: &StackSpec, device: &str) -> Option<String> {
    let spec = &stack.filesystem;
    if matches!(spec.kind, FilesystemKind::Raw | FilesystemKind::Zfs) {
        return None;
    }
    let mut options = stack.mount_options.clone();
    options.extend(spec.journal_mode.map(|mode| format!("data={}", mode.word())));
    options.extend(spec.log_buffers.map(|count| format!("logbufs={count}")));
    options.extend(spec.log_buffer_size_bytes.map(|bytes| format!("logbsize={bytes}")));
    let pattern = spec.kind.compression.as_ref().and_then(|one| one.mount_option);
    options.extend(
        pattern
            .zip(spec.compression.as_ref())
            .map(|(text, word)| text.replace("{}", word)),
    );
    let mut argv = vec!["mount".to_owned(), "-t".to_owned(), spec.kind.mount_type().to_owned()];
    if !options.is_empty() {
        argv.extend(["-o".to_owned(), options.join(",")]);
    }
    argv.extend([device.to_owned(), "/mnt".to_owned()]);
    Some(shell_line(&argv))
}

fn notes(cell: &Cell, disks: &Disks) -> Vec<String> {
    let stack = &cell.stack;
    let names: Vec<String> = (1..=disks.known.len()).map(|number| format!("DISK{number}")).collect();
    let mut notes = vec![format!(
        "Replace {} by the names of your disks, and /mnt by your folder. All data on these disks is lost.",
        names.join(", ")
    )];
    if let Some(size) = stack.array.member_size_bytes {
        notes.push(format!(
            "The study used {} of each disk; these commands use all of it. A hard disk is slower on its inner tracks.",
            bytes(size)
        ));
    }
    if cell.lacks_bitmap_by_size() {
        notes.push(
            "The study's small array had no bitmap; these commands make one, because without it a crash is followed by a resync of \
             the whole array. Scattered writes are slower with it."
                .to_owned(),
        );
    }
    if stack.array.level.is_redundant() {
        let without = match stack.array.level {
            // mdadm creates them with the last disk as one to rebuild.
            Level::Raid4 | Level::Raid5 => " and survives no failed disk",
            _ => "",
        };
        notes.push(format!(
            "The array first copies or computes its redundancy (/proc/mdstat): it is slower until that is done{without}."
        ));
    }
    if stack.array.resyncs_after_a_crash() && !cell.lacks_bitmap_by_size() {
        notes.push(
            "An array that exists keeps its data: `mdadm --grow --bitmap=none /dev/mdX` removes its bitmap."
                .to_owned(),
        );
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(argv: &[&str]) -> String {
        let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
        assert!(makes(&argv), "{argv:?}");
        shell_line(&cleaned(&argv, &mut Disks::default()))
    }

    #[test]
    fn a_shell_line_can_be_pasted() {
        let argv = ["mkfs.xfs", "-b", "size=4096", "it's", "a b", "", "$(rm)"].map(str::to_owned);
        assert_eq!(shell_line(&argv), r"mkfs.xfs -b size=4096 'it'\''s' 'a b' '' '$(rm)'");
    }

    #[test]
    fn what_only_a_laboratory_may_do_is_left_out() {
        assert_eq!(
            line(&[
                "/usr/sbin/mdadm",
                "--create",
                "/dev/md100",
                "--config=none",
                "--homehost=<none>",
                "--name=raidlab",
                "--uuid=1:2",
                "--run",
                "--level=raid5",
                "--raid-devices=3",
                "--chunk=64K",
                "--size=41943040K",
                "--bitmap=internal",
                "--assume-clean",
                "/dev/vda",
                "/dev/vdb",
                "/dev/vdc",
            ]),
            "mdadm --create /dev/md0 --level=raid5 --raid-devices=3 --chunk=64K --bitmap=internal /dev/DISK1 \
             /dev/DISK2 /dev/DISK3"
        );
        assert_eq!(
            line(&[
                "/usr/sbin/mke2fs",
                "-q",
                "-F",
                "-t",
                "ext4",
                "-E",
                "nodiscard,assume_storage_prezeroed=1,stride=16,stripe_width=48",
                "/dev/md100",
            ]),
            "mke2fs -t ext4 -E stride=16,stripe_width=48 /dev/md0"
        );
        assert_eq!(
            line(&[
                "/usr/sbin/mke2fs",
                "-q",
                "-F",
                "-t",
                "ext3",
                "-E",
                "nodiscard,assume_storage_prezeroed=1",
                "/dev/md100",
            ]),
            "mke2fs -t ext3 /dev/md0"
        );
        assert_eq!(
            line(&[
                "/usr/sbin/zpool",
                "create",
                "-f",
                "-o",
                "cachefile=none",
                "-O",
                "mountpoint=legacy",
                "-o",
                "ashift=12",
                "tank",
                "mirror",
                "/dev/disk/by-id/a",
                "/dev/disk/by-id/b",
            ]),
            "zpool create -o ashift=12 tank mirror /dev/DISK1 /dev/DISK2"
        );
    }

    #[test]
    fn questions_and_the_end_of_a_trial_are_no_commands_to_copy() {
        for argv in [
            &["mdadm", "--version"][..],
            &["mdadm", "--stop", "/dev/md100"],
            &["mkfs.xfs", "-V"],
            &["zpool", "export", "tank"],
        ] {
            let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
            assert!(!makes(&argv), "{argv:?}");
        }
    }
}
