//! `power_cut = { … }`: operations on a filesystem, ended by power cuts.

use super::rules::Rules;
use super::{Form, WorkloadKind};
use crate::Known;
use crate::diagnostic::Found;
use crate::document::Entry;
use crate::impossible::{Impossible, impossible};
use crate::key::Axis::{Listed, Single};
use crate::key::Takes::{Count, Flag, Word};
use crate::key::{Key, Table, Takes, key};
use crate::point::{Axis, Point};
use study::stack::{Bitmap, MachineKind, MachineSpec, Pool, StackSpec};
use study::workload::{POWER_CUT_TESTS, PowerCutSpec, Survivors, Work};

pub(super) static POWER_CUT: WorkloadKind = WorkloadKind {
    key: key(
        Table::Workload,
        "power_cut",
        Takes::One(Table::PowerCut),
        Single,
        "",
        "power cuts amid small operations, in the lab only; each is followed by a start on the same disks, and what was acknowledged must be there",
    ),
    keys: &[KEYS],
    tests: "`states`, `lost`, `wrong data`, `not mountable`, `checker`, `parity`",
    metrics: "a number of states, one metric a test: `states_tried`, `acknowledged_lost`, `wrong_data`, `not_mountable`, `checker_complaints`, `stale_parity`",
    read,
};

const SURVIVORS: &[&[&str]] = &[&["subset"], &["prefix"], &["none"], &["all"], &["any"]];

#[rustfmt::skip]
static KEYS: &[Key] = &[
    key(Table::PowerCut, "operations", Count { min: 1, max: 10_000 }, Listed, "100", "number of operations, drawn from the trial's seed: create, overwrite, append, truncate, rename, unlink, mkdir, fsync, sync"),
    key(Table::PowerCut, "namespace", Flag, Listed, "`false`", "most operations are of names, on small files: also link, rmdir, create under a name that is free again, and truncate to 0"),
    key(Table::PowerCut, "points", Count { min: 1, max: 100_000 }, Listed, "10", "instants of a power cut, drawn between the first and the last operation"),
    key(Table::PowerCut, "subsets", Count { min: 1, max: 1000 }, Listed, "1", "seeds for each instant; each decides what survives of the disks' caches"),
    key(Table::PowerCut, "missing_member", Flag, Listed, "`false`", "after the cut one member is taken away, and the array is started without it, by force if need be: the write hole"),
    key(Table::PowerCut, "survivors", Word(SURVIVORS), Listed, "`subset`", "what of each disk's write cache survives, drawn for each disk: `subset`: any of its writes; `prefix`: those before one of them, in their order; `none`; `all`; `any`: each disk draws one of these. An SSD with power-loss protection keeps all in any case"),
    key(Table::PowerCut, "whole_blocks", Flag, Listed, "`false`", "a block of 4 KiB survives as a whole or not at all, as on disks with physical sectors of 4 KiB; otherwise only a sector of 512 bytes does, and blocks are torn"),
    key(Table::PowerCut, "ignore_flush", Flag, Listed, "`false`", "the disks lie once the operations begin: a flush ends at once, and nothing is written for it"),
];

struct PowerCut;

fn survivors(word: Option<&str>) -> Survivors {
    let named = Survivors::ALL
        .into_iter()
        .find(|survivors| Some(survivors.word()) == word);
    named.unwrap_or_default()
}

fn read(_: &Entry, _: &Known, _: &mut Found) -> Option<Box<dyn Form>> {
    Some(Box::new(PowerCut))
}

impl Form for PowerCut {
    fn work(&self, point: &Point) -> Work {
        let or = |name: &str, default: u32| point.number(name).map_or(default, |_| point.small(name));
        Work::PowerCut(PowerCutSpec {
            operations: or("operations", 100),
            namespace: point.flag("namespace"),
            points: or("points", 10),
            subsets: or("subsets", 1),
            missing_member: point.flag("missing_member"),
            survivors: survivors(point.text("survivors").as_deref()),
            whole_blocks: point.flag("whole_blocks"),
            ignore_flush: point.flag("ignore_flush"),
            left_out: Vec::new(),
        })
    }

    fn tests(&self, _: &[Axis]) -> Vec<Option<String>> {
        POWER_CUT_TESTS.map(|(test, _)| Some(test.to_owned())).into()
    }
}

impl Rules for PowerCutSpec {
    fn room_axes(&self) -> &'static [&'static str] {
        &["operations"]
    }

    fn check(&self, machine: &MachineSpec, stack: &StackSpec) -> Vec<Impossible> {
        let mut all = Vec::new();
        if machine.kind != MachineKind::Lab {
            let reason = "only the lab can cut the power of its disks".to_owned();
            all.extend(impossible(&["power_cut", "type"], reason, "write `machine = \"lab\"`"));
        }
        let (array, filesystem) = (&stack.array, stack.filesystem.kind);
        if array.level.is_lvm() || array.of.is_some() || array.bitmap == Bitmap::External {
            let reason =
                "a stack of LVM, nested arrays or an external bitmap cannot be started again after a power cut \
                          yet"
                .to_owned();
            let help = "use one md array (or a single disk) and a filesystem on it, or ZFS";
            all.extend(impossible(&["level", "type", "bitmap", "of_level"], reason, help));
        }
        if array.integrity.is_some() {
            let reason = "an array on dm-integrity cannot be started again after a power cut yet".to_owned();
            all.extend(impossible(&["integrity"], reason, "leave `integrity` out"));
        }
        let is_redundant = match filesystem.is_pool() {
            true => stack.filesystem.zfs.pool.is_some_and(|pool| pool != Pool::Stripe),
            false => array.level.is_md() && array.level.is_redundant(),
        };
        if self.missing_member && !is_redundant {
            let reason = "no member can be missing: nothing that md or ZFS knows is redundant".to_owned();
            let help = "leave `missing_member` out, or use RAID 1, 4, 5, 6 or 10, or a `pool` of mirrors or raidz";
            all.extend(impossible(&["missing_member", "level"], reason, help));
        }
        all
    }
}
