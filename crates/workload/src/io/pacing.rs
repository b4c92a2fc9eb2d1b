//! The steps of a job with their times: the order of its blocks, delayed by a rate or a wait.

use crate::io::block_order::{Cursor, Step};
use std::time::{Duration, Instant};
use study::workload::IoSpec;

/// A step, and its delays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) step: Step,
    /// Earliest start.
    pub(super) due: Option<Instant>,
    /// Wait after it.
    pub(super) think: Option<Duration>,
}

/// The steps of a job with their times.
#[derive(Clone, Debug)]
pub(super) struct Feed {
    pub(super) cursor: Cursor,
    pace: Option<Pace>,
    think: Option<(u32, Duration)>,
    began: Instant,
    /// Blocks returned so far.
    blocks: u64,
    /// A step that was taken and is not due yet.
    held: Option<Turn>,
}

/// Interval between the starts of consecutive blocks.
#[derive(Clone, Copy, Debug)]
struct Pace {
    block_ns: f64,
}

impl Feed {
    pub(super) fn new(spec: &IoSpec, seed: u64, job: u32, began: Instant) -> Self {
        let by_bytes = spec
            .rate_bytes_s
            .map(|rate| spec.block_bytes as f64 * 1e9 / rate as f64);
        let by_count = spec.rate_iops.map(|rate| 1e9 / f64::from(rate));
        let block_ns = by_bytes.into_iter().chain(by_count).reduce(f64::max);
        Self {
            cursor: Cursor::new(spec, seed, job),
            pace: block_ns.map(|block_ns| Pace { block_ns }),
            think: (spec.think_ns > 0).then(|| (spec.think_blocks.max(1), Duration::from_nanos(spec.think_ns))),
            began,
            blocks: 0,
            held: None,
        }
    }

    /// Returns a turn that could not be started yet.
    pub(super) fn hold(&mut self, turn: Turn) {
        self.held = Some(turn);
    }

    pub(super) fn next(&mut self) -> Option<Turn> {
        if let Some(turn) = self.held.take() {
            return Some(turn);
        }
        let step = self.cursor.next()?;
        if matches!(step, Step::Fsync | Step::Fdatasync) {
            return Some(Turn {
                step,
                due: None,
                think: None,
            });
        }
        let due = self.pace.map(|pace| {
            let after_ns = pace.block_ns * self.blocks as f64;
            self.began + Duration::from_nanos(after_ns as u64)
        });
        self.blocks += 1;
        let think = self
            .think
            .filter(|(every, _)| self.blocks.is_multiple_of(u64::from(*every)))
            .map(|(_, wait)| wait);
        Some(Turn { step, due, think })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use study::workload::IoPattern;

    #[test]
    fn a_rate_spaces_blocks_and_the_slower_of_two_holds() {
        let began = Instant::now();
        let spec = IoSpec {
            pattern: IoPattern::Read,
            rate_bytes_s: Some(4096 * 100),
            rate_iops: Some(1000),
            think_ns: 5,
            think_blocks: 2,
            ..IoSpec::default()
        };
        let mut feed = Feed::new(&spec, 1, 0, began);
        let turns: Vec<Turn> = std::iter::from_fn(|| feed.next()).take(4).collect();
        let due: Vec<u128> = turns
            .iter()
            .map(|turn| (turn.due.expect("paced") - began).as_millis())
            .collect();
        assert_eq!(due, [0, 10, 20, 30]);
        let thinks: Vec<bool> = turns.iter().map(|turn| turn.think.is_some()).collect();
        assert_eq!(thinks, [false, true, false, true]);
    }
}
