//! Which trials come next.
//!
//! First every cell gets its minimum number of trials, with all cells interleaved in a random order from the seed.
//! Then, in batches, cells that are not precise enough get more. A batch starts when the one before is complete, so that
//! the trials do not depend on the number of parallel guests.

use crate::partition::Partition;
use std::collections::{HashMap, VecDeque};
use study::plan::{Plan, Trial};
use study::{CellId, Shard};

/// Hands out the trials of a run one by one.
pub struct Schedule {
    rounds: Vec<Vec<Trial>>,
    /// Number of trials of a cell that were given to batches.
    scheduled: HashMap<CellId, u32>,
    queue: VecDeque<Trial>,
    all: u64,
}

impl Schedule {
    /// The trials of a plan, or of one shard of it.
    pub fn new(plan: &Plan, seed: u64, shard: Option<Shard>) -> Schedule {
        let mut rounds: Vec<Vec<Trial>> = plan.rounds(seed).collect();
        if let Some(shard) = shard {
            let partition = Partition::of(plan, shard.count());
            for round in &mut rounds {
                round.retain(|trial| partition.shard_of(trial.cell.id, trial.index) == Some(shard));
            }
        }
        let mut schedule = Schedule {
            rounds,
            scheduled: HashMap::new(),
            queue: VecDeque::new(),
            all: 0,
        };
        let first = stats::looks(&plan.precision)[0];
        schedule.next_batch(|_, _| first);
        schedule
    }

    /// The next trial of this batch.
    pub fn next(&mut self) -> Option<Trial> {
        self.queue.pop_front()
    }

    /// Starts the next batch: `wanted` returns the total number of trials that a cell should have, given those it had.
    /// False when no cell needs more.
    pub fn next_batch(&mut self, mut wanted: impl FnMut(CellId, u32) -> u32) -> bool {
        let mut upto: HashMap<CellId, (u32, u32)> = HashMap::new();
        for trial in self.rounds.iter().flatten() {
            let cell = trial.cell.id;
            let (from, to) = *upto.entry(cell).or_insert_with(|| {
                let had = self.scheduled.get(&cell).copied().unwrap_or(0);
                (had, wanted(cell, had))
            });
            if (from..to).contains(&trial.index) {
                self.queue.push_back(trial.clone());
            }
        }
        self.scheduled = upto
            .into_iter()
            .map(|(cell, (from, to))| (cell, to.max(from)))
            .collect();
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

    fn drained(schedule: &mut Schedule) -> Vec<(String, u32)> {
        std::iter::from_fn(|| schedule.next())
            .map(|trial| (trial.cell.stack_label, trial.index))
            .collect()
    }

    #[test]
    fn a_fixed_number_of_trials_is_one_batch_of_interleaved_rounds() {
        let mut schedule = Schedule::new(&plan("trials = 3"), 1, None);
        let order = drained(&mut schedule);
        let indices: Vec<u32> = order.iter().map(|(_, index)| *index).collect();
        assert_eq!(indices, [0, 0, 1, 1, 2, 2]);
        assert!(!schedule.next_batch(|_, had| had));
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
        assert!(schedule.next_batch(|cell, had| if cell == xfs { had + 2 } else { had }));
        let order = drained(&mut schedule);
        assert_eq!(order, [("xfs".to_owned(), 2), ("xfs".to_owned(), 3)]);
    }
}
