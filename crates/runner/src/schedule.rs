//! Which trials come next.
//!
//! First every cell gets its minimum number of trials, with all cells interleaved in a random order from the seed.
//! Then, in batches, cells that are not precise enough, or whose claims are not decided, get more. A batch starts
//! when the previous one is complete, so that the trials do not depend on the number of parallel guests.

use crate::partition::Partition;
use std::collections::{HashMap, VecDeque};
use study::plan::{Plan, Trial};
use study::{CellId, Shard};

/// Returns the trials of a run one by one.
pub struct Schedule<'a> {
    plan: &'a Plan,
    seed: u64,
    /// For each round the indices of its cells in the plan: copies of the cells of a large study would fill the
    /// memory.
    rounds: Vec<Vec<usize>>,
    /// Number of scheduled trials of each cell.
    scheduled: HashMap<CellId, u32>,
    queue: VecDeque<(usize, u32)>,
    all: u64,
}

impl<'a> Schedule<'a> {
    /// The trials of a plan, or of one shard of it.
    pub fn new(plan: &'a Plan, seed: u64, shard: Option<Shard>) -> Schedule<'a> {
        let mut rounds: Vec<Vec<usize>> = (0..plan.precision.max_trials)
            .map(|index| plan.round(seed, index))
            .collect();
        if let Some(shard) = shard {
            let partition = Partition::of(plan, shard.count());
            for (index, round) in (0..).zip(&mut rounds) {
                round.retain(|&place| partition.shard_of(plan.cells[place].id, index) == Some(shard));
            }
        }
        let scheduled = rounds
            .iter()
            .flatten()
            .map(|&place| (plan.cells[place].id, 0))
            .collect();
        let mut schedule = Schedule {
            plan,
            seed,
            rounds,
            scheduled,
            queue: VecDeque::new(),
            all: 0,
        };
        let first = stats::looks(&plan.precision)[0];
        schedule.next_batch(|had| had.keys().map(|&cell| (cell, first)).collect());
        schedule
    }

    /// The next trial of this batch.
    pub fn next(&mut self) -> Option<Trial> {
        let (place, index) = self.next_place()?;
        Some(self.plan.trial(self.seed, place, index))
    }

    /// The same as the index of its cell in the plan and the trial's index.
    pub fn next_place(&mut self) -> Option<(usize, u32)> {
        self.queue.pop_front()
    }

    /// Starts the next batch: `wanted` returns the total number of trials that each cell should have, given the
    /// number it has had. False if no cell needs more.
    pub fn next_batch(&mut self, wanted: impl FnOnce(&HashMap<CellId, u32>) -> HashMap<CellId, u32>) -> bool {
        let wanted = wanted(&self.scheduled);
        for (index, round) in (0..).zip(&self.rounds) {
            for &place in round {
                let cell = self.plan.cells[place].id;
                if (self.scheduled[&cell]..wanted[&cell]).contains(&index) {
                    self.queue.push_back((place, index));
                }
            }
        }
        for (cell, had) in &mut self.scheduled {
            *had = wanted[cell].max(*had);
        }
        self.all += self.queue.len() as u64;
        !self.queue.is_empty()
    }

    /// Total number of trials so far.
    pub fn all(&self) -> u64 {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(precision: &str) -> Plan {
        let source = format!(
            "[disks]\ncount = 1\n[[stack]]\narray = {{ level = \"single\" }}\n\
             fs = {{ type = [\"ext2\", \"xfs\"] }}\n[[workload]]\nname = \"w\"\n\
             tree = {{ files = 1, size = \"4K\" }}\n[precision]\n{precision}\n"
        );
        study_file::read(&source, "test.toml", &study_file::Known::default()).expect("a study")
    }

    fn drained(schedule: &mut Schedule<'_>) -> Vec<(String, u32)> {
        std::iter::from_fn(|| schedule.next())
            .map(|trial| (trial.cell.stack_label, trial.index))
            .collect()
    }

    #[test]
    fn a_fixed_number_of_trials_is_one_batch_of_interleaved_rounds() {
        let plan = plan("trials = 3");
        let mut schedule = Schedule::new(&plan, 1, None);
        let order = drained(&mut schedule);
        let indices: Vec<u32> = order.iter().map(|(_, index)| *index).collect();
        assert_eq!(indices, [0, 0, 1, 1, 2, 2]);
        assert!(!schedule.next_batch(HashMap::clone));
        assert_eq!(schedule.all(), 6);
    }

    #[test]
    fn only_cells_that_need_more_get_more() {
        let plan = plan("relative = 0.01\nmin_trials = 2\nmax_trials = 6");
        let xfs = plan
            .cells
            .iter()
            .find(|cell| cell.stack_label == "xfs")
            .expect("a cell")
            .id;
        let mut schedule = Schedule::new(&plan, 1, None);
        assert_eq!(drained(&mut schedule).len(), 4);
        let more_of_xfs = |had: &HashMap<CellId, u32>| {
            let wanted = |(&cell, &had): (&CellId, &u32)| (cell, if cell == xfs { had + 2 } else { had });
            had.iter().map(wanted).collect()
        };
        assert!(schedule.next_batch(more_of_xfs));
        let order = drained(&mut schedule);
        assert_eq!(order, [("xfs".to_owned(), 2), ("xfs".to_owned(), 3)]);
    }
}
