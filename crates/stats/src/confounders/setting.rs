//! Settings besides the compared stack that decide a result, as far as the plan has them.

use super::Side;
use study::plan::TEST;
use study::stack::{JournalMode, StackSpec};
use study::workload::{IozoneTest, Work};

/// A setting that decides results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Volatile write caches of the disks.
    WriteCache,
    /// Whether the filesystem flushes the disks' caches: Linux, Documentation/filesystems/ext4 (`barrier`).
    Barriers,
    /// Whether data is written to the journal, before it, or at any time: ext3(5), `data=`.
    Journal,
    /// Whether reads find their data in memory.
    Caches,
}

/// A cell's value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    On,
    Off,
    /// Not specified by the study.
    OfDisks,
    Mode(JournalMode),
    /// The filesystem has no journal modes; it journals no data.
    NoMode,
    Cold,
    Warm,
}

impl Held {
    /// Whether two cells differ in a setting. Filesystems without journal modes differ only from `data=journal`,
    /// which writes all data twice.
    pub(super) fn differs(self, other: Self) -> bool {
        match (self, other) {
            (Self::NoMode, Self::Mode(mode)) | (Self::Mode(mode), Self::NoMode) => mode == JournalMode::Journal,
            (one, other) => one != other,
        }
    }
}

impl Setting {
    pub const ALL: [Self; 4] = [Self::WriteCache, Self::Barriers, Self::Journal, Self::Caches];

    /// The setting in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::WriteCache => "the write cache of the disks",
            Self::Barriers => "barriers",
            Self::Journal => "the journal mode",
            Self::Caches => "what is in the caches when the reads begin",
        }
    }

    /// Whether it may depend on this axis of cells or samples.
    pub(super) fn is_on(self, axis: &str) -> bool {
        let axes: &[&str] = match self {
            Self::WriteCache => &["write_cache"],
            Self::Barriers => &["mount"],
            Self::Journal => &["journal", "mount"],
            Self::Caches => &["pre_read", "workload", TEST],
        };
        axes.contains(&axis)
    }

    pub(super) fn of(self, side: &Side<'_>) -> Held {
        let stack = &side.cell.stack;
        match self {
            Self::WriteCache => match stack.write_cache {
                Some(true) => Held::On,
                Some(false) => Held::Off,
                None => Held::OfDisks,
            },
            Self::Barriers => barriers(stack),
            Self::Journal => journal(stack),
            Self::Caches => match is_warm(&side.cell.workload.work, side.test) {
                true => Held::Warm,
                false => Held::Cold,
            },
        }
    }
}

/// The mount options one by one.
fn options(stack: &StackSpec) -> impl DoubleEndedIterator<Item = &str> {
    stack.mount_options.iter().flat_map(|options| options.split(','))
}

/// The last of contradicting options counts. All filesystems flush by default.
fn barriers(stack: &StackSpec) -> Held {
    let said = |option: &str| match option {
        "nobarrier" | "barrier=0" | "barrier=none" | "fsync_mode=nobarrier" | "journal_flush_disabled" => {
            Some(Held::Off)
        }
        "barrier" | "barrier=1" | "barrier=flush" => Some(Held::On),
        _ => None,
    };
    options(stack).rev().find_map(said).unwrap_or(Held::On)
}

fn journal(stack: &StackSpec) -> Held {
    let filesystem = &stack.filesystem;
    if !filesystem.kind.has_journal_modes {
        return Held::NoMode;
    }
    let named = |word: &str| JournalMode::ALL.into_iter().find(|mode| mode.word() == word);
    let mounted = options(stack)
        .rev()
        .find_map(|option| named(option.strip_prefix("data=")?));
    // Ordered mode has been the default of all of them since Linux 2.6.36.
    let mode = filesystem.journal_mode.or(mounted);
    Held::Mode(mode.unwrap_or(JournalMode::Ordered))
}

/// raidlab drops the caches before each test; a test that first reads its files, or reads them twice, is warm.
fn is_warm(work: &Work, test: Option<&str>) -> bool {
    if matches!(work, Work::Iozone(_)) {
        let again = [IozoneTest::Reread, IozoneTest::Freread];
        return test.is_some_and(|test| again.into_iter().any(|one| one.name() == test));
    }
    let job = work.job(test.unwrap_or_default());
    job.is_some_and(|job| job.io.pattern.has_reads() && reads_first(&job.io.fio_options))
}

/// fio's `pre_read`.
fn reads_first(options: &[(String, String)]) -> bool {
    let mut said = options.iter().rev().filter(|(name, _)| name == "pre_read");
    said.next()
        .is_some_and(|(_, value)| matches!(value.as_str(), "" | "1" | "true"))
}
