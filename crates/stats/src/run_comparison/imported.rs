//! Which cells imported results are compared with: all that is known of them are names.

use super::RunSide;
use crate::judge::distinct;
use study::plan::Cell;

/// Imported cells, each with the cells of the other run that have its stack's name and a common test. Of several with one
/// test, the one with the name of its workload is taken; without it none, because which one is meant is not known.
pub(super) fn pairs<'a>(first: RunSide<'a>, second: RunSide<'a>) -> Vec<(&'a Cell, &'a Cell)> {
    let tests = |side: RunSide<'a>, cell: &Cell| {
        let of_cell = side.measurements.iter().filter(|one| one.trial.cell == cell.id);
        distinct(of_cell.map(|one| one.entry.test.as_str()))
    };
    let partners = |side: RunSide<'a>, cell: &Cell, other: RunSide<'a>| -> Vec<&'a Cell> {
        let of_stack: Vec<(&Cell, Vec<&str>)> = other
            .plan
            .cells
            .iter()
            .filter(|one| one.stack_label == cell.stack_label && !one.is_imported())
            .map(|one| (one, tests(other, one)))
            .collect();
        let mut partners: Vec<&Cell> = Vec::new();
        for test in tests(side, cell) {
            let alike: Vec<&Cell> = of_stack
                .iter()
                .filter(|(_, tests)| tests.contains(&test))
                .map(|(one, _)| *one)
                .collect();
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
    let imported = |side: RunSide<'a>| side.plan.cells.iter().filter(|cell| cell.is_imported());
    let pairs_of = |side: RunSide<'a>, other: RunSide<'a>| -> Vec<(&'a Cell, &'a Cell)> {
        let pairs =
            imported(side).flat_map(|cell| partners(side, cell, other).into_iter().map(move |one| (cell, one)));
        pairs.collect()
    };
    let of_first = pairs_of(first, second).into_iter();
    let of_second = pairs_of(second, first).into_iter().map(|(cell, own)| (own, cell));
    of_first.chain(of_second).collect()
}
