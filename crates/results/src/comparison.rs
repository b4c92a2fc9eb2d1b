//! The sides of a comparison of two runs, and its figures as JSON.

use crate::{Error, open_store};
use serde_json::{Value, json};
use stats::run_comparison::{ComparisonOutcome, ComparisonRow, RunComparison, RunSide};
use std::path::{Path, PathBuf};
use store::RunChoice;
use study::Measurement;
use study::plan::Plan;
use study::stack::MachineKind;

/// How the command line names a run: by its number or its name.
type RunChoiceOf = fn(&str) -> Result<RunChoice, String>;

/// A run, or the part of it with one value on an axis.
pub struct ComparedRun {
    /// Its description.
    pub name: String,
    pub path: PathBuf,
    plan: Plan,
    measurements: Vec<Measurement>,
    pub is_simulated: bool,
}

impl ComparedRun {
    /// `STORE`, `STORE:RUN` or `RUN`, optionally followed by `@` and a part of it: `AXIS=VALUE`.
    pub fn read(text: &str, default_store: &Path, run_choice: RunChoiceOf) -> Result<Self, Error> {
        // A file name may contain an at sign.
        let (place, part) = match text.rsplit_once('@').filter(|_| !Path::new(text).exists()) {
            Some((place, part)) => (place, Some(part)),
            None => (text, None),
        };
        let (path, run) = place_of(place, default_store, run_choice);
        let (store, run) = open_store::open(&path, run.as_ref())?;
        let failed = Error::StoreUnderWay;
        let mut plan = store.plan(run.id).map_err(failed)?;
        if let Some(part) = part {
            let only = study_file::Only::parse(&[part], &plan).map_err(|source| Error::Part {
                text: text.to_owned(),
                source,
            })?;
            only.keep_in(&mut plan);
        }
        let part = part.map(|part| format!(", {part}")).unwrap_or_default();
        Ok(Self {
            name: format!(
                "run {} of {}{part}: {}",
                run.id.0,
                files::published_path(&path),
                run.title
            ),
            measurements: store.samples(run.id).map_err(failed)?,
            is_simulated: run.machine == MachineKind::Lab,
            plan,
            path,
        })
    }

    pub fn of_run(&self) -> RunSide<'_> {
        RunSide {
            plan: &self.plan,
            measurements: &self.measurements,
        }
    }
}

fn place_of(place: &str, default_store: &Path, run_choice: RunChoiceOf) -> (PathBuf, Option<RunChoice>) {
    let store = Path::new(place);
    let choice = run_choice(place);
    if let Ok(RunChoice::Number(_)) = choice {
        return (default_store.to_owned(), choice.ok());
    }
    // A file name may contain a colon.
    if store.exists() {
        return (store.to_owned(), None);
    }
    match place.rsplit_once(':').map(|(path, run)| (path, run_choice(run))) {
        Some((path, Ok(run))) => (PathBuf::from(path), Some(run)),
        _ if place.is_empty() => (default_store.to_owned(), None),
        // If it looks like a file name, the file is missing.
        _ if place.contains(['/', '.']) => (store.to_owned(), None),
        _ => (default_store.to_owned(), choice.ok()),
    }
}

/// Two runs against one another, as JSON.
pub fn comparison_json(first: &ComparedRun, second: &ComparedRun, comparison: &RunComparison) -> Value {
    json!({
        "format": "raidlab-comparison",
        "format_version": 1,
        "a": { "name": first.name, "simulated": first.is_simulated },
        "b": { "name": second.name, "simulated": second.is_simulated },
        "rows": comparison.rows.iter().map(row).collect::<Vec<_>>(),
        "differences": comparison.differences,
        "only_in_a": comparison.only_first,
        "only_in_b": comparison.only_second,
    })
}

fn row(row: &ComparisonRow) -> Value {
    let figure = |summary: &Option<stats::Summary>| {
        summary
            .as_ref()
            .map(|summary| json!({ "median": summary.median, "trials": summary.n }))
    };
    json!({
        "cell_a": row.first_key, "cell_b": row.second_key, "same_cell": row.is_same_cell,
        "test": row.test, "metric": row.metric.name(), "unit": row.metric.unit().name(),
        "a": figure(&row.first), "b": figure(&row.second),
        "times_better": row.ratio, "low": row.interval.map(|interval| interval.low),
        "high": row.interval.map(|interval| interval.high),
        "trials_compared": row.trials, "paired_by_seed": row.by_seed,
        "outcome": row.outcome.word(),
        "equal_within": match row.outcome {
            ComparisonOutcome::EqualWithin(share) => Some(share),
            _ => None,
        },
    })
}
