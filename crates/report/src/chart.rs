//! Charts as data: the position of each mark, in percent of its track. The template draws them; the browser
//! stretches them, so that one drawing serves a wide screen and a phone.
//!
//! A dot is a trial, a band the 95 % interval, a stroke the median. All panels of a workload with the same unit
//! share their scale.

pub(crate) mod latency_histogram;
pub(crate) mod over_time;
pub(crate) mod scale;
pub(crate) mod sweep;

use crate::chart::scale::{Scale, with_intervals};
use crate::input::Input;
use crate::words;
use crate::words::figure::{decimals, number, uncertainty};
use serde::Serialize;
use stats::{Interval, Measure, Row, TestResults, WorkloadResults, times_better};
use study::metric::Unit;

/// The narrowest tracks: two panels side by side, and on a phone.
const TRACK_PX: f64 = 200.0;
const PHONE_TRACK_PX: f64 = 95.0;

/// One workload: a panel per test.
#[derive(Debug, Serialize)]
pub(crate) struct Chart {
    pub panels: Vec<Panel>,
    pub scale_note: String,
}

/// One test: a row per stack.
#[derive(Debug, Serialize)]
pub(crate) struct Panel {
    pub test: String,
    /// The metric, its unit, and its direction.
    pub measured: String,
    pub ticks: Vec<Tick>,
    pub rows: Vec<PanelRow>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Tick {
    pub percent: f64,
    pub label: String,
    /// It fits on a desktop screen; on a phone not if it is minor.
    pub has_label: bool,
    pub is_minor: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct PanelRow {
    pub stack: String,
    /// In the first tier, if there is a second one.
    pub is_best: bool,
    /// 1 for the best, shared by those that are not shown to differ; `None` if nothing is ranked.
    pub tier: Option<usize>,
    /// `0.84×`: relative to the first of the ranking.
    pub effect: String,
    /// Text for screen readers.
    pub words: String,
    pub figure: String,
    pub uncertainty: String,
    pub median_percent: Option<f64>,
    pub band: Option<Band>,
    pub dots: Vec<Dot>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Band {
    pub low_percent: f64,
    pub high_percent: f64,
    /// It continues beyond the edge.
    pub is_cut_low: bool,
    pub is_cut_high: bool,
}

impl Band {
    pub(crate) fn of(interval: Interval, scale: &Scale) -> Self {
        Self {
            low_percent: scale.percent(interval.low),
            high_percent: scale.percent(interval.high),
            is_cut_low: !scale.contains(interval.low),
            is_cut_high: !scale.contains(interval.high),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Dot {
    pub percent: f64,
    /// Height in its row: trials are drawn above each other, so that equal values can be distinguished.
    pub height_percent: f64,
    pub title: String,
    pub is_excluded: bool,
}

pub(crate) fn chart(input: &Input, workload: &WorkloadResults) -> Chart {
    let measures: Vec<&Measure> = workload.tests.iter().map(|test| test.headline()).collect();
    // In the order of panels.
    let mut scales: Vec<(Unit, Scale)> = Vec::new();
    for unit in measures.iter().map(|measure| measure.metric.unit()) {
        if !scales.iter().any(|(known, _)| *known == unit) {
            scales.push((unit, shared_scale(&measures, unit)));
        }
    }
    let of_test = |test: &TestResults| {
        let unit = test.headline().metric.unit();
        let (_, scale) = scales.iter().find(|(known, _)| *known == unit)?;
        Some(panel(input, workload, &test.name, test.headline(), scale))
    };
    Chart {
        panels: workload.tests.iter().filter_map(of_test).collect(),
        scale_note: scale_note(&measures, &scales),
    }
}

/// The scale of all panels with this unit.
fn shared_scale(measures: &[&Measure], unit: Unit) -> Scale {
    let rows = || {
        measures
            .iter()
            .filter(|measure| measure.metric.unit() == unit)
            .flat_map(|measure| &measure.rows)
    };
    let values: Vec<f64> = rows()
        .flat_map(|row| row.values.iter().map(|one| one.entry.value))
        .collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if values.is_empty() {
        return Scale::spanning(0.0, 1.0);
    }
    let (low, high) = with_intervals((least, most), rows().filter_map(|row| row.summary.as_ref()?.interval));
    Scale::spanning(low, high)
}

fn scale_note(measures: &[&Measure], scales: &[(Unit, Scale)]) -> String {
    let note = |(unit, scale): &(Unit, Scale)| {
        let panels = measures.iter().filter(|measure| measure.metric.unit() == *unit).count();
        let kind = if scale.is_logarithmic {
            "logarithmic"
        } else {
            "linear, from zero"
        };
        match panels {
            1 => format!("{unit}: {kind}"),
            _ => format!("one scale for all panels in {unit}: {kind}"),
        }
    };
    scales.iter().map(note).collect::<Vec<String>>().join("; ")
}

fn panel(input: &Input, workload: &WorkloadResults, test: &str, measure: &Measure, scale: &Scale) -> Panel {
    let decimals = decimals(measure.rows.iter().filter_map(|row| row.summary.as_ref()));
    let ran = |row: &&Row| input.has_cell(workload, &row.stack);
    let effects = effects(measure);
    let rows = in_order(measure)
        .into_iter()
        .map(|place| (place, &measure.rows[place]))
        .filter(|(_, row)| ran(row))
        .map(|(place, row)| panel_row(input, measure, (place, row), &effects[place], scale, decimals))
        .collect();
    let tick = |(&value, (narrow, wide)): (&f64, (bool, bool))| Tick {
        percent: scale.percent(value),
        label: scale.label(value),
        has_label: wide,
        is_minor: wide && !narrow,
    };
    let labels = scale.fitting(PHONE_TRACK_PX, |tick| scale.label(tick));
    let labels = labels
        .into_iter()
        .zip(scale.fitting(TRACK_PX, |tick| scale.label(tick)));
    Panel {
        test: test.to_owned(),
        measured: format!(
            "{}, {}",
            words::measured(measure.metric),
            words::better(measure.metric.better())
        ),
        ticks: scale.ticks.iter().zip(labels).map(tick).collect(),
        rows,
    }
}

/// The best first if anything is ranked, unranked ones last; otherwise in the study's order.
pub(crate) fn in_order(measure: &Measure) -> Vec<usize> {
    let mut places: Vec<usize> = (0..measure.rows.len()).collect();
    if !measure.leaders().is_empty() {
        let ranked: Vec<usize> = measure.ranking.tiers.iter().flatten().copied().collect();
        let order = |place: &usize| ranked.iter().position(|one| one == place).unwrap_or(usize::MAX);
        // A stable sort: the others keep the study's order.
        places.sort_by_key(order);
    }
    places
}

/// A stack relative to the first of the ranking.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowEffect {
    pub tier: Option<usize>,
    /// `0.84×`.
    pub ratio: String,
    /// `0.81 to 0.87`.
    pub interval: String,
}

/// For each row; all empty if nothing is ranked.
pub(crate) fn effects(measure: &Measure) -> Vec<RowEffect> {
    if measure.leaders().is_empty() {
        return vec![RowEffect::default(); measure.rows.len()];
    }
    let effects = measure.effects();
    let median = |place: usize| Some(measure.rows[place].summary.as_ref()?.median);
    let best = measure.ranking.tiers.first().and_then(|tier| tier.first());
    let best = best.and_then(|&place| median(place));
    let of_medians = |place: usize| {
        let (own, best) = median(place).zip(best)?;
        Some(times_better(measure.metric.better(), own, best))
    };
    let of = |(place, effect): (usize, Option<stats::Effect>)| {
        let tier = measure.tier(place);
        let Some(effect) = effect else {
            let ratio = if tier.is_some() {
                "1×".to_owned()
            } else {
                String::new()
            };
            return RowEffect {
                tier,
                ratio,
                interval: String::new(),
            };
        };
        // As on the scoreboard.
        let ratio = of_medians(place).map_or_else(|| effect.ratio(), |ratio| effect.shown_ratio(ratio).min(1.0));
        let decimals = if ratio < 0.1 { 3 } else { 2 };
        let interval = effect.interval(stats::ALPHA);
        RowEffect {
            tier,
            ratio: format!("{}×", number(ratio, decimals)),
            interval: format!(
                "{} to {}",
                number(interval.low, decimals),
                number(interval.high, decimals)
            ),
        }
    };
    effects.into_iter().enumerate().map(of).collect()
}

fn panel_row(
    input: &Input,
    measure: &Measure,
    (place, row): (usize, &Row),
    effect: &RowEffect,
    scale: &Scale,
    decimals: usize,
) -> PanelRow {
    let figure = match &row.summary {
        Some(summary) => number(summary.median, decimals),
        None => input.without_figure(row).to_owned(),
    };
    let interval = row.summary.as_ref().and_then(|summary| summary.interval);
    PanelRow {
        stack: row.stack.clone(),
        is_best: measure.leaders().contains(&place),
        tier: effect.tier,
        effect: effect.ratio.clone(),
        words: row_words(measure, (place, row), effect, &figure, decimals),
        figure,
        uncertainty: row
            .summary
            .as_ref()
            .map_or_else(String::new, |summary| uncertainty(summary, decimals)),
        median_percent: row.summary.as_ref().map(|summary| scale.percent(summary.median)),
        band: interval.map(|interval| Band::of(interval, scale)),
        dots: dots(measure, row, scale, decimals),
    }
}

fn dots(measure: &Measure, row: &Row, scale: &Scale, decimals: usize) -> Vec<Dot> {
    let counted = row
        .values
        .iter()
        .map(|one| (one.entry.value, one.trial.seed, String::new()));
    let excluded = row.excluded.iter().map(|excluded| {
        (
            excluded.entry.value,
            excluded.trial.seed,
            format!(", excluded: {} failed", excluded.failed_guards.join(", ")),
        )
    });
    let all: Vec<(f64, u64, String)> = counted.chain(excluded).collect();
    let count = all.len();
    all.into_iter()
        .enumerate()
        .map(|(place, (value, seed, why_excluded))| Dot {
            percent: scale.percent(value),
            height_percent: height_percent(place, count),
            title: format!(
                "{} {}, seed {seed}{why_excluded}",
                number(value, decimals),
                measure.metric.unit()
            ),
            is_excluded: !why_excluded.is_empty(),
        })
        .collect()
}

/// Evenly distributed over the middle of the row.
fn height_percent(place: usize, count: usize) -> f64 {
    if count < 2 {
        50.0
    } else {
        27.0 + 46.0 * place as f64 / (count - 1) as f64
    }
}

fn row_words(
    measure: &Measure,
    (place, row): (usize, &Row),
    effect: &RowEffect,
    figure: &str,
    decimals: usize,
) -> String {
    let Some(summary) = &row.summary else {
        return format!("{}: {figure}", row.stack);
    };
    let interval = summary.interval.map_or_else(String::new, |interval| {
        format!(
            ", 95 % interval {} to {}",
            number(interval.low, decimals),
            number(interval.high, decimals)
        )
    });
    let best = if measure.leaders().contains(&place) {
        "; best: none is shown to be faster".to_owned()
    } else if effect.ratio.is_empty() {
        String::new()
    } else {
        format!(
            "; {} the best, 95 % interval {}",
            effect.ratio.replace('×', " times"),
            effect.interval
        )
    };
    format!(
        "{}: median {figure} {} of {} trials{interval}{best}",
        row.stack,
        measure.metric.unit(),
        summary.n
    )
}
