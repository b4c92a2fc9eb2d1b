//! `power_cut = { … }`: operations on a filesystem, ended by power cuts.

use super::{KindOfWork, WorkloadKind};
use crate::schema::key::Axis::{Listed, Single};
use crate::schema::key::Takes::{Count, Flag, Word};
use crate::schema::key::{Key, Table, Takes, key};

pub(super) static POWER_CUT: WorkloadKind = WorkloadKind {
    work: KindOfWork::PowerCut,
    key: key(
        Table::Workload,
        "power_cut",
        Takes::One(Table::PowerCut),
        Single,
        "",
        "power cuts during small operations, in the lab only; each is followed by a start on the same disks, and what \
            was acknowledged must be there",
    ),
    keys: &[KEYS],
    tests: "`states`, `lost`, `wrong data`, `not mountable`, `checker`, `parity`",
    metrics: "a number of states, one metric a test: `states_tried`, `acknowledged_lost`, `wrong_data`, `not_mountable`, `checker_complaints`, `stale_parity`",
};

const SURVIVORS: &[&[&str]] = &[&["subset"], &["prefix"], &["none"], &["all"], &["any"]];

#[rustfmt::skip]
static KEYS: &[Key] = &[
    key(Table::PowerCut, "operations", Count { min: 1, max: 10_000 }, Listed, "100", "number of operations, drawn from the trial's seed: create, overwrite, append, truncate, rename, unlink, mkdir, fsync, sync"),
    key(Table::PowerCut, "namespace", Flag, Listed, "`false`", "most operations change names, on small files: also \
        link, rmdir, create under a name that is free again, and truncate to 0"),
    key(Table::PowerCut, "points", Count { min: 1, max: 100_000 }, Listed, "10", "instants of a power cut, drawn between the first and the last operation"),
    key(Table::PowerCut, "subsets", Count { min: 1, max: 1000 }, Listed, "1", "seeds for each instant; each decides what survives of the disks' caches"),
    key(Table::PowerCut, "missing_member", Flag, Listed, "`false`", "after the cut one member is taken away, and the array is started without it, by force if need be: the write hole"),
    key(Table::PowerCut, "survivors", Word(SURVIVORS), Listed, "`subset`", "what of each disk's write cache survives, drawn for each disk: `subset`: any of its writes; `prefix`: those before one of them, in their order; `none`; `all`; `any`: each disk draws one of these. An SSD with power-loss protection keeps all in any case"),
    key(Table::PowerCut, "whole_blocks", Flag, Listed, "`false`", "a block of 4 KiB survives as a whole or not at all, as on disks with physical sectors of 4 KiB; otherwise only a sector of 512 bytes does, and blocks are torn"),
    key(Table::PowerCut, "ignore_flush", Flag, Listed, "`false`", "the disks ignore flushes once the operations \
        begin: a flush returns at once and writes nothing"),
];
