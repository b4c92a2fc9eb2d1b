//! Sentences on what limited tests other than the speed of the disks.

use crate::input::Input;
use stats::{Limit, Limited};

/// Maximum number of stacks named in a sentence.
const NAMED_MAX: usize = 3;

/// One sentence for each test of a workload and each limit.
pub fn limits(input: &Input) -> Vec<String> {
    let all = stats::limits(&input.plan, &input.samples);
    all.iter().map(sentence).collect()
}

fn sentence(limited: &Limited) -> String {
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
        Limit::PartialStripes { of_md } => {
            // md gathers stripes in a cache that the study can set.
            let help = match of_md {
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
