//! Whether parts belong to one run: everything that results depend on must be the same.

use super::{MergeError, Part};
use crate::record::{RunId, RunSummary};
use crate::{Result, Store};
use std::collections::HashMap;
use study::plan::Plan;
use study::stack::MachineKind;

type Checked = std::result::Result<(), MergeError>;

/// Extracts the compared part of a value.
type ValueOf<'a> = &'a dyn Fn(String) -> String;

/// A value, and the trial that has it.
type Found = (String, i64);

/// Rejects a part that is not of the same run as the first.
pub(super) fn check_same(first: &Part, other: &Part) -> Checked {
    check_same_study(first, other)?;
    if first.plan_json()? == other.plan_json()? {
        return Ok(());
    }
    let models = |part: &Part| -> Result<String> { Ok(models(&part.snapshot.store().plan(part.run.id)?)) };
    let what = "the cells of the study are not the same: its disks are";
    Err(different(first, other, what, models(first)?, models(other)?))
}

fn different(first: &Part, other: &Part, what: &'static str, one_value: String, other_value: String) -> MergeError {
    MergeError::Different {
        one: first.path.clone(),
        other: other.path.clone(),
        what,
        one_value,
        other_value,
    }
}

/// Rejects a part with another study, seed or build than the first; the machine may differ.
pub(super) fn check_same_study(first: &Part, other: &Part) -> Checked {
    let (a, b) = (&first.run, &other.run);
    let study = |run: &RunSummary| {
        let sha256 = run.study_sha256.get(..12).unwrap_or(&run.study_sha256);
        format!("`{}` (SHA-256 {sha256}…)", run.title)
    };
    let facts = [
        ("the study is", study(a), study(b)),
        ("the seed is", a.seed.to_string(), b.seed.to_string()),
        ("the trials ran", place(a.machine), place(b.machine)),
        ("the selected part of the study is", only(a), only(b)),
        (
            "raidlab's build is",
            a.raidlab_version.clone(),
            b.raidlab_version.clone(),
        ),
    ];
    for (what, one_value, other_value) in facts {
        if one_value != other_value {
            return Err(different(first, other, what, one_value, other_value));
        }
    }
    Ok(())
}

fn place(machine: MachineKind) -> String {
    match machine {
        MachineKind::Lab => "in the lab",
        MachineKind::Host => "on a host",
        MachineKind::Foreign => "elsewhere (imported)",
    }
    .to_owned()
}

fn only(run: &RunSummary) -> String {
    if run.only.is_empty() {
        return "all of it".to_owned();
    }
    let pairs: Vec<String> = run.only.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
    pairs.join(",")
}

fn models(plan: &Plan) -> String {
    let groups = plan.cells.iter().flat_map(|cell| &cell.machine.disks);
    let model = |group: &study::stack::DiskGroup| match &group.model_sha256 {
        Some(sha256) => format!("{} (SHA-256 {}…)", group.model, sha256.get(..12).unwrap_or(sha256)),
        None => group.model.clone(),
    };
    let processors = plan.cells.iter().filter_map(|cell| cell.machine.processor.as_ref());
    let own = processors.filter_map(|processor| {
        let sha256 = processor.model_sha256.as_ref()?;
        Some(format!(
            "{} (SHA-256 {}…)",
            processor.model,
            sha256.get(..12).unwrap_or(sha256)
        ))
    });
    let mut models: Vec<String> = groups.map(model).chain(own).collect();
    models.sort_unstable();
    models.dedup();
    models.join(", ")
}

impl Store {
    /// Kernels and packages of the same name must be the same in all parts, and all trials of a cell must have the
    /// same origin.
    pub(super) fn check_origins(&self, parts: &[&Part], run: RunId, part_of: &HashMap<i64, usize>) -> Checked {
        let kernel_of = |origin: String| {
            let kernel = origin.split(", ").find(|item| item.starts_with("kernel "));
            kernel.map(str::to_owned).unwrap_or(origin)
        };
        let checks: [(&'static str, &str, ValueOf<'_>); 4] = [
            (
                "the kernel of the same name is",
                "SELECT value, origin, min(trial.id) FROM trial JOIN provenance ON trial_id = trial.id
                 WHERE run_id = ?1 AND key = 'kernel.name' GROUP BY 1, 2 ORDER BY 3",
                &kernel_of,
            ),
            // Stores of earlier versions have it, while their origin has only the hash of the sources.
            (
                "the image of the kernel of the same name has the SHA-256",
                "SELECT name.value, image.value, min(name.trial_id) FROM trial
                 JOIN provenance AS name ON name.trial_id = trial.id AND name.key = 'kernel.name'
                 JOIN provenance AS image ON image.trial_id = trial.id AND image.key = 'file.linux'
                 WHERE run_id = ?1 GROUP BY 1, 2 ORDER BY 3",
                &|sha256| sha256,
            ),
            (
                "the guests' programs are of",
                "SELECT key, value, min(trial.id) FROM trial JOIN provenance ON trial_id = trial.id
                 WHERE run_id = ?1 AND key LIKE '%.packages' GROUP BY 1, 2 ORDER BY 3",
                &|packages| packages,
            ),
            (
                "the trials of a cell were measured by",
                "SELECT cell_id, coalesce(origin, 'an unknown machine'), min(id) FROM trial
                 WHERE run_id = ?1 GROUP BY 1, 2 ORDER BY 3",
                &|origin| origin,
            ),
        ];
        for (what, sql, value_of) in checks {
            let mut known: HashMap<String, Found> = HashMap::new();
            for (name, value, trial) in self.facts(sql, run)? {
                let found = (value_of(value), trial);
                let before = known.entry(name).or_insert_with(|| found.clone());
                if before.0 != found.0 {
                    return Err(MergeError::Different {
                        one: parts[part_of[&before.1]].path.clone(),
                        other: parts[part_of[&found.1]].path.clone(),
                        what,
                        one_value: before.0.clone(),
                        other_value: found.0,
                    });
                }
            }
        }
        Ok(())
    }

    /// Names with their values, and the first trial that has them.
    fn facts(&self, sql: &str, run: RunId) -> Result<Vec<(String, String, i64)>> {
        let rows = self.connection.prepare(sql).and_then(|mut statement| {
            let rows = statement.query_map([run.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            rows.collect()
        });
        self.checked(rows)
    }
}
