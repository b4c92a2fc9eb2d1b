//! A job with pread and pwrite, as with fio's engine psync: one request at a time, or several by as many threads.

use crate::WorkloadError;
use crate::buffer::AlignedBuffer;
use crate::contents::Contents;
use crate::io::block_order::Step;
use crate::io::pacing::Feed;
use crate::io::tally::{Completed, Tally};
use crate::io::targets::Place;
use rustix::io::{pread, pwrite};
use std::sync::Mutex;
use std::time::Instant;
use study::phase::Phases;

/// Parameters that all jobs share.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) contents: &'a Contents,
    pub(super) block_bytes: usize,
    /// Requests that end before this are not counted.
    pub(super) counted_from: Instant,
    /// No request begins at or after this.
    pub(super) deadline: Option<Instant>,
    /// The phases of the array, if acts are done on it.
    pub(super) phases: Option<&'a Phases>,
}

impl Rules<'_> {
    pub(super) fn counts(&self, ended: Instant) -> bool {
        ended >= self.counted_from
    }

    /// Counts a step that began and ended at these times.
    pub(super) fn completed(&self, step: Step, began: Instant, ended: Instant) -> Completed {
        Completed {
            step,
            bytes: self.block_bytes as u64,
            took: ended - began,
            at: ended.saturating_duration_since(self.counted_from),
            phase: self.phases.map(Phases::now),
        }
    }

    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| now >= deadline)
    }
}

/// Takes turns from `feed`, which other threads may share, until it is empty or the time has elapsed.
pub(super) fn run(
    place: &Place,
    feed: &Mutex<Feed>,
    rules: Rules<'_>,
    mut now: Instant,
) -> Result<Tally, WorkloadError> {
    let mut tally = Tally::new();
    let mut buffer = AlignedBuffer::zeroed(rules.block_bytes);
    let next = || feed.lock().expect("no thread panics with the feed in its hands").next();
    while !rules.is_over(now) {
        let Some(turn) = next() else { break };
        if let Some(due) = turn.due.filter(|due| *due > now) {
            let until = rules.deadline.map_or(due, |deadline| due.min(deadline));
            std::thread::sleep(until - now);
            now = Instant::now();
            if rules.is_over(now) {
                break;
            }
        }
        let began = now;
        match turn.step {
            Step::Read { block } => read(place, block, &mut buffer)?,
            Step::Write { block } => write(place, block, rules, &mut buffer)?,
            Step::Fsync => fsync(place)?,
            Step::Fdatasync => fdatasync(place)?,
        }
        now = Instant::now();
        if rules.counts(now) {
            tally.add(rules.completed(turn.step, began, now));
        } else {
            tally.add_to_ramp(turn.step, rules.block_bytes as u64);
        }
        if let Some(think) = turn.think {
            std::thread::sleep(think);
            now = Instant::now();
        }
    }
    Ok(tally)
}

/// Reads one block completely.
pub(super) fn read(place: &Place, block: u64, buffer: &mut [u8]) -> Result<(), WorkloadError> {
    let offset = place.offset + block * buffer.len() as u64;
    let mut done = 0;
    while done < buffer.len() {
        let len = pread(&*place.file, &mut buffer[done..], offset + done as u64)
            .map_err(WorkloadError::at("read", &place.path))?;
        if len == 0 {
            return Err(ended(place, offset + done as u64));
        }
        done += len;
    }
    Ok(())
}

fn write(place: &Place, block: u64, rules: Rules<'_>, scratch: &mut [u8]) -> Result<(), WorkloadError> {
    let bytes = rules.contents.block(u64::from(place.job), block, scratch);
    let offset = place.offset + block * rules.block_bytes as u64;
    let mut done = 0;
    while done < bytes.len() {
        done += pwrite(&*place.file, &bytes[done..], offset + done as u64)
            .map_err(WorkloadError::at("write", &place.path))?;
    }
    Ok(())
}

pub(super) fn fsync(place: &Place) -> Result<(), WorkloadError> {
    rustix::fs::fsync(&*place.file).map_err(WorkloadError::at("fsync", &place.path))
}

fn fdatasync(place: &Place) -> Result<(), WorkloadError> {
    rustix::fs::fdatasync(&*place.file).map_err(WorkloadError::at("fdatasync", &place.path))
}

/// The error for a file or device that is shorter than the job.
pub(super) fn ended(place: &Place, offset: u64) -> WorkloadError {
    WorkloadError::Spec(format!(
        "{} ends at byte {offset}, before the job does",
        place.path.display()
    ))
}
