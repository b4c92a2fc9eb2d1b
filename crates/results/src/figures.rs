//! A run's results as JSON: figures with their intervals and ranks, and the verdicts on claims. The samples
//! themselves: `raidlab export`.

use crate::claims;
use report::{Advice, Input, Scoreboard, Warnings};
use serde_json::{Value, json};
use stats::{Closeness, Measure, Row, TestResults};
use study::stack::MachineKind;

/// A run's results. `format_version` is increased when a field is removed or changes its meaning.
pub fn as_json(input: &Input) -> Value {
    let results = input.results();
    let part = input
        .part
        .as_ref()
        .map(|part| json!({ "all_stacks": part.all_stacks, "only": part.only }));
    let warnings = input.warnings();
    let board = input.scoreboard(&results, &warnings);
    let workload = |workload: &stats::WorkloadResults| {
        let tests = workload.tests.iter().chain(&workload.counts);
        json!({
            "workload": workload.name,
            "warnings": warnings.of_ranking(&workload.name),
            "tests": tests.map(|it| test(input, it)).collect::<Value>(),
        })
    };
    let of_run = [warnings.run.clone(), input.advice.clone(), report::limits(input)].concat();
    json!({
        "format": "raidlab-results",
        "format_version": 1,
        "title": input.plan.title,
        "machine": store::machine_mark(input.run.machine),
        "simulated": input.run.machine == MachineKind::Lab,
        "seed": input.run.seed,
        "digest_sha256": input.run.digest_sha256,
        "finished": input.run.finished_at_unix_s.is_some(),
        "part": part,
        "verdict": report::verdict(input, &results, &board),
        "scoreboard": scoreboard(&board),
        "claims": claims::as_json(&input.plan, &input.samples, &warnings),
        "tables": tables(input, &warnings),
        "workloads": results.workloads.iter().map(workload).collect::<Value>(),
        "warnings": of_run,
    })
}

/// Each stack against the best of each test, the smallest largest loss first; `recommended` names stacks that are not shown to
/// lose more than one another, and is empty if none is recommended.
fn scoreboard(board: &Scoreboard) -> Value {
    let recommended: Vec<&str> = match &board.advice {
        Advice::Build(choice) => choice
            .leaders
            .iter()
            .map(|&row| board.rows[row].stack.as_str())
            .collect(),
        _ => Vec::new(),
    };
    let column = |column: &report::Column| json!({ "workload": column.workload, "test": column.test });
    let score = |score: &report::Score| {
        json!({
            "ratio": score.ratio,
            "low": score.interval.map(|interval| interval.low),
            "high": score.interval.map(|interval| interval.high),
            "excluded": score.excluded,
        })
    };
    let row = |row: &report::ScoreRow| {
        json!({
            "stack": row.stack,
            "smallest_ratio": row.worst_score().and_then(|score| score.ratio),
            "usable_disks": row.layout.usable,
            "disks_that_may_fail": row.layout.survives,
            "scores": row.scores.iter().map(score).collect::<Value>(),
        })
    };
    json!({
        "columns": board.columns.iter().map(column).collect::<Value>(),
        "stacks": board.rows.iter().map(row).collect::<Value>(),
        "recommended": recommended,
    })
}

/// The study's tables, with reasons to doubt their ratios.
fn tables(input: &Input, warnings: &Warnings) -> Value {
    let tables = input.plan.tables.iter().enumerate();
    tables
        .map(|(at, table)| json!({ "title": table.title, "warnings": warnings.of_table(at) }))
        .collect()
}

fn test(input: &Input, test: &TestResults) -> Value {
    let measures = test.measures.iter().map(|it| measure(input, it));
    json!({ "test": test.name, "metrics": measures.collect::<Value>() })
}

fn measure(input: &Input, measure: &Measure) -> Value {
    let rank = |place: usize| measure.ranking.tiers.iter().position(|tier| tier.contains(&place));
    let rows = measure.rows.iter().enumerate().filter(|(_, row)| has_values(row));
    let (equal_within, may_differ_by) = match measure.ranking.leaders {
        Closeness::Alone => (None, None),
        Closeness::EqualWithin(share) => (Some(share), None),
        Closeness::MayDiffer(share) => (None, Some(share)),
    };
    json!({
        "metric": measure.metric.name(),
        "unit": measure.metric.unit().name(),
        "better": measure.metric.better().name(),
        "leaders_equal_within": equal_within,
        "leaders_may_differ_by": may_differ_by,
        "stacks": rows.map(|(place, it)| row(input, it, rank(place))).collect::<Value>(),
    })
}

fn has_values(row: &Row) -> bool {
    !row.values.is_empty() || !row.excluded.is_empty()
}

/// `rank` is an index of the ranking's tiers; it is printed from 1. Stacks that cannot be distinguished share one.
fn row(input: &Input, row: &Row, rank: Option<usize>) -> Value {
    let summary = row.summary.as_ref();
    let interval = summary.and_then(|summary| summary.interval);
    let cell = row.cell.and_then(|cell| input.plan.cell(cell));
    json!({
        "stack": row.stack,
        "cell": cell.map(|cell| cell.key.as_str()),
        "median": summary.map(|summary| summary.median),
        "low": interval.map(|interval| interval.low),
        "high": interval.map(|interval| interval.high),
        "min": summary.map(|summary| summary.min),
        "max": summary.map(|summary| summary.max),
        "trials": summary.map_or(0, |summary| summary.n),
        "excluded": row.excluded.len(),
        "rank": rank.map(|rank| rank + 1),
    })
}
