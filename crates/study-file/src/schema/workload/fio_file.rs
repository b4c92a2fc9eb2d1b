//! `fio_file = "…"` or `fio_file = { path = "…", … }`: a fio job file.

use super::{KindOfWork, WorkloadKind};
use crate::schema::key::Axis::{Listed, Single};
use crate::schema::key::Takes::{Name, NameOr, Size, Variables};
use crate::schema::key::{Key, PIB, Table, key};

pub(super) static FIO_FILE: WorkloadKind = WorkloadKind {
    work: KindOfWork::FioFile,
    key: key(
        Table::Workload,
        "fio_file",
        NameOr(Table::FioFile),
        Single,
        "",
        "a fio job file with one or several sections, in the study's folder; see below",
    ),
    keys: &[KEYS],
    tests: "names of the sections; of one that reads and writes also `NAME read` and `NAME write`, or `read` and `write` if it is the only one",
    metrics: "`throughput`, `iops`; of engines such as `filecreate`: `files_per_second`",
};

#[rustfmt::skip]
static KEYS: &[Key] = &[
    key(Table::FioFile, "path", Name, Single, "", "the job file; `fio_file = \"x.fio\"` is short for `fio_file = { path = \"x.fio\" }`"),
    key(Table::FioFile, "size", Size { min: 4096, max: PIB }, Listed, "none", "size of the files of sections that have no `size` in bytes, such as those written for a device").on_axis("fio_file_size"),
    key(Table::FioFile, "vars", Variables, Listed, "none", "values of `${NAME}` in the job file: `{ BS = [\"4k\", \"64k\"] }`. Each name is an axis; one that is also the name of a key, such as `size`, is the axis `fio_size`"),
];
