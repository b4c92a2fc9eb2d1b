//! The order of blocks, as in fio.
//!
//! Random orders touch each block once, as with fio's random map, but without a map: the permutation is computed. It is
//! a Feistel network of four rounds over the next power of four, repeated while its result is beyond the last block
//! ("cycle walking": less than four times on average).

use crate::random::{Random, hash, scale};
use study::workload::{IoPattern, IoSpec};

/// A permutation of `0..count`, derived from a seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Permutation {
    seed: u64,
    count: u64,
    half_bits: u32,
}

impl Permutation {
    const ROUNDS: u64 = 4;

    /// `count` is at least 1.
    pub(crate) const fn new(seed: u64, count: u64) -> Self {
        let bits = u64::BITS - (count - 1).leading_zeros();
        let half_bits = if bits < 2 { 1 } else { bits.div_ceil(2) };
        Self { seed, count, half_bits }
    }

    /// Image of `index`.
    pub(crate) const fn at(&self, index: u64) -> u64 {
        let mut value = self.network(index);
        while value >= self.count {
            value = self.network(value);
        }
        value
    }

    const fn network(&self, value: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        let mut round = 0;
        while round < Self::ROUNDS {
            (left, right) = (right, left ^ (hash(self.seed, round, right) & mask));
            round += 1;
        }
        left << self.half_bits | right
    }
}

/// A step of a job. Blocks are counted from the start of its file or part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Read { block: u64 },
    Write { block: u64 },
    Fsync,
    Fdatasync,
}

/// The steps of one job in order; a second pass gives the same steps.
#[derive(Clone, Debug)]
pub(super) struct Cursor {
    seed: u64,
    pattern: IoPattern,
    read_percent: u64,
    blocks: u64,
    /// Blocks from the end of a sequential block to the start of the next.
    skip_blocks: i64,
    /// Consecutive blocks between jumps of a random order.
    run_blocks: u64,
    fsync_every: u32,
    fdatasync_every: u32,
    /// Start over when all blocks are done.
    endless: bool,
    permutation: Permutation,
    round: u64,
    /// Steps in this round. Reads and writes of a sequential mix have separate positions, as in fio.
    done: u64,
    reads: Position,
    writes: Position,
    unsynced: u32,
    undatasynced: u32,
}

/// Position in a sequential order.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    /// Absent before the first block.
    last: Option<u64>,
}

impl Position {
    /// The next block as in fio: the last one plus the skip; past the end it continues at the start, before the start
    /// at the end.
    fn next(&mut self, blocks: u64, skip_blocks: i64) -> u64 {
        let next = match self.last {
            None if skip_blocks < 0 => blocks - 1,
            None => 0,
            Some(last) => {
                let at = last.cast_signed() + 1 + skip_blocks;
                if at < 0 {
                    blocks - 1
                } else if at >= blocks.cast_signed() {
                    0
                } else {
                    at.cast_unsigned()
                }
            }
        };
        self.last = Some(next);
        next
    }
}

impl Cursor {
    pub(super) fn new(spec: &IoSpec, seed: u64, job: u32) -> Self {
        let seed = hash(seed, u64::from(job), u64::from_le_bytes(*b"ordering"));
        let blocks = spec.size_bytes / spec.block_bytes;
        Self {
            seed,
            pattern: spec.pattern,
            read_percent: u64::from(spec.read_percent),
            blocks,
            skip_blocks: spec.skip_bytes / spec.block_bytes.cast_signed(),
            run_blocks: u64::from(spec.run_blocks.max(1)),
            fsync_every: spec.fsync_every,
            fdatasync_every: spec.fdatasync_every,
            endless: spec.runtime_ns.is_some() && spec.time_based,
            permutation: Permutation::new(seed, blocks.div_ceil(u64::from(spec.run_blocks.max(1)))),
            round: 0,
            done: 0,
            reads: Position::default(),
            writes: Position::default(),
            unsynced: 0,
            undatasynced: 0,
        }
    }

    /// A random block among those written so far; any block if the files were prepared.
    pub(super) fn a_block_with_known_contents(&self, random: &mut Random) -> Option<u64> {
        if self.pattern.has_reads() {
            return Some(random.below(self.blocks));
        }
        let steps = if self.round > 0 { self.blocks } else { self.done };
        let step = (steps > 0).then(|| random.below(steps))?;
        self.written_in_step(step)
    }

    /// All blocks written so far, each at least once; all blocks if the files were prepared.
    pub(super) fn blocks_with_known_contents(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        if self.pattern.has_reads() {
            return Box::new(0..self.blocks);
        }
        let steps = if self.round > 0 { self.blocks } else { self.done };
        if self.pattern.is_random() {
            return Box::new((0..steps).map(|step| self.random_block(step)));
        }
        let mut position = Position::default();
        Box::new((0..steps).map(move |_| position.next(self.blocks, self.skip_blocks)))
    }

    /// The block of the step, if known: with strides, counted from the start of the first round.
    fn written_in_step(&self, step: u64) -> Option<u64> {
        if self.pattern.is_random() {
            return Some(self.random_block(step));
        }
        match self.skip_blocks {
            0 => Some(step),
            skip => {
                let mut position = Position::default();
                let mut at = None;
                for _ in 0..=step {
                    at = Some(position.next(self.blocks, skip));
                }
                at
            }
        }
    }

    /// Each run of a random order starts at a block of the permutation; the end may cut the last run short.
    fn random_block(&self, step: u64) -> u64 {
        let begin = self.permutation.at(step / self.run_blocks) * self.run_blocks;
        let block = begin + step % self.run_blocks;
        if block < self.blocks { block } else { begin }
    }

    fn begin_round(&mut self) {
        self.round += 1;
        let runs = self.blocks.div_ceil(self.run_blocks);
        self.permutation = Permutation::new(hash(self.seed, self.round, 0), runs);
        self.done = 0;
        (self.reads, self.writes) = (Position::default(), Position::default());
    }

    fn reads_next(&self) -> bool {
        match self.pattern {
            IoPattern::Read | IoPattern::RandRead => true,
            IoPattern::Write | IoPattern::RandWrite => false,
            IoPattern::ReadWrite | IoPattern::RandRw => {
                scale(hash(self.seed, self.round, self.done), 100) < self.read_percent
            }
        }
    }
}

impl Iterator for Cursor {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if self.fsync_every > 0 && self.unsynced == self.fsync_every {
            self.unsynced = 0;
            return Some(Step::Fsync);
        }
        if self.fdatasync_every > 0 && self.undatasynced == self.fdatasync_every {
            self.undatasynced = 0;
            return Some(Step::Fdatasync);
        }
        if self.done == self.blocks {
            if !self.endless {
                return None;
            }
            self.begin_round();
        }
        let reads = self.reads_next();
        let block = if self.pattern.is_random() {
            self.random_block(self.done)
        } else {
            let position = if reads { &mut self.reads } else { &mut self.writes };
            position.next(self.blocks, self.skip_blocks)
        };
        self.done += 1;
        if reads {
            return Some(Step::Read { block });
        }
        self.unsynced += 1;
        self.undatasynced += 1;
        Some(Step::Write { block })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use study::workload::IoEngine;

    fn spec(pattern: IoPattern, blocks: u64) -> IoSpec {
        IoSpec {
            engine: IoEngine::Native,
            pattern,
            read_percent: 70,
            block_bytes: 4096,
            size_bytes: blocks * 4096,
            offset_bytes: 0,
            jobs: 1,
            queue_depth: 1,
            direct: false,
            fsync_every: 0,
            end_fsync: false,
            runtime_ns: None,
            ..IoSpec::default()
        }
    }

    fn block(step: Step) -> u64 {
        match step {
            Step::Read { block } | Step::Write { block } => block,
            Step::Fsync | Step::Fdatasync => panic!("no fsync was asked for"),
        }
    }

    proptest! {
        #[test]
        fn a_permutation_covers_every_block_once(count in 1..5000u64, seed: u64) {
            let permutation = Permutation::new(seed, count);
            let seen: BTreeSet<u64> = (0..count).map(|index| permutation.at(index)).collect();
            prop_assert_eq!(seen.len() as u64, count);
            prop_assert_eq!(seen.last(), Some(&(count - 1)));
        }

        #[test]
        fn a_random_mix_touches_every_block_once(count in 1..3000u64, seed: u64) {
            let seen: BTreeSet<u64> = Cursor::new(&spec(IoPattern::RandRw, count), seed, 0).map(block).collect();
            prop_assert_eq!(seen.len() as u64, count);
        }
    }

    #[test]
    fn a_random_order_is_neither_sequential_nor_the_same_for_all() {
        let order = |seed, job| -> Vec<u64> {
            Cursor::new(&spec(IoPattern::RandRead, 1000), seed, job)
                .map(block)
                .collect()
        };
        let first = order(1, 0);
        assert!(first != order(1, 1) && first != order(2, 0));
        assert_eq!(first, order(1, 0));
        let neighbours = first.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) == 1).count();
        assert!(neighbours < 10, "{neighbours} of 1000 steps go to a neighbour");
        let mean_step: u64 = first.windows(2).map(|pair| pair[0].abs_diff(pair[1])).sum::<u64>() / 999;
        assert!(
            (300..367).contains(&mean_step),
            "a third of the span is expected, and it is {mean_step}"
        );
    }

    #[test]
    fn a_sequential_mix_has_two_positions_and_the_share_asked_for() {
        let steps: Vec<Step> = Cursor::new(&spec(IoPattern::ReadWrite, 1000), 1, 0).collect();
        let reads: Vec<u64> = steps
            .iter()
            .filter(|step| matches!(step, Step::Read { .. }))
            .copied()
            .map(block)
            .collect();
        assert_eq!(reads, (0..reads.len() as u64).collect::<Vec<_>>());
        assert!((650..750).contains(&reads.len()), "{} of 1000 are reads", reads.len());
        assert_eq!(steps.len(), 1000);
    }

    #[test]
    fn strides_leave_out_blocks_and_go_round_and_backwards() {
        let order = |skip_blocks: i64, steps: usize| -> Vec<u64> {
            let job = IoSpec {
                skip_bytes: skip_blocks * 4096,
                ..spec(IoPattern::Read, 10)
            };
            Cursor::new(&job, 1, 0).take(steps).map(block).collect()
        };
        assert_eq!(order(2, 6), [0, 3, 6, 9, 0, 3]);
        assert_eq!(order(-2, 12), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(order(0, 12), (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn runs_of_a_random_order_are_sequential_inside() {
        let job = IoSpec {
            run_blocks: 4,
            ..spec(IoPattern::RandRead, 32)
        };
        let order: Vec<u64> = Cursor::new(&job, 1, 0).map(block).collect();
        assert!(
            order
                .chunks(4)
                .all(|run| run[0] % 4 == 0 && run.windows(2).all(|pair| pair[1] == pair[0] + 1))
        );
        assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), 32);
        assert_ne!(order, (0..32).collect::<Vec<_>>());
    }

    #[test]
    fn fsyncs_come_after_every_so_many_writes_and_rounds_differ() {
        let mut spec = spec(IoPattern::RandWrite, 6);
        spec.fsync_every = 3;
        let steps: Vec<Step> = Cursor::new(&spec, 1, 0).collect();
        let fsyncs: Vec<usize> = (0..steps.len()).filter(|&at| steps[at] == Step::Fsync).collect();
        assert_eq!(fsyncs, [3, 7]);
        spec.fsync_every = 0;
        spec.runtime_ns = Some(1);
        spec.size_bytes = 4096 * 50;
        let two_rounds: Vec<u64> = Cursor::new(&spec, 1, 0).take(100).map(block).collect();
        assert_ne!(two_rounds[..50], two_rounds[50..]);
        assert_eq!(two_rounds[50..].iter().collect::<BTreeSet<_>>().len(), 50);
    }
}
