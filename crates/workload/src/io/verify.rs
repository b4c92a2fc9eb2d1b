//! Verifies the contents that a job wrote.

use super::block_order::Cursor;
use super::psync;
use super::targets::{self, Place};
use crate::buffer::AlignedBuffer;
use crate::contents::Contents;
use crate::environment::Host;
use crate::random::Random;
use crate::reporter::Reporter;
use crate::{Target, WorkloadError};
use study::workload::{IoPattern, IoSpec};

/// Maximum number of blocks that are compared if not all are.
const CHECKED_BLOCKS_MAX: usize = 128;
const CHECKED_BYTES_MAX: u64 = 32 << 20;

/// Compares all known data or a sample of it: what the jobs wrote and, on a filesystem, what was prepared.
pub(super) fn verify(
    spec: &IoSpec,
    target: &Target<'_>,
    contents: &Contents,
    cursors: &[Cursor],
    seed: u64,
    host: &mut dyn Host,
) -> Result<(), WorkloadError> {
    let on_files = target.mount_point.is_some();
    // If jobs overlap, the last writer of a block is unknown.
    let overlap = spec.jobs > 1 && spec.offset_increment_bytes.is_some_and(|apart| apart < spec.size_bytes);
    if cursors.is_empty() || overlap || (spec.pattern.has_reads() && !on_files) {
        return Ok(());
    }
    host.step("verify contents");
    if on_files {
        host.remount().map_err(WorkloadError::host("remount"))?;
    } else {
        host.quiesce_and_drop_caches()
            .map_err(WorkloadError::host("quiesce and drop caches"))?;
    }
    let read_only = IoSpec {
        pattern: IoPattern::Read,
        direct: false,
        ..spec.clone()
    };
    let places = targets::open_places(&read_only, target)?;
    let blocks: Vec<(usize, u64)> = if spec.verify.is_some() {
        let of_job = |(job, cursor): (usize, &Cursor)| -> Vec<(usize, u64)> {
            cursor.blocks_with_known_contents().map(|block| (job, block)).collect()
        };
        cursors.iter().enumerate().flat_map(of_job).collect()
    } else {
        sample(spec, cursors, seed)
    };
    let (checked, wrong) = compare(spec, &places, contents, &blocks)?;
    let detail = format!(
        "{checked} blocks read back with cold caches, {}",
        match &wrong {
            None => "all as written".to_owned(),
            Some(what) => format!("not as written: {what}"),
        }
    );
    let passed = wrong.is_none() && checked > 0;
    Reporter {
        host,
        test: spec.pattern.name(),
    }
    .guard("contents", passed, detail);
    Ok(())
}

/// Jobs and blocks drawn from the seed.
fn sample(spec: &IoSpec, cursors: &[Cursor], seed: u64) -> Vec<(usize, u64)> {
    let mut random = Random::new(seed, u64::from_le_bytes(*b"checking"));
    let blocks_max = (CHECKED_BYTES_MAX / spec.block_bytes).clamp(1, CHECKED_BLOCKS_MAX as u64);
    let mut draw = || {
        let job = random.below(cursors.len() as u64) as usize;
        Some((job, cursors[job].a_block_with_known_contents(&mut random)?))
    };
    (0..blocks_max).filter_map(|_| draw()).collect()
}

/// Returns the number of compared blocks and the first wrong one.
fn compare(
    spec: &IoSpec,
    places: &[Place],
    contents: &Contents,
    blocks: &[(usize, u64)],
) -> Result<(usize, Option<String>), WorkloadError> {
    let mut buffer = AlignedBuffer::zeroed(spec.block_bytes as usize);
    let mut scratch = AlignedBuffer::zeroed(spec.block_bytes as usize);
    for (checked, &(job, block)) in (1..).zip(blocks) {
        let place = &places[job];
        psync::read(place, block, &mut buffer)?;
        if *buffer != *contents.block(u64::from(place.job), block, &mut scratch) {
            return Ok((checked, Some(format!("block {block} of {}", place.path.display()))));
        }
    }
    Ok((blocks.len(), None))
}
