//! Ageing that each trial repeats.

use study::plan::Cell;
use study::stack::{FilesystemKind, MachineKind};

/// Where a stack can be created once, and is not. The sentence does not name the cell, so that a plan has it once.
pub(super) fn each_time(cell: &Cell) -> Option<String> {
    let (machine, stack) = (&cell.machine, &cell.stack);
    let is_aged = cell.workload.age.is_some() && machine.kind == MachineKind::Lab;
    let has_copies = stack.all_layers().next().is_none()
        && !stack.array.level.is_lvm()
        && stack.array.integrity.is_none()
        && stack.filesystem.kind != FilesystemKind::Bcachefs
        && cell.acts.is_empty();
    (is_aged && has_copies && !machine.create_once).then(|| {
        "each trial ages its filesystem again: `create_once = true` makes each aged filesystem once, for all trials and \
         workloads, and keeps it for later runs"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use crate::advice::of;

    #[test]
    fn a_filesystem_that_each_trial_ages_again_is_warned_of_where_copies_are_possible() {
        let warned = |top: &str, level: &str, age: &str| {
            let study = format!(
                "{top}[disks]\ncount = 4\n[[stack]]\narray = {{ level = \"{level}\", size = \"1G\" }}\n[[workload]]\nname = \"w\"\n{age}\
                 io = {{ size = \"50M\" }}\n"
            );
            let plan = study_file::read(&study, "a.toml", &study_file::Known::default()).expect("a study");
            of(&plan)
                .iter()
                .filter(|warning| warning.contains("ages its filesystem again"))
                .count()
        };
        let age = "age = { fill = [\"50 %\", \"90 %\"] }\n";
        assert_eq!(warned("", "5", age), 1, "once for all cells");
        assert_eq!(warned("create_once = true\n", "5", age), 0);
        assert_eq!(warned("", "lvm-raid5", age), 0);
        assert_eq!(warned("", "5", ""), 0);
    }
}
