//! Work in words.

use crate::figure::{bytes, count, nanoseconds, number};
use crate::words::joined;
use study::workload::{
    BonnieSpec, BufferFill, FioFileSpec, IoEngine, IoSpec, IozoneEngine, IozoneSpec, IozoneTest, SyncMode,
    TreeSpec, Work,
};

pub(crate) fn work(work: &Work) -> String {
    match work {
        Work::Tree(spec) => tree(spec),
        Work::Io(spec) => io(spec),
        Work::FioFile(spec) => fio_file(spec),
        Work::Bonnie(spec) => bonnie(spec),
        Work::Iozone(spec) => iozone(spec),
    }
}

fn tree(spec: &TreeSpec) -> String {
    let size = &spec.size;
    let sizes = if size.min_bytes == size.max_bytes {
        format!("of {} each", bytes(size.median_bytes))
    } else {
        format!(
            "of {} to {}, median {}",
            bytes(size.min_bytes),
            bytes(size.max_bytes),
            bytes(size.median_bytes)
        )
    };
    let directories = match spec.directories {
        1 => "one directory".to_owned(),
        many => format!("{} directories", number(f64::from(many), 0)),
    };
    let tests: Vec<&str> = spec.tests.iter().map(|test| test.name()).collect();
    let from = spec
        .from
        .iter()
        .map(|group| format!(", written from the disks `{group}`"));
    let to = spec.to.iter().map(|group| format!(", read to the disks `{group}`"));
    format!(
        "{} {sizes}, in {directories}: {}{}",
        count(spec.files as usize, "file"),
        tests.join(", "),
        from.chain(to).collect::<String>()
    )
}

fn io(spec: &IoSpec) -> String {
    let engine = match spec.engine {
        IoEngine::Fio => "fio",
        IoEngine::Native => "raidlab's own engine",
    };
    let every =
        |what: &str, writes: u32| (writes > 0).then(|| format!("{what} every {}", count(writes as usize, "write")));
    let parts = [
        (spec.skip_bytes > 0).then(|| format!("leaving out {}", bytes(spec.skip_bytes.unsigned_abs()))),
        (spec.skip_bytes < 0).then(|| format!("backwards by {}", bytes(spec.skip_bytes.unsigned_abs()))),
        (spec.run_blocks > 1).then(|| format!("{} blocks between jumps", spec.run_blocks)),
        Some(format!("{} blocks", bytes(spec.block_bytes))),
        Some(format!(
            "{} of {} each",
            count(spec.jobs as usize, "job"),
            bytes(spec.size_bytes)
        )),
        Some(format!("queue depth {}", spec.queue_depth)),
        spec.direct.then(|| "direct".to_owned()),
        match spec.sync {
            SyncMode::None => None,
            SyncMode::Sync => Some("O_SYNC".to_owned()),
            SyncMode::Dsync => Some("O_DSYNC".to_owned()),
        },
        every("fsync", spec.fsync_every),
        every("fdatasync", spec.fdatasync_every),
        spec.end_fsync.then(|| "fsync at the end, timed".to_owned()),
        spec.rate_bytes_s.map(|rate| format!("at most {}/s a job", bytes(rate))),
        spec.rate_iops.map(|rate| format!("at most {rate} IOPS a job")),
        (spec.think_ns > 0).then(|| format!("waiting {} between blocks", nanoseconds(spec.think_ns))),
        spec.runtime_ns.map(|runtime| format!("for {}", nanoseconds(runtime))),
        (spec.ramp_ns > 0).then(|| format!("after {} that do not count", nanoseconds(spec.ramp_ns))),
        match &spec.buffer.fill {
            BufferFill::Random => None,
            BufferFill::Zero => Some("zeros".to_owned()),
            BufferFill::Pattern(pattern) => Some(format!("a pattern of {}", count(pattern.len(), "byte"))),
        },
        (spec.buffer.compress_percent > 0).then(|| format!("{} % compressible", spec.buffer.compress_percent)),
        spec.buffer
            .dedupe_percent
            .map(|percent| format!("{percent} % equal to blocks before")),
        spec.verify.as_ref().map(|_| "all compared afterwards".to_owned()),
        (!spec.fio_options.is_empty()).then(|| pairs(&spec.fio_options)),
    ];
    format!("{engine}: {}", joined(spec.pattern.name(), parts))
}

fn fio_file(spec: &FioFileSpec) -> String {
    let sections: Vec<String> = spec
        .sections
        .iter()
        .map(|section| format!("[{}] {}", section.name, pairs(&section.options)))
        .collect();
    format!("fio: {}: {}", spec.path, sections.join("; "))
}

fn bonnie(spec: &BonnieSpec) -> String {
    let block = (spec.size_bytes > 0).then(|| {
        format!(
            "{} of {}, {} at once",
            count(spec.volumes as usize, "volume"),
            bytes(spec.size_bytes),
            bytes(spec.chunk_bytes)
        )
    });
    let files = (spec.files > 0).then(|| {
        format!(
            "{} of {} to {}",
            count(spec.files as usize, "file"),
            bytes(spec.file_min_bytes),
            bytes(spec.file_max_bytes)
        )
    });
    let parts = [
        block,
        (spec.size_bytes > 0 && !spec.per_char).then(|| "without single characters".to_owned()),
        files,
        (spec.processes > 1).then(|| format!("{} copies at the same time", spec.processes)),
        spec.direct.then(|| "direct".to_owned()),
        spec.no_buffering.then(|| "fsync after every write".to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("Bonnie++: {}", parts.join(", "))
}

fn iozone(spec: &IozoneSpec) -> String {
    let engine = match spec.engine {
        IozoneEngine::Native => "IOzone's tests by raidlab's own engine",
        IozoneEngine::Iozone => "IOzone",
    };
    let tests: Vec<&str> = spec.tests.iter().map(|test| test.name()).collect();
    let parts = [
        Some(format!("records of {}", bytes(spec.record_bytes))),
        (spec.processes > 1).then(|| format!("{} processes", spec.processes)),
        spec.direct.then(|| "direct".to_owned()),
        spec.sync.then(|| "O_SYNC".to_owned()),
        (!spec.include_flush).then(|| "without the flush at the end".to_owned()),
        spec.tests
            .contains(&IozoneTest::StridedRead)
            .then(|| format!("stride of {} records", spec.stride_records)),
        Some(tests.join(", ")),
    ];
    format!(
        "{engine}: {}",
        joined(&format!("file of {}", bytes(spec.file_bytes)), parts)
    )
}

fn pairs(options: &[(String, String)]) -> String {
    let words: Vec<String> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    words.join(" ")
}
