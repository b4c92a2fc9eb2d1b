//! Acts on the array: which of them can be, on every cell.

use crate::diagnostic::{Found, Span};
use crate::document::Entry;
use study::act::{Act, ActKind};
use study::plan::Cell;
use study::stack::{Level, MachineKind};
use study::workload::Work;

/// What is wrong, with a suggestion.
type Wrong = (String, &'static str);

/// Reads all acts and gives them to every cell.
pub(crate) fn put_on(top: &Entry, kind: MachineKind, cells: &mut [Cell], found: &mut Found) {
    let mut acts: Vec<(Act, &Span, &Span)> = top
        .tables("act")
        .iter()
        .filter_map(|entry| read(entry, found))
        .collect();
    acts.sort_by_key(|(act, ..)| act.at_ns);
    let Some((_, first, _)) = acts.first() else {
        return;
    };
    if kind != MachineKind::Lab {
        let help = "use machine = \"lab\"";
        found.add_with_help(first, "acts are done on simulated disks only", help);
        return;
    }
    for cell in cells {
        if let Some((message, help)) = no_acts_on(cell) {
            found.add_with_help(first, message, help);
            continue;
        }
        let mut members = Members::of(cell);
        for (act, on_disk, on_time) in &acts {
            if let Some((message, help)) = members.after(act) {
                found.add_with_help(on_disk, message, help);
            }
            if let Some((message, help)) = too_late(act, &cell.workload.work) {
                found.add_with_help(on_time, message, help);
            }
        }
        cell.acts = acts.iter().map(|(act, ..)| act.clone()).collect();
    }
}

/// An act, with the places of its disk (or of what is done) and of its time. None if that has been reported.
fn read<'a>(entry: &'a Entry, found: &mut Found) -> Option<(Act, &'a Span, &'a Span)> {
    let (done, at) = (entry.value("do")?, entry.value("at")?);
    let kind = ActKind::ALL.into_iter().find(|kind| kind.word() == done.value.word())?;
    let disk = entry.value("disk");
    match (disk, kind.is_of_a_disk()) {
        (None, true) if entry.is_broken("disk") => return None,
        (None, true) => {
            let message = format!("`{}` needs a `disk`", kind.word());
            found.add_with_help(&done.span, message, "write `disk = 1` for the first disk");
            return None;
        }
        (Some(disk), false) => {
            let message = format!("`{}` is of the whole array", kind.word());
            found.add_with_help(&disk.span, message, "leave `disk` out");
            return None;
        }
        _ => {}
    }
    let number = disk.and_then(|given| given.value.count()).map(|number| number as u32);
    let act = Act {
        at_ns: at.value.count()?,
        kind,
        disk: number,
    };
    Some((act, &disk.unwrap_or(done).span, &at.span))
}

/// Why a cell can have no acts at all.
fn no_acts_on(cell: &Cell) -> Option<Wrong> {
    let array = &cell.stack.array;
    let level = array.level.facts().type_word;
    if array.level.is_md() && array.of.is_none() && !array.level.is_redundant() {
        let message = format!("{level} has no redundancy: no disk of it can fail or be checked");
        return Some((message, "use level 1, 4, 5, 6 or 10"));
    }
    if !array.level.is_md() || array.of.is_some() {
        let message = format!("acts need an md array of disks, not `{level}` or arrays of arrays");
        return Some((message, "use level 1, 4, 5, 6 or 10 without `of`"));
    }
    if !matches!(cell.workload.work, Work::Io(_)) {
        let message = format!(
            "acts need a workload `io` or `fio`, which `{}` is not",
            cell.workload.name
        );
        return Some((message, "write `io = { … }` or `fio = { … }`"));
    }
    None
}

fn too_late(act: &Act, work: &Work) -> Option<Wrong> {
    let Work::Io(io) = work else { return None };
    let ends_ns = io.runtime_ns? + io.ramp_ns;
    (act.at_ns >= ends_ns).then(|| {
        let message = format!("the workload ends after {} s, before this act", ends_ns as f64 / 1e9);
        (message, "use an earlier time or a longer `runtime`")
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Active,
    Failed,
    Removed,
}

/// The members of an array after some acts.
struct Members {
    states: Vec<State>,
    may_be_missing: usize,
}

impl Members {
    fn of(cell: &Cell) -> Self {
        let array = &cell.stack.array;
        let disks = cell.machine.disks.first().map_or(0, |group| group.count);
        let count = disks.saturating_sub(array.spares) as usize;
        Self {
            states: vec![State::Active; count],
            may_be_missing: match array.level {
                Level::Raid1 => count.saturating_sub(1),
                Level::Raid6 => 2,
                _ => 1,
            },
        }
    }

    fn after(&mut self, act: &Act) -> Option<Wrong> {
        let disk = act.disk?;
        let count = self.states.len();
        let Some(state) = self.states.get_mut((disk as usize).wrapping_sub(1)) else {
            let message = format!("there is no disk {disk}: the array has {count} disks");
            return Some((message, "spares do not count"));
        };
        let (needed, next, wrong, help) = match act.kind {
            ActKind::Fail => (State::Active, State::Failed, "has failed already", "add it again first"),
            ActKind::Remove => (
                State::Failed,
                State::Removed,
                "has not failed: md removes no active disk",
                "let it `fail` first",
            ),
            ActKind::Add | ActKind::ReAdd => (
                State::Removed,
                State::Active,
                "was not removed",
                "let it `fail` and `remove` it first",
            ),
            ActKind::Check | ActKind::Repair => return None,
        };
        if *state != needed {
            return Some((format!("disk {disk} {wrong}"), help));
        }
        *state = next;
        let missing = self.states.iter().filter(|state| **state != State::Active).count();
        (missing > self.may_be_missing).then(|| {
            let message = format!("{missing} of {count} disks would be missing: the array would lose its data");
            (message, "let fewer disks fail, or add one first")
        })
    }
}
