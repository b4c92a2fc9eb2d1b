//! A collection of files.

use super::io::{IoPattern, IoSpec};
use super::{IoJob, REQUEST_BYTES, WorkSpec};
use crate::wording::{bytes, count, number};
use serde::{Deserialize, Serialize};

/// A collection of files, the same for every stack with the same seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeSpec {
    pub files: u32,
    pub size: SizeSpec,
    /// Number of directories, nested as in a source tree.
    pub directories: u32,
    /// The tests in order. Files that a test needs are written first, unmeasured unless `write` is a test.
    pub tests: Vec<TreeTest>,
    /// The disk group with the originals from which `write` copies; absent if contents are generated in memory.
    #[serde(default)]
    pub from: Option<String>,
    /// The originals are read once, unmeasured, before `write`: those that fit into memory are then cached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_warm: bool,
    /// The disk group to which `read` copies its data; absent if the data is discarded.
    #[serde(default)]
    pub to: Option<String>,
}

/// Distribution of file sizes: log-normal with the given median, cut off at `min_bytes` and `max_bytes`; if all three
/// are equal, every file has that size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeSpec {
    pub min_bytes: u64,
    pub median_bytes: u64,
    pub max_bytes: u64,
}

impl SizeSpec {
    /// Space of `files` files of the median size, each in whole blocks.
    pub(super) fn bytes_of(&self, files: u32, block_bytes: u64) -> u64 {
        let blocks = self.median_bytes.max(1).div_ceil(block_bytes);
        blocks.saturating_mul(block_bytes).saturating_mul(u64::from(files))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TreeTest {
    Write,
    Read,
    Copy,
    Delete,
}

impl TreeTest {
    pub const ALL: [Self; 4] = [Self::Write, Self::Read, Self::Copy, Self::Delete];

    /// Its name in study files, tables and samples.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::Copy => "copy",
            Self::Delete => "delete",
        }
    }
}

/// Named collections: those of Sander Marechal's benchmark of 2008.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedCollection {
    MarechalSmall,
    MarechalMedium,
    MarechalLarge,
}

impl NamedCollection {
    pub const ALL: [Self; 3] = [Self::MarechalSmall, Self::MarechalMedium, Self::MarechalLarge];

    /// Its name in study files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MarechalSmall => "marechal-small",
            Self::MarechalMedium => "marechal-medium",
            Self::MarechalLarge => "marechal-large",
        }
    }

    /// Number of files.
    ///
    /// Source: his report, "10928 small source code files (maximum size a few KiB each), 1744 Ogg Vorbis files
    /// (around 4 MiB each) and 3 multi-gigabyte files".
    pub const fn files(self) -> u32 {
        match self {
            Self::MarechalSmall => 10_928,
            Self::MarechalMedium => 1_744,
            Self::MarechalLarge => 3,
        }
    }

    /// Sizes of the files. The report has no distributions; these are assumptions. Sizes of source files are close to
    /// log-normal with a median of 2 to 4 KiB, cut here at 8 KiB for his "few"; a 4-minute song of quality 6 is about 4
    /// MiB, within a factor of two; "multi-gigabyte" is 2 GiB each, twice his RAM.
    pub const fn size(self) -> SizeSpec {
        let (min_bytes, median_bytes, max_bytes) = match self {
            Self::MarechalSmall => (64, 2 << 10, 8 << 10),
            Self::MarechalMedium => (2 << 20, 4 << 20, 8 << 20),
            Self::MarechalLarge => (2 << 30, 2 << 30, 2 << 30),
        };
        SizeSpec {
            min_bytes,
            median_bytes,
            max_bytes,
        }
    }

    /// Number of directories: source trees have about 16 files per directory, albums 12 songs.
    pub const fn directories(self) -> u32 {
        match self {
            Self::MarechalSmall => 683,
            Self::MarechalMedium => 146,
            Self::MarechalLarge => 1,
        }
    }
}

impl WorkSpec for TreeSpec {
    fn tests(&self) -> Vec<&str> {
        self.tests.iter().map(|test| test.name()).collect()
    }

    /// Files are written and read one after the other; a test that writes ends when its data is on the disks.
    fn jobs(&self) -> Vec<IoJob<'_>> {
        let job = |test: &TreeTest| {
            let pattern = match test {
                TreeTest::Write if self.from.is_some() => IoPattern::ReadWrite,
                TreeTest::Write => IoPattern::Write,
                TreeTest::Read => IoPattern::Read,
                TreeTest::Copy => IoPattern::ReadWrite,
                TreeTest::Delete => return None,
            };
            let io = IoSpec {
                pattern,
                block_bytes: self.size.median_bytes.min(REQUEST_BYTES),
                size_bytes: self.size.bytes_of(self.files, 1),
                end_fsync: true,
                ..IoSpec::default()
            };
            Some(IoJob {
                can_be_direct: false,
                ..IoJob::new(test.name(), io, "files")
            })
        };
        self.tests.iter().filter_map(job).collect()
    }

    fn needs_files(&self) -> Option<&'static str> {
        Some("a raw device has no files")
    }

    /// Doubled if they are copied.
    fn bytes(&self, block_bytes: u64) -> u64 {
        let copies = if self.tests.contains(&TreeTest::Copy) { 2 } else { 1 };
        self.size.bytes_of(self.files, block_bytes).saturating_mul(copies)
    }

    fn bytes_min(&self) -> u64 {
        u64::from(self.files) * self.size.min_bytes
    }

    fn largest_file_bytes(&self) -> u64 {
        self.size.max_bytes
    }

    fn describe(&self) -> String {
        let size = &self.size;
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
        let directories = match self.directories {
            1 => "one directory".to_owned(),
            many => format!("{} directories", number(f64::from(many), 0)),
        };
        let from = self.from.iter().map(|group| {
            format!(
                ", written from the disks `{group}`{}",
                if self.from_warm { ", read before" } else { "" }
            )
        });
        let to = self.to.iter().map(|group| format!(", read to the disks `{group}`"));
        format!(
            "{} {sizes}, in {directories}: {}{}",
            count(self.files as usize, "file"),
            self.tests().join(", "),
            from.chain(to).collect::<String>()
        )
    }
}
