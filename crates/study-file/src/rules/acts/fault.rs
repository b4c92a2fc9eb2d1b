//! Faults of a disk as acts: it becomes slow, or its contents change.

use super::members::WrongAct;
use crate::parse::entry::Entry;
use crate::syntax::diagnostic::{Found, Span};
use study::act::{Act, ActKind, Corrupted, KNOWN_FILE_BYTES};
use study::plan::Cell;
use study::stack::{Keeper, Level};
use study::workload::Work;

const SECTOR_BYTES: u64 = 512;
/// The disk model's maximum.
const DELAY_NS_MAX: u64 = 60_000_000_000;
/// The lab's driver waits no longer for a disk.
const HANG_NS_MAX: u64 = 30_000_000_000;

/// The fault of an act; empty for other acts.
#[derive(Default)]
pub(super) struct Fault {
    pub(super) delay_ns: Option<u64>,
    pub(super) corrupted: Option<Corrupted>,
}

/// `None` if an error has been reported.
pub(super) fn read(entry: &Entry, kind: ActKind, on_kind: &Span, found: &mut Found) -> Option<Fault> {
    let is_complete = [
        (
            "delay",
            [ActKind::Slow, ActKind::Hang].as_slice(),
            kind == ActKind::Slow,
            "write `delay = \"100ms\"`",
        ),
        ("offset", &[ActKind::Corrupt], true, "write `offset = \"64M\"`"),
        ("sectors", &[ActKind::Corrupt], false, ""),
        ("level", &[ActKind::Grow], false, ""),
    ]
    .into_iter()
    .all(|(key, of, needed, help)| match entry.value(key) {
        _ if entry.is_broken(key) => false,
        Some(given) if !of.contains(&kind) => {
            let message = format!("`{key}` belongs to `{}`, not to `{}`", of[0].word(), kind.word());
            found.add_with_help(&given.span, message, "leave it out");
            false
        }
        None if of.contains(&kind) && needed => {
            found.add_with_help(on_kind, format!("`{}` needs `{key}`", kind.word()), help);
            false
        }
        _ => true,
    });
    if !is_complete {
        return None;
    }
    match kind {
        ActKind::Slow => {
            let delay = entry.value("delay")?;
            let delay_ns = delay.value.count()?;
            if delay_ns > DELAY_NS_MAX {
                found.add_with_help(
                    &delay.span,
                    "`delay` is longer than a simulated disk supports",
                    "use at most 60 \
                    s",
                );
                return None;
            }
            Some(Fault {
                delay_ns: Some(delay_ns),
                ..Fault::default()
            })
        }
        ActKind::Hang => {
            let Some(delay) = entry.value("delay") else {
                return Some(Fault::default());
            };
            let delay_ns = delay.value.count()?;
            if !(1..=HANG_NS_MAX).contains(&delay_ns) {
                let message = "the kernel fails a disk that does not respond for 30 s";
                found.add_with_help(
                    &delay.span,
                    message,
                    "use at most 30 s, or leave `delay` out: the disk never \
                    responds again",
                );
                return None;
            }
            Some(Fault {
                delay_ns: Some(delay_ns),
                ..Fault::default()
            })
        }
        ActKind::Corrupt => corrupt(entry, found),
        _ => Some(Fault::default()),
    }
}

fn corrupt(entry: &Entry, found: &mut Found) -> Option<Fault> {
    let offset = entry.value("offset")?;
    let offset_bytes = offset.value.count()?;
    if !offset_bytes.is_multiple_of(SECTOR_BYTES) {
        let message = "`offset` is not a whole number of sectors";
        found.add_with_help(&offset.span, message, "use a multiple of 512 bytes");
        return None;
    }
    let sectors = entry.value("sectors").map_or(Some(1), |given| given.value.count())?;
    Some(Fault {
        corrupted: Some(Corrupted { offset_bytes, sectors }),
        ..Fault::default()
    })
}

/// Why a cell cannot have this fault.
pub(super) fn wrong_on(act: &Act, cell: &Cell) -> Option<WrongAct> {
    let corrupted = act.corrupted?;
    let Work::Io(io) = &cell.workload.work else {
        let message = format!(
            "`corrupt` needs a workload that writes nothing, an `io` or `fio` that reads, which `{}` is not",
            cell.workload.name
        );
        return Some((message, "use `io = { rw = \"read\", … }`"));
    };
    if io.pattern.has_writes() {
        let message = format!(
            "`{}` writes, which would hide the changes of `corrupt`",
            cell.workload.name
        );
        return Some((message, "use `rw = \"read\"` or `rw = \"randread\"`"));
    }
    if let Some(wrong) = unknown_layout(cell) {
        return Some(wrong);
    }
    let end_bytes = corrupted.offset_bytes.saturating_add(corrupted.sectors * SECTOR_BYTES);
    let disks = cell.member_count();
    let (member_bytes, what) = match cell.stack.keeper(disks)? {
        // How much of it is on a disk is only known in the trial.
        Keeper::Btrfs | Keeper::Zfs => (KNOWN_FILE_BYTES, "raidlab's file takes at most"),
        // Without a size, only the trial knows whether the disk has such sectors.
        Keeper::Md | Keeper::Lvm | Keeper::Bcachefs => (cell.stack.array.member_size_bytes?, "the array uses"),
    };
    (end_bytes > member_bytes).then(|| {
        let message = format!("the sectors end at byte {end_bytes}: {what} {member_bytes} bytes of a disk");
        (message, "use a smaller `offset` or fewer `sectors`")
    })
}

/// md's layouts of which it is known what is where: mdadm's defaults.
fn unknown_layout(cell: &Cell) -> Option<WrongAct> {
    let array = &cell.stack.array;
    let disks = cell.member_count();
    let layout = array.layout.as_deref();
    let members = disks.saturating_sub(array.spares);
    let is_known = match array.level {
        Level::Raid5 | Level::Raid6 => layout.is_none_or(|layout| layout == "left-symmetric"),
        Level::Raid10 => layout.is_none_or(|layout| layout == "n2") && members.is_multiple_of(2),
        Level::Raid4 => false,
        _ => return None,
    };
    (!is_known).then(|| {
        let of_members = match array.level {
            Level::Raid10 => format!(" and {members} members"),
            _ => String::new(),
        };
        let name = array.level.facts().name;
        let message = match layout {
            Some(layout) => format!(
                "where {name} with the layout `{layout}`{of_members} has its data is not known to `corrupt`"
            ),
            None => format!("where {name}{of_members} has its data is not known to `corrupt`"),
        };
        (
            message,
            "use level 1, 5, 6 or 10 without `layout`, level 10 with an even number of members",
        )
    })
}
