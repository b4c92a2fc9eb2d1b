//! `fio_file = "…"`: a fio job file.

use super::{KindOfWork, WorkloadKind};
use crate::schema::key::Axis::Single;
use crate::schema::key::{Table, Takes, key};

pub(super) static FIO_FILE: WorkloadKind = WorkloadKind {
    work: KindOfWork::FioFile,
    key: key(
        Table::Workload,
        "fio_file",
        Takes::Name,
        Single,
        "",
        "a fio job file with one or several sections, in the study's folder; see below",
    ),
    keys: &[],
    tests: "names of the sections",
    metrics: "`throughput`, `iops`",
};
