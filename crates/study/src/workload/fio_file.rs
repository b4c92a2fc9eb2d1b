//! fio job files.

use super::io::{BufferFill, BufferSpec, IoEngine, IoPattern, IoSpec, SyncMode};
use super::{IoJob, WorkSpec, fio_bytes, fio_nanoseconds, pairs};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A parsed and validated fio job file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct FioFileSpec {
    /// Path in the study.
    pub path: String,
    /// In the order of the file; each with the preceding options of `[global]`.
    pub sections: Vec<FioSection>,
    /// What the file says without effect in a study, and where its file names lead. Not part of a cell's identity.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// Engines that create, look up or delete files instead of reading and writing them.
pub const FILE_ENGINES: [&str; 6] = [
    "filecreate",
    "filestat",
    "filedelete",
    "dircreate",
    "dirstat",
    "dirdelete",
];

/// A section of a job file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FioSection {
    /// Also the name of its test.
    pub name: String,
    /// fio options, without those that raidlab sets itself (paths of the files, clock).
    pub options: Vec<(String, String)>,
    pub pattern: IoPattern,
    pub block_bytes: u64,
    /// Bytes that each job reads and writes once.
    pub size_bytes: u64,
    pub jobs: u32,
    /// Number of files of each job, or of those that its jobs share.
    pub files: u32,
    pub runtime_ns: Option<u64>,
    pub direct: bool,
    pub end_fsync: bool,
    /// Numbers of the files that its jobs share with each other, and with other sections with these numbers; empty if
    /// each job has its own files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<u32>,
    /// Total size of its files, or of those of each job, if that is not `size_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
    /// If it reads and writes: the tests of its reads and of its writes. [`FioFileSpec::name_directions`] sets them from the
    /// rest, so they are not part of a cell's identity.
    #[serde(skip)]
    pub directions: Option<[String; 2]>,
}

/// As in stores.
#[derive(Deserialize)]
struct Stored {
    path: String,
    sections: Vec<FioSection>,
}

impl From<Stored> for FioFileSpec {
    fn from(stored: Stored) -> Self {
        let mut spec = Self {
            path: stored.path,
            sections: stored.sections,
            notes: Vec::new(),
        };
        spec.name_directions();
        spec
    }
}

/// A file that several jobs use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedFile {
    pub bytes: u64,
    pub block_bytes: u64,
    /// Some job reads it.
    pub is_read: bool,
}

impl FioFileSpec {
    /// Names the tests of the directions of each mixed section, as for an imported report: `read` and `write` of the
    /// only section, `mix read` and `mix write` of one of several, none if another section has that name.
    pub fn name_directions(&mut self) {
        let names: Vec<String> = self.sections.iter().map(|section| section.name.clone()).collect();
        for section in &mut self.sections {
            let tests = ["read", "write"].map(|direction| match names.len() {
                1 => direction.to_owned(),
                _ => format!("{} {direction}", section.name),
            });
            let is_mix = section.pattern.is_mixed() && !section.is_of_whole_files();
            section.directions = (is_mix && tests.iter().all(|test| !names.contains(test))).then_some(tests);
        }
    }

    /// The section of a test, also of one of its directions.
    pub fn section_of(&self, test: &str) -> Option<&FioSection> {
        let own = self.sections.iter().find(|section| section.name == test);
        own.or_else(|| {
            let has =
                |section: &&FioSection| section.directions.iter().flatten().any(|direction| direction == test);
            self.sections.iter().find(has)
        })
    }

    /// The section of each test of a direction.
    pub fn sections_of_directions(&self) -> BTreeMap<String, String> {
        let of_section = |section: &FioSection| {
            let directions = section.directions.clone().into_iter().flatten();
            directions
                .map(|direction| (direction, section.name.clone()))
                .collect::<Vec<_>>()
        };
        self.sections.iter().flat_map(of_section).collect()
    }

    /// The files of `filename`, by number: as large as the section that needs most of it.
    pub fn shared_files(&self) -> BTreeMap<u32, SharedFile> {
        let mut files: BTreeMap<u32, SharedFile> = BTreeMap::new();
        for section in &self.sections {
            for number in &section.shared {
                let file = files.entry(*number).or_default();
                file.bytes = file.bytes.max(section.each_file_bytes());
                file.block_bytes = file.block_bytes.max(section.block_bytes);
                file.is_read |= section.pattern.has_reads();
            }
        }
        files
    }
}

/// Options of a section with a field of [`IoSpec`].
const FIELDS: [&str; 25] = [
    "rw",
    "rwmixread",
    "rwmixwrite",
    "bs",
    "size",
    "offset",
    "numjobs",
    "iodepth",
    "direct",
    "buffered",
    "sync",
    "fsync",
    "fdatasync",
    "end_fsync",
    "runtime",
    "time_based",
    "ramp_time",
    "thinktime",
    "rate",
    "rate_iops",
    "zero_buffers",
    "buffer_pattern",
    "buffer_compress_percentage",
    "dedupe_percentage",
    "verify",
];

const SECOND_NS: u64 = 1_000_000_000;

impl FioSection {
    /// Whether its operations are on whole files, not on their contents.
    pub fn is_of_whole_files(&self) -> bool {
        self.engine().is_some_and(|engine| FILE_ENGINES.contains(&engine))
    }

    /// Its own, and those of its directions.
    pub fn tests(&self) -> impl Iterator<Item = &str> {
        let directions = self.directions.iter().flatten();
        std::iter::once(&self.name).chain(directions).map(String::as_str)
    }

    /// fio's engine, if the file names one.
    pub fn engine(&self) -> Option<&str> {
        let engine = self.options.iter().rev().find(|(name, _)| name == "ioengine");
        engine.map(|(_, engine)| engine.as_str())
    }

    /// Size of each of its files.
    pub fn each_file_bytes(&self) -> u64 {
        self.file_bytes.unwrap_or(self.size_bytes) / u64::from(self.files.max(1))
    }

    /// The section as an `fio` workload. fio's default engine is written out: it ignores `iodepth`.
    pub fn as_io(&self) -> IoSpec {
        let said = |wanted: &str| {
            let found = self.options.iter().rev().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.as_str())
        };
        let number = |name: &str| said(name).and_then(|value| value.parse::<u32>().ok());
        let flag = |name: &str| said(name).is_some_and(|value| value != "0");
        let suffix = said("rw")
            .and_then(|rw| Some(rw.split_once(':')?.1))
            .unwrap_or_default();
        let mut fio_options: Vec<(String, String)> = self.options.clone();
        fio_options.retain(|(name, _)| !FIELDS.contains(&name.as_str()));
        if said("ioengine").is_none() {
            fio_options.push(("ioengine".to_owned(), "psync".to_owned()));
        }
        IoSpec {
            engine: IoEngine::Fio,
            pattern: self.pattern,
            skip_bytes: match self.pattern.is_random() {
                true => 0,
                false => skip_bytes(suffix),
            },
            run_blocks: match self.pattern.is_random() {
                true => suffix.parse().unwrap_or(1),
                false => 1,
            },
            read_percent: read_percent(number("rwmixread"), number("rwmixwrite")),
            block_bytes: self.block_bytes,
            size_bytes: self.size_bytes,
            offset_bytes: said("offset").and_then(fio_bytes).unwrap_or(0),
            jobs: self.jobs,
            queue_depth: number("iodepth").unwrap_or(1),
            direct: self.direct,
            sync: match said("sync") {
                None | Some("0" | "none") => SyncMode::None,
                Some("dsync") => SyncMode::Dsync,
                Some(_) => SyncMode::Sync,
            },
            fsync_every: number("fsync").unwrap_or(0),
            fdatasync_every: number("fdatasync").unwrap_or(0),
            end_fsync: self.end_fsync,
            runtime_ns: self.runtime_ns,
            time_based: flag("time_based"),
            ramp_ns: said("ramp_time")
                .and_then(|time| fio_nanoseconds(time, SECOND_NS))
                .unwrap_or(0),
            think_ns: said("thinktime")
                .and_then(|time| fio_nanoseconds(time, 1_000))
                .unwrap_or(0),
            rate_bytes_s: said("rate").and_then(fio_bytes),
            rate_iops: number("rate_iops"),
            buffer: BufferSpec {
                fill: match said("buffer_pattern") {
                    Some(pattern) => BufferFill::Pattern(pattern.as_bytes().to_vec()),
                    None if flag("zero_buffers") => BufferFill::Zero,
                    None => BufferFill::Random,
                },
                compress_percent: number("buffer_compress_percentage").map_or(0, |percent| percent.min(100) as u8),
                dedupe_percent: number("dedupe_percentage").map(|percent| percent.min(100) as u8),
            },
            verify: said("verify").map(str::to_owned),
            fio_options,
            ..IoSpec::default()
        }
    }
}

/// The gap of `rw=read:8k`.
fn skip_bytes(suffix: &str) -> i64 {
    let (sign, size) = match suffix.strip_prefix('-') {
        Some(size) => (-1, size),
        None => (1, suffix),
    };
    let bytes = fio_bytes(size).and_then(|bytes| i64::try_from(bytes).ok());
    bytes.unwrap_or(0) * sign
}

fn read_percent(reads: Option<u32>, writes: Option<u32>) -> u8 {
    let percent = reads.or(writes.map(|writes| 100_u32.saturating_sub(writes)));
    percent.map_or(50, |percent| percent.min(100) as u8)
}

impl WorkSpec for FioFileSpec {
    fn tests(&self) -> Vec<&str> {
        let own = self.sections.iter().flat_map(FioSection::tests);
        own.collect()
    }

    fn jobs(&self) -> Vec<IoJob<'_>> {
        let sections = self.sections.iter().filter(|section| !section.is_of_whole_files());
        sections
            .map(|section| IoJob {
                shares_files: !section.shared.is_empty(),
                ..IoJob::new(&section.name, section.as_io(), "size")
            })
            .collect()
    }

    fn needs_files(&self) -> Option<&'static str> {
        Some("the jobs of a job file need files, and a raw device has none")
    }

    fn bytes(&self, _: u64) -> u64 {
        let own = self.sections.iter().filter(|section| section.shared.is_empty());
        let own = own.map(|section| {
            let of_job = section.each_file_bytes().saturating_mul(u64::from(section.files));
            of_job.saturating_mul(u64::from(section.jobs))
        });
        let shared = self.shared_files().into_values().map(|file| file.bytes);
        own.chain(shared).fold(0, u64::saturating_add)
    }

    fn largest_file_bytes(&self) -> u64 {
        self.sections.iter().map(FioSection::each_file_bytes).max().unwrap_or(0)
    }

    fn describe(&self) -> String {
        let sections: Vec<String> = self
            .sections
            .iter()
            .map(|section| format!("[{}] {}", section.name, pairs(&section.options)))
            .collect();
        format!("fio: {}: {}", self.path, sections.join("; "))
    }
}
