//! Progress of a study that runs in several stores, from the stores alone.

use crate::Error;
use crate::store_parts::{self, PartsError};
use runner::{Outlook, Pace};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::{Part, RunSummary};
use study::Shard;

/// The selected stores: in a folder those of its tasks, without the merged one.
fn stores(places: &[PathBuf]) -> Result<Vec<PathBuf>, PartsError> {
    let mut stores = Vec::new();
    for place in places {
        if !place.is_dir() {
            stores.push(place.clone());
            continue;
        }
        let failed = |source| PartsError::Folder {
            folder: place.clone(),
            source,
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(place).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            files.extend(
                path.extension()
                    .is_some_and(|extension| extension == "db")
                    .then_some(path),
            );
        }
        let is_part = |path: &PathBuf| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("part-"))
        };
        if files.iter().any(is_part) {
            files.retain(is_part);
        }
        if files.is_empty() {
            return Err(PartsError::NoStores { folder: place.clone() });
        }
        stores.extend(files);
    }
    Ok(stores)
}

/// Progress of a study.
pub struct StudyStatus {
    title: String,
    seed: u64,
    is_fixed: bool,
    rows: Vec<Row>,
}

/// A shard, or a machine.
struct Row {
    name: String,
    shard: Option<Shard>,
    store: Option<PathBuf>,
    state: &'static str,
    outlook: Outlook,
    left: Option<Duration>,
}

impl StudyStatus {
    /// Reads the stores, or those in the folders of jobs.
    pub fn read(places: &[PathBuf]) -> Result<StudyStatus, Error> {
        let mut found = Vec::new();
        let mut without_run = Vec::new();
        let mut known = HashSet::new();
        for path in stores(places)? {
            // One store under two names is counted once.
            if !known.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
                continue;
            }
            match store_parts::read(&path)?.pop() {
                Some(part) => found.push(part),
                None => without_run.push(path),
            }
        }
        let Some(first) = found.first() else {
            let path = without_run.swap_remove(0);
            return Err(PartsError::NoRun { path }.into());
        };
        for other in &found[1..] {
            Part::check_same_study(first, other).map_err(PartsError::NotShown)?;
        }
        Self::of(&found)
    }

    fn of(parts: &[Part]) -> Result<StudyStatus, Error> {
        let mut pace = Pace::default();
        let mut rows = Vec::new();
        let mut is_fixed = true;
        for part in parts {
            let (store, run) = (part.snapshot.store(), &part.run);
            let plan = store.plan(run.id)?;
            let trials = store.trials(run.id)?;
            pace.add(&plan, &trials);
            rows.push(Row {
                name: name_of(run, &part.path),
                shard: run.shard,
                store: Some(part.path.clone()),
                state: match (run.finished_at_unix_s, part.snapshot.is_being_written(run.id)) {
                    (Some(_), _) => "finished",
                    (None, true) => "running",
                    (None, false) => "stopped",
                },
                outlook: Outlook::of(&plan, run, &trials, store.samples(run.id)?),
                left: None,
            });
            is_fixed = runner::is_fixed(&plan.precision);
        }
        rows.extend(not_begun(&parts[0], &rows)?);
        rows.sort_by(|a, b| (a.shard, &a.name).cmp(&(b.shard, &b.name)));
        for row in &mut rows {
            row.left = match row.state {
                "finished" => Some(Duration::ZERO),
                _ => pace.time_of(row.outlook.left_us),
            };
        }
        Ok(StudyStatus {
            title: parts[0].run.title.clone(),
            seed: parts[0].run.seed,
            is_fixed,
            rows,
        })
    }

    fn sum(&self, number: impl Fn(&Outlook) -> u64) -> u64 {
        self.rows.iter().map(|row| number(&row.outlook)).sum()
    }

    fn is_finished(&self) -> bool {
        self.rows.iter().all(|row| row.state == "finished")
    }

    /// Remaining time of one processor, and with one per shard; `None` if no trial has ended yet.
    fn left(&self) -> Option<(Duration, Duration)> {
        let lefts: Option<Vec<Duration>> = self.rows.iter().map(|row| row.left).collect();
        let lefts = lefts?;
        Some((lefts.iter().sum(), lefts.into_iter().max().unwrap_or_default()))
    }

    pub fn text(&self) -> String {
        let (done, failed, known) = (self.sum(|o| o.done), self.sum(|o| o.failed), self.sum(|o| o.known));
        let percent = 100 * (done + failed) / known.max(1);
        let so_far = if self.is_fixed { "" } else { " known so far" };
        let mut text = format!(
            "{}, seed {}: {done} of {known} trials{so_far} done ({percent} %), {failed} failed\n",
            self.title, self.seed
        );
        text.push_str(&match (self.is_finished(), self.left()) {
            (true, _) => "finished\n".to_owned(),
            (false, Some((all, longest))) => format!(
                "time left: {} on one core, {} if all shards run at the same time\n",
                report::clock(all),
                report::clock(longest)
            ),
            (false, None) => "time left: not known before the first trial is done\n".to_owned(),
        });
        let width = self
            .rows
            .iter()
            .map(|row| row.name.chars().count())
            .max()
            .unwrap_or(0)
            .max(5);
        text.push_str(&format!(
            "\n{:<width$}  {:>7}  {:>7}  {:>6}  {:<9}  left\n",
            "shard", "done", "of", "failed", "state"
        ));
        for row in &self.rows {
            text.push_str(&format!(
                "{:<width$}  {:>7}  {:>7}  {:>6}  {:<9}  {}\n",
                row.name,
                row.outlook.done,
                row.outlook.known,
                row.outlook.failed,
                row.state,
                row.left.map_or_else(|| "not known".to_owned(), report::clock),
            ));
        }
        text
    }

    pub fn json(&self) -> Value {
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        let left = self.left();
        json!({
            "format": "raidlab-status",
            "format_version": 1,
            "title": self.title,
            "seed": self.seed,
            "finished": self.is_finished(),
            "trials_done": self.sum(|o| o.done),
            "trials_failed": self.sum(|o| o.failed),
            "trials_known": self.sum(|o| o.known),
            "trials_fixed": self.is_fixed,
            "expected_left_s": seconds(left.map(|left| left.0)),
            "expected_left_parallel_s": seconds(left.map(|left| left.1)),
            "shards": self.rows.iter().map(|row| json!({
                "shard": row.shard,
                "name": row.name,
                "store": row.store.as_ref().map(|path| path.display().to_string()),
                "state": row.state,
                "trials_done": row.outlook.done,
                "trials_failed": row.outlook.failed,
                "trials_known": row.outlook.known,
                "expected_left_s": seconds(row.left),
            })).collect::<Vec<_>>(),
        })
    }
}

/// The shard, the name of a run on a machine, or else the store.
fn name_of(run: &RunSummary, path: &Path) -> String {
    match (run.shard, &run.name) {
        (Some(shard), _) => shard.to_string(),
        (None, Some(name)) => name.clone(),
        (None, None) => path.display().to_string(),
    }
}

/// Shards without a store.
fn not_begun(part: &Part, rows: &[Row]) -> Result<Vec<Row>, Error> {
    let run = &part.run;
    let Some(count) = run.shard.map(Shard::count) else {
        return Ok(Vec::new());
    };
    let has = |shard: Shard| rows.iter().any(|row| row.shard == Some(shard));
    let shards = (1..=count).filter_map(|number| Shard::new(number, count));
    let absent: Vec<Shard> = shards.filter(|shard| !has(*shard)).collect();
    if absent.is_empty() {
        return Ok(Vec::new());
    }
    // Read again instead of kept: the plan of a large study is large.
    let plan = part.snapshot.store().plan(run.id)?;
    let waiting = |shard: Shard| {
        let run = RunSummary {
            shard: Some(shard),
            ..run.clone()
        };
        Row {
            name: shard.to_string(),
            shard: Some(shard),
            store: None,
            state: "waiting",
            outlook: Outlook::of(&plan, &run, &[], Vec::new()),
            left: None,
        }
    };
    Ok(absent.into_iter().map(waiting).collect())
}
