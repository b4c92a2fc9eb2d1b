//! Acts on the array: which of them are possible on each cell.

mod fault;
mod members;

use crate::parse::entry::Entry;
use crate::syntax::diagnostic::{Found, Span};
use members::{Members, WrongAct};
use study::act::{Act, ActKind, Due};
use study::plan::Cell;
use study::stack::{Keeper, Level, MachineKind};
use study::workload::{IoEngine, Work};

/// An act, with the positions of its kind, its disk (or its kind) and its time.
struct Placed<'a> {
    act: Act,
    on_kind: &'a Span,
    on_disk: &'a Span,
    on_time: &'a Span,
    on_offset: &'a Span,
}

/// Reads all acts and adds them to every cell.
pub(crate) fn put_on(top: &Entry, kind: MachineKind, cells: &mut [Cell], found: &mut Found) {
    let entries = top.tables("act").iter();
    let acts: Vec<Placed<'_>> = entries.filter_map(|entry| read(entry, found)).collect();
    let Some(first) = acts.first() else { return };
    // Also where they are impossible: claims and tables may name their tests.
    for cell in cells.iter_mut() {
        let acts = acts.iter().map(|placed| timed(&placed.act, &cell.workload.work));
        cell.acts = acts.collect();
    }
    in_order(&acts, found);
    for cell in cells {
        if let Some((message, help)) = no_acts_on(cell) {
            found.add_with_help(first.on_time, message, help);
            continue;
        }
        let Some(mut members) = Members::of(cell) else { continue };
        let keeper = members.keeper();
        for placed in &acts {
            let refused = placed.act.kind.why_not_on_host(&cell.stack, keeper);
            if let Some(message) = refused.filter(|_| kind != MachineKind::Lab) {
                found.add_with_help(placed.on_kind, message, "use machine = \"lab\"");
                continue;
            }
            if let Some((message, help)) = members.after(&placed.act) {
                found.add_with_help(placed.on_disk, message, help);
            }
            if let Some((message, help)) = fault::wrong_on(&placed.act, cell) {
                found.add_with_help(placed.on_offset, message, help);
            }
            if let Some((message, help)) = too_late(&placed.act, &cell.workload.work) {
                found.add_with_help(placed.on_time, message, help);
            }
        }
    }
}

/// `None` if an error has been reported.
fn read<'a>(entry: &'a Entry, found: &mut Found) -> Option<Placed<'a>> {
    let done = entry.value("do")?;
    let kind = ActKind::ALL.into_iter().find(|kind| kind.word() == done.value.word())?;
    let (due, on_time) = due(entry, found)?;
    let disk = entry.value("disk");
    match (disk, kind.is_of_a_disk()) {
        (None, true) if entry.is_broken("disk") => return None,
        (None, true) => {
            let message = format!("`{}` needs a `disk`", kind.word());
            found.add_with_help(&done.span, message, "write `disk = 1` for the first disk");
            return None;
        }
        (Some(disk), false) => {
            let message = format!("`{}` applies to the whole array", kind.word());
            found.add_with_help(&disk.span, message, "leave `disk` out");
            return None;
        }
        _ => {}
    }
    let fault = fault::read(entry, kind, &done.span, found)?;
    let number = disk.and_then(|given| given.value.count());
    let act = Act {
        due,
        kind,
        disk: number.and_then(|number| u32::try_from(number).ok()),
        delay_ns: fault.delay_ns,
        corrupted: fault.corrupted,
        level: entry.value("level").map(|_| Level::Raid6),
    };
    let on_disk = &disk.unwrap_or(done).span;
    Some(Placed {
        act,
        on_kind: &done.span,
        on_disk,
        on_time,
        on_offset: entry.value("offset").map_or(on_disk, |offset| &offset.span),
    })
}

fn due<'a>(entry: &'a Entry, found: &mut Found) -> Option<(Due, &'a Span)> {
    const TIMES: [&str; 3] = ["at", "after", "when"];
    if TIMES.iter().any(|key| entry.is_broken(key)) {
        return None;
    }
    let mut given = TIMES.into_iter().filter_map(|key| Some((key, entry.value(key)?)));
    match (given.next(), given.next()) {
        (Some((key, time)), None) => {
            let due = match key {
                "at" => Due::AtNs(time.value.count()?),
                "after" => Due::After {
                    percent: u8::try_from(time.value.count()?).ok()?,
                },
                _ => Due::ResyncDone,
            };
            Some((due, &time.span))
        }
        (_, Some((_, second))) => {
            let message = "an act has one time: `at`, `after` or `when`";
            found.add_with_help(&second.span, message, "leave one of them out");
            None
        }
        (None, None) => {
            let message = "an act needs a time";
            let help = "write `at = \"30s\"`, `after = \"50 %\"` or `when = \"resync done\"`";
            found.add_with_help(&entry.span, message, help);
            None
        }
    }
}

/// Converts a share of the workload to a time if the workload has a duration.
fn timed(act: &Act, work: &Work) -> Act {
    let at_ns = match (act.due, work) {
        (Due::After { percent }, Work::Io(io)) => io
            .runtime_ns
            .map(|runtime_ns| io.ramp_ns + runtime_ns / 100 * u64::from(percent)),
        _ => None,
    };
    Act {
        due: at_ns.map_or(act.due, Due::AtNs),
        ..act.clone()
    }
}

/// Acts are done in the order of the file.
fn in_order(acts: &[Placed<'_>], found: &mut Found) {
    let (mut latest_ns, mut latest_percent) = (0, 0);
    for placed in acts {
        let before = match placed.act.due {
            Due::AtNs(at_ns) => {
                let before = (at_ns < latest_ns).then(|| format!("at {} s", latest_ns as f64 / 1e9));
                latest_ns = latest_ns.max(at_ns);
                before
            }
            Due::After { percent } => {
                let before = (percent < latest_percent).then(|| format!("after {latest_percent} %"));
                latest_percent = latest_percent.max(percent);
                before
            }
            Due::ResyncDone => None,
        };
        if let Some(before) = before {
            let message = format!("an earlier act is due {before}");
            found.add_with_help(placed.on_time, message, "write acts in order of time");
        }
    }
}

/// Why a cell can have no acts at all.
fn no_acts_on(cell: &Cell) -> Option<WrongAct> {
    if cell.machine.create_once {
        let message = "acts need the array as it was created".to_owned();
        return Some((message, "write `create_once = false`, or leave it out"));
    }
    let array = &cell.stack.array;
    let facts = array.level.facts();
    if array.level.is_md() && array.of.is_none() && !array.level.is_redundant() {
        let message = format!("{} has no redundancy: no disk of it can fail or be checked", facts.name);
        return Some((message, "use level 1, 4, 5, 6 or 10"));
    }
    let disks = cell.member_count();
    let Some(keeper) = cell.stack.keeper(disks) else {
        let message = format!(
            "acts need copies or parity on several disks, which {} of {} does not have",
            cell.stack.filesystem.kind.name, facts.name
        );
        let help = "use level 1, 4, 5, 6 or 10 of md without `of`, or of LVM, profiles of btrfs, replicas of bcachefs, or a pool of ZFS";
        return Some((message, help));
    };
    let layer = cell.stack.member_layers.first();
    if let Some(layer) = layer.filter(|_| keeper != Keeper::Md) {
        let message = format!("acts on members with {} need md, not {}", layer.name(), keeper.name());
        return Some((message, "use level 1, 4, 5, 6 or 10 of md"));
    }
    let corrupts = cell.acts.iter().any(|act| act.kind == ActKind::Corrupt);
    if let Some(layer) = cell.stack.all_layers().next().filter(|_| corrupts) {
        let message = format!(
            "`corrupt` finds the sectors of a file through md, but not through {}",
            layer.name()
        );
        return Some((message, "leave the layer out, or use other acts"));
    }
    match &cell.workload.work {
        Work::PowerCut(_) if keeper != Keeper::Md => Some((
            format!("acts with power cuts need md, not {}", keeper.name()),
            "use level 1, 4, 5, 6 or 10, or a workload `io`",
        )),
        Work::Io(io) if io.engine == IoEngine::Native => None,
        Work::PowerCut(spec) if spec.missing_member => Some((
            "acts and `missing_member` both remove members".to_owned(),
            "leave `missing_member` out, and let a member `fail`",
        )),
        Work::PowerCut(_) => None,
        _ => {
            let message = format!(
                "acts need a workload `io` or `power_cut`, which `{}` is not",
                cell.workload.name
            );
            Some((
                message,
                "write `io = { … }`: it counts requests by the phases of the array",
            ))
        }
    }
}

fn too_late(act: &Act, work: &Work) -> Option<WrongAct> {
    let Work::Io(io) = work else { return None };
    let at_ns = match act.due {
        Due::AtNs(at_ns) => at_ns,
        Due::After { .. } if io.runtime_ns.is_none() => {
            let message = "`after` needs a workload with a `runtime`, of which it is a share";
            return Some((
                message.to_owned(),
                "give the workload a `runtime`, or write `at = \"30s\"`",
            ));
        }
        Due::After { .. } | Due::ResyncDone => return None,
    };
    let ends_ns = io.runtime_ns? + io.ramp_ns;
    (at_ns >= ends_ns).then(|| {
        let message = format!("the workload ends after {} s, before this act", ends_ns as f64 / 1e9);
        (message, "use an earlier time or a longer `runtime`")
    })
}
