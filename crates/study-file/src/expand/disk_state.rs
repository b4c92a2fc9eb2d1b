//! What disks hold before the stack is created: `state` of a group of disks.

use crate::Known;
use crate::axes::{Point, axes_of, points};
use crate::known::MediaKind;
use crate::parse::entry::Entry;
use crate::parse::value::Value;
use crate::syntax::diagnostic::Found;
use study::stack::{DATA, DiskState, MachineKind, MachineSpec};

const OF_FLASH: &[&str] = &["filled", "written"];
const OF_SHINGLED: &[&str] = &["zone"];

/// Keys, the media that they are for, and what is said where no disk has these.
const KEYS: [(&[&str], MediaKind, &str, &str); 2] = [
    (
        OF_FLASH,
        MediaKind::Flash,
        "only solid-state drives are filled or new: the speed of platters does not depend on what they hold",
        "leave it out, or name a solid-state drive as `model`",
    ),
    (
        OF_SHINGLED,
        MediaKind::ShingledPlatters,
        "no disk of this group has a zone for incoming writes: their tracks are not shingled",
        "leave `zone` out, or name a disk with shingled tracks, as wd-wd40efax",
    ),
];

/// The state of disks with these media; `None` if the file gives none for such disks.
pub(crate) fn state(point: &Point, media: Option<MediaKind>) -> Option<DiskState> {
    let percent = |axis| point.number(axis).map(|percent| percent as u32);
    let shingled = || percent("zone").map(|zone_percent| DiskState::Shingled { zone_percent });
    let flash = || {
        percent("filled").map(|filled_percent| DiskState::Flash {
            filled_percent,
            in_order: *point.get("written") == Value::Word("sequential"),
        })
    };
    match media {
        Some(MediaKind::Platters) => None,
        Some(MediaKind::ShingledPlatters) => shingled(),
        Some(MediaKind::Flash) => flash(),
        // Any name is accepted: only an export of a plan can be of use.
        None => shingled().or_else(flash),
    }
}

/// The axes of the state that say nothing of the disks under test: those of other media, and how a new drive was written.
pub(crate) fn foreign_axes(machine: &MachineSpec, known: &Known) -> impl Iterator<Item = &'static str> {
    let state = machine.group(DATA).and_then(|group| group.state);
    let is_new = matches!(state, Some(DiskState::Flash { filled_percent: 0, .. }));
    let media = machine.group(DATA).and_then(|group| known.media(&group.model));
    let foreign = KEYS
        .iter()
        .filter(move |(_, with, ..)| media.is_some_and(|media| media != *with));
    foreign
        .flat_map(|(axes, ..)| axes.iter().copied())
        .chain(is_new.then_some("written"))
}

/// Whether these disks were in the matrix already: their state has no such axis.
pub(crate) fn is_repeated(machine: &MachineSpec, point: &Point, known: &Known) -> bool {
    foreign_axes(machine, known).any(|axis| !point.is_first(axis))
}

/// Rejects a state of a host's disks, and one that no disk of the group can have.
pub(crate) fn check(group: &Entry, models: &[String], kind: MachineKind, known: &Known, found: &mut Found) {
    for state in group.tables("state") {
        if kind == MachineKind::Host {
            let help = "leave `state` out, or use machine = \"lab\"";
            found.add_with_help(&state.span, "what a host's disks hold is as it is", help);
            continue;
        }
        let of = |axes: &[&str]| axes.iter().find_map(|axis| state.field(axis));
        let media: Vec<MediaKind> = models.iter().filter_map(|model| known.media(model)).collect();
        let lacks = |with| !media.is_empty() && media.iter().all(|media| *media != with);
        for (axes, with, message, help) in KEYS {
            if let Some(field) = of(axes).filter(|_| lacks(with)) {
                found.add_with_help(&field.span, message, help);
            }
        }
        let is_empty = KEYS.iter().all(|(axes, ..)| of(axes).is_none()) && !state.broken;
        if is_empty {
            let help = "write state = { filled = \"75 %\" }, or leave it out";
            found.add_with_help(&state.span, "`state` is empty", help);
        }
    }
}

/// The state of a group other than `data`, where it is no axis.
pub(crate) fn of_group(
    group: &Entry,
    media: Option<MediaKind>,
    known: &Known,
    found: &mut Found,
) -> Option<DiskState> {
    let axes = axes_of(group.tables("state").first()?, known);
    for axis in &axes {
        if let Some(second) = axis.values.get(1) {
            let message = format!("`{}` takes one value here", axis.name);
            found.add_with_help(&second.span, message, "only the disks under test can be varied");
        }
    }
    state(&points(&axes).next()?, media)
}
