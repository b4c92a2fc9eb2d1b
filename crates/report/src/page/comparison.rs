//! The page of a comparison: a sentence, a table with all ratios on one axis, and the cells that only one run has.

use crate::chart::Band;
use crate::chart::scale::{Scale, with_intervals};
use crate::page::{STYLE, rendered};
use crate::words;
use crate::words::comparison::{
    ComparedSide, cell_words, figure, interval_words, notes, outcome_words, ratio_words, summary,
};
use serde::Serialize;
use stats::run_comparison::{ComparisonOutcome, ComparisonRow, RunComparison};

const TEMPLATE: &str = include_str!("../../assets/comparison.html.jinja");

/// The narrowest track: the table on a desktop screen.
const TRACK_PX: f64 = 190.0;

/// Longer tables show the axis at their end as well.
const ROWS_PER_AXIS: usize = 10;

/// The comparison of B with A as one HTML document.
pub fn comparison_html(comparison: &RunComparison, sides: [ComparedSide<'_>; 2]) -> String {
    let scale = scale(&comparison.rows);
    let labelled = scale.fitting(TRACK_PX, |tick| scale.label(tick));
    let tick = |(&tick, has_label): (&f64, bool)| AxisTick {
        percent: scale.percent(tick),
        label: if has_label { scale.label(tick) } else { String::new() },
        is_one: tick == 1.0,
    };
    let names = ["A", "B"];
    let only = names.into_iter().zip([&comparison.only_first, &comparison.only_second]);
    rendered(
        TEMPLATE,
        &Page {
            style: STYLE,
            summary: summary(comparison),
            sides: names.into_iter().zip(sides.map(|side| side.name)).collect(),
            simulated: simulated(sides),
            ticks: scale.ticks.iter().zip(labelled).map(tick).collect(),
            has_ratios: comparison.rows.iter().any(|row| row.ratio.is_some()),
            has_second_axis: comparison.rows.len() > ROWS_PER_AXIS,
            cells: cells(&comparison.rows, &scale),
            only: only.filter(|(_, keys)| !keys.is_empty()).collect(),
            notes: notes(comparison),
        },
    )
}

#[derive(Serialize)]
struct Page<'a> {
    style: &'static str,
    summary: String,
    /// `A` and `B` with their names.
    sides: Vec<(&'static str, &'a str)>,
    /// Which figures are simulated; empty if all were measured.
    simulated: &'static str,
    ticks: Vec<AxisTick>,
    has_ratios: bool,
    has_second_axis: bool,
    cells: Vec<CellRows>,
    /// The side, and the keys of its cells that the other one lacks.
    only: Vec<(&'static str, &'a Vec<String>)>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct AxisTick {
    percent: f64,
    /// Empty if there is no room.
    label: String,
    is_one: bool,
}

/// The tests of one pair of cells.
#[derive(Serialize)]
struct CellRows {
    cell: String,
    rows: Vec<PageRow>,
}

#[derive(Serialize)]
struct PageRow {
    test: String,
    /// The metric, its unit, and its direction.
    measured: String,
    a: String,
    b: String,
    ratio: String,
    interval: String,
    ratio_percent: Option<f64>,
    band: Option<Band>,
    outcome: String,
    sign: &'static str,
    class: &'static str,
}

fn simulated([a, b]: [ComparedSide<'_>; 2]) -> &'static str {
    match (a.is_simulated, b.is_simulated) {
        (true, true) => "A and B",
        (true, false) => "A only",
        (false, true) => "B only",
        (false, false) => "",
    }
}

/// One axis for all rows.
fn scale(rows: &[ComparisonRow]) -> Scale {
    let ratios: Vec<f64> = rows.iter().filter_map(|row| row.ratio).collect();
    let least = ratios.iter().copied().fold(1.0, f64::min);
    let most = ratios.iter().copied().fold(1.0, f64::max);
    let (low, high) = with_intervals((least, most), rows.iter().filter_map(|row| row.interval));
    Scale::around_one(low, high)
}

fn cells(rows: &[ComparisonRow], scale: &Scale) -> Vec<CellRows> {
    let is_same = |one: &ComparisonRow, next: &ComparisonRow| cell_words(one) == cell_words(next);
    rows.chunk_by(is_same)
        .map(|rows| CellRows {
            cell: cell_words(&rows[0]),
            rows: rows.iter().map(|row| page_row(row, scale)).collect(),
        })
        .collect()
}

fn page_row(row: &ComparisonRow, scale: &Scale) -> PageRow {
    let (sign, class) = match row.outcome {
        ComparisonOutcome::Faster => ("▲", "faster"),
        ComparisonOutcome::Slower => ("▼", "slower"),
        ComparisonOutcome::EqualWithin(_) => ("=", "equal"),
        ComparisonOutcome::NotShown => ("?", "noise"),
        ComparisonOutcome::TooFewTrials => ("–", "few"),
    };
    PageRow {
        test: row.test.clone(),
        measured: format!(
            "{}, {}",
            words::measured(row.metric),
            words::better(row.metric.better())
        ),
        a: figure(row.first.as_ref()),
        b: figure(row.second.as_ref()),
        ratio: ratio_words(row),
        interval: interval_words(row),
        ratio_percent: row.ratio.map(|ratio| scale.percent(ratio)),
        band: row.interval.map(|interval| Band::of(interval, scale)),
        outcome: outcome_words(row.outcome),
        sign,
        class,
    }
}
