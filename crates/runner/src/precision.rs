//! Whether a cell's figures are as sure as the study asks.

use stats::{Decision, Observation};
use store::{OpenRun, RunId, Store, StoreError};
use study::plan::{Plan, Precision};

/// What a run has measured so far, by cell.
pub struct Judged {
    observations: Vec<(String, Observation)>,
}

impl Judged {
    pub fn of(store: &Store, run: &OpenRun) -> Result<Judged, StoreError> {
        let id = run.summary.id;
        let plan = store.plan(id)?;
        Ok(Judged {
            observations: keyed(store, id, &plan)?,
        })
    }

    /// How many trials a cell should have in all, when it has had `had`.
    pub fn wanted(&self, precision: &Precision, cell: &str, had: u32) -> u32 {
        let of_cell: Vec<Observation> = self
            .observations
            .iter()
            .filter(|(key, _)| key == cell)
            .map(|(_, seen)| seen.clone())
            .collect();
        match stats::decide(precision, had, &of_cell) {
            Decision::RunUpTo(trials) => trials,
            Decision::Done | Decision::NotPrecise => had,
        }
    }
}

fn keyed(store: &Store, run: RunId, plan: &Plan) -> Result<Vec<(String, Observation)>, StoreError> {
    let samples = store.samples(run)?;
    let observed = samples.into_iter().filter_map(|sample| {
        let cell = plan.cells.iter().find(|cell| cell.key == sample.cell_key)?;
        let observation = Observation {
            stack: cell.stack_label.clone(),
            workload: cell.workload.name.clone(),
            test: sample.test,
            metric: sample.metric,
            unit: sample.unit,
            better: sample.better,
            index: sample.index,
            seed: sample.seed,
            value: sample.value,
            failed_guards: sample.failed_guards,
        };
        Some((sample.cell_key, observation))
    });
    Ok(observed.collect())
}
