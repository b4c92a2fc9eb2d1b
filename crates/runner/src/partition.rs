//! Division of a study's trials into shards.
//!
//! If the number of trials is fixed, single trials are distributed. If it depends on results (`[precision]
//! relative`), a cell belongs to one shard with all its trials. The longest are distributed first, each to the
//! shard with the least work so far. The division depends only on the plan: every machine computes the same,
//! whatever is in its store.

use crate::cost::expected_us;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use study::plan::{Plan, Precision};
use study::{CellId, Shard};

/// The shard of each trial of a plan.
#[derive(Clone, Debug)]
pub struct Partition {
    count: u32,
    /// For each cell the shard of all its trials, or of each trial.
    shards: HashMap<CellId, Vec<u32>>,
    is_fixed: bool,
    /// Expected time of each shard.
    load_us: Vec<u64>,
}

/// The smallest part that a shard gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unit {
    cell: usize,
    index: u32,
    expected_us: u64,
}

/// Whether the number of trials of a cell is known before any has run.
pub fn is_fixed(precision: &Precision) -> bool {
    stats::looks(precision).len() == 1
}

impl Partition {
    /// Divides the trials of a plan into `count` shards.
    pub fn of(plan: &Plan, count: u32) -> Partition {
        let count = count.clamp(1, Shard::COUNT_MAX);
        let is_fixed = is_fixed(&plan.precision);
        let trials = if is_fixed { stats::looks(&plan.precision)[0] } else { 1 };
        let mut units: Vec<Unit> = Vec::new();
        for (place, cell) in plan.cells.iter().enumerate() {
            let expected_us = expected_us(cell);
            units.extend((0..trials).map(|index| Unit {
                cell: place,
                index,
                expected_us,
            }));
        }
        // Stable: equal ones stay in the plan's order, trial by trial.
        units.sort_by_key(|unit| (Reverse(unit.expected_us), unit.index, unit.cell));
        let mut load_us = vec![0; count as usize];
        let mut least: BinaryHeap<Reverse<(u64, u32)>> = (0..count).map(|shard| Reverse((0, shard))).collect();
        let mut of_cells = vec![vec![0; trials as usize]; plan.cells.len()];
        for unit in units {
            let Reverse((load, shard)) = least.pop().expect("there is a shard");
            let load = load + unit.expected_us;
            of_cells[unit.cell][unit.index as usize] = shard;
            load_us[shard as usize] = load;
            least.push(Reverse((load, shard)));
        }
        let shards = plan.cells.iter().map(|cell| cell.id).zip(of_cells).collect();
        Partition {
            count,
            shards,
            is_fixed,
            load_us,
        }
    }

    /// The shard of a trial; `None` if the plan has no such trial.
    pub fn shard_of(&self, cell: CellId, index: u32) -> Option<Shard> {
        let of_cell = self.shards.get(&cell)?;
        let place = if self.is_fixed { index as usize } else { 0 };
        Shard::new(of_cell.get(place)? + 1, self.count)
    }

    /// A shard's share of the expected time, from 0 to 1.
    pub fn share(&self, shard: Shard) -> f64 {
        let all: u64 = self.load_us.iter().sum();
        let own = self.load_us.get(shard.number() as usize - 1).copied().unwrap_or(0);
        if all == 0 { 0.0 } else { own as f64 / all as f64 }
    }

    /// Number of shards that have any trials.
    pub fn used(&self) -> u32 {
        self.load_us.iter().filter(|load| **load > 0).count() as u32
    }
}

/// The plan's cells with trials in a shard; all cells without a shard.
pub fn part_of(plan: &Plan, shard: Option<Shard>) -> Plan {
    let mut part = plan.clone();
    if let Some(shard) = shard {
        let partition = Partition::of(plan, shard.count());
        let trials = stats::looks(&plan.precision)[0];
        part.cells
            .retain(|cell| (0..trials).any(|index| partition.shard_of(cell.id, index) == Some(shard)));
    }
    part
}

#[cfg(test)]
mod tests;
