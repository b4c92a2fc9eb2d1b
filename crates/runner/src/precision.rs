//! Whether a cell's figures are as precise as the study requires, and its claims decided.

use crate::partition::is_fixed;
use stats::Decision;
use std::collections::HashMap;
use store::{OpenRun, Store, StoreError};
use study::plan::Plan;
use study::{CellId, Measurement};

/// The results of a run so far, by cell in the order of trials. The decision after n trials of a cell depends only
/// on the first n, so that a resumed run decides as before.
pub struct Judged<'a> {
    plan: &'a Plan,
    measurements: HashMap<CellId, Vec<Measurement>>,
}

impl<'a> Judged<'a> {
    pub fn of(store: &Store, run: &OpenRun, plan: &'a Plan) -> Result<Self, StoreError> {
        match is_fixed(&plan.precision) {
            true => Ok(Self::of_samples(Vec::new(), plan)),
            false => Ok(Self::of_samples(store.samples(run.summary.id)?, plan)),
        }
    }

    pub fn of_samples(mut samples: Vec<Measurement>, plan: &'a Plan) -> Self {
        samples.sort_by_key(|sample| sample.trial.index);
        let mut measurements: HashMap<CellId, Vec<Measurement>> = HashMap::new();
        for sample in samples {
            measurements.entry(sample.trial.cell).or_default().push(sample);
        }
        Judged { plan, measurements }
    }

    /// Total number of trials that each cell should have, given the number it has had.
    pub fn wanted(&self, had: &HashMap<CellId, u32>) -> HashMap<CellId, u32> {
        let precision = &self.plan.precision;
        if precision.claims {
            let samples = had.iter().flat_map(|(&cell, &trials)| self.first(cell, trials));
            return stats::trials_to_decide(self.plan, had, &samples.cloned().collect::<Vec<_>>());
        }
        let wanted = |(&cell, &had): (&CellId, &u32)| match stats::decide(precision, had, self.first(cell, had)) {
            Decision::RunUpTo(trials) => (cell, trials),
            Decision::Done | Decision::NotPrecise => (cell, had),
        };
        had.iter().map(wanted).collect()
    }

    /// The samples of the first trials of a cell.
    fn first(&self, cell: CellId, trials: u32) -> &[Measurement] {
        let of_cell = self.measurements.get(&cell).map_or(&[][..], Vec::as_slice);
        &of_cell[..of_cell.partition_point(|sample| sample.trial.index < trials)]
    }
}
