//! Whether a cell's figures are as precise as the study asks.

use stats::Decision;
use store::{OpenRun, Store, StoreError};
use study::plan::Precision;
use study::{CellId, Measurement};

/// What a run has measured so far.
pub struct Judged {
    measurements: Vec<Measurement>,
}

impl Judged {
    pub fn of(store: &Store, run: &OpenRun) -> Result<Judged, StoreError> {
        Ok(Judged {
            measurements: store.samples(run.summary.id)?,
        })
    }

    /// Total number of trials that a cell should have after `had` trials.
    pub fn wanted(&self, precision: &Precision, cell: CellId, had: u32) -> u32 {
        let of_cell = self.measurements.iter().filter(|one| one.trial.cell == cell);
        let of_cell: Vec<Measurement> = of_cell.cloned().collect();
        match stats::decide(precision, had, &of_cell) {
            Decision::RunUpTo(trials) => trials,
            Decision::Done | Decision::NotPrecise => had,
        }
    }
}
