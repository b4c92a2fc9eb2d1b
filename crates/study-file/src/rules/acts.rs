//! Acts on the array: which of them are possible on each cell.

mod fault;
mod members;

use crate::parse::entry::Entry;
use crate::syntax::diagnostic::{Found, Span};
use members::{Members, WrongAct};
use study::act::{self, Act, ActKind, Due};
use study::plan::Cell;
use study::stack::{Keeper, Level, MachineKind};
use study::workload::{FioSection, ServerTest, Work};

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
        let mut members = Members::of(cell);
        for placed in &acts {
            let refused = members
                .as_ref()
                .and_then(|members| placed.act.kind.why_not_on_host(&cell.stack, members.keeper()));
            if let Some(message) = refused.filter(|_| kind != MachineKind::Lab) {
                found.add_with_help(placed.on_kind, message, "use machine = \"lab\"");
                continue;
            }
            if let Some((message, help)) = members.as_mut().and_then(|members| members.after(&placed.act)) {
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
    let at_ns = match act.due {
        Due::After { percent } => {
            runs_for(work).map(|time| time.ramp_ns + time.runtime_ns / 100 * u64::from(percent))
        }
        Due::AtNs(_) | Due::ResyncDone => None,
    };
    Act {
        due: at_ns.map_or(act.due, Due::AtNs),
        ..act.clone()
    }
}

/// The time that a workload takes, at most, if it has one.
struct Runtime {
    ramp_ns: u64,
    runtime_ns: u64,
}

fn runs_for(work: &Work) -> Option<Runtime> {
    match work {
        Work::Io(io) => Some(Runtime {
            ramp_ns: io.ramp_ns,
            runtime_ns: io.runtime_ns?,
        }),
        Work::FioFile(spec) => {
            // Sections run one after the other where one waits for those before it.
            let mut stages_ns: Vec<u64> = Vec::new();
            for section in &spec.sections {
                let section_ns = section.runtime_ns? + section.as_io().ramp_ns;
                match stages_ns.last_mut().filter(|_| !waits(section)) {
                    Some(stage_ns) => *stage_ns = section_ns.max(*stage_ns),
                    None => stages_ns.push(section_ns),
                }
            }
            Some(Runtime {
                ramp_ns: 0,
                runtime_ns: stages_ns.iter().sum(),
            })
        }
        Work::Server(spec) if spec.tests == [ServerTest::Mixed] => Some(Runtime {
            ramp_ns: 0,
            runtime_ns: spec.runtime_ns,
        }),
        _ => None,
    }
}

/// Whether a section of a job file waits for sections before it.
fn waits(section: &FioSection) -> bool {
    let waits = |(name, value): &(String, String)| name == "wait_for" || (name == "stonewall" && value != "0");
    section.options.iter().any(waits)
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

/// Why the filesystem of a cell cannot be trimmed.
fn no_fstrim_on(cell: &Cell) -> Option<WrongAct> {
    let kind = cell.stack.filesystem.kind;
    if kind.trims || !cell.acts.iter().any(|act| act.kind == ActKind::Fstrim) {
        return None;
    }
    let what = match kind.is_raw() {
        true => "`fstrim` needs a mounted filesystem, and a raw device has none".to_owned(),
        false => format!("{} does not support `fstrim` (the ioctl FITRIM)", kind.name),
    };
    Some((what, "use ext4, XFS, btrfs, F2FS, JFS, NILFS2, FAT, exFAT or ntfs3"))
}

/// A test of the workload with the name of one of the acts.
fn clash_of_tests(cell: &Cell) -> Option<WrongAct> {
    let tests = cell.workload.work.tests();
    let name = act::tests(&cell.acts).into_iter().find(|name| tests.contains(name))?;
    let message = format!(
        "`{}` has a test `{name}`, which is also what acts measure",
        cell.workload.name
    );
    Some((message, "give the section of the job file another name"))
}

/// Why a cell can have no acts at all.
fn no_acts_on(cell: &Cell) -> Option<WrongAct> {
    if cell.machine.create_once {
        let message = "acts need the array as it was created".to_owned();
        return Some((message, "write `create_once = false`, or leave it out"));
    }
    if let Some(wrong) = no_fstrim_on(cell) {
        return Some(wrong);
    }
    let is_cut = matches!(cell.workload.work, Work::PowerCut(_));
    if !is_cut && !cell.acts.iter().any(|act| act.kind.needs_redundancy()) {
        return clash_of_tests(cell);
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
    if let Some(wrong) = clash_of_tests(cell) {
        return Some(wrong);
    }
    match &cell.workload.work {
        Work::PowerCut(_) if keeper != Keeper::Md => Some((
            format!("acts with power cuts need md, not {}", keeper.name()),
            "use level 1, 4, 5, 6 or 10, or a workload `io`",
        )),
        Work::PowerCut(spec) if spec.missing_member => Some((
            "acts and `missing_member` both remove members".to_owned(),
            "leave `missing_member` out, and let a member `fail`",
        )),
        _ => None,
    }
}

fn too_late(act: &Act, work: &Work) -> Option<WrongAct> {
    let time = runs_for(work);
    let at_ns = match (act.due, &time) {
        (Due::AtNs(at_ns), _) => at_ns,
        (Due::After { .. }, None) => return unknown_share(work),
        _ => return None,
    };
    let time = time?;
    let ends_ns = time.runtime_ns + time.ramp_ns;
    (at_ns >= ends_ns).then(|| {
        let message = format!("the workload ends after {} s, before this act", ends_ns as f64 / 1e9);
        (message, "use an earlier time or a longer `runtime`")
    })
}

/// Why nobody knows when a share of a workload without a `runtime` is done.
fn unknown_share(work: &Work) -> Option<WrongAct> {
    let message = match work {
        Work::Io(_) => "`after` needs a workload with a `runtime`, of which it is a share",
        Work::FioFile(_) => "`after` needs sections with a `runtime` each, of which it is a share",
        Work::Bonnie(_) => "`after` is a share of the work, and Bonnie++ does not say how much of it is done",
        _ => return None,
    };
    let help = match work {
        Work::Bonnie(_) => "write `at = \"30s\"`",
        _ => "give the workload a `runtime`, or write `at = \"30s\"`",
    };
    Some((message.to_owned(), help))
}
