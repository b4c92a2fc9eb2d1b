//! Sentences on what decided tests other than the speed of the disks.

use crate::input::Input;
use crate::words::listed;
use stats::{Limit, Limited};
use study::plan::Cell;
use study::workload::{TreeTest, Work};

/// Maximum number of stacks named in a sentence.
const NAMED_MAX: usize = 3;

/// One sentence for each test of a workload and each limit.
pub fn limits(input: &Input) -> Vec<String> {
    let all = stats::limits(&input.plan, &input.samples);
    all.iter().map(sentence).collect()
}

/// Where filesystems are compared by reading trees: what makes most of the difference.
pub(crate) fn new_files(input: &Input) -> Option<String> {
    let own = || input.plan.cells.iter().filter(|cell| !cell.is_imported());
    let kind = |cell: &Cell| cell.stack.filesystem.kind;
    let are_several = own().any(|cell| own().next().is_some_and(|first| kind(first) != kind(cell)));
    let mut names: Vec<&str> = Vec::new();
    for cell in own() {
        let name = cell.workload_entry();
        let reads = |test: &TreeTest| matches!(test, TreeTest::Read | TreeTest::Copy);
        if matches!(&cell.workload.work, Work::Tree(spec) if spec.tests.iter().any(reads)) && !names.contains(&name)
        {
            names.push(name);
        }
    }
    (are_several && !names.is_empty() && !input.samples.is_empty()).then(|| {
        format!(
            "{} read files soon after they were written to a new filesystem, in the order in which its directories list them, which is \
             that of hashes for ext3 and ext4: on a filesystem that has been in use files are scattered, and those that are ahead \
             here may lose most",
            listed(&names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().iter().map(String::as_str).collect::<Vec<_>>(), "and")
        )
    })
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
