//! Which cells imported results are compared with: all that is known of them are names.

use super::RunSide;
use std::collections::{HashMap, HashSet};
use study::CellId;
use study::plan::{Cell, Plan};

/// Imported cells, each with the cells of the other run that have its stack's name and a common test. Of several with one
/// test, the one with the name of its workload is taken; without it none, because which one is meant is not known.
pub(super) fn pairs<'a>(first: RunSide<'a>, second: RunSide<'a>) -> Vec<(&'a Cell, &'a Cell)> {
    let partners = |side: &Side<'a>, cell: &Cell, other: &Side<'a>| -> Vec<&'a Cell> {
        let of_stack = other
            .own
            .get(cell.stack_label.as_str())
            .map_or(&[] as &[_], Vec::as_slice);
        let mut partners: Vec<&Cell> = Vec::new();
        for test in side.tests.get(&cell.id).into_iter().flatten() {
            let has_test = |one: &&&Cell| other.tests.get(&one.id).is_some_and(|tests| tests.contains(test));
            let alike: Vec<&Cell> = of_stack.iter().filter(has_test).copied().collect();
            let of_workload = alike.iter().find(|one| one.workload.name == cell.workload.name);
            let partner = match (of_workload, alike.as_slice()) {
                (Some(&same), _) => same,
                (None, [only]) => *only,
                _ => continue,
            };
            if !partners.iter().any(|known| known.id == partner.id) {
                partners.push(partner);
            }
        }
        partners
    };
    let pairs_of = |side: &Side<'a>, other: &Side<'a>| -> Vec<(&'a Cell, &'a Cell)> {
        let imported = side.plan.cells.iter().filter(|cell| cell.is_imported());
        let pairs = imported.flat_map(|cell| partners(side, cell, other).into_iter().map(move |one| (cell, one)));
        pairs.collect()
    };
    let (first, second) = (Side::of(first), Side::of(second));
    let of_first = pairs_of(&first, &second).into_iter();
    let of_second = pairs_of(&second, &first).into_iter().map(|(cell, own)| (own, cell));
    of_first.chain(of_second).collect()
}

/// A run by names.
struct Side<'a> {
    plan: &'a Plan,
    /// Tests of each cell, in order of appearance.
    tests: HashMap<CellId, Vec<&'a str>>,
    /// Cells of the run itself, by stack.
    own: HashMap<&'a str, Vec<&'a Cell>>,
}

impl<'a> Side<'a> {
    fn of(side: RunSide<'a>) -> Self {
        let mut tests: HashMap<CellId, Vec<&str>> = HashMap::new();
        let mut known: HashSet<(CellId, &str)> = HashSet::new();
        for one in side.measurements {
            let (cell, test) = (one.trial.cell, one.entry.test.as_str());
            if known.insert((cell, test)) {
                tests.entry(cell).or_default().push(test);
            }
        }
        let mut own: HashMap<&str, Vec<&Cell>> = HashMap::new();
        for cell in side.plan.cells.iter().filter(|cell| !cell.is_imported()) {
            own.entry(&cell.stack_label).or_default().push(cell);
        }
        Self {
            plan: side.plan,
            tests,
            own,
        }
    }
}
