//! `raidlab compare`: two runs against one another.

use super::output::Output;
use super::{print_with, show, stored};
use crate::cli::{CompareArguments, ComparisonFormat, run_choice};
use crate::expected::ExpectedError;
use crate::progress::note;
use report::ComparedSide;
use serde_json::{Value, json};
use stats::between::{Between, BetweenRow, Outcome, RunSide, between};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::RunChoice;
use study::Measurement;
use study::plan::Plan;
use study::stack::MachineKind;

pub fn compare(arguments: &CompareArguments) -> Result<ExitCode, ExpectedError> {
    let (first, second) = (
        Side::read(&arguments.a, &arguments.store)?,
        Side::read(&arguments.b, &arguments.store)?,
    );
    Output::check(&arguments.output, Some(&first.path))?;
    let output = Output::check(&arguments.output, Some(&second.path))?;
    let between = between(first.of_run(), second.of_run());
    let sides = [&first, &second].map(|side| ComparedSide {
        name: &side.name,
        is_simulated: side.is_simulated,
    });
    match (arguments.format, &output) {
        (ComparisonFormat::Text, Output::Standard) => {
            let options = show::options();
            print_with(&report::comparison(&between, sides, options), show::colours(options))?;
        }
        (ComparisonFormat::Text, _) => {
            output.write(&report::comparison(&between, sides, show::options_of_files()))?;
        }
        (ComparisonFormat::Json, _) => output.write(&format!("{:#}\n", export(&first, &second, &between)))?,
        (ComparisonFormat::Html, _) => output.write(&report::comparison_html(&between, sides))?,
    }
    if output.file().is_some() {
        note(&format!("raidlab: the comparison is in {}", arguments.output.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// A run, or the part of it with one value on an axis.
struct Side {
    /// What it is, in words.
    name: String,
    path: PathBuf,
    plan: Plan,
    measurements: Vec<Measurement>,
    is_simulated: bool,
}

impl Side {
    /// `STORE`, `STORE:RUN` or `RUN`, and after an `@` what part of it: `AXIS=VALUE`.
    fn read(text: &str, default_store: &Path) -> Result<Self, ExpectedError> {
        let (place, part) = match text.split_once('@') {
            Some((place, part)) => (place, Some(part)),
            None => (text, None),
        };
        let (path, run) = place_of(place, default_store);
        let (store, run) = stored::open(&path, run.as_ref())?;
        let failed = ExpectedError::StoreUnderWay;
        let mut plan = store.plan(run.id).map_err(failed)?;
        if let Some(part) = part {
            study_file::Only::parse(&[part], &plan)?.keep_in(&mut plan);
        }
        let part = part.map(|part| format!(", {part}")).unwrap_or_default();
        Ok(Self {
            name: format!("run {} of {}{part}: {}", run.id.0, path.display(), run.title),
            measurements: store.samples(run.id).map_err(failed)?,
            is_simulated: run.machine == MachineKind::Lab,
            plan,
            path,
        })
    }

    fn of_run(&self) -> RunSide<'_> {
        RunSide {
            plan: &self.plan,
            measurements: &self.measurements,
        }
    }
}

fn place_of(place: &str, default_store: &Path) -> (PathBuf, Option<RunChoice>) {
    let store = Path::new(place);
    let choice = run_choice(place);
    if let Ok(RunChoice::Number(_)) = choice {
        return (default_store.to_owned(), choice.ok());
    }
    // A file may have a colon in its name.
    if store.exists() {
        return (store.to_owned(), None);
    }
    match place.rsplit_once(':').map(|(path, run)| (path, run_choice(run))) {
        Some((path, Ok(run))) => (PathBuf::from(path), Some(run)),
        _ if place.is_empty() => (default_store.to_owned(), None),
        // What looks like a file is one that is missing.
        _ if place.contains(['/', '.']) => (store.to_owned(), None),
        _ => (default_store.to_owned(), choice.ok()),
    }
}

fn export(first: &Side, second: &Side, between: &Between) -> Value {
    json!({
        "format": "raidlab-comparison",
        "format_version": 1,
        "a": { "name": first.name, "simulated": first.is_simulated },
        "b": { "name": second.name, "simulated": second.is_simulated },
        "rows": between.rows.iter().map(row).collect::<Vec<_>>(),
        "only_in_a": between.only_first,
        "only_in_b": between.only_second,
    })
}

fn row(row: &BetweenRow) -> Value {
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
            Outcome::EqualWithin(share) => Some(share),
            _ => None,
        },
    })
}
