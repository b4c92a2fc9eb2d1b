//! A point of a workload's axes → the work.

use crate::fio_options::FIO_OPTIONS;
use crate::key::Key;
use crate::pattern::Pattern;
use crate::point::Point;
use crate::value::Value;
use crate::work::Kind;
use study::workload::{
    BonnieSpec, BufferFill, BufferSpec, Collection, IoEngine, IoPattern, IoSpec, IozoneEngine, IozoneSpec,
    IozoneTest, SizeSpec, SyncMode, TreeSpec, TreeTest, Work,
};

pub(crate) fn work(point: &Point, kind: &Kind) -> Work {
    match kind {
        Kind::Tree { tests, from, to } => Work::Tree(TreeSpec {
            from: from.clone(),
            to: to.clone(),
            ..tree(point, tests.clone())
        }),
        Kind::Io(engine) => Work::Io(io(point, *engine)),
        Kind::FioFile { spec, .. } => Work::FioFile(spec.clone()),
        Kind::Bonnie => Work::Bonnie(bonnie(point)),
        Kind::Iozone { tests } => Work::Iozone(iozone(point, tests.clone())),
    }
}

fn tree(point: &Point, tests: Vec<TreeTest>) -> TreeSpec {
    let named = point.text("collection");
    if let Some(collection) = Collection::ALL
        .into_iter()
        .find(|collection| named.as_deref() == Some(collection.name()))
    {
        return TreeSpec {
            files: collection.files(),
            size: collection.size(),
            directories: collection.directories(),
            tests,
            from: None,
            to: None,
        };
    }
    let files = point.small("files");
    let size = match *point.get("file_size") {
        Value::Spread { min, median, max } => SizeSpec {
            min_bytes: min,
            median_bytes: median,
            max_bytes: max,
        },
        _ => SizeSpec {
            min_bytes: 4096,
            median_bytes: 4096,
            max_bytes: 4096,
        },
    };
    let directories = point
        .number("directories")
        .map_or(files.div_ceil(64), |_| point.small("directories"));
    TreeSpec {
        files,
        size,
        directories,
        tests,
        from: None,
        to: None,
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

/// What is written of fio's further options, in the order of their table.
fn fio_options(point: &Point) -> Vec<(String, String)> {
    let written = |key: &Key| Some((key.name.to_owned(), point.text(key.axis_name())?));
    FIO_OPTIONS.iter().filter_map(written).collect()
}

/// Of `0xdeadbeef`, which has been judged before.
fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.trim_start_matches("0x");
    let byte = |at: usize| digits.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
    (0..digits.len()).step_by(2).filter_map(byte).collect()
}

fn bonnie(point: &Point) -> BonnieSpec {
    BonnieSpec {
        size_bytes: point.number("bonnie_size").unwrap_or(0),
        volumes: point.small("volumes"),
        chunk_bytes: point.number("chunk_size").unwrap_or(8 << 10),
        per_char: point.flag("per_char"),
        char_bytes: point.number("char_size").unwrap_or(1 << 20),
        seeks: point.small("seeks"),
        seekers: point.small("seekers"),
        files: point.small("files"),
        file_min_bytes: point.number("file_min").unwrap_or(0),
        file_max_bytes: point.number("file_max").unwrap_or(0),
        directories: point.small("directories"),
        processes: point.small("processes"),
        direct: point.flag("direct"),
        no_buffering: point.flag("no_buffering"),
    }
}

fn iozone(point: &Point, tests: Vec<IozoneTest>) -> IozoneSpec {
    IozoneSpec {
        engine: match point.text("engine").as_deref() {
            Some("iozone") => IozoneEngine::Iozone,
            _ => IozoneEngine::Native,
        },
        file_bytes: point.number("file").unwrap_or(4 << 20),
        record_bytes: point.number("record").unwrap_or(4 << 10),
        processes: point.small("processes"),
        tests,
        direct: point.flag("direct"),
        sync: point.flag("o_sync"),
        include_flush: point.flag("include_flush"),
        stride_records: point.small("stride"),
    }
}
