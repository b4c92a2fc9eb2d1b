//! `io = { … }` and `fio = { … }`: reads and writes with fio's options.

use super::Form;
use super::rules::Rules;
use crate::axes::{Axis, Point, points};
use crate::parse::entry::Entry;
use crate::rules::impossible::{Impossible, impossible};
use crate::schema::fio_options::FIO_OPTIONS;
use crate::schema::key::Key;
use crate::schema::pattern::Pattern;
use crate::syntax::diagnostic::Found;
use crate::syntax::unit::format_size;
use study::stack::{MachineSpec, StackSpec};
use study::workload::{BufferFill, BufferSpec, IoEngine, IoPattern, IoSpec, SyncMode, Work};

/// The part that is not an axis.
struct Io(IoEngine);

pub(super) fn read(kind: &str, engine: IoEngine, entry: &Entry, found: &mut Found) -> Option<Box<dyn Form>> {
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
        overwrite: engine == IoEngine::Native && point.flag("overwrite"),
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
        fio_options: match engine {
            IoEngine::Fio => fio_options(point),
            IoEngine::Native => Vec::new(),
        },
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
