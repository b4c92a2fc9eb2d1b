//! Verifies written files after a remount: a sample, byte by byte.

use crate::WorkloadError;
use crate::contents::Contents;
use crate::random::Random;
use crate::tree::collection::Collection;
use rustix::fs::{Mode, OFlags, fstat, open};
use std::path::Path;

/// Maximum number of compared segments: all of a small tree, and in a large one as many as cost little (a file
/// takes about 0.3 ms of wall time in the lab, a mebibyte 1 ms).
const CHECKED_SEGMENTS_MAX: usize = 256;
const CHECKED_BYTES_MAX: u64 = 32 << 20;

/// Result of a verification.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) checked: u64,
    pub(crate) wrong: u64,
    /// Description of the first error.
    pub(crate) what: Option<String>,
}

impl Verdict {
    pub(crate) fn passed(&self) -> bool {
        self.wrong == 0 && self.checked > 0
    }

    pub(crate) fn detail(&self, collection: &Collection) -> String {
        let seen = format!(
            "{} pieces of up to 1 MiB of {} files read back after a remount",
            self.checked,
            collection.files.len()
        );
        match &self.what {
            None => format!("{seen}, all as written"),
            Some(what) => format!("{seen}, {} of them differ from what was written: {what}", self.wrong),
        }
    }
}

/// Compares a sample of the tree at `top`, drawn from the seed.
pub(crate) fn verify(
    collection: &Collection,
    contents: &Contents,
    top: &Path,
    seed: u64,
    buffer: &mut [u8],
) -> Verdict {
    let mut verdict = Verdict::default();
    for (file, index) in sample(collection, seed) {
        verdict.checked += 1;
        let path = collection.path(file);
        if let Err(what) = check(collection, contents, top, file, index, buffer) {
            verdict.wrong += 1;
            verdict
                .what
                .get_or_insert_with(|| format!("{}: {what}", path.display()));
        }
    }
    verdict
}

/// Pairs of file and segment: all if they are few, else drawn at random up to one of the limits.
fn sample(collection: &Collection, seed: u64) -> Vec<(u32, u64)> {
    let segments = |file: u32| Contents::segments(collection.files[file as usize].size);
    let count = collection.files.len() as u32;
    let total: u64 = (0..count).map(segments).sum();
    if total <= CHECKED_SEGMENTS_MAX as u64 && collection.bytes <= CHECKED_BYTES_MAX {
        return (0..count)
            .flat_map(|file| (0..segments(file)).map(move |index| (file, index)))
            .collect();
    }
    let mut random = Random::new(seed, u64::from_le_bytes(*b"checking"));
    let mut bytes = 0;
    std::iter::repeat_with(|| {
        let file = random.below(u64::from(count)) as u32;
        (file, random.below(segments(file)))
    })
    .take(CHECKED_SEGMENTS_MAX)
    .take_while(|&(file, index)| {
        let fits = bytes < CHECKED_BYTES_MAX;
        bytes += segment_len(collection.files[file as usize].size, index);
        fits
    })
    .collect()
}

fn segment_len(size: u64, index: u64) -> u64 {
    (size - index * Contents::SEGMENT_BYTES).min(Contents::SEGMENT_BYTES)
}

fn check(
    collection: &Collection,
    contents: &Contents,
    top: &Path,
    file: u32,
    index: u64,
    buffer: &mut [u8],
) -> Result<(), String> {
    let size = collection.files[file as usize].size;
    let path = top.join(collection.path(file));
    let failed = |doing: &'static str| move |source| WorkloadError::at(doing, "it")(source).to_string();
    let fd = open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(failed("open"))?;
    let found_size = fstat(&fd).map_err(failed("stat"))?.st_size;
    if u64::try_from(found_size) != Ok(size) {
        return Err(format!("{found_size} bytes long instead of {size}"));
    }
    let offset = index * Contents::SEGMENT_BYTES;
    let wanted = segment_len(size, index) as usize;
    let mut len = 0;
    while len < wanted {
        let more = rustix::io::pread(&fd, &mut buffer[len..wanted], offset + len as u64).map_err(failed("read"))?;
        if more == 0 {
            return Err(format!("ends at byte {}", offset + len as u64));
        }
        len += more;
    }
    match contents.mismatch(u64::from(file), offset, &buffer[..wanted]) {
        None => Ok(()),
        Some(at) => Err(format!("differs at byte {at}")),
    }
}
