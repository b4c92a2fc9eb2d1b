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
        let (place, part) = split_part(text);
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

/// The place and its part. A file name may contain an at sign, and so may a value: the first one behind an existing store divides.
fn split_part(text: &str) -> (&str, Option<&str>) {
    let is_store = |place: &str| {
        let store = place.rsplit_once(':').map_or(place, |(store, _)| store);
        Path::new(place).exists() || Path::new(store).exists()
    };
    let mut signs = text.match_indices('@').map(|(at, _)| at).chain([text.len()]);
    let at = signs.find(|&at| is_store(&text[..at])).or_else(|| text.find('@'));
    match at.filter(|&at| at < text.len()) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_39_at_signs_may_be_in_names_of_stores_and_in_values() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name).display().to_string();
        for name in ["plain.db", "c@d.db"] {
            std::fs::write(at(name), "").expect("written");
            let store = at(name);
            assert_eq!(split_part(&store), (store.as_str(), None));
            for place in [store.clone(), format!("{store}:2")] {
                let text = format!("{place}@type=a@b");
                assert_eq!(split_part(&text), (place.as_str(), Some("type=a@b")));
            }
        }
        assert_eq!(split_part("@type=a@b"), ("", Some("type=a@b")));
        assert_eq!(split_part("3@type=a@b"), ("3", Some("type=a@b")));
        assert_eq!(split_part("3"), ("3", None));
    }
}
