//! Measurements: a chart and a table for each workload, and all figures behind them.

use super::disks::{Disks, disks};
use crate::chart::latency_histogram::{LatencyHistogram, latency_histogram};
use crate::chart::over_time::{OverTime, over_time};
use crate::chart::sweep::{Sweep, sweeps};
use crate::chart::{Chart, chart, effects, in_order};
use crate::input::Input;
use crate::scoreboard::sentences;
use crate::words;
use crate::words::figure::{decimals, nanoseconds, number, shown};
use crate::words::warnings::Warnings;
use serde::Serialize;
use stats::{Basis, LatencyBin, Measure, Results, WorkloadResults};
use study::event::{Latency, Throughput};
use study::plan::Cell;
use study::stack::MachineKind;

/// With more lines in all charts together they are folded: the scoreboard has the answer.
const LINES_MAX: usize = 60;

/// A section: a workload, or all points of a sweep.
#[derive(Serialize)]
pub(super) struct Group {
    title: String,
    /// The text under the heading of a sweep.
    work: String,
    sweep: Option<Sweep>,
    workloads: Vec<Workload>,
    /// The page has many charts: each is a click away.
    is_folded: bool,
}

impl Group {
    pub(super) fn title(&self) -> &str {
        &self.title
    }
}

#[derive(Serialize)]
pub(super) struct Workload {
    name: String,
    /// Prefix of the ids of its elements.
    anchor: String,
    /// All its tests are on the maps above, so it is folded.
    is_folded: bool,
    work: String,
    /// Reasons to doubt its ranking.
    warnings: Vec<String>,
    /// Tests in which stacks share the first rank although their figures differ.
    ties: Vec<String>,
    chart: Chart,
    ranking: Vec<Ranked>,
    disks: Disks,
    table: Table,
    figures: Vec<Figure>,
    latencies: Vec<LatencyRow>,
    latency_histograms: Vec<LatencyHistogram>,
    over_time: Vec<OverTime>,
}

/// A line of the ranking.
#[derive(Serialize)]
struct Ranked {
    test: String,
    tier: usize,
    stack: String,
    figure: String,
    uncertainty: String,
    unit: String,
    effect: String,
    interval: String,
    is_best: bool,
}

#[derive(Serialize)]
struct Table {
    columns: Vec<Column>,
    rows: Vec<(String, Vec<TableCell>)>,
    has_best: bool,
}

#[derive(Serialize)]
struct Column {
    test: String,
    unit: String,
}

#[derive(Serialize)]
struct TableCell {
    figure: String,
    uncertainty: String,
    is_best: bool,
    is_missing: bool,
}

/// One line of the full listing.
#[derive(Serialize)]
struct Figure {
    test: String,
    metric: String,
    unit: String,
    stack: String,
    n: usize,
    median: String,
    mean: String,
    min: String,
    max: String,
    interval: String,
}

/// Latencies of one operation on one stack, all trials together.
#[derive(Serialize)]
struct LatencyRow {
    test: String,
    operation: String,
    stack: String,
    count: String,
    /// p50, p90, p99, p99.9, max; or the reason why there are none.
    percentiles: Vec<String>,
}

/// In the study's order. The points of a sweep over a workload's own axes are one section.
pub(super) fn groups(input: &Input, results: &Results, warnings: &Warnings) -> Vec<Group> {
    let mut sweeps = sweeps(input, results);
    let mut groups: Vec<Group> = Vec::new();
    for (place, of_workload) in results.workloads.iter().enumerate() {
        let name = &of_workload.name;
        let cell = input.plan.cells.iter().find(|cell| cell.workload.name == *name);
        let base = cell.map_or(name.as_str(), Cell::workload_entry);
        if let Some(at) = sweeps.iter().position(|sweep| sweep.workload == base) {
            let sweep = sweeps.remove(at);
            groups.push(Group {
                title: base.to_owned(),
                work: String::new(),
                sweep: Some(sweep),
                workloads: Vec::new(),
                is_folded: false,
            });
        }
        let group = groups
            .iter_mut()
            .find(|group| group.sweep.is_some() && group.title == base);
        let is_folded = |sweep: &Sweep| sweep.covers.contains(name);
        let sweep = group.as_ref().and_then(|group| group.sweep.as_ref());
        let anchor = format!("w{place}");
        let mut workload = workload(input, of_workload, anchor, sweep.is_some_and(is_folded));
        workload.warnings = warnings.of_ranking(name);
        match group {
            Some(group) => group.workloads.push(workload),
            None => groups.push(Group {
                title: name.clone(),
                work: String::new(),
                sweep: None,
                workloads: vec![workload],
                is_folded: false,
            }),
        }
    }
    let lines = results
        .workloads
        .iter()
        .map(|workload| workload.tests.len())
        .sum::<usize>()
        * input.plan.stack_labels().len();
    for group in &mut groups {
        group.is_folded = lines > LINES_MAX;
        // The section's heading describes the only workload.
        if let [only] = group.workloads.as_slice() {
            group.work.clone_from(&only.work);
        }
    }
    groups
}

fn workload(input: &Input, workload: &WorkloadResults, anchor: String, is_folded: bool) -> Workload {
    let operations = by_operation(input, workload);
    Workload {
        name: workload.name.clone(),
        anchor,
        is_folded,
        work: description(input, workload),
        warnings: Vec::new(),
        ties: workload.tests.iter().filter_map(sentences::tie).collect(),
        chart: chart(input, workload),
        ranking: ranking(workload),
        disks: disks(input, workload),
        table: table(input, workload),
        figures: figures(workload),
        latencies: latency_rows(&operations),
        latency_histograms: latency_histograms(&operations),
        over_time: over_time_rows(input, workload),
    }
}

/// The stacks of each test that has a ranking, the best first.
fn ranking(workload: &WorkloadResults) -> Vec<Ranked> {
    let mut ranking = Vec::new();
    for test in &workload.tests {
        let measure = test.headline();
        let decimals = decimals(measure.rows.iter().filter_map(|row| row.summary.as_ref()));
        let effects = effects(measure);
        let placed = in_order(measure).into_iter().filter_map(|place| {
            let (row, effect) = (&measure.rows[place], &effects[place]);
            Some((row.summary.as_ref()?, effect.tier?, row, effect))
        });
        ranking.extend(placed.map(|(summary, tier, row, effect)| Ranked {
            test: test.name.clone(),
            tier,
            stack: row.stack.clone(),
            figure: shown(measure.metric, summary, decimals).0,
            uncertainty: shown(measure.metric, summary, decimals).1,
            unit: measure.metric.unit().to_string(),
            effect: effect.ratio.clone(),
            interval: effect.interval.clone(),
            is_best: tier == 1,
        }));
    }
    ranking
}

fn description(input: &Input, workload: &WorkloadResults) -> String {
    let cell = input.plan.cells.iter().find(|cell| cell.workload.name == workload.name);
    cell.map_or_else(String::new, |cell| match cell.machine.kind {
        MachineKind::Foreign => format!("imported results of {}; the workload is unknown", cell.workload.name),
        MachineKind::Lab | MachineKind::Host => cell.workload.describe(),
    })
}

fn table(input: &Input, workload: &WorkloadResults) -> Table {
    let headlines: Vec<&Measure> = workload.tests.iter().map(|test| test.headline()).collect();
    let columns = workload
        .tests
        .iter()
        .map(|test| Column {
            test: test.name.clone(),
            unit: test.headline().metric.unit().to_string(),
        })
        .collect();
    let rows = input
        .plan
        .stack_labels()
        .into_iter()
        .enumerate()
        .filter(|(_, stack)| input.has_cell(workload, stack))
        .map(|(place, stack)| {
            let cells = headlines
                .iter()
                .map(|measure| table_cell(input, measure, place))
                .collect();
            (stack.to_owned(), cells)
        })
        .collect();
    Table {
        columns,
        rows,
        has_best: headlines.iter().any(|measure| !measure.leaders().is_empty()),
    }
}

fn table_cell(input: &Input, measure: &Measure, place: usize) -> TableCell {
    let decimals = decimals(measure.rows.iter().filter_map(|row| row.summary.as_ref()));
    let row = &measure.rows[place];
    let (figure, uncertainty) = match &row.summary {
        Some(summary) => shown(measure.metric, summary, decimals),
        None => (input.without_figure(row).to_owned(), String::new()),
    };
    TableCell {
        figure,
        uncertainty,
        is_best: measure.leaders().contains(&place),
        is_missing: row.summary.is_none(),
    }
}

fn figures(workload: &WorkloadResults) -> Vec<Figure> {
    let mut figures = Vec::new();
    for test in workload.tests.iter().chain(&workload.counts) {
        for measure in &test.measures {
            let decimals = decimals(measure.rows.iter().filter_map(|row| row.summary.as_ref()));
            let rows = measure.rows.iter().filter_map(|row| Some((row, row.summary.as_ref()?)));
            figures.extend(rows.map(|(row, summary)| Figure {
                test: test.name.clone(),
                metric: words::metric(measure.metric),
                unit: measure.metric.unit().to_string(),
                stack: row.stack.clone(),
                n: summary.n,
                median: number(summary.median, decimals),
                mean: number(summary.mean, decimals),
                min: number(summary.min, decimals),
                max: number(summary.max, decimals),
                interval: summary.interval.map_or_else(
                    || "–".to_owned(),
                    |interval| {
                        format!(
                            "{} – {}",
                            number(interval.low, decimals),
                            number(interval.high, decimals)
                        )
                    },
                ),
            }));
        }
    }
    figures
}

/// The latencies of an operation in a test, by stack.
struct OfOperation<'a> {
    test: &'a str,
    operation: &'a str,
    stacks: Vec<(&'a str, Vec<&'a Latency>)>,
}

fn by_operation<'a>(input: &'a Input, workload: &'a WorkloadResults) -> Vec<OfOperation<'a>> {
    let stacks = input.plan.stack_labels();
    let cells = input.plan.cells_by_id();
    let mut all: Vec<OfOperation<'_>> = Vec::new();
    for row in input.latencies.iter().filter(|row| row.counts()) {
        let of_workload = |cell: &&&Cell| cell.workload.name == workload.name;
        let Some(cell) = cells.get(&row.trial.cell).filter(of_workload) else {
            continue;
        };
        let (test, operation) = (row.entry.test.as_str(), row.entry.operation.as_str());
        let place = all
            .iter()
            .position(|known| (known.test, known.operation) == (test, operation));
        let place = place.unwrap_or_else(|| {
            all.push(OfOperation {
                test,
                operation,
                stacks: stacks.iter().map(|stack| (*stack, Vec::new())).collect(),
            });
            all.len() - 1
        });
        let of_stack = all[place]
            .stacks
            .iter_mut()
            .find(|(stack, _)| *stack == cell.stack_label);
        of_stack.expect("the plan has the label of its cell").1.push(&row.entry);
    }
    // Sorted by test; within a test in the order of operations.
    all.sort_by_key(|one| workload.tests.iter().position(|known| known.name == one.test));
    all
}

fn latency_rows(operations: &[OfOperation<'_>]) -> Vec<LatencyRow> {
    let rows = operations
        .iter()
        .flat_map(|one| one.stacks.iter().map(move |of_stack| (one, of_stack)));
    rows.filter_map(|(one, (stack, latencies))| {
        let (count, percentiles) = match stats::merge_latencies(latencies.iter().copied()) {
            Ok(None) => return None,
            Ok(Some(all)) => {
                let times = [all.p50_ns, all.p90_ns, all.p99_ns, all.p999_ns, all.max_ns];
                (number(all.count as f64, 0), times.map(nanoseconds).to_vec())
            }
            Err(error) => ("–".to_owned(), vec![error.to_string()]),
        };
        Some(LatencyRow {
            test: one.test.to_owned(),
            operation: one.operation.to_owned(),
            stack: (*stack).to_owned(),
            count,
            percentiles,
        })
    })
    .collect()
}

/// Unreadable histograms are reported in the table.
fn latency_histograms(operations: &[OfOperation<'_>]) -> Vec<LatencyHistogram> {
    let of_operation = |one: &OfOperation<'_>| {
        let bins = |latencies: &[&Latency]| stats::latency_bins(latencies.iter().copied()).unwrap_or_default();
        let rows: Vec<(String, Vec<LatencyBin>)> = one
            .stacks
            .iter()
            .map(|(stack, latencies)| ((*stack).to_owned(), bins(latencies)))
            .collect();
        latency_histogram(one.test, one.operation, &rows)
    };
    operations.iter().filter_map(of_operation).collect()
}

/// Throughput over time for each test, from the first valid trial of each stack.
fn over_time_rows(input: &Input, workload: &WorkloadResults) -> Vec<OverTime> {
    let cells = input.plan.cells_by_id();
    let stacks = input.plan.stack_labels();
    let of_test = |test: &str| {
        let mut rows: Vec<(&str, &Throughput)> = Vec::new();
        for row in input
            .throughput
            .iter()
            .filter(|row| row.counts() && row.entry.test == test)
        {
            let of_workload = |cell: &&&Cell| cell.workload.name == workload.name;
            let Some(cell) = cells.get(&row.trial.cell).filter(of_workload) else {
                continue;
            };
            if !rows.iter().any(|(stack, _)| *stack == cell.stack_label) {
                rows.push((&cell.stack_label, &row.entry));
            }
        }
        rows.sort_by_key(|(stack, _)| stacks.iter().position(|known| known == stack));
        over_time(test, &rows)
    };
    workload.tests.iter().filter_map(|test| of_test(&test.name)).collect()
}

/// Notes on the figures, each only if it applies.
pub(super) fn notes(input: &Input, results: &Results) -> Vec<String> {
    let measures: Vec<&Measure> = results
        .workloads
        .iter()
        .flat_map(|workload| &workload.tests)
        .map(|test| test.headline())
        .collect();
    let bases: Vec<Basis> = measures
        .iter()
        .flat_map(|measure| &measure.rows)
        .filter_map(|row| Some(row.summary.as_ref()?.interval?.basis))
        .collect();
    let mut notes = vec![
        "Figures are medians of trials, ± half the width of the 95 % confidence interval of that median, or with both \
         ends of that interval where its half is more than a quarter of the median."
            .to_owned(),
    ];
    if bases.contains(&Basis::OrderStatistics) {
        notes.push(
            "With six trials or more the interval is based on order statistics and assumes no distribution."
                .to_owned(),
        );
    }
    if bases.contains(&Basis::LogNormal) {
        notes.push(
            "With fewer than six trials it is Student's t interval of the logarithms. It assumes log-normally \
             distributed values, which so few trials cannot verify."
                .to_owned(),
        );
    }
    if bases.contains(&Basis::Drawn) {
        notes.push(
            "Each trial has disks of another model, drawn from what is not known of them: intervals are of one such disk (Student's t \
             prediction interval of the logarithms), and more trials make them hardly narrower."
                .to_owned(),
        );
    }
    if bases.contains(&Basis::Identical) {
        notes.push(
            "(same): all trials gave this value. It does not depend on the seed, but may differ on other machines."
                .to_owned(),
        );
    }
    let looks = stats::looks(&input.plan.precision).len();
    if looks > 1 {
        let until = match input.plan.precision.claims {
            true => "claims were decided, or unlikely to be decided with the maximum number of trials",
            false => "intervals were narrow enough",
        };
        notes.push(format!(
            "Trials were added until {until}, with at most {looks} checks; intervals are widened so that all checks \
             together hold at 95 %."
        ));
    }
    notes.push(
        "A stack counts as best if no other is shown to be faster. Every pair of stacks is compared, by ratio and trial \
         by trial: two may differ although their intervals overlap, because the same files made both of them faster or \
         slower. If the spread of all stacks is larger than that of the pair, it is used instead. Holm's procedure \
         keeps the error of a test's ranking below 5 %."
            .to_owned(),
    );
    if measures.iter().any(|measure| measure.not_placed().next().is_some()) {
        notes
            .push("A figure without an interval comes from too few trials to rank it among the others.".to_owned());
    }
    if measures.iter().any(|measure| !measure.leaders().is_empty()) {
        notes.push(
            "The number before a stack is its rank; stacks of equal rank are not shown to differ, or each is slower \
             than the same number of others. The ratio behind a figure is the stack relative to the first of the \
             ranking, in the direction of better: 0.80× is a fifth less throughput, or a quarter more time. Its 95 % \
             interval is that of this pair alone."
                .to_owned(),
        );
    }
    let excluded: usize = measures
        .iter()
        .flat_map(|measure| &measure.rows)
        .map(|row| row.excluded.len())
        .sum();
    if excluded > 0 {
        notes.push(format!(
            "Samples whose guard failed ({excluded}) are drawn as crosses and excluded from all figures."
        ));
    }
    notes.extend(words::rebuild::note(input));
    notes.push("Percentiles are those of all trials' operations together; they are never averaged.".to_owned());
    notes.extend(words::latencies_without_processor(&input.plan));
    notes
}
