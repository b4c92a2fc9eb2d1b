//! Confounders, which make compared stacks not comparable: a difference in the disks' write cache, barriers, the journal
//! mode or the state of the caches decides a result, so that a comparison may measure something else than intended.
//!
//! A claim, the ranking of a workload and a table relative to a row are *comparisons* of cells. Two compared cells
//! that differ in such a *setting* are reported, unless the comparison is about the setting: either the two differ
//! only in the axes of the setting, or another compared cell differs from one of the two only in these axes and
//! matches the other one in the setting. A full cross of two axes is therefore never reported.

mod setting;

pub use setting::{Held, Setting};

use std::collections::{HashMap, HashSet};
use study::plan::{Cell, Plan, TEST};
use study::{CellId, Measurement};

/// The comparison in which cells are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComparedBy {
    /// A claim, by its index in the plan.
    Claim(usize),
    /// A table relative to a row, by its index in the plan.
    Table(usize),
    /// The ranking of the workload with this name.
    Ranking(String),
}

/// A setting that differs between compared cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Unlike {
    pub by: ComparedBy,
    pub setting: Setting,
    /// Keys of the first two such cells, each with its value.
    pub first: (String, Held),
    pub second: (String, Held),
    /// Number of such pairs, and of all compared pairs.
    pub pairs: usize,
    pub compared: usize,
}

/// All such differences, in the plan's order: claims, tables, rankings. Only cells with samples are compared;
/// imported results are not ranked, and their settings are unknown.
pub fn unlike(plan: &Plan, measurements: &[Measurement]) -> Vec<Unlike> {
    let known = KnownCells::of(measurements);
    let is_known = |cell: &Cell| known.has(cell);
    let claims =
        (0..plan.claims.len()).flat_map(|at| known.unlike(ComparedBy::Claim(at), pairs_of_claim(plan, at)));
    let tables =
        (0..plan.tables.len()).flat_map(|at| known.unlike(ComparedBy::Table(at), pairs_of_table(plan, at)));
    let rankings = plan.workload_names().into_iter().flat_map(|name| {
        let cells = plan.cells.iter().filter(|cell| cell.workload.name == name);
        let ranked: Vec<Side<'_>> = cells
            .filter(|cell| is_known(cell))
            .map(|cell| Side { cell, test: None })
            .collect();
        Setting::ALL.map(|setting| unlike_stacks(name, setting, &ranked))
    });
    claims.chain(tables).chain(rankings).flatten().collect()
}

/// For each claim, the first setting that differs between compared stacks although the claim is not about it: no
/// side of the claim names one of the setting's axes, and no other compared cell differs in the setting alone.
pub(crate) fn not_claimed(plan: &Plan, measurements: &[Measurement]) -> Vec<Option<Setting>> {
    let known = KnownCells::of(measurements);
    let of_claim = |at: usize| {
        let comparison = plan.claims[at].comparison().ok()?;
        let sides = comparison.sides();
        let is_named = |setting: Setting| {
            sides
                .iter()
                .any(|side| side.iter().any(|(axis, _)| setting.is_on(axis)))
        };
        let unlike = known.unlike(ComparedBy::Claim(at), pairs_of_claim(plan, at));
        let mut unlike = unlike.into_iter().flatten().map(|one| one.setting);
        unlike.find(|setting| !is_named(*setting))
    };
    (0..plan.claims.len()).map(of_claim).collect()
}

/// Cells with samples whose settings are known.
struct KnownCells(HashSet<CellId>);

impl KnownCells {
    fn of(measurements: &[Measurement]) -> Self {
        let counted = measurements.iter().filter(|one| one.counts());
        Self(counted.map(|one| one.trial.cell).collect())
    }

    fn has(&self, cell: &Cell) -> bool {
        self.0.contains(&cell.id) && !cell.is_imported()
    }

    /// The settings in which pairs of them differ.
    fn unlike(&self, by: ComparedBy, pairs: Vec<Pair<'_>>) -> [Option<Unlike>; 4] {
        let known = |(first, second): &Pair<'_>| self.has(first.cell) && self.has(second.cell);
        let pairs: Vec<Pair<'_>> = pairs.into_iter().filter(known).collect();
        Setting::ALL.map(|setting| unlike_pairs(&by, setting, &pairs))
    }
}

/// A cell, and the test in which it is compared, because the state of the caches may depend on the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Side<'a> {
    pub cell: &'a Cell,
    pub test: Option<&'a str>,
}

type Pair<'a> = (Side<'a>, Side<'a>);

fn pairs_of_claim(plan: &Plan, at: usize) -> Vec<Pair<'_>> {
    let claim = &plan.claims[at];
    let Ok(comparison) = claim.comparison() else {
        return Vec::new();
    };
    let tests: Vec<Option<&str>> = {
        let sides = comparison.sides();
        let named = |side: &study::plan::Side| {
            let found = side.iter().find(|(axis, _)| axis == TEST)?;
            // The text of the claim outlives the parsed comparison: the name is looked up in the plan.
            test_named(plan, &found.1)
        };
        sides.into_iter().map(|side| named(side).or(claim.test())).collect()
    };
    let test = |place: usize| tests.get(place).copied().flatten().or(claim.test());
    let contests = comparison.contests(&claim.filter, &plan.cells).into_iter();
    let side = |cell: usize, test| Side {
        cell: &plan.cells[cell],
        test,
    };
    contests
        .map(|contest| (side(contest.better, test(0)), side(contest.worse, test(1))))
        .collect()
}

fn test_named<'a>(plan: &'a Plan, name: &str) -> Option<&'a str> {
    let mut tests = plan.cells.iter().flat_map(Cell::tests);
    tests.find(|test| *test == name)
}

fn pairs_of_table(plan: &Plan, at: usize) -> Vec<Pair<'_>> {
    let table = &plan.tables[at];
    let Some(base) = table.relative_to else {
        return Vec::new();
    };
    let side = |row: usize, column: usize| {
        let place = table.place(row, column, &plan.cells)?;
        Some(Side {
            cell: &plan.cells[place.cell],
            test: place.test,
        })
    };
    let mut pairs = Vec::new();
    for column in 0..table.columns.len() {
        let rows = (0..table.rows.len()).filter(|row| *row != base);
        pairs.extend(rows.filter_map(|row| Some((side(row, column)?, side(base, column)?))));
    }
    pairs
}

fn unlike_pairs(by: &ComparedBy, setting: Setting, pairs: &[Pair<'_>]) -> Option<Unlike> {
    let known = Known::of(setting, pairs.iter().flat_map(|(first, second)| [first, second]));
    let unlike: Vec<&Pair<'_>> = pairs
        .iter()
        .filter(|(first, second)| known.is_unlike(first, second))
        .collect();
    let (first, second) = unlike.first()?;
    Some(Unlike {
        by: by.clone(),
        setting,
        first: known.named(first),
        second: known.named(second),
        pairs: unlike.len(),
        compared: pairs.len(),
    })
}

/// Checks all pairs of ranked stacks. Stacks with the same value of the setting, whose partners also have the same
/// values, form a class: there may be thousands of stacks, but only few classes.
fn unlike_stacks(workload: &str, setting: Setting, ranked: &[Side<'_>]) -> Option<Unlike> {
    let known = Known::of(setting, ranked.iter());
    let mut classes: Vec<(Held, &[Held], Side<'_>, usize)> = Vec::new();
    for side in ranked {
        let (has, partners) = (setting.of(side), known.partners(side));
        match classes
            .iter_mut()
            .find(|(held, others, ..)| *held == has && *others == partners)
        {
            Some((.., count)) => *count += 1,
            None => classes.push((has, partners, *side, 1)),
        }
    }
    let mut unlike: Option<Unlike> = None;
    for (at, (.., first, count)) in classes.iter().enumerate() {
        for (.., second, others) in &classes[at + 1..] {
            if !known.is_unlike(first, second) {
                continue;
            }
            let unlike = unlike.get_or_insert_with(|| Unlike {
                by: ComparedBy::Ranking(workload.to_owned()),
                setting,
                first: known.named(first),
                second: known.named(second),
                pairs: 0,
                compared: ranked.len() * (ranked.len() - 1) / 2,
            });
            unlike.pairs += count * others;
        }
    }
    unlike
}

/// A cell's values on all axes but those of a setting, and its test.
type Rest<'a> = (Vec<(&'a str, &'a str)>, Option<&'a str>);

/// The values of a setting in the compared cells, by their other properties.
struct Known<'a> {
    setting: Setting,
    held: HashMap<Rest<'a>, Vec<Held>>,
}

impl<'a> Known<'a> {
    fn of<'b>(setting: Setting, sides: impl Iterator<Item = &'b Side<'a>>) -> Self
    where
        'a: 'b,
    {
        let mut held: HashMap<Rest<'a>, Vec<Held>> = HashMap::new();
        for side in sides {
            let of_rest = held.entry(rest(setting, side)).or_default();
            let has = setting.of(side);
            if !of_rest.contains(&has) {
                of_rest.push(has);
            }
        }
        Self { setting, held }
    }

    /// The values in cells that differ from a compared cell at most in the setting.
    fn partners(&self, side: &Side<'a>) -> &[Held] {
        self.held.get(&rest(self.setting, side)).map_or(&[], Vec::as_slice)
    }

    /// Whether two cells differ, and neither has a partner with the value of the other.
    fn is_unlike(&self, first: &Side<'a>, second: &Side<'a>) -> bool {
        let (of_first, of_second) = (self.setting.of(first), self.setting.of(second));
        let has = |side: &Side<'a>, wanted: Held| self.partners(side).iter().any(|held| !held.differs(wanted));
        of_first.differs(of_second) && !has(first, of_second) && !has(second, of_first)
    }

    fn named(&self, side: &Side<'a>) -> (String, Held) {
        (side.cell.key.clone(), self.setting.of(side))
    }
}

fn rest<'a>(setting: Setting, side: &Side<'a>) -> Rest<'a> {
    let others = side.cell.axes.iter().filter(|(axis, _)| !setting.is_on(axis));
    let axes = others.map(|(axis, value)| (axis.as_str(), value.as_str())).collect();
    (axes, side.test.filter(|_| !setting.is_on(TEST)))
}

#[cfg(test)]
mod tests;
