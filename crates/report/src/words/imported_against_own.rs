//! Imported results that are shown with a run, against its own figures.

use super::figure::{RateUnit, number, number_of};
use super::{mark, named};
use crate::input::Input;
use stats::{Results, Row};
use study::metric::Better;

/// More stacks are not named.
const NAMED_MAX: usize = 4;

/// Sentences of the head: each imported figure with that of the run's stack of the same name, or of its only stack. Empty
/// if no imported results are shown with the run.
pub(crate) fn sentences(input: &Input, results: &Results, rates: RateUnit) -> Vec<String> {
    let is_imported = |row: &Row| {
        let cell = row.cell.and_then(|id| input.plan.cell(id));
        cell.is_some_and(|cell| cell.is_imported())
    };
    if !input.has_imported() {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for (workload, test) in results
        .workloads
        .iter()
        .flat_map(|one| one.tests.iter().map(move |test| (one, test)))
    {
        let measure = test.headline();
        let (imported, own): (Vec<&Row>, Vec<&Row>) = measure
            .rows
            .iter()
            .filter(|row| row.summary.is_some())
            .partition(|row| is_imported(row));
        for row in imported {
            let label = row.stack.trim_end_matches(IMPORTED);
            let partner = own.iter().find(|other| other.stack == label).or(match own.as_slice() {
                [only] => Some(only),
                _ => None,
            });
            let (Some(partner), Some(figure)) = (partner, &row.summary) else {
                continue;
            };
            let Some(own_figure) = &partner.summary else { continue };
            let (unit, factor) = rates.of(measure.metric);
            let ratio = figure.median / own_figure.median;
            let better = match measure.metric.better() {
                Better::Lower => "lower is better",
                Better::Higher | Better::Neither => "higher is better",
            };
            let stacks = match label == partner.stack {
                true => label.to_owned(),
                false => format!("{label} against {}", partner.stack),
            };
            lines.push(format!(
                "Imported against {}, {}: {} against {} {unit} ({stacks}), {} times, {better}.",
                mark(input.run.machine),
                named(&workload.name, &test.name),
                number_of(figure.median * factor),
                number_of(own_figure.median * factor),
                number(ratio, 2),
            ));
        }
    }
    if lines.is_empty() {
        return vec![
            "The imported results have no test in common with a stack of this run: `raidlab compare` says how to name \
             them."
                .to_owned(),
        ];
    }
    let more = lines.len().saturating_sub(NAMED_MAX);
    lines.truncate(NAMED_MAX);
    if more > 0 {
        lines.push(format!("{more} more: `raidlab compare`."));
    }
    lines
}

/// Follows the label of an imported stack.
pub const IMPORTED: &str = " (imported)";
