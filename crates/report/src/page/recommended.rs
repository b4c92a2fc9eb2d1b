//! The stack that the results recommend, and the commands that build it.

mod commands;

use crate::input::Input;
use crate::words::power_cut::{self, PowerCuts};
use serde::Serialize;
use stats::Results;
use study::stack::MachineKind;

#[derive(Serialize)]
pub(super) struct Recommended {
    stack: String,
    /// The reason for this stack, or for none.
    why: String,
    /// Lines to copy; empty if no stack is recommended, or if it is unknown how it was made.
    lines: Vec<String>,
    notes: Vec<String>,
}

impl Recommended {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

pub(super) fn recommended(input: &Input, results: &Results) -> Recommended {
    let none = |why: &str| Recommended {
        stack: String::new(),
        why: why.to_owned(),
        lines: Vec::new(),
        notes: Vec::new(),
    };
    let cuts = power_cut::power_cuts(input, results);
    let ranked = power_cut::others(results);
    if ranked.workloads.is_empty() {
        return none("No speed was measured, so no stack is recommended.");
    }
    let labels = input.plan.stack_labels();
    let leads: Vec<usize> = leads(&ranked, labels.len());
    let is_safe = |stack: &str| !is_unsafe(&cuts, stack);
    let candidates = || (0..labels.len()).filter(|&place| leads[place] > 0 && is_safe(labels[place]));
    let Some(most) = candidates().map(|place| leads[place]).max() else {
        return none("No stack is shown to be better than another, so none is recommended.");
    };
    let best: Vec<usize> = candidates().filter(|&place| leads[place] == most).collect();
    let place = best[0];
    let tests: usize = ranked.workloads.iter().map(|workload| workload.tests.len()).sum();
    let why = why(
        tests,
        most,
        &best.iter().map(|&place| labels[place]).collect::<Vec<_>>(),
    );
    let cell = input.plan.cells.iter().find(|cell| cell.stack_label == labels[place]);
    let Some(cell) = cell.filter(|cell| cell.machine.kind != MachineKind::Foreign) else {
        return none("The best results were imported, and raidlab does not know how their stacks were made.");
    };
    let (lines, notes) = commands::of(input, cell);
    Recommended {
        stack: labels[place].to_owned(),
        why,
        lines,
        notes,
    }
}

/// `best`: the recommended stack, followed by those that are in the first tier of as many tests.
fn why(tests: usize, most: usize, best: &[&str]) -> String {
    const NAMED_MAX: usize = 4;
    let alone = if best.len() == 1 {
        ", more than for any other stack"
    } else {
        ""
    };
    let first = match tests {
        1 => "No stack is shown to be faster in the only test.".to_owned(),
        all if all == most => "No stack is shown to be faster in any test.".to_owned(),
        all => format!("No stack is shown to be faster in {most} of {all} tests{alone}."),
    };
    let named: Vec<&str> = best.iter().skip(1).take(NAMED_MAX).copied().collect();
    match best.len().saturating_sub(1 + named.len()) {
        _ if named.is_empty() => first,
        0 => format!("{first} The same is true of {}.", named.join(", ")),
        more => format!("{first} The same is true of {} and {more} more.", named.join(", ")),
    }
}

/// Number of tests in which each stack is in the first tier.
fn leads(results: &Results, stacks: usize) -> Vec<usize> {
    let mut leads = vec![0; stacks];
    let tests = results.workloads.iter().flat_map(|workload| &workload.tests);
    for test in tests {
        for &place in test.headline().leaders() {
            leads[place] += 1;
        }
    }
    leads
}

/// It lost something in a power cut.
fn is_unsafe(cuts: &[PowerCuts], stack: &str) -> bool {
    let mut rows = cuts.iter().flat_map(|cuts| &cuts.rows);
    rows.any(|row| row.stack == stack && row.is_bad)
}
