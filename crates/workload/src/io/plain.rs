//! A job by pread and pwrite: one request at a time, or several by as many threads.

use crate::WorkloadError;
use crate::buffer::AlignedBuffer;
use crate::contents::Contents;
use crate::io::order::{Cursor, Step};
use crate::io::place::Place;
use crate::io::tally::Tally;
use rustix::io::{pread, pwrite};
use std::sync::Mutex;
use std::time::Instant;

/// What a job needs to know besides its place; the same for all.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) contents: &'a Contents,
    pub(super) block_bytes: usize,
    /// No request begins at or after this.
    pub(super) deadline: Option<Instant>,
}

/// Takes steps from `cursor`, which other threads may share, until it has no more or time is over.
pub(super) fn run(
    place: &Place,
    cursor: &Mutex<Cursor>,
    rules: Rules<'_>,
    mut now: Instant,
) -> Result<Tally, WorkloadError> {
    let mut tally = Tally::new();
    let mut buffer = AlignedBuffer::zeroed(rules.block_bytes);
    let next = || {
        cursor
            .lock()
            .expect("no thread panics with the cursor in its hands")
            .next()
    };
    while rules.deadline.is_none_or(|deadline| now < deadline) {
        let Some(step) = next() else { break };
        let began = now;
        match step {
            Step::Read { block } => read(place, block, &mut buffer)?,
            Step::Write { block } => write(place, block, rules)?,
            Step::Fsync => fsync(place)?,
        }
        now = Instant::now();
        let (stream, bytes) = match step {
            Step::Read { .. } => (&mut tally.reads, rules.block_bytes as u64),
            Step::Write { .. } => (&mut tally.writes, rules.block_bytes as u64),
            Step::Fsync => (&mut tally.fsyncs, 0),
        };
        stream.add(bytes, now - began);
    }
    Ok(tally)
}

/// Reads one block whole.
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

fn write(place: &Place, block: u64, rules: Rules<'_>) -> Result<(), WorkloadError> {
    let bytes = rules.contents.stretch(u64::from(place.job), block, rules.block_bytes);
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

/// A file or device that is shorter than the job.
pub(super) fn ended(place: &Place, offset: u64) -> WorkloadError {
    WorkloadError::Spec(format!(
        "{} ends at byte {offset}, before the job does",
        place.path.display()
    ))
}
