//! Rules of md's crash consistency: bitmap, write journal, partial parity log; and of nested arrays.

use crate::rules::impossible::{Impossible, impossible};
use study::stack::{ArraySpec, BITMAP, Bitmap, InitialResync, JOURNAL, Level, MachineSpec};

pub(crate) fn check(array: &ArraySpec, machine: &MachineSpec) -> Vec<Impossible> {
    let mut all = Vec::new();
    all.extend(external_bitmap(array, machine));
    all.extend(write_journal(array, machine));
    all.extend(initial_resync(array, machine));
    all.extend(ppl(array));
    all.extend(inner(array, machine));
    all
}

/// Rejects a group that does not exist.
pub(crate) fn group_is_there(
    machine: &MachineSpec,
    group: &str,
    about: &'static [&'static str],
    what: &str,
) -> Option<Impossible> {
    if machine.group(group).is_some() {
        return None;
    }
    let reason = format!("{what} needs the group of disks `{group}`, which does not exist");
    impossible(about, reason, format!("add [disks.{group}] with `model` and `count`"))
}

fn external_bitmap(array: &ArraySpec, machine: &MachineSpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["bitmap", "level", "of_level"];
    // The rules of arrays and LVM report levels without a bitmap.
    if array.bitmap != Bitmap::External || !array.level.is_md() || !array.level.is_redundant() {
        return None;
    }
    if array.of.is_some() {
        let reason = "an external bitmap is one file, and nested RAID would need several".to_owned();
        return impossible(ABOUT, reason, "write bitmap = \"internal\"");
    }
    group_is_there(machine, BITMAP, ABOUT, "an external bitmap")
}

fn write_journal(array: &ArraySpec, machine: &MachineSpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["write_journal", "level", "bitmap", "metadata", "of_level"];
    if !array.write_journal {
        return array.journal_write_back.then_some(()).and_then(|()| {
            let reason = "`journal_mode` is a setting of `write_journal`, and there is none".to_owned();
            impossible(
                &["journal_mode", "write_journal"],
                reason,
                "write write_journal = true, or leave it out",
            )
        });
    }
    if !is_md_with_parity(array.level) {
        let reason = format!(
            "{} has no write journal: only RAID 4, 5 and 6 have one",
            array.level.facts().name
        );
        return impossible(ABOUT, reason, "leave `write_journal` out");
    }
    if array.bitmap != Bitmap::None {
        let reason = "an array has a write journal or a bitmap, not both".to_owned();
        return impossible(ABOUT, reason, "write bitmap = \"none\"");
    }
    if array.metadata.as_deref() == Some("0.90") {
        let reason = "metadata 0.90 does not support a write journal".to_owned();
        return impossible(ABOUT, reason, "write metadata = \"1.2\"");
    }
    if array.of.is_some() {
        let reason = "a write journal is not supported with nested RAID".to_owned();
        return impossible(ABOUT, reason, "leave `write_journal` out");
    }
    group_is_there(machine, JOURNAL, ABOUT, "a write journal")
}

/// Whether md could resync the new array, and is the only one that does.
fn initial_resync(array: &ArraySpec, machine: &MachineSpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["initial_resync", "level", "of_level", "integrity", "create_once"];
    let resync = array.initial_resync?;
    let word = resync.word();
    let refuse = |reason: String| impossible(ABOUT, reason, "leave `initial_resync` out, or write \"before\"");
    let name = array.level.facts().name;
    if !array.level.is_md() || !array.level.is_redundant() {
        return refuse(format!("md does not resync {name}: it has no copies or parity"));
    }
    if array.of.is_some() {
        return refuse(format!(
            "`initial_resync = \"{word}\"` is not supported with nested RAID"
        ));
    }
    if array.integrity.is_some() {
        return refuse("dm-integrity has written all members before: there is no resync".to_owned());
    }
    if machine.create_once {
        return refuse(format!(
            "`initial_resync = \"{word}\"` needs an array that was just created, not a copy"
        ));
    }
    if resync == InitialResync::During && array.ppl {
        return refuse("an array with a partial parity log is resynced before it is used".to_owned());
    }
    None
}

fn ppl(array: &ArraySpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["ppl", "level", "bitmap", "write_journal", "metadata", "of_level"];
    if !array.ppl {
        return None;
    }
    let refuse = |reason: &str, help: &str| impossible(ABOUT, reason.to_owned(), help);
    if !array.level.facts().has_ppl {
        let reason = format!(
            "{} has no partial parity log: only RAID 5 has one",
            array.level.facts().name
        );
        return refuse(&reason, "leave `ppl` out");
    }
    if array.bitmap != Bitmap::None {
        let reason = "an array has a partial parity log or a bitmap, not both";
        return refuse(reason, "write bitmap = \"none\"");
    }
    if array.write_journal {
        let reason = "an array has a partial parity log or a write journal, not both";
        return refuse(reason, "leave one of the two out");
    }
    if matches!(array.metadata.as_deref(), Some("0.90" | "1.0")) {
        return refuse(
            "a partial parity log needs metadata 1.1 or 1.2",
            "write metadata = \"1.2\"",
        );
    }
    if array.of.is_some() {
        let reason = "a partial parity log is not supported with nested RAID";
        return refuse(reason, "leave `ppl` out");
    }
    None
}

pub(crate) const fn is_md_with_parity(level: Level) -> bool {
    level.is_md() && level.has_parity()
}

/// Rules of nested arrays.
fn inner(array: &ArraySpec, machine: &MachineSpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["of_disks", "of_level", "level", "count", "spares", "size", "of_chunk"];
    let of = array.of?;
    if array.level.is_lvm() {
        return None;
    }
    let (name, of_name) = (array.level.facts().name, of.level.facts().name);
    if !array.level.is_md() {
        return impossible(ABOUT, format!("{name} cannot be nested"), "leave `of` out");
    }
    if array.spares > 0 {
        let reason = "nested RAID is not supported with hot spares".to_owned();
        return impossible(ABOUT, reason, "leave `spares` out");
    }
    if array.member_size_bytes.is_some() {
        let reason = "nested RAID always uses its members whole".to_owned();
        return impossible(ABOUT, reason, "leave `size` out");
    }
    let least = of.level.facts().members_min;
    if of.disks < least {
        let reason = format!("{of_name} needs at least {least} disks, but `of` gives it {}", of.disks);
        return impossible(ABOUT, reason, format!("write disks = {least} in `of`"));
    }
    if of.chunk_bytes.is_some() && !of.level.facts().has_chunk {
        return impossible(ABOUT, format!("{of_name} has no chunk"), "leave `chunk` out of `of`");
    }
    let count = machine.member_count(array);
    if !count.is_multiple_of(of.disks) {
        let reason = format!("{count} disks cannot be divided into arrays of {} disks", of.disks);
        let help = format!("write `count = {}` in [disks]", count.next_multiple_of(of.disks));
        return impossible(ABOUT, reason, help);
    }
    None
}
