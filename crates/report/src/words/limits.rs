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
    let mut names: Vec<String> = Vec::new();
    for cell in &input.plan.cells {
        let name = format!("`{}`", cell.workload_entry());
        if reads_tree(cell, None) && !names.contains(&name) {
            names.push(name);
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    (compares_filesystems(input) && !names.is_empty() && !input.samples.is_empty()).then(|| {
        format!(
            "{} read files soon after they were written to a new filesystem, in the order in which its directories list them, which is \
             that of hashes for ext3 and ext4: on a filesystem that has been in use files are scattered, and those that are ahead \
             here may lose most.",
            listed(&names, "and")
        )
    })
}

/// Whether filesystems are compared in this test by reading trees that were just written.
pub(crate) fn reads_new_files(input: &Input, workload: &str, test: &str) -> bool {
    let mut of_workload = input.plan.cells.iter().filter(|cell| cell.workload.name == workload);
    compares_filesystems(input) && of_workload.any(|cell| reads_tree(cell, Some(test)))
}

fn compares_filesystems(input: &Input) -> bool {
    let mut kinds = input
        .plan
        .cells
        .iter()
        .filter(|cell| !cell.is_imported())
        .map(|cell| cell.stack.filesystem.kind);
    kinds.next().is_some_and(|first| kinds.any(|kind| kind != first))
}

/// In this test, or in any.
fn reads_tree(cell: &Cell, test: Option<&str>) -> bool {
    let reads = |own: &TreeTest| {
        matches!(own, TreeTest::Read | TreeTest::Copy)
            && test.is_none_or(|test| test.is_empty() || own.name() == test)
    };
    matches!(&cell.workload.work, Work::Tree(spec) if spec.tests.iter().any(reads))
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
