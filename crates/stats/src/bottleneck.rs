//! Finds what limited a test other than the disks' speed: the CPU, reads for the parity of sequential writes, or reads that the
//! kernel split. A study may intend them, so the samples stay in all figures; the report lists them.

use std::collections::{BTreeMap, HashMap};
use study::metric::Metric;
use study::plan::{Cell, Plan};
use study::stack::MachineKind;
use study::workload::{IoEngine, IoPattern, SyncMode, Work};
use study::{CellId, Measurement, Scope, TestId};

/// Minimum CPU utilisation, in percent, at which a core or the only task on it limits a test.
const BUSY_PERCENT_MIN: f64 = 90.0;

/// Minimum number of bytes read for each byte written, in a test that only writes, that are reads for parity.
/// Filesystems read less for their own metadata.
pub const PARITY_READ_MIN: f64 = 0.05;

/// Reads are expected whole up to this size: all disks take as much, and all arrays have chunks as large by default.
const SPLIT_BYTES: u64 = 64 << 10;

/// Fewer reads than this say nothing.
const READS_MIN: f64 = 100.0;

const MEBIBYTE: f64 = 1_048_576.0;

/// Files of at least this size are streams.
const LARGE_FILE_BYTES: u64 = 1 << 20;

/// A test of a workload, and what limited it.
#[derive(Clone, Debug, PartialEq)]
pub struct Limited {
    pub workload: String,
    pub test: String,
    pub by: Limit,
    /// Labels of the stacks, in the plan's order, each with a percentage: of the busy part's time, of the written bytes, or of the
    /// size of a read.
    pub stacks: Vec<(String, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// All cores of the lab's processor model were busy.
    Cores,
    /// One task in the lab, with one core to itself, was busy.
    Task,
    /// On a host, all threads of the load generator were busy.
    LoadGenerator,
    /// Buffered sequential writes reached an array with parity as partial stripes, whose rest was read from the disks.
    PartialStripes { of_md: bool },
    /// Direct reads reached the disks in pieces that are smaller than the geometry of the stack asks for.
    SplitReads {
        /// What each read of the test should ask of a disk, bytes.
        whole_bytes: u64,
        /// An md array with parity that was read by io_uring with several requests in flight. Their REQ_NOWAIT is passed on to the
        /// members; one whose queue is full ends the request with BLK_STS_AGAIN, and raid5_align_endio() reads it again through the
        /// stripe cache, page by page. RAID 1 and 10 clear the flag.
        by_io_uring: bool,
    },
}

/// Tests that were limited, in the plan's order.
pub fn limits(plan: &Plan, samples: &[Measurement]) -> Vec<Limited> {
    let means = means(samples);
    let mut all: Vec<Limited> = Vec::new();
    for cell in &plan.cells {
        for (test, figures) in means.get(&cell.id).into_iter().flatten() {
            // Samples reported after the last test cover the time since then.
            if test.scope() == Scope::Member {
                continue;
            }
            for (by, percent) in busy(cell, figures)
                .into_iter()
                .chain(partial_stripes(cell, test, figures))
                .chain(split_reads(cell, test, figures))
            {
                let known = all
                    .iter_mut()
                    .find(|known| known.workload == cell.workload.name && **test == *known.test && known.by == by);
                let stack = (cell.stack_label.clone(), percent);
                match known {
                    Some(known) => known.stacks.push(stack),
                    None => all.push(Limited {
                        workload: cell.workload.name.clone(),
                        test: test.to_string(),
                        by,
                        stacks: vec![stack],
                    }),
                }
            }
        }
    }
    all
}

/// Sums and counts of a test's samples over its trials, for the metrics that show what limited it.
type Figures = Vec<(Metric, f64, u32)>;

fn means(samples: &[Measurement]) -> HashMap<CellId, BTreeMap<&TestId, Figures>> {
    let wanted = [
        Metric::ProcessorBusy,
        Metric::ProcessorBusiestTask,
        Metric::CpuUser,
        Metric::CpuSystem,
        Metric::Duration,
        Metric::Throughput,
        Metric::DeviceRead,
        Metric::DeviceReads,
        Metric::RampMoved,
    ];
    let mut all: HashMap<CellId, BTreeMap<&TestId, Figures>> = HashMap::new();
    for sample in samples.iter().filter(|sample| wanted.contains(&sample.entry.metric)) {
        let of_cell = all.entry(sample.trial.cell).or_default();
        let figures = of_cell.entry(&sample.entry.test).or_default();
        match figures.iter_mut().find(|(metric, ..)| *metric == sample.entry.metric) {
            Some((_, sum, count)) => {
                *sum += sample.entry.value;
                *count += 1;
            }
            None => figures.push((sample.entry.metric, sample.entry.value, 1)),
        }
    }
    all
}

/// Mebibytes that a test moved while the disks' counters ran, which is also in its ramp.
pub fn moved(figure: impl Fn(Metric) -> Option<f64>) -> Option<f64> {
    let ramp = figure(Metric::RampMoved).unwrap_or(0.0);
    Some(figure(Metric::Throughput)? * figure(Metric::Duration)? + ramp)
}

fn mean(figures: &Figures, wanted: Metric) -> Option<f64> {
    let found = figures.iter().find(|(metric, ..)| *metric == wanted);
    found.map(|(_, sum, count)| sum / f64::from(*count))
}

fn partial_stripes(cell: &Cell, test: &TestId, figures: &Figures) -> Option<(Limit, f64)> {
    let array = &cell.stack.array;
    if !array.has_parity() {
        return None;
    }
    let written = moved(|metric| mean(figures, metric))?;
    let read = mean(figures, Metric::DeviceRead)?;
    if written <= 0.0 || read < PARITY_READ_MIN * written {
        return None;
    }
    let job = cell.workload.work.only_writes(test)?;
    let io = &job.io;
    let is_streamed = io.pattern == IoPattern::Write && !io.direct && io.sync == SyncMode::None;
    // Smaller files are partial stripes by nature.
    let is_small = matches!(&cell.workload.work, Work::Tree(tree) if tree.size.median_bytes < LARGE_FILE_BYTES);
    let of_md = array.level.is_md();
    (is_streamed && !is_small).then(|| (Limit::PartialStripes { of_md }, 100.0 * read / written))
}

/// Whether direct reads reached the disks as less than half of what each should ask of a disk: a block, or as much of it as is
/// in a chunk, up to [`SPLIT_BYTES`].
fn split_reads(cell: &Cell, test: &TestId, figures: &Figures) -> Option<(Limit, f64)> {
    let array = &cell.stack.array;
    // Records, compressed data and checksums have sizes of their own, and a rebuild reads as it likes.
    let has_pool = cell.stack.filesystems().any(|filesystem| filesystem.kind.is_pool());
    let is_plain = !has_pool && !cell.stack.compresses() && array.integrity.is_none();
    let job = cell.workload.work.only_reads(test).filter(|job| job.io.direct)?;
    if !is_plain || !cell.acts.is_empty() {
        return None;
    }
    let requests = mean(figures, Metric::DeviceReads).filter(|requests| *requests >= READS_MIN)?;
    let bytes = mean(figures, Metric::DeviceRead)? * MEBIBYTE / requests;
    let chunk_bytes = array.chunk_bytes.unwrap_or(SPLIT_BYTES);
    let whole_bytes = job.io.block_bytes.min(chunk_bytes).min(SPLIT_BYTES);
    let share = bytes / whole_bytes as f64;
    let is_ring = match job.io.engine {
        IoEngine::Native => true,
        IoEngine::Fio => job
            .io
            .fio_options
            .iter()
            .all(|(name, value)| name != "ioengine" || value == "io_uring"),
    };
    (share < 0.5).then(|| {
        let by_io_uring = array.level.is_md() && array.has_parity() && job.io.queue_depth > 1 && is_ring;
        (
            Limit::SplitReads {
                whole_bytes,
                by_io_uring,
            },
            100.0 * share,
        )
    })
}

fn busy(cell: &Cell, figures: &Figures) -> Option<(Limit, f64)> {
    let mean = |wanted: Metric| mean(figures, wanted);
    let all = match cell.machine.kind {
        MachineKind::Lab => [
            (Limit::Cores, mean(Metric::ProcessorBusy)),
            (Limit::Task, mean(Metric::ProcessorBusiestTask)),
        ],
        _ => {
            let used = mean(Metric::CpuUser)
                .zip(mean(Metric::CpuSystem))
                .map(|(user, system)| user + system);
            let offered = mean(Metric::Duration).zip(threads(&cell.workload.work));
            let percent = used
                .zip(offered)
                .map(|(used, (duration, threads))| 100.0 * used / (duration * threads));
            [(Limit::LoadGenerator, percent), (Limit::LoadGenerator, None)]
        }
    };
    let known = all.into_iter().filter_map(|(by, percent)| Some((by, percent?)));
    known.into_iter().find(|(_, percent)| *percent >= BUSY_PERCENT_MIN)
}

/// Number of threads or processes that generate the load; `None` if unknown.
fn threads(work: &Work) -> Option<f64> {
    match work {
        Work::Io(spec) => Some(f64::from(spec.jobs)),
        Work::Server(spec) => Some(f64::from(spec.clients)),
        Work::Bonnie(spec) => Some(f64::from(spec.processes)),
        Work::Iozone(spec) => Some(f64::from(spec.processes)),
        Work::Tree(_) | Work::FioFile(_) | Work::PowerCut(_) | Work::Imported(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::tests::{measurement, plan};
    use study::stack::Level;
    use study::workload::IoSpec;

    fn sample(plan: &Plan, stack: &str, metric: Metric, value: f64) -> Measurement {
        let mut sample = measurement(plan, stack, "read", 0, value);
        sample.entry.metric = metric;
        sample
    }

    /// What limits a test that has the same figures on `raid5` and `raid10`.
    fn limits_of_both(plan: &Plan, test: &str, figures: &[(Metric, f64)]) -> Vec<Limited> {
        let of = |stack: &str| -> Vec<Measurement> {
            let one = |&(metric, value): &(Metric, f64)| {
                let mut one = sample(plan, stack, metric, value);
                one.entry.test = test.into();
                one
            };
            figures.iter().map(one).collect()
        };
        limits(plan, &[of("raid5"), of("raid10")].concat())
    }

    #[test]
    fn a_model_whose_core_or_task_is_busy_is_the_limit() {
        let plan = plan(&["xfs", "ext4", "jfs"]);
        let samples = [
            sample(&plan, "xfs", Metric::ProcessorBusy, 96.0),
            sample(&plan, "ext4", Metric::ProcessorBusy, 40.0),
            sample(&plan, "ext4", Metric::ProcessorBusiestTask, 93.0),
            sample(&plan, "jfs", Metric::ProcessorBusy, 60.0),
            sample(&plan, "jfs", Metric::ProcessorBusiestTask, 80.0),
        ];
        let found = limits(&plan, &samples);
        let words: Vec<(Limit, &str)> = found
            .iter()
            .map(|bound| (bound.by, bound.stacks[0].0.as_str()))
            .collect();
        assert_eq!(words, [(Limit::Cores, "xfs"), (Limit::Task, "ext4")]);
    }

    /// RAID 5 of four 500 GB disks, 256 MiB written: 39 MiB were read with the default stripe cache, 2 MiB with a large one.
    #[test]
    fn a_sequential_write_that_reads_for_parity_is_limited_by_partial_stripes() {
        let mut plan = plan(&["raid5", "raid10"]);
        for cell in &mut plan.cells {
            cell.workload.work = Work::Io(IoSpec {
                pattern: IoPattern::Write,
                ..IoSpec::default()
            });
        }
        plan.cells[0].stack_mut().array.level = Level::Raid5;
        plan.identify();
        let with = |plan: &Plan, read_mib: f64| {
            let figures = [
                (Metric::Throughput, 128.0),
                (Metric::Duration, 2.0),
                (Metric::DeviceRead, read_mib),
            ];
            limits_of_both(plan, "write", &figures)
        };
        let found = with(&plan, 39.0);
        assert_eq!((found.len(), found[0].by), (1, Limit::PartialStripes { of_md: true }));
        assert_eq!(found[0].stacks, [("raid5".to_owned(), 100.0 * 39.0 / 256.0)]);
        assert_eq!(with(&plan, 2.0), []);
        let Work::Io(io) = &mut plan.cells[0].workload.work else {
            unreachable!("set above")
        };
        io.pattern = IoPattern::RandWrite;
        plan.identify();
        assert_eq!(with(&plan, 39.0), [], "random writes are partial by nature");
    }

    /// RAID 5 of SATA drives, 64 KiB at random by io_uring: most reads went through the stripe cache.
    #[test]
    fn reads_that_reach_the_disks_in_pages_are_split() {
        let mut plan = plan(&["raid5", "raid10"]);
        for (cell, level) in plan.cells.iter_mut().zip([Level::Raid5, Level::Raid10]) {
            cell.workload.work = Work::Io(IoSpec {
                pattern: IoPattern::RandRead,
                block_bytes: 64 << 10,
                queue_depth: 32,
                direct: true,
                ..IoSpec::default()
            });
            cell.stack_mut().array.level = level;
        }
        plan.identify();
        let with = |plan: &Plan, kib: f64| {
            let figures = [
                (Metric::DeviceReads, 1000.0),
                (Metric::DeviceRead, kib * 1000.0 / 1024.0),
            ];
            limits_of_both(plan, "randread", &figures)
        };
        let found = with(&plan, 6.4);
        let by = |by_io_uring| Limit::SplitReads {
            whole_bytes: 64 << 10,
            by_io_uring,
        };
        assert_eq!(
            found.iter().map(|limited| limited.by).collect::<Vec<_>>(),
            [by(true), by(false)]
        );
        assert_eq!(found[0].stacks, [("raid5".to_owned(), 10.0)]);
        assert_eq!(with(&plan, 33.0), [], "some are split at the ends of chunks");
        plan.cells[0].stack_mut().array.chunk_bytes = Some(8 << 10);
        plan.identify();
        assert_eq!(with(&plan, 6.4).len(), 1, "a chunk is read whole");
        let Work::Io(io) = &mut plan.cells[0].workload.work else {
            unreachable!("set above")
        };
        io.direct = false;
        plan.identify();
        assert_eq!(with(&plan, 3.0).len(), 1, "the page cache reads as it likes");
    }

    /// Two jobs in 10 s have 20 s of CPU time.
    #[test]
    fn a_load_generator_that_does_nothing_but_compute_is_the_limit() {
        let mut plan = plan(&["xfs"]);
        plan.cells[0].machine_mut().kind = MachineKind::Host;
        plan.cells[0].workload.work = Work::Io(IoSpec {
            jobs: 2,
            ..IoSpec::default()
        });
        plan.identify();
        let with = |user_s: f64| {
            let samples = [
                sample(&plan, "xfs", Metric::CpuUser, user_s),
                sample(&plan, "xfs", Metric::CpuSystem, 4.0),
                sample(&plan, "xfs", Metric::Duration, 10.0),
            ];
            limits(&plan, &samples)
        };
        assert_eq!(with(15.0)[0].by, Limit::LoadGenerator);
        assert_eq!(with(6.0), []);
    }
}
