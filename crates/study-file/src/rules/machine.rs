//! Rules for machines: cores without a processor, disks on buses.

use crate::axes::Point;
use crate::rules::impossible::{Impossible, impossible};
use crate::{Known, MediaKind};
use study::stack::{DATA, DiskGroup, MachineKind, MachineSpec, StackSpec};

/// Rejects cores if no cell has a processor. Next to a processor an infinitely fast one is one more cell, whatever the
/// number of cores: see [`is_repeated`].
pub(crate) fn cores_of_nothing(machine: &MachineSpec, point: &Point) -> Option<Impossible> {
    let written = point.number("cores").is_some();
    if !written || machine.kind != MachineKind::Lab || machine.processor.is_some() || point.has_others("cpu") {
        return None;
    }
    impossible(
        &["cores", "cpu"],
        "an infinitely fast processor has no number of cores".to_owned(),
        "name a processor, as in cpu = \"xeon-e5-2650v4\"; `raidlab cpu list` shows them",
    )
}

/// Whether an infinitely fast processor was in the matrix already, with another number of cores.
pub(crate) fn is_repeated(machine: &MachineSpec, point: &Point) -> bool {
    has_no_cores(machine, point) && !point.is_first("cores")
}

/// Whether a number of cores is written for a processor that has none.
pub(crate) fn has_no_cores(machine: &MachineSpec, point: &Point) -> bool {
    machine.kind == MachineKind::Lab && machine.processor.is_none() && point.number("cores").is_some()
}

/// Rejects solid-state drives without their write cache: the models of the lab have no switch for it.
pub(crate) fn write_cache_of_flash(machine: &MachineSpec, stack: &StackSpec, known: &Known) -> Option<Impossible> {
    if machine.kind != MachineKind::Lab || stack.write_cache != Some(false) {
        return None;
    }
    let is_flash = |group: &&DiskGroup| known.media(&group.model) == Some(MediaKind::Flash);
    let model = &machine.disks.iter().find(is_flash)?.model;
    impossible(
        &["write_cache"],
        format!("the model `{model}` is a solid-state drive, whose buffer cannot be switched off in the lab"),
        "leave `write_cache` out, or use disks with platters",
    )
}

/// A bus names disks of `data` by number, and their number is an axis.
pub(crate) fn buses(machine: &MachineSpec) -> Option<Impossible> {
    let count = machine.disks.first()?.count;
    let on_buses = machine.buses.iter().flat_map(|bus| &bus.disks);
    let beyond = on_buses
        .filter(|disk| disk.group == DATA)
        .find(|disk| disk.number.is_some_and(|number| number > count))?;
    let reason = format!(
        "disk {} is attached to a bus, but there are only {count} disks",
        beyond.number.unwrap_or_default()
    );
    impossible(&["count"], reason, "attach fewer disks, or add disks to [disks]")
}
