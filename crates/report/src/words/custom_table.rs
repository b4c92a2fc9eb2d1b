//! The study's custom tables as plain cells, for the page and the terminal.

mod unit;

use crate::input::{Input, TrialState};
use crate::words::figure::number;
use crate::words::warnings::Warnings;
use stats::{Basis, Measure, Results, Summary};
use study::plan::Cell;
use study::stack::Level;
use study::table::{Figure, FigureSource, TableColumn, TableRow, TableSpec};

/// A table that has something to show.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CustomTable {
    pub title: String,
    /// The source of the published figures; absent if there are none.
    pub source: Option<String>,
    /// The row that all others are relative to.
    pub relative_to: Option<String>,
    /// Headings of the columns that name a row.
    pub row_headings: Vec<String>,
    pub columns: Vec<CustomColumn>,
    pub rows: Vec<Vec<String>>,
    /// Why some columns have only published figures, and reasons to doubt ratios to a row.
    pub notes: Vec<String>,
}

/// A column of figures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CustomColumn {
    pub heading: String,
    /// `KiB/s`, `ratio`; with the kind of figure, if it is not the median.
    pub unit: String,
    /// It has measured figures, not only published ones.
    pub has_ours: bool,
    /// It has published figures.
    pub has_published: bool,
    pub cells: Vec<CustomCell>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CustomCell {
    /// The measured figure, or why there is none.
    pub ours: String,
    pub is_missing: bool,
    pub published: String,
    /// Ratio of measured to published; with drawn models `1.32 in` or `1.32 out`: whether the published figure is in the range.
    pub ratio: String,
    /// With drawn models: whether the published figure is in the range, and half of its width, relative to its middle.
    range: Option<(bool, f64)>,
}

/// The study's tables that contain a requested cell.
pub(crate) fn tables(input: &Input, results: &Results, warnings: &Warnings) -> Vec<CustomTable> {
    let tables = input.plan.tables.iter().enumerate();
    tables
        .filter_map(|(at, spec)| {
            let mut table = Maker { input, results, spec }.table()?;
            table.notes.extend(warnings.of_table(at));
            Some(table)
        })
        .collect()
}

struct Maker<'a> {
    input: &'a Input,
    results: &'a Results,
    spec: &'a TableSpec,
}

/// A measured figure with its unit.
struct Ours {
    value: f64,
    unit: String,
    /// With drawn models: within which the figure of another such disk is at 95 %.
    range: Option<[f64; 2]>,
}

impl Ours {
    /// Whether a published figure is in the range, and half of its width, relative to its middle.
    fn covers(&self, published: f64) -> Option<(bool, f64)> {
        let [low, high] = self.range.filter(|[low, _]| *low > 0.0)?;
        Some(((low..=high).contains(&published), (high / low).sqrt() - 1.0))
    }
}

impl Maker<'_> {
    fn table(&self) -> Option<CustomTable> {
        let spec = self.spec;
        let cells = &self.input.plan.cells;
        let (row_count, column_count) = (spec.rows.len(), spec.columns.len());
        let is_there = |row, column| spec.place(row, column, cells).is_some();
        // A run of a part of the study shows a part of the table.
        let rows: Vec<usize> = (0..row_count)
            .filter(|&row| (0..column_count).any(|column| is_there(row, column)))
            .collect();
        let columns: Vec<CustomColumn> = (0..column_count)
            .filter(|&column| {
                rows.iter()
                    .any(|&row| is_there(row, column) || self.is_published_only(row, column))
            })
            .map(|column| self.column(column, &rows))
            .collect();
        (!columns.is_empty()).then(|| CustomTable {
            notes: self.notes().into_iter().chain(coverage(&columns)).collect(),
            title: spec.title.clone(),
            source: spec
                .source
                .clone()
                .filter(|_| columns.iter().any(|column| column.has_published)),
            relative_to: spec.relative_to.map(|row| self.row_words(&spec.rows[row]).join(" ")),
            row_headings: spec.row_axes.iter().map(|axis| axis.replace('_', " ")).collect(),
            rows: rows.iter().map(|&row| self.row_words(&spec.rows[row])).collect(),
            columns,
        })
    }

    fn is_published_only(&self, row: usize, column: usize) -> bool {
        self.spec.columns[column].not_measured.is_some() && self.spec.rows[row].published[column].is_some()
    }

    /// Each reason with its columns.
    fn notes(&self) -> Vec<String> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for column in &self.spec.columns {
            let Some(reason) = column.not_measured.as_deref() else {
                continue;
            };
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, headings)) if headings.contains(&column.heading.as_str()) => {}
                Some((_, headings)) => headings.push(&column.heading),
                None => reasons.push((reason, vec![&column.heading])),
            }
        }
        let words =
            |(reason, headings): (&str, Vec<&str>)| format!("not measured: {} ({reason})", headings.join(", "));
        reasons.into_iter().map(words).collect()
    }

    fn row_words(&self, row: &TableRow) -> Vec<String> {
        let pairs = self.spec.row_axes.iter().zip(&row.values);
        let words = |(axis, value): (&String, &String)| match (axis.as_str(), value.as_str()) {
            (_, "default") => "–".to_owned(),
            ("level", word) => match Level::named(word) {
                Some(level) if level.is_md() => level.facts().title.to_owned(),
                _ => value.clone(),
            },
            _ => value.clone(),
        };
        pairs.map(words).collect()
    }

    fn column(&self, column: usize, rows: &[usize]) -> CustomColumn {
        let spec = &self.spec.columns[column];
        let ours: Vec<Result<Ours, &'static str>> = rows.iter().map(|&row| self.ours(row, column)).collect();
        let base = self.spec.relative_to.map(|row| self.ours(row, column));
        let figures: Vec<Result<f64, &'static str>> = ours
            .iter()
            .map(|ours| match (ours, &base) {
                (Err(why), _) => Err(*why),
                (Ok(ours), None) => Ok(ours.value),
                (Ok(ours), Some(Ok(base))) if base.value != 0.0 => Ok(ours.value / base.value),
                (Ok(_), Some(_)) => Err("–"),
            })
            .collect();
        let of_trials = match spec.figure {
            Figure::Median => "",
            Figure::Mean => "mean, ",
            Figure::Deviation => "standard deviation, ",
            Figure::Min => "least, ",
            Figure::Max => "most, ",
        };
        let unit = match (&base, ours.iter().flatten().next()) {
            (Some(_), _) => "ratio",
            (None, Some(ours)) => ours.unit.as_str(),
            (None, None) => spec.unit.as_deref().unwrap_or_default(),
        };
        let published: Vec<Option<f64>> = rows.iter().map(|&row| self.spec.rows[row].published[column]).collect();
        let decimals = decimals(
            figures
                .iter()
                .filter_map(|figure| figure.as_ref().ok())
                .copied()
                .chain(published.iter().flatten().copied()),
        );
        let cell = |at: usize| {
            let (figure, published) = (&figures[at], published[at]);
            // The range of a ratio to another row would need both of the same drawn disk.
            let range = ours[at]
                .as_ref()
                .ok()
                .and_then(|ours| ours.covers(published?))
                .filter(|_| base.is_none());
            CustomCell {
                ours: figure
                    .as_ref()
                    .map_or_else(|why| (*why).to_owned(), |value| number(*value, decimals)),
                is_missing: figure.is_err(),
                published: published.map_or_else(String::new, |value| number(value, decimals)),
                ratio: match (figure, published) {
                    (Ok(ours), Some(published)) if published != 0.0 => {
                        let mark = match range {
                            Some((true, _)) => " in",
                            Some((false, _)) => " out",
                            None => "",
                        };
                        format!("{:.2}{mark}", ours / published)
                    }
                    _ => String::new(),
                },
                range,
            }
        };
        CustomColumn {
            heading: spec.heading.clone(),
            unit: format!("{of_trials}{unit}"),
            has_ours: spec.not_measured.is_none(),
            has_published: published.iter().any(Option::is_some),
            cells: (0..rows.len()).map(cell).collect(),
        }
    }

    /// The measured figure at a place of the table, or why there is none.
    fn ours(&self, row: usize, column: usize) -> Result<Ours, &'static str> {
        let place = self.spec.place(row, column, &self.input.plan.cells).ok_or("")?;
        let cell = &self.input.plan.cells[place.cell];
        let spec = &self.spec.columns[column];
        let measure = self.measure(cell, place).ok_or_else(|| self.why_not(cell))?;
        let of_stack = measure.rows.iter().find(|row| row.cell == Some(cell.id)).ok_or("–")?;
        if of_stack.summary.is_none() && !of_stack.excluded.is_empty() {
            return Err("guard failed");
        }
        let summary = of_stack.summary.as_ref().ok_or_else(|| self.why_not(cell))?;
        let value = figure_of(summary, spec).ok_or("–")?;
        let own = measure.metric.unit().name();
        let wanted = spec.unit.as_deref().unwrap_or(own);
        let is_centre = matches!(spec.figure, Figure::Median | Figure::Mean);
        let range = summary
            .interval
            .filter(|interval| is_centre && interval.basis == Basis::Drawn)
            .map(|interval| [interval.low, interval.high]);
        Ok(match unit::convert(value, own, wanted) {
            Some(value) => Ours {
                value,
                unit: wanted.to_owned(),
                range: range.and_then(|[low, high]| {
                    Some([unit::convert(low, own, wanted)?, unit::convert(high, own, wanted)?])
                }),
            },
            None => Ours {
                value,
                unit: own.to_owned(),
                range,
            },
        })
    }

    fn measure(&self, cell: &Cell, place: FigureSource<'_>) -> Option<&Measure> {
        let workload = self
            .results
            .workloads
            .iter()
            .find(|one| one.name == cell.workload.name)?;
        let mut all = workload.tests.iter().chain(&workload.counts);
        let is_it = |measure: &&Measure| place.metric.is_none_or(|metric| measure.metric.name() == metric);
        let named = |test: &str| place.test.is_none_or(|wanted| test == wanted);
        all.find_map(|test| named(&test.name).then(|| test.measures.iter().find(is_it)).flatten())
    }

    fn why_not(&self, cell: &Cell) -> &'static str {
        let mut trials = self.input.trials.iter().filter(|trial| trial.key.cell == cell.id);
        let has_failed = trials.any(|trial| matches!(trial.state, TrialState::Failed(_)));
        if has_failed { "failed" } else { "–" }
    }
}

/// How many of the published figures are in the ranges of drawn models, and how wide those are.
fn coverage(columns: &[CustomColumn]) -> Option<String> {
    let ranges = columns
        .iter()
        .flat_map(|column| &column.cells)
        .filter_map(|cell| cell.range);
    let (are_in, widths): (Vec<bool>, Vec<f64>) = ranges.unzip();
    let width = study::median(widths.iter().copied())?;
    Some(format!(
        "in, out: whether the published figure is in the 95 % interval of the drawn disk models: {} of {} are; half of the intervals \
         are narrower than ± {:.0} %",
        are_in.iter().filter(|is_in| **is_in).count(),
        are_in.len(),
        100.0 * width
    ))
}

fn figure_of(summary: &Summary, column: &TableColumn) -> Option<f64> {
    match column.figure {
        Figure::Median => Some(summary.median),
        Figure::Mean => Some(summary.mean),
        Figure::Deviation => summary.deviation,
        Figure::Min => Some(summary.min),
        Figure::Max => Some(summary.max),
    }
}

/// Three digits of the smallest figure, as far as the largest leaves room for them.
fn decimals(values: impl Iterator<Item = f64>) -> usize {
    let sizes: Vec<i32> = values
        .map(f64::abs)
        .filter(|value| *value > 0.0 && value.is_finite())
        .map(|value| value.log10().floor() as i32)
        .collect();
    let (Some(least), Some(most)) = (sizes.iter().min(), sizes.iter().max()) else {
        return 0;
    };
    (2 - least).min(3 - most).clamp(0, 4) as usize
}
