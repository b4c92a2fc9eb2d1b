//! Whether a cell's figures are as precise as the study asks.

use stats::Decision;
use std::collections::HashMap;
use store::{OpenRun, Store, StoreError};
use study::plan::Precision;
use study::{CellId, Measurement};

/// What a run has measured so far.
pub struct Judged {
    measurements: HashMap<CellId, Vec<Measurement>>,
}

impl Judged {
    pub fn of(store: &Store, run: &OpenRun) -> Result<Judged, StoreError> {
        Ok(Self::of_samples(store.samples(run.summary.id)?))
    }

    pub fn of_samples(samples: Vec<Measurement>) -> Judged {
        let mut measurements: HashMap<CellId, Vec<Measurement>> = HashMap::new();
        for sample in samples {
            measurements.entry(sample.trial.cell).or_default().push(sample);
        }
        Judged { measurements }
    }

    /// Total number of trials that a cell should have after `had` trials.
    pub fn wanted(&self, precision: &Precision, cell: CellId, had: u32) -> u32 {
        let of_cell = self.measurements.get(&cell).map_or(&[][..], Vec::as_slice);
        match stats::decide(precision, had, of_cell) {
            Decision::RunUpTo(trials) => trials,
            Decision::Done | Decision::NotPrecise => had,
        }
    }
}
