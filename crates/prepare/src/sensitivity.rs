//! A study with each figure of its disks' models at the ends of its range, one at a time.

use crate::Error;
use lab::disks::Models;
use study::plan::{Cell, Plan, Precision};
use study::stack::{MachineKind, MovedFigure};

/// The axis of moved figures, and its value for cells with the models as they are.
const AXIS: &str = "figure";
const AS_MODELLED: &str = "as modelled";

/// Adds cells with each figure of their disks' models moved, with this many trials of each cell. All trials of one number have one seed, so
/// that nothing else differs. Claims and tables are those of the study itself.
///
/// # Errors
/// If the study is for a host, whose disks are no models.
pub fn expand(plan: &mut Plan, trials: u32) -> Result<(), Error> {
    if plan.cells.iter().any(|cell| cell.machine.kind != MachineKind::Lab) {
        return Err(Error::SensitivityOfHost);
    }
    let models = Models::of(plan);
    let mut cells = Vec::new();
    for cell in &plan.cells {
        let mut cell = cell.clone();
        cell.machine_mut().draws_models = false;
        let moved = moved_figures(&cell, &models);
        cells.extend(moved.iter().map(|moved| with(&cell, moved)));
        cell.axes.push((AXIS.to_owned(), AS_MODELLED.to_owned()));
        cells.push(cell);
    }
    // The cells of the study first: an interrupted run has them.
    cells.sort_by_key(|cell| cell.machine.moved.is_some());
    plan.cells = cells;
    plan.claims.clear();
    plan.tables.clear();
    plan.precision = Precision::fixed(trials);
    plan.identify();
    Ok(())
}

/// Groups of one model have the same disks.
fn moved_figures(cell: &Cell, models: &Models) -> Vec<MovedFigure> {
    let mut all: Vec<MovedFigure> = Vec::new();
    for group in &cell.machine.disks {
        if all.iter().all(|moved| moved.model != group.model) {
            all.extend(models.moved_figures(group));
        }
    }
    all
}

fn with(cell: &Cell, moved: &MovedFigure) -> Cell {
    let mut cell = cell.clone();
    cell.stack_label = moved.of_stack(&cell.stack_label);
    cell.key = format!("{} | {}", cell.stack_label, cell.workload.name);
    cell.axes.push((AXIS.to_owned(), moved.end()));
    cell.machine_mut().moved = Some(moved.clone());
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn plan(machine: &str) -> Plan {
        let study = format!(
            "{machine}[disks]\nmodel = \"seagate-ironwolf-4tb\"\ncount = 4\n[[stack]]\narray = {{ level = [5, 10] }}\n\
             fs = {{ type = \"ext4\" }}\n[[workload]]\nname = \"photos\"\ntree = {{ files = 10 }}\n[precision]\ntrials = 5\n"
        );
        study_file::read(&study, "a.toml", &study_file::Known::default()).expect("a study")
    }

    #[test]
    fn issue_41_each_figure_is_moved_to_each_end_alone() {
        let mut of = plan("");
        let own: Vec<_> = of.cells.iter().map(|cell| (cell.key.clone(), cell.id)).collect();
        expand(&mut of, 2).expect("a lab");
        let first: Vec<_> = of.cells[..2].iter().map(|cell| (cell.key.clone(), cell.id)).collect();
        assert_eq!(first, own, "the study's own cells are what they were");
        assert_eq!((of.precision.min_trials, of.precision.max_trials), (2, 2));
        let ids: BTreeSet<_> = of.cells.iter().map(|cell| cell.id).collect();
        let keys: BTreeSet<_> = of.cells.iter().map(|cell| &cell.key).collect();
        assert_eq!((ids.len(), keys.len()), (of.cells.len(), of.cells.len()));
        let seeks = of.cells.iter().filter(|cell| cell.key.contains("seek times"));
        let seeks: Vec<&str> = seeks.map(|cell| cell.stack_label.as_str()).collect();
        assert_eq!(
            seeks,
            [
                "RAID 5 ext4, seek times × 0.83",
                "RAID 5 ext4, seek times × 1.20",
                "RAID 10 ext4, seek times × 0.83",
                "RAID 10 ext4, seek times × 1.20"
            ]
        );
    }

    #[test]
    fn a_host_has_no_models() {
        let error = expand(&mut plan("machine = \"host\"\n"), 1).expect_err("a host");
        assert!(error.to_string().contains("the lab"), "{error}");
    }
}
