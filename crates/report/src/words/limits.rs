//! Sentences on the tests that the CPU limited.

use crate::input::Input;
use stats::{Busy, ProcessorBound};

/// Maximum number of stacks named in a sentence.
const NAMED_MAX: usize = 3;

/// One sentence for each test of a workload.
pub fn processor_notes(input: &Input) -> Vec<String> {
    let all = stats::processor_bound(&input.plan, &input.samples);
    all.iter().map(sentence).collect()
}

fn sentence(bound: &ProcessorBound) -> String {
    let mut stacks: Vec<String> = bound
        .stacks
        .iter()
        .take(NAMED_MAX)
        .map(|(stack, percent)| format!("`{stack}` ({percent:.0} %)"))
        .collect();
    match bound.stacks.len().saturating_sub(NAMED_MAX) {
        0 => {}
        more => stacks.push(format!("{more} more")),
    }
    let (what, help) = match bound.by {
        Busy::Cores => ("the processor was busy", "more `cores` or a faster model would"),
        Busy::Task => ("one task kept a core busy", "a faster model or more jobs would"),
        Busy::LoadGenerator => (
            "the threads that generate the load were busy",
            "more jobs, or larger blocks, would",
        ),
    };
    format!(
        "`{}`, {}: {what} on {}; these figures are not those of the disks, which {help} show",
        bound.workload,
        bound.test,
        stacks.join(", ")
    )
}
