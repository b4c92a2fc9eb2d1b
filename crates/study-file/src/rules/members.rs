//! Rules of `members`: disks of several groups under one array.

use crate::rules::impossible::{Impossible, impossible};
use study::stack::{BITMAP, Bitmap, CACHE, JOURNAL, Level, MachineSpec, SPECIAL, StackSpec};

const ABOUT: &[&str] = &["members", "level", "count"];

/// The reason why the array cannot have the disks that it names.
pub(crate) fn check(machine: &MachineSpec, stack: &StackSpec) -> Option<Impossible> {
    let array = &stack.array;
    for part in &array.members {
        let name = &part.group;
        let Some(group) = machine.group(name) else {
            let known: Vec<&str> = machine.disks.iter().map(|group| group.name.as_str()).collect();
            let reason = format!("`members` names the group of disks `{name}`, which does not exist");
            return impossible(
                ABOUT,
                reason,
                format!("add [disks.{name}], or name one of {}", known.join(", ")),
            );
        };
        if let Some(number) = part.number.filter(|number| *number > group.count) {
            let reason = format!("`members` names disk {number} of `{name}`, which has {}", group.count);
            return impossible(
                ABOUT,
                reason,
                format!(
                    "write `count = {number}` for the group, or name disks 1 to {}",
                    group.count
                ),
            );
        }
        if let Some(purpose) = other_purpose(stack, name) {
            let reason =
                format!("the group `{name}` is {purpose}, and `members` makes its disks members of the array");
            return impossible(ABOUT, reason, "use another group");
        }
    }
    let mut disks: Vec<_> = machine
        .members(array)
        .into_iter()
        .map(|(group, number)| (&group.name, number))
        .collect();
    disks.sort_unstable();
    if let Some(twice) = disks.windows(2).find(|pair| pair[0] == pair[1]) {
        let reason = format!("disk {} of `{}` is named twice in `members`", twice[0].1, twice[0].0);
        return impossible(ABOUT, reason, "name each disk once");
    }
    let is_short = disks.len() == 1 && array.level != Level::Single && !array.members.is_empty();
    if is_short && array.level.facts().members_min > 1 {
        let reason = format!("{} cannot be of one disk, as `members` says", array.level.facts().name);
        let help = "name all members in one string, as \"data:1,ssd:1\": a list is one of stacks to compare";
        return impossible(ABOUT, reason, help);
    }
    None
}

/// What else the disks of a group are used for.
fn other_purpose(stack: &StackSpec, group: &str) -> Option<&'static str> {
    let (array, filesystem) = (&stack.array, stack.lowest_filesystem());
    let purposes = [
        (array.write_journal && group == JOURNAL, "for md's write journal"),
        (array.bitmap == Bitmap::External && group == BITMAP, "for md's bitmap"),
        (
            filesystem.journal_on.as_deref() == Some(group),
            "for the filesystem's journal",
        ),
        (filesystem.zfs.log && group == JOURNAL, "for the log of ZFS"),
        (group == CACHE && stack.has_cache(), "for the cache of the array"),
        (
            filesystem.zfs.special && group == SPECIAL,
            "for the special device of ZFS",
        ),
        (filesystem.zfs.l2arc && group == CACHE, "for the cache device of ZFS"),
        (
            stack.group_stacks.iter().any(|other| other.group == group),
            "that of another filesystem",
        ),
    ];
    purposes.into_iter().find_map(|(is_used, what)| is_used.then_some(what))
}
