//! `io = { … }` and `fio = { … }`: reads and writes with fio's options.

use super::fio_options::FIO_OPTIONS;
use super::pattern::Pattern;
use super::rules::Rules;
use super::{Form, WorkloadKind};
use crate::diagnostic::Found;
use crate::document::Entry;
use crate::impossible::{Impossible, impossible};
use crate::key::Axis::{Listed, ListedOrDefault, Single};
use crate::key::Takes::{Count, Flag, Hex, Size, Time, Word};
use crate::key::{GIB, Key, PIB, TIB, Table, Takes, key};
use crate::point::{Axis, Point, points};
use crate::unit::format_size;
use study::stack::{MachineSpec, StackSpec};
use study::workload::{BufferFill, BufferSpec, IoEngine, IoPattern, IoSpec, SyncMode, Work};

/// Includes the keys of `io`.
pub(super) static FIO: WorkloadKind = WorkloadKind {
    key: key(
        Table::Workload,
        "fio",
        Takes::One(Table::Fio),
        Single,
        "",
        "reads and writes by fio",
    ),
    keys: &[KEYS, FIO_OPTIONS],
    tests: "the pattern: `randread`, …",
    metrics: "`throughput`, `iops`",
    read: |entry, _, found| read("fio", IoEngine::Fio, entry, found),
};

/// Its keys are listed with those of `fio`.
pub(super) static IO: WorkloadKind = WorkloadKind {
    key: key(
        Table::Workload,
        "io",
        Takes::One(Table::Io),
        Single,
        "",
        "reads and writes by raidlab's own engine, which needs no start-up time",
    ),
    keys: &[],
    tests: "the pattern: `randread`, …",
    metrics: "`throughput`, `iops`",
    read: |entry, _, found| read("io", IoEngine::Native, entry, found),
};

const SYNC: &[&[&str]] = &[&["none"], &["sync"], &["dsync"]];
const VERIFY: &[&[&str]] = &[
    &["none"],
    &["crc32c"],
    &["xxhash"],
    &["md5"],
    &["sha1"],
    &["sha256"],
    &["sha512"],
];

#[rustfmt::skip]
static KEYS: &[Key] = &[
    key(Table::Io, "rw", Takes::Pattern, Listed, "`read`", "`read`, `write`, `randread`, `randwrite`, `readwrite`, `randrw`; `read:8K` leaves out 8 KiB after each block, `read:-8K` goes backwards, `randread:8` jumps after 8 blocks"),
    key(Table::Io, "bs", Size { min: 1, max: GIB }, Listed, "`4K`", "bytes of one read or write"),
    key(Table::Io, "size", Size { min: 512, max: PIB }, Listed, "`1G`", "bytes that each job works on, in its own file or its part of the raw device").on_axis("io_size"),
    key(Table::Io, "numjobs", Count { min: 1, max: 4096 }, Listed, "1", "parallel jobs"),
    key(Table::Io, "iodepth", Count { min: 1, max: 65536 }, Listed, "1", "requests in flight for each job"),
    key(Table::Io, "direct", Flag, Listed, "`false`", "direct I/O (O_DIRECT)"),
    key(Table::Io, "sync", Word(SYNC), Listed, "`none`", "`sync`: every write with its metadata is on stable storage when it returns (O_SYNC); `dsync`: its data (O_DSYNC)"),
    key(Table::Io, "fsync", Count { min: 0, max: 1 << 31 }, Listed, "0", "fsync after this number of writes; 0: never"),
    key(Table::Io, "fdatasync", Count { min: 0, max: 1 << 31 }, Listed, "0", "fdatasync after this number of writes; 0: never"),
    key(Table::Io, "end_fsync", Flag, Listed, "`false`", "fsync at the end, inside the measured time"),
    key(Table::Io, "runtime", Time, Listed, "until `size` is done", "stop after this time"),
    key(Table::Io, "time_based", Flag, Listed, "`true`", "with `runtime`: start over until it has elapsed"),
    key(Table::Io, "ramp_time", Time, Listed, "none", "with `runtime`: run for this time before measuring"),
    key(Table::Io, "rwmixread", Count { min: 0, max: 100 }, Listed, "50", "share of reads in `readwrite` and `randrw`, per cent"),
    key(Table::Io, "offset", Size { min: 0, max: PIB }, Listed, "0", "offset of the first job in the file or on a raw device"),
    key(Table::Io, "offset_increment", Size { min: 0, max: PIB }, ListedOrDefault, "`size`", "on a raw device: distance from one job to the next"),
    key(Table::Io, "rate", Size { min: 1, max: TIB }, ListedOrDefault, "none", "maximum bandwidth of each job, per second"),
    key(Table::Io, "rate_iops", Count { min: 1, max: 1 << 31 }, ListedOrDefault, "none", "maximum IOPS of each job"),
    key(Table::Io, "thinktime", Time, Listed, "none", "time to wait between blocks"),
    key(Table::Io, "thinktime_blocks", Count { min: 1, max: 1 << 31 }, Listed, "1", "number of blocks between waits"),
    key(Table::Io, "zero_buffers", Flag, Listed, "`false`", "write zeros"),
    key(Table::Io, "buffer_pattern", Hex, ListedOrDefault, "random bytes", "write these bytes again and again: `0xdeadbeef`"),
    key(Table::Io, "buffer_compress_percentage", Count { min: 0, max: 100 }, Listed, "0", "share of each block that is compressible"),
    key(Table::Io, "dedupe_percentage", Count { min: 0, max: 100 }, ListedOrDefault, "not set", "share of blocks that duplicate an earlier one"),
    key(Table::Io, "verify", Word(VERIFY), Listed, "`none`", "read back and compare all that was written; raidlab's engine always compares byte by byte"),
    key(Table::Io, "group_reporting", Flag, Listed, "`true`", "figures of all jobs together; otherwise also of each job"),
    key(Table::Io, "fits_memory", Flag, Listed, "`false`", "the files are meant to fit memory, such as a burst of random writes that becomes whole stripes there: no guard `read-modify-write`"),
];

/// The part that is not an axis.
struct Io(IoEngine);

fn read(kind: &str, engine: IoEngine, entry: &Entry, found: &mut Found) -> Option<Box<dyn Form>> {
    check_table(kind, entry.tables(kind).first()?, found);
    Some(Box::new(Io(engine)))
}

/// Rejects keys that require others.
fn check_table(kind: &str, table: &Entry, found: &mut Found) {
    let patterns = || {
        table
            .values("rw")
            .iter()
            .filter_map(|given| Pattern::parse(&given.value.word()).ok())
    };
    if let Some(mix) = table.field("rwmixread")
        && !table.is_broken("rw")
        && !patterns().any(|rw| rw.pattern.is_mixed())
    {
        let message = format!("`rwmixread` is for mixed patterns, but `rw` of this `{kind}` is not one");
        found.add_with_help(
            &mix.span,
            message,
            "write rw = \"randrw\" or \"readwrite\", or leave `rwmixread` out",
        );
    }
    for (name, needed) in [
        ("time_based", "runtime"),
        ("ramp_time", "runtime"),
        ("thinktime_blocks", "thinktime"),
    ] {
        if let (Some(field), None) = (table.field(name), table.field(needed)) {
            let help = format!("add `{needed}`, or leave `{name}` out");
            found.add_with_help(&field.span, format!("`{name}` needs `{needed}`"), help);
        }
    }
    if let (Some(_), Some(field)) = (table.field("zero_buffers"), table.field("buffer_pattern")) {
        let message = "`zero_buffers` and `buffer_pattern` exclude each other";
        found.add_with_help(&field.span, message, "leave one of the two out");
    }
}

impl Form for Io {
    fn work(&self, point: &Point) -> Work {
        Work::Io(io(point, self.0))
    }

    fn tests(&self, axes: &[Axis]) -> Vec<Option<String>> {
        // Lists with too many combinations are rejected later; until then the first ones are used.
        let patterns = points(axes).take(10_000).map(|point| point.get("rw").word());
        patterns
            .flat_map(|pattern| match Pattern::parse(&pattern) {
                Ok(Pattern { pattern, .. }) => {
                    let tests = pattern.tests().into_iter();
                    tests.map(|test| Some(test.to_owned())).collect()
                }
                Err(_) => vec![None],
            })
            .collect()
    }
}

fn io(point: &Point, engine: IoEngine) -> IoSpec {
    let rw = point.text("rw").and_then(|text| Pattern::parse(&text).ok());
    let rw = rw.unwrap_or(Pattern {
        pattern: IoPattern::Read,
        skip_bytes: 0,
        run_blocks: 1,
    });
    IoSpec {
        engine,
        pattern: rw.pattern,
        skip_bytes: rw.skip_bytes,
        run_blocks: rw.run_blocks,
        read_percent: point.number("rwmixread").map_or(50, |percent| percent.min(100) as u8),
        block_bytes: point.number("bs").unwrap_or(4096),
        size_bytes: point.number("io_size").unwrap_or(1 << 30),
        offset_bytes: point.number("offset").unwrap_or(0),
        offset_increment_bytes: point.number("offset_increment"),
        jobs: point.small("numjobs"),
        queue_depth: point.small("iodepth"),
        direct: point.flag("direct"),
        sync: match point.text("sync").as_deref() {
            Some("sync") => SyncMode::Sync,
            Some("dsync") => SyncMode::Dsync,
            _ => SyncMode::None,
        },
        fsync_every: point.small("fsync"),
        fdatasync_every: point.small("fdatasync"),
        end_fsync: point.flag("end_fsync"),
        runtime_ns: point.number("runtime"),
        time_based: point.flag("time_based"),
        ramp_ns: point.number("ramp_time").unwrap_or(0),
        think_ns: point.number("thinktime").unwrap_or(0),
        think_blocks: point.small("thinktime_blocks").max(1),
        rate_bytes_s: point.number("rate"),
        rate_iops: point.number("rate_iops").map(|_| point.small("rate_iops")),
        buffer: buffer(point),
        verify: point.text("verify").filter(|word| word != "none"),
        group_reporting: point.flag("group_reporting"),
        fits_memory: point.flag("fits_memory"),
        fio_options: fio_options(point),
    }
}

fn buffer(point: &Point) -> BufferSpec {
    let pattern = point.text("buffer_pattern").map(|hex| bytes(&hex));
    BufferSpec {
        fill: match pattern {
            Some(pattern) if !pattern.is_empty() => BufferFill::Pattern(pattern),
            _ if point.flag("zero_buffers") => BufferFill::Zero,
            _ => BufferFill::Random,
        },
        compress_percent: point.small("buffer_compress_percentage").min(100) as u8,
        dedupe_percent: point.number("dedupe_percentage").map(|percent| percent.min(100) as u8),
    }
}

/// The additional fio options in the file, in the order of their table.
fn fio_options(point: &Point) -> Vec<(String, String)> {
    let written = |key: &Key| Some((key.name.to_owned(), point.text(key.axis_name)?));
    FIO_OPTIONS.iter().filter_map(written).collect()
}

/// Bytes of `0xdeadbeef`, which was checked before.
fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.trim_start_matches("0x");
    let byte = |at: usize| digits.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
    (0..digits.len()).step_by(2).filter_map(byte).collect()
}

impl Rules for IoSpec {
    fn room_axes(&self) -> &'static [&'static str] {
        &["io_size", "numjobs", "offset"]
    }

    fn file_size_axes(&self) -> &'static [&'static str] {
        &["io_size"]
    }

    fn check(&self, _: &MachineSpec, stack: &StackSpec) -> Vec<Impossible> {
        check(self, stack.filesystem.kind.is_raw())
    }
}

fn check(io: &IoSpec, raw: bool) -> Vec<Impossible> {
    let mut all = Vec::new();
    if io.block_bytes > io.size_bytes {
        let (block, size) = (format_size(io.block_bytes), format_size(io.size_bytes));
        let reason = format!("`bs` ({block}) is larger than `size` ({size})");
        all.extend(impossible(
            &["bs", "io_size"],
            reason,
            "write a smaller `bs` or a larger `size`",
        ));
    }
    if io.direct && !io.block_bytes.is_multiple_of(512) {
        let reason = format!(
            "direct I/O needs whole sectors, but `bs` is {}",
            format_size(io.block_bytes)
        );
        all.extend(impossible(
            &["bs", "direct"],
            reason,
            "write a `bs` that is a multiple of 512B",
        ));
    }
    if io.direct && !io.offset_bytes.is_multiple_of(512) {
        let reason = format!(
            "direct I/O needs whole sectors, but `offset` is {}",
            format_size(io.offset_bytes)
        );
        all.extend(impossible(&["offset", "direct"], reason, "write a multiple of 512B"));
    }
    if io.offset_increment_bytes.is_some() && !raw {
        let reason = "`offset_increment` is for raw devices; on a filesystem each job has its own file";
        all.extend(impossible(
            &["offset_increment", "type"],
            reason.to_owned(),
            "leave `offset_increment` out",
        ));
    }
    if io.skip_bytes.unsigned_abs() >= io.size_bytes {
        let reason = "the gap after each block in `rw` is larger than `size`".to_owned();
        all.extend(impossible(
            &["rw", "io_size"],
            reason,
            "write a smaller gap, such as \"read:8K\"",
        ));
    }
    if io.verify.is_some() && !io.pattern.has_writes() {
        let reason = format!(
            "`verify` compares what was written, but {} writes nothing",
            io.pattern.name()
        );
        all.extend(impossible(&["verify", "rw"], reason, "leave `verify` out"));
    }
    if io.engine == IoEngine::Native {
        all.extend(check_native(io));
    }
    if io.fio_options.iter().any(|(name, _)| name == "nrfiles") && raw {
        let reason = "`nrfiles` is for filesystems, but this is a raw device".to_owned();
        all.extend(impossible(&["nrfiles", "type"], reason, "leave `nrfiles` out"));
    }
    all
}

/// Options that raidlab's engine does not have.
fn check_native(io: &IoSpec) -> Vec<Impossible> {
    let mut all = Vec::new();
    if !io.skip_bytes.unsigned_abs().is_multiple_of(io.block_bytes) {
        let reason = "in raidlab's engine the gap must be whole blocks".to_owned();
        let help = "write a multiple of `bs`, or use `fio`";
        all.extend(impossible(&["rw", "bs"], reason, help));
    }
    all
}
