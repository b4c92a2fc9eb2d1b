//! The runs of a store as `raidlab runs` lists them, as text and as JSON.

use serde_json::{Value, json};
use store::RunSummary;
use study::stack::MachineKind;

/// A line for each run, followed by its part of the matrix if it is restricted to one.
pub fn runs_text(runs: &[RunSummary]) -> String {
    let mut text = format!(
        "{:>4}  {:<20}  {:<8}  {:>6}  {:>6}  {:<6}  title\n",
        "run", "began", "where", "trials", "failed", "seed"
    );
    for run in runs {
        text.push_str(&format!(
            "{:>4}  {:<20}  {:<8}  {:>6}  {:>6}  {:<6}  {}{}\n",
            run.id.0,
            report::time(run.started_at_unix_s),
            place(run.machine),
            run.trials_done,
            run.trials_failed,
            run.seed,
            run.title,
            if run.finished_at_unix_s.is_some() {
                ""
            } else {
                " (unfinished)"
            },
        ));
        if let Some(name) = &run.name {
            text.push_str(&format!("      name {name}\n"));
        }
        if let Some(shard) = run.shard {
            text.push_str(&format!("      shard {shard}\n"));
        }
        if !run.only.is_empty() {
            let pairs: Vec<String> = run.only.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
            text.push_str(&format!("      only {}\n", pairs.join(",")));
        }
    }
    text
}

const fn place(machine: MachineKind) -> &'static str {
    match machine {
        MachineKind::Lab => "lab",
        MachineKind::Host => "host",
        MachineKind::Foreign => "imported",
    }
}

/// The runs as JSON.
pub fn runs_json(runs: &[RunSummary]) -> Value {
    runs.iter().map(as_json).collect()
}

fn as_json(run: &RunSummary) -> Value {
    json!({
        "run": run.id.0,
        "name": run.name,
        "title": run.title,
        "machine": place(run.machine),
        "seed": run.seed,
        "only": run.only,
        "shard": run.shard,
        "raidlab_version": run.raidlab_version,
        "command": run.command,
        "started_at_unix_s": run.started_at_unix_s,
        "finished_at_unix_s": run.finished_at_unix_s,
        "trials_done": run.trials_done,
        "trials_failed": run.trials_failed,
    })
}
