//! Sentences on what decided tests other than the speed of the disks.

use crate::input::Input;
use crate::words::figure::count;
use crate::words::{listed, named};
use stats::{Limit, Limited, Measure, Results};
use study::metric::Metric;
use study::plan::Cell;
use study::stack::{ArraySpec, FilesystemKind};
use study::workload::{ServerTest, TreeTest, Work};

/// Maximum number of stacks named in a sentence.
const NAMED_MAX: usize = 3;

/// Payload of TCP in frames of 1,500 bytes on Ethernet of 1 Gbit/s: 1,448 of 1,538 bytes, 118 MB/s.
const NETWORK_MIB_PER_S: f64 = 112.0;

/// One sentence for each test of a workload and each limit.
pub fn limits(input: &Input) -> Vec<String> {
    let all = stats::limits(&input.plan, &input.samples);
    all.iter().map(sentence).collect()
}

/// What decides tests of this kind, whatever the disks are.
pub(crate) fn explanations(input: &Input, results: &Results) -> Vec<String> {
    let all = [new_files(input), small_writes(input), network(input, results)];
    all.into_iter().flatten().collect()
}

/// Files on hard disks are mostly served to others: tests in which every stack is faster than the network.
fn network(input: &Input, results: &Results) -> Option<String> {
    let is_tree = |name: &str| {
        let cell = input.plan.cells.iter().find(|cell| cell.workload.name == name);
        cell.is_some_and(|cell| matches!(cell.workload.work, Work::Tree(_)))
    };
    let trees = results.workloads.iter().filter(|workload| is_tree(&workload.name));
    let tests = trees.flat_map(|workload| workload.tests.iter().map(move |test| (workload, test)));
    let is_faster = |measure: &Measure| {
        let medians = || measure.rows.iter().filter_map(|row| Some(row.summary.as_ref()?.median));
        let enough = |median: f64| median >= NETWORK_MIB_PER_S;
        measure.metric == Metric::Throughput && medians().count() > 1 && medians().all(enough)
    };
    let names = tests.filter(|(_, test)| is_faster(test.headline()));
    let names: Vec<String> = names
        .map(|(workload, test)| named(&workload.name, &test.name))
        .collect();
    let shown: Vec<&str> = names.iter().take(NAMED_MAX).map(String::as_str).collect();
    let has_heads = input.disks.iter().any(|disk| disk.has_heads);
    (has_heads && !names.is_empty()).then(|| {
        format!(
            "Over Ethernet of 1 Gbit/s, which carries {NETWORK_MIB_PER_S} MiB/s, no stack is slower than the network in {}{}{}.",
            listed(&shown, "and"),
            match names.len() - shown.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            },
            match has_several_layouts(input) {
                true => ": there failed disks survived and usable space decide",
                false => "",
            }
        )
    })
}

fn has_several_layouts(input: &Input) -> bool {
    let own = input.plan.cells.iter().filter(|cell| !cell.is_imported());
    let mut layouts = own.map(|cell| {
        let (stack, disks) = (&cell.stack, cell.member_count());
        (stack.array.level, stack.array.of, stack.filesystem.zfs.pool, disks)
    });
    layouts.next().is_some_and(|first| layouts.any(|other| other != first))
}

/// Where filesystems are compared by commits: what a database does otherwise. It belongs to the verdict.
pub(crate) fn appended_log(input: &Input) -> Option<String> {
    let commits = |cell: &&Cell| {
        let Work::Server(spec) = &cell.workload.work else {
            return false;
        };
        spec.tests.contains(&ServerTest::Commit)
    };
    let cell = input.plan.cells.iter().find(commits)?;
    (compares_filesystems(input) && !input.samples.is_empty()).then(|| {
        format!(
            "`{}` [commit] appends to a log, so that a filesystem commits the file's size with each record. PostgreSQL overwrites \
             recycled segments of its log: this test does not show which filesystem is the faster one for it.",
            cell.workload_entry()
        )
    })
}

/// Where parity is compared by small writes at random: the requests to the disks of each.
fn small_writes(input: &Input) -> Option<String> {
    let own = || input.plan.cells.iter().filter(|cell| !cell.is_imported());
    let mut names: Vec<String> = Vec::new();
    let mut stacks: Vec<(String, [u32; 2])> = Vec::new();
    for cell in own().filter(|cell| writes_parts_of_chunks(cell)) {
        let (array, disks) = (&cell.stack.array, cell.member_count());
        let Some(requests) = array.requests_of_small_write(disks) else {
            continue;
        };
        let stack = format!("{} of {}", array.level.facts().name, disks - array.spares.min(disks));
        if !stacks.iter().any(|(other, _)| *other == stack) {
            stacks.push((stack, requests));
        }
        let name = format!("`{}`", cell.workload_entry());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let has_parity = own().any(|cell| cell.stack.array.has_parity());
    // Several stacks with one level are compared for other reasons.
    let is_asked = match stacks.len() {
        1 => input.plan.stack_labels().len() == 1 && own().all(|cell| cell.acts.is_empty()),
        levels => (2..=NAMED_MAX).contains(&levels),
    };
    if !has_parity || !is_asked || input.samples.is_empty() {
        return None;
    }
    let requests = stacks.iter().map(|(stack, requests)| match requests {
        [0, writes] => format!("{stack} writes {}", count(*writes as usize, "block")),
        [reads, writes] => format!("{stack} reads {} and writes {writes}", count(*reads as usize, "block")),
    });
    let requests: Vec<String> = requests.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let turns = match input.disks.iter().any(|disk| disk.has_heads) {
        true => ", and the write waits until the disk has turned once more",
        false => "",
    };
    Some(format!(
        "For each small write at random ({}), {}. With parity the old data and parity, or the rest of the stripe, are read \
         first{turns}.",
        listed(&names, "and"),
        requests.join(", ")
    ))
}

/// Whether its jobs write less than a chunk at random, on a filesystem that writes where the block is.
fn writes_parts_of_chunks(cell: &Cell) -> bool {
    let array = &cell.stack.array;
    let chunk = array.chunk_bytes.unwrap_or(ArraySpec::MDADM_CHUNK_BYTES);
    let jobs = cell.workload.work.spec().jobs();
    cell.stack.filesystem.kind.overwrites()
        && jobs.iter().any(|job| {
            let pattern = job.io.pattern;
            pattern.is_random() && pattern.has_writes() && job.io.block_bytes < chunk
        })
}

/// Where filesystems are compared by reading trees: what makes most of the difference.
fn new_files(input: &Input) -> Option<String> {
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
            "{} read files soon after they were written to a new filesystem, in the order in which its directories list them (on ext3 \
             and ext4 that of hashes): on a filesystem that has been in use files are scattered, and stacks that lead in these tests may \
             lose most.{}",
            listed(&names, "and"),
            match spreads_directories(input) {
                true => {
                    " XFS makes directories in all its allocation groups in turn: among many directories with few files each the \
                     heads move from one to the next."
                }
                false => "",
            }
        )
    })
}

/// Whether XFS has trees of several directories.
fn spreads_directories(input: &Input) -> bool {
    let mut own = input.plan.cells.iter().filter(|cell| !cell.is_imported());
    own.any(|cell| {
        let has_directories = matches!(&cell.workload.work, Work::Tree(spec) if spec.directories > 1);
        has_directories && cell.stack.filesystem.kind == FilesystemKind::Xfs
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
        Limit::SplitReads {
            whole_bytes,
            by_io_uring,
        } => {
            let why = match by_io_uring {
                true => {
                    "; programs that read by libaio or by threads are faster, and `fio` with `ioengine = \"libaio\"` shows how much: \
                     io_uring's reads must not wait (REQ_NOWAIT), a member whose queue is full refuses them, and Linux 6.12 reads \
                     RAID 4, 5 and 6 again through the stripe cache, page by page"
                }
                false => "; the kernel or the filesystem split them",
            };
            let whole = whole_bytes >> 10;
            format!(
                "direct reads were split: the members were read by requests of less than half of the {whole} KiB that each asks of a member, on {}{why}",
                stacks(&format!(" of {whole} KiB"))
            )
        }
    };
    format!("`{}`, {}: {what}", limited.workload, limited.test)
}
