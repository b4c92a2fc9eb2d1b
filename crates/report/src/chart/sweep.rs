//! Sweeps over two axes (chunk × bitmap, block size × queue depth) as data: a map of figures for each test, with
//! further axes as small multiples, all on one scale.
//!
//! Axes of stacks and of workloads are treated alike. An axis that depends on another one (a size that differs by
//! filesystem) does not count. Combinations that are too sparse for a map, such as three filesystems that differ in
//! everything, have none.

mod axes;

use crate::input::Input;
use crate::words;
use crate::words::figure::{decimals, number, uncertainty};
use axes::Layout;
use serde::Serialize;
use stats::{Measure, Results, Row};
use std::collections::HashMap;
use study::CellId;
use study::metric::{Better, Metric};
use study::plan::Cell;

/// Values closer than this should look alike: the scale spans at least this ratio.
const RATIO_MIN: f64 = 1.5;

/// A workload with all values of its own axes, as maps.
#[derive(Debug, Serialize)]
pub(crate) struct Sweep {
    /// The workload's name in the study.
    pub workload: String,
    /// Names of the workloads in the results that are completely covered by it.
    pub covers: Vec<String>,
    pub maps: Vec<SweepMaps>,
}

/// One test.
#[derive(Debug, Serialize)]
pub(crate) struct SweepMaps {
    pub test: String,
    pub measured: String,
    pub row_axis: String,
    pub column_axis: String,
    pub facets: Vec<Facet>,
    /// Ends of the scale, the worse first.
    pub scale: (String, String),
    /// The shade of the best value: it is not the strongest if all are close to each other.
    pub strongest: u32,
    pub unit: String,
    pub has_doubtful: bool,
    pub has_best: bool,
}

/// One map; all maps of a test have the same scale.
#[derive(Debug, Serialize)]
pub(crate) struct Facet {
    /// `type = xfs`; empty if there is only one.
    pub caption: String,
    pub columns: Vec<String>,
    pub rows: Vec<(String, Vec<Spot>)>,
}

/// One place of a map.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Spot {
    /// Empty if the study has no such cell.
    pub figure: String,
    pub uncertainty: String,
    /// 0 for the worst value, 100 for the best.
    pub heat: Option<u32>,
    pub is_best: bool,
    /// Samples that a guard excluded.
    pub doubtful: usize,
}

/// A result with its cell.
#[derive(Clone, Copy)]
struct Point<'a> {
    cell: &'a Cell,
    workload: &'a str,
    measure: &'a Measure,
    place: usize,
}

impl<'a> Point<'a> {
    fn row(&self) -> &'a Row {
        &self.measure.rows[self.place]
    }

    fn median(&self) -> Option<f64> {
        Some(self.row().summary.as_ref()?.median)
    }
}

/// A workload, a test and a metric, with all their points.
type OfTest<'a> = ((&'a str, &'a str, Metric), Vec<Point<'a>>);

/// The sweeps of a run, in the study's order; none if no test varies along two axes.
pub(crate) fn sweeps(input: &Input, results: &Results) -> Vec<Sweep> {
    let mut sweeps: Vec<Sweep> = Vec::new();
    let tests = by_test(input, results);
    for ((workload, test, metric), points) in &tests {
        let Some(layout) = Layout::of(&points.iter().map(|point| point.cell).collect::<Vec<_>>()) else {
            continue;
        };
        let maps = maps(input, test, *metric, points, &layout);
        match sweeps.iter_mut().find(|sweep| sweep.workload == *workload) {
            Some(sweep) => sweep.maps.push(maps),
            None => sweeps.push(Sweep {
                workload: (*workload).to_owned(),
                covers: covered(&tests, workload),
                maps: vec![maps],
            }),
        }
    }
    sweeps
}

/// The workloads whose tests are all on maps.
fn covered(tests: &[OfTest<'_>], workload: &str) -> Vec<String> {
    let of_workload = || tests.iter().filter(|((name, ..), _)| *name == workload);
    let is_map = |points: &[Point<'_>]| {
        let cells: Vec<&Cell> = points.iter().map(|point| point.cell).collect();
        Layout::of(&cells).is_some()
    };
    let mut names: Vec<String> = Vec::new();
    let mut without: Vec<&str> = Vec::new();
    for (_, points) in of_workload() {
        for point in points {
            if !is_map(points) {
                without.push(point.workload);
            } else if !names.iter().any(|name| name == point.workload) {
                names.push(point.workload.to_owned());
            }
        }
    }
    names.retain(|name| !without.contains(&name.as_str()));
    names
}

fn by_test<'a>(input: &'a Input, results: &'a Results) -> Vec<OfTest<'a>> {
    let cells: HashMap<CellId, &Cell> = input.plan.cells_by_id();
    let mut all: Vec<OfTest<'a>> = Vec::new();
    let mut places = HashMap::new();
    for workload in &results.workloads {
        for test in &workload.tests {
            let measure = test.headline();
            for (place, row) in measure.rows.iter().enumerate() {
                let Some(&cell) = row.cell.and_then(|id| cells.get(&id)) else {
                    continue;
                };
                if cell.replicate > 0 {
                    continue;
                }
                let key = (cell.workload_entry(), test.name.as_str(), measure.metric);
                let point = Point {
                    cell,
                    workload: &workload.name,
                    measure,
                    place,
                };
                let place = *places.entry(key).or_insert(all.len());
                match all.get_mut(place) {
                    Some((_, points)) => points.push(point),
                    None => all.push((key, vec![point])),
                }
            }
        }
    }
    all
}

fn maps(input: &Input, test: &str, metric: Metric, points: &[Point<'_>], layout: &Layout) -> SweepMaps {
    let summaries = || points.iter().filter_map(|point| point.row().summary.as_ref());
    let decimals = decimals(summaries());
    let medians: Vec<f64> = summaries().map(|summary| summary.median).collect();
    let least = medians.iter().copied().fold(f64::INFINITY, f64::min);
    let most = medians.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let heat = Heat::of(least, most, metric.better());
    let spot = |point: Point<'_>| Spot {
        figure: point.median().map_or_else(
            || input.without_figure(point.row()).to_owned(),
            |median| number(median, decimals),
        ),
        uncertainty: point
            .row()
            .summary
            .as_ref()
            .map_or_else(String::new, |summary| uncertainty(summary, decimals)),
        heat: point.median().map(|median| heat.percent(median)),
        is_best: point.measure.leaders().contains(&point.place),
        doubtful: point.row().excluded.len(),
    };
    let facets: Vec<Facet> = layout
        .facets
        .iter()
        .map(|facet| Facet {
            caption: words::axes(facet),
            columns: layout.column_values.clone(),
            rows: layout
                .row_values
                .iter()
                .map(|row| {
                    let spots = layout.column_values.iter().map(|column| {
                        let is_there = |point: &&Point<'_>| layout.is_at(point.cell, facet, row, column);
                        points
                            .iter()
                            .find(is_there)
                            .map_or_else(Spot::default, |point| spot(*point))
                    });
                    (row.clone(), spots.collect())
                })
                .collect(),
        })
        .collect();
    let ends = (number(least, decimals), number(most, decimals));
    let strongest = [least, most].map(|value| heat.percent(value)).into_iter().max();
    let spots = || facets.iter().flat_map(|facet| &facet.rows).flat_map(|(_, spots)| spots);
    SweepMaps {
        test: test.to_owned(),
        measured: format!("{}, {}", words::measured(metric), words::better(metric.better())),
        row_axis: layout.row_axis.replace('_', " "),
        column_axis: layout.column_axis.replace('_', " "),
        scale: match (medians.is_empty(), metric.better()) {
            (true, _) => (String::new(), String::new()),
            (false, Better::Lower) => (ends.1, ends.0),
            (false, _) => ends,
        },
        strongest: strongest.unwrap_or(0),
        unit: metric.unit().to_string(),
        has_doubtful: spots().any(|spot| spot.doubtful > 0),
        has_best: spots().any(|spot| spot.is_best),
        facets,
    }
}

/// Converts values to shades: by ratio, so that twice as fast looks the same everywhere.
struct Heat {
    least: f64,
    most: f64,
    better: Better,
}

impl Heat {
    fn of(least: f64, most: f64, better: Better) -> Self {
        Self { least, most, better }
    }

    fn percent(&self, value: f64) -> u32 {
        let share = if self.least > 0.0 {
            (value / self.least).ln() / (self.most / self.least).max(RATIO_MIN).ln()
        } else if self.most > self.least {
            (value - self.least) / (self.most - self.least)
        } else {
            0.0
        };
        let share = match self.better {
            Better::Lower if self.least > 0.0 => {
                (self.most / value).ln() / (self.most / self.least).max(RATIO_MIN).ln()
            }
            Better::Lower => 1.0 - share,
            Better::Higher | Better::Neither => share,
        };
        (share.clamp(0.0, 1.0) * 100.0).round() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_are_by_ratio_and_the_best_is_the_strongest() {
        let heat = Heat::of(10.0, 1000.0, Better::Higher);
        assert_eq!([10.0, 100.0, 1000.0].map(|value| heat.percent(value)), [0, 50, 100]);
        let time = Heat::of(10.0, 1000.0, Better::Lower);
        assert_eq!([10.0, 100.0, 1000.0].map(|value| time.percent(value)), [100, 50, 0]);
    }

    #[test]
    fn what_hardly_differs_looks_alike() {
        let heat = Heat::of(100.0, 102.0, Better::Higher);
        assert!(heat.percent(102.0) - heat.percent(100.0) < 6);
        assert_eq!(Heat::of(0.0, 0.0, Better::Lower).percent(0.0), 100);
    }
}
