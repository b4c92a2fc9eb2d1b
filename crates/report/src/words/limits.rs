//! Sentences on what limited tests other than the speed of the disks.

use crate::input::Input;
use stats::{Limit, Limited};

/// Maximum number of stacks named in a sentence.
const NAMED_MAX: usize = 3;

/// One sentence for each test of a workload and each limit.
pub fn limits(input: &Input) -> Vec<String> {
    let all = stats::limits(&input.plan, &input.samples);
    all.iter().map(|limited| sentence(input, limited)).collect()
}

fn sentence(input: &Input, limited: &Limited) -> String {
    let stacks = |unit: &str| {
        let named = limited.stacks.iter().take(NAMED_MAX);
        let mut stacks: Vec<String> = named
            .map(|(stack, percent)| format!("`{stack}` ({percent:.0} %{unit})"))
            .collect();
        match limited.stacks.len().saturating_sub(NAMED_MAX) {
            0 => {}
            more => stacks.push(format!("{more} more")),
        }
        stacks.join(", ")
    };
    let busy = |what: &str, help: &str| {
        let stacks = stacks("");
        format!("{what} on {stacks}; these figures are not those of the disks, which {help} show")
    };
    let what = match limited.by {
        Limit::Cores => busy("the processor was busy", "more `cores` or a faster model would"),
        Limit::Task => busy("one task kept a core busy", "a faster model or more jobs would"),
        Limit::LoadGenerator => busy(
            "the threads that generate the load were busy",
            "more jobs, or larger blocks, would",
        ),
        Limit::PartialStripes => {
            let help = match has_md(input, limited) {
                true => "; a larger `stripe_cache` or a smaller `chunk` may be faster: make each an axis",
                false => "",
            };
            format!(
                "partial stripes were written, and the disks were read to compute their parity, on {}{help}",
                stacks(" of the written bytes")
            )
        }
    };
    format!("`{}`, {}: {what}", limited.workload, limited.test)
}

/// Whether md has one of the arrays: it gathers stripes in a cache that the study can set.
fn has_md(input: &Input, limited: &Limited) -> bool {
    let labels = || limited.stacks.iter().map(|(stack, _)| stack);
    let mut cells = input.plan.cells.iter();
    cells.any(|cell| cell.stack.array.level.is_md() && labels().any(|label| *label == cell.stack_label))
}
