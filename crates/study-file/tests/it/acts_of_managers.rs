//! Acts on LVM, btrfs, ZFS and bcachefs: valid ones, and the errors for invalid ones.

use study_file::{Known, KnownModel, MediaKind, read};

/// The first error, with its line and column; `None` if the study is valid.
fn wrong(stack: &str, acts: &str) -> Option<(usize, usize, String)> {
    let known = Known {
        models: vec![KnownModel {
            name: "wd-500gb-2007".to_owned(),
            capacity_bytes: 500_107_862_016,
            media: MediaKind::Platters,
            own: None,
        }],
        kernels: vec!["6.12".to_owned()],
        ..Known::default()
    };
    let source = format!(
        "{acts}[disks]\nmodel = \"wd-500gb-2007\"\ncount = 5\n[[stack]]\n{stack}\n\
         [[workload]]\nname = \"w\"\nio = {{ rw = \"randread\", size = \"64M\", runtime = \"60s\" }}\n"
    );
    let found = read(&source, "acts.toml", &known).err()?;
    let first = found.iter().next().expect("an error");
    Some((first.line, first.column, first.message.clone()))
}

fn act(seconds: u32, rest: &str) -> String {
    format!("[[act]]\nat = \"{seconds}s\"\n{rest}\n")
}

const LVM: &str = "array = { level = \"lvm-raid5\", size = \"1G\", spares = 1 }\nfs = { type = \"ext4\" }";
const BTRFS: &str = "array = { level = \"none\", spares = 1 }\nfs = { type = \"btrfs\", data = \"raid1\" }";
const ZFS: &str = "array = { level = \"none\", spares = 1 }\nfs = { type = \"zfs\", pool = \"raidz2\" }";
const DRAID: &str = "array = { level = \"none\", spares = 1 }\nfs = { type = \"zfs\", pool = \"draid2\" }";
const BCACHEFS: &str = "array = { level = \"none\", spares = 1 }\nfs = { type = \"bcachefs\", replicas = 2 }";
const MD: &str = "array = { level = 5, spares = 1 }\nfs = { type = \"ext4\" }";

/// The same acts on all of them.
#[test]
fn a_spare_replaces_a_disk_that_failed() {
    let acts = act(10, "do = \"fail\"\ndisk = 2")
        + &act(50, "do = \"replace\"\ndisk = 2")
        + "[[act]]\nwhen = \"resync done\"\ndo = \"check\"\n";
    for stack in [MD, LVM, BTRFS, ZFS, DRAID] {
        assert_eq!(wrong(stack, &acts), None, "{stack}");
    }
    let again = acts + &act(55, "do = \"replace\"\ndisk = 3");
    for stack in [MD, LVM, BTRFS, ZFS, DRAID] {
        let message = wrong(stack, &again).expect("no spare is left").2;
        assert_eq!(message, "`replace` needs a spare, and there is none", "{stack}");
    }
}

#[test]
fn bcachefs_with_copies_has_disks_that_fail_and_are_replaced() {
    let acts = act(5, "do = \"slow\"\ndisk = 1\ndelay = \"10ms\"")
        + &act(10, "do = \"fail\"\ndisk = 2")
        + &act(50, "do = \"replace\"\ndisk = 2");
    assert_eq!(wrong(BCACHEFS, &acts), None);
    let again = acts + &act(55, "do = \"replace\"\ndisk = 3");
    let message = wrong(BCACHEFS, &again).expect("no spare is left").2;
    assert_eq!(message, "`replace` needs a spare, and there is none");
    let hang = act(10, "do = \"hang\"\ndisk = 2");
    assert_eq!(wrong(BCACHEFS, &hang), None);
    let corrupt = act(10, "do = \"corrupt\"\ndisk = 2\noffset = \"1M\"");
    let message = "`corrupt` is not supported on bcachefs".to_owned();
    assert_eq!(wrong(BCACHEFS, &corrupt), Some((4, 8, message)));
    let one = "array = { level = \"none\" }\nfs = { type = \"bcachefs\", replicas = 1 }";
    let message =
        "acts need copies or parity on several disks, which bcachefs of level \"none\" does not have".to_owned();
    assert_eq!(wrong(one, &hang), Some((2, 6, message)));
}

#[test]
fn what_a_manager_cannot_do_is_shown_at_its_place() {
    for (stack, word, message) in [
        (LVM, "re-add", "`re-add` is not supported on LVM"),
        (BTRFS, "re-add", "`re-add` is not supported on btrfs"),
        (BTRFS, "remove", "`remove` is not supported on btrfs"),
        (ZFS, "add", "`add` is not supported on ZFS"),
        (BCACHEFS, "remove", "`remove` is not supported on bcachefs"),
    ] {
        let acts = act(10, &format!("do = \"{word}\"\ndisk = 2"));
        assert_eq!(wrong(stack, &acts), Some((4, 8, message.to_owned())));
    }
    for (stack, word, message) in [
        (ZFS, "grow", "`grow` is not supported on ZFS"),
        (BTRFS, "grow", "`grow` is not supported on btrfs"),
        (BCACHEFS, "grow", "`grow` is not supported on bcachefs"),
        (BCACHEFS, "check", "`check` is not supported on bcachefs"),
        (BCACHEFS, "repair", "`repair` is not supported on bcachefs"),
    ] {
        let acts = act(10, &format!("do = \"{word}\""));
        assert_eq!(wrong(stack, &acts), Some((3, 6, message.to_owned())));
    }
    let acts = act(10, "do = \"repair\"") + &act(10, "do = \"corrupt\"\ndisk = 2\noffset = \"1M\"");
    for stack in [BTRFS, ZFS] {
        let seen = wrong(stack, &acts);
        assert!(
            seen.as_ref().is_none_or(|(_, _, message)| message.contains("writes")),
            "{stack}: {seen:?}"
        );
    }
}

#[test]
fn no_more_disks_fail_than_each_survives() {
    let two = act(10, "do = \"fail\"\ndisk = 1") + &act(50, "do = \"fail\"\ndisk = 2");
    assert_eq!(wrong(ZFS, &two), None);
    for stack in [LVM, BTRFS, BCACHEFS] {
        let (line, column, message) = wrong(stack, &two).expect("one too many");
        assert_eq!((line, column), (8, 8));
        assert_eq!(message, "2 of 4 disks would be missing: the array would lose its data");
    }
}

#[test]
fn spares_are_for_what_has_copies_or_parity() {
    let none = |stack| wrong(stack, "").map(|(_, _, message)| message);
    assert_eq!(none(ZFS), None);
    assert_eq!(none(BCACHEFS), None);
    assert_eq!(
        none("array = { level = \"none\", spares = 1 }\nfs = { type = \"bcachefs\" }"),
        Some("without copies or parity bcachefs has no use for a spare".to_owned())
    );
    assert_eq!(
        none("array = { level = \"none\", spares = 1 }\nfs = { type = \"btrfs\" }"),
        Some("without copies or parity btrfs has no use for a spare".to_owned())
    );
    assert_eq!(
        none(
            "array = { level = \"none\", spares = 1 }\nfs = { type = \"zfs\", pool = \"draid1\", vdev_disks = 2 }"
        ),
        Some("spares of dRAID are for a pool of one vdev".to_owned())
    );
    assert_eq!(
        none("array = { level = \"lvm-raid0\", spares = 1 }\nfs = { type = \"ext4\" }"),
        Some("LVM's RAID 0 has no hot spares".to_owned())
    );
}
