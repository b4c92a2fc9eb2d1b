//! The machine and the stack at a point of the matrix.

use super::build::{array, filesystem, image, layers, mount_options};
use crate::axes::Point;
use crate::expand::disk_state;
use crate::expand::groups::Fixed;
use crate::parse::value::Value;
use crate::{INFINITE, Known};
use study::stack::{DATA, DiskGroup, MachineKind, MachineSpec, ProcessorSpec, StackSpec};

pub(crate) fn machine(point: &Point, kind: MachineKind, fixed: &Fixed, known: &Known) -> MachineSpec {
    let model = point.text("model").unwrap_or_default();
    let data = DiskGroup {
        state: disk_state::state(point, known.media(&model)),
        ..known.disks(kind, DATA, &model, point.small("count"))
    };
    let others = fixed.groups(&model).map(|(name, model, count, state)| DiskGroup {
        state,
        ..known.disks(kind, name, model, count)
    });
    MachineSpec {
        kind,
        ram_bytes: point.number("ram").unwrap_or_default(),
        // A host runs its own kernel; the trial's provenance names it.
        kernel: if kind == MachineKind::Host {
            "host".to_owned()
        } else {
            point.text("kernel").unwrap_or_default()
        },
        disks: std::iter::once(data).chain(others).collect(),
        buses: fixed.buses.clone(),
        create_once: *point.get("create_once") == Value::Flag(true),
        draws_models: fixed.draws_models && kind == MachineKind::Lab,
        moved: None,
        processor: processor(point, known).filter(|_| kind == MachineKind::Lab),
    }
}

/// `None` if it is infinitely fast.
fn processor(point: &Point, known: &Known) -> Option<ProcessorSpec> {
    let model = point.text("cpu").filter(|model| model != INFINITE)?;
    let known = known.processor(&model);
    let cores = match point.number("cores") {
        Some(_) => point.small("cores"),
        None => known.map_or(1, |known| known.cores),
    };
    let own = known.and_then(|known| known.own.as_ref());
    Some(ProcessorSpec {
        model_sha256: own.map(|own| own.sha256.clone()),
        model,
        cores,
    })
}

/// The stack at a point, on disks of a size that may be unknown.
pub(crate) fn stack(point: &Point, disk_bytes: Option<u64>, fixed: &Fixed) -> StackSpec {
    let [member_layers, layers] = layers(point);
    StackSpec {
        array: array(point, disk_bytes),
        member_layers,
        layers,
        image: image(point),
        snapshots: point.small("snapshots"),
        filesystem: filesystem(point),
        mount_options: mount_options(&point.text("mount").unwrap_or_default()),
        scheduler: point.text("scheduler"),
        read_ahead_sectors: point.number("read_ahead"),
        queue_depth: point.number("queue_depth").map(|_| point.small("queue_depth")),
        write_cache: match point.get("write_cache") {
            Value::Flag(on) => Some(*on),
            _ => None,
        },
        group_stacks: fixed.group_stacks.clone(),
    }
}
