//! What guards excluded, and why: each guard once, however many trials it failed in.

use crate::input::Input;
use crate::words::figure::count;
use study::event::Guard;
use study::{CellId, Recorded};

/// A guard that failed.
struct Failed<'a> {
    name: &'a str,
    /// Its first failure.
    first: &'a Recorded<Guard>,
    trials: usize,
    cells: Vec<CellId>,
}

fn failed(input: &Input) -> Vec<Failed<'_>> {
    let mut all: Vec<Failed<'_>> = Vec::new();
    let mut last = None;
    for row in input.guards.iter().filter(|row| !row.entry.passed) {
        let place = all.iter().position(|known| known.name == row.entry.name);
        let place = place.unwrap_or_else(|| {
            all.push(Failed {
                name: &row.entry.name,
                first: row,
                trials: 0,
                cells: Vec::new(),
            });
            all.len() - 1
        });
        let known = &mut all[place];
        // It may fail in several tests of a trial.
        known.trials += usize::from(last != Some((place, row.trial)));
        last = Some((place, row.trial));
        if !known.cells.contains(&row.trial.cell) {
            known.cells.push(row.trial.cell);
        }
    }
    all
}

/// `24 of 300 samples are doubtful and excluded from all figures: steady failed.` Empty if all count.
pub(crate) fn excluded(input: &Input) -> String {
    let doubted = || input.samples.iter().filter(|sample| !sample.counts());
    let mut names: Vec<&str> = Vec::new();
    for name in doubted().flat_map(|sample| &sample.failed_guards) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    match doubted().count() {
        0 => String::new(),
        excluded => format!(
            "{excluded} of {} are doubtful and excluded from all figures: {} failed.",
            count(input.samples.len(), "sample"),
            names.join(", ")
        ),
    }
}

/// `guard steady: 3 trials of 1 cell are in no figure; for example "RAID 5 ext4 | random", trial 1: 686 MiB/s in …`.
pub(crate) fn lines(input: &Input) -> Vec<String> {
    let keys = input.cell_keys();
    let line = |guard: Failed<'_>| {
        let cell = keys.get(&guard.first.trial.cell).copied().unwrap_or_default();
        let test = guard.first.entry.test.as_deref();
        let test = test.map_or_else(String::new, |test| format!(", {test}"));
        format!(
            "guard {} excluded figures of {} in {}, for example {cell}{test}, trial {}: {}",
            guard.name,
            count(guard.trials, "trial"),
            count(guard.cells.len(), "cell"),
            guard.first.trial.index + 1,
            guard.first.entry.detail
        )
    };
    failed(input).into_iter().map(line).collect()
}
