//! Upper bounds from the disk models: a part of a higher throughput did not reach the disks or did not come from
//! them.

mod requests;

use crate::disks::Models;
use disksim::show::{Sustained, sustained};
use requests::RequestBound;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use study::TestId;
use study::event::{Guard, Sample};
use study::metric::{MEBIBYTE, Metric};
use study::plan::Trial;
use study::stack::DiskGroup;
use study::workload::{IoJob, Work};

/// The name of the guard.
pub const GUARD: &str = "disk-bound";

/// Allowed excess over the disks' rate: the last data of a test may still be in a buffer.
const ALLOWANCE: f64 = 1.05;

/// Bounds of throughput in MiB/s, without copies and parity.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskBound {
    read: f64,
    write: f64,
    disks: u32,
    /// By test.
    requests: Vec<(String, RequestBound)>,
}

impl DiskBound {
    /// `None` if the data need not reach the disks: the filesystem compresses, a cache answers, or the program (Bonnie++, IOzone)
    /// measures the page cache on purpose.
    pub fn of(trial: &Trial, models: &Models) -> Option<Self> {
        let cell = &trial.cell;
        let stack = &cell.stack;
        if stack.compresses()
            || stack.has_cache()
            || stack.filesystem.zfs.l2arc
            || matches!(cell.workload.work, Work::Bonnie(_) | Work::Iozone(_))
        {
            return None;
        }
        let (mut read, mut write, mut disks, mut requests) = (0.0, 0.0, 0, Vec::new());
        let members = cell.machine.members(&stack.array);
        for group in &cell.machine.disks {
            let rates = rates(group, trial, models)?;
            let of_group = members.iter().filter(|(of, _)| of.name == group.name).count() as u32;
            let (count, written) = match of_group {
                0 => (group.count, 1.0),
                of_group => (
                    of_group,
                    stack.array.member_bytes_min(members.len() as u32, 1 << 20) as f64 / MEBIBYTE,
                ),
            };
            disks += count;
            let count = f64::from(count);
            read += count * rates.read_mb_s * 1e6 / MEBIBYTE;
            write += count * rates.write_mb_s * 1e6 / MEBIBYTE / written;
            if cell.machine.only_group(&stack.array) == Some(group) {
                let model = models.of_seed(group, &cell.machine, trial.seed).ok()?;
                let jobs = cell.workload.work.spec().jobs().into_iter();
                let bound = |job: IoJob<'_>| {
                    let bound = RequestBound::of(cell, &job.io, &model.device, written)?;
                    Some((job.test.to_owned(), bound))
                };
                requests = jobs.filter_map(bound).collect();
            }
        }
        Some(Self {
            read,
            write,
            disks,
            requests,
        })
    }

    /// Checks a throughput against the bound for the test's direction.
    pub fn judge(&self, work: &Work, sample: &Sample) -> Option<Guard> {
        if sample.metric != Metric::Throughput {
            return None;
        }
        let (bound, verb) = match direction(work, &sample.test)? {
            Direction::Read => (self.read, "read"),
            Direction::Write => (self.write, "write"),
        };
        if let Some(guard) = self.judge_requests(sample, verb) {
            return Some(guard);
        }
        let passed = sample.value <= bound * ALLOWANCE;
        let disks = match self.disks {
            1 => "the disk sustains".to_owned(),
            count => format!("the {count} disks together sustain"),
        };
        let detail = if passed {
            format!("{:.1} MiB/s; {disks} {bound:.0} MiB/s", sample.value)
        } else {
            let why = match verb {
                "read" => {
                    "the rest came from memory: read with `direct = true`, or more bytes (`size`) than memory holds"
                }
                _ => {
                    "the rest was in the disks' caches when the clock stopped: write more bytes (`size`) or for longer \
                     (`runtime`, after a `ramp_time`), or end with `end_fsync = true`"
                }
            };
            format!(
                "{:.0} MiB/s, and {disks} {bound:.0} MiB/s once their caches are full; {why}",
                sample.value
            )
        };
        Some(Guard {
            name: GUARD.to_owned(),
            test: Some(sample.test.clone()),
            passed,
            detail,
        })
    }

    /// The guard of a test with more random requests per second than the disks can serve.
    fn judge_requests(&self, sample: &Sample, verb: &str) -> Option<Guard> {
        let (_, bound) = self.requests.iter().find(|(test, _)| sample.test.name() == test)?;
        let per_s = sample.value * MEBIBYTE / bound.block_bytes as f64;
        let most = bound.most(per_s)?;
        if per_s <= most {
            return None;
        }
        let why = match verb {
            "read" => {
                "a cache served the rest: read with `direct = true`, more bytes (`size`) than memory holds, or blocks \
                 (`bs`) that are not smaller than the records of the filesystem"
            }
            _ => {
                "the rest was in a cache when the clock stopped: write for longer (`runtime`, after a `ramp_time`)"
            }
        };
        Some(Guard {
            name: GUARD.to_owned(),
            test: Some(sample.test.clone()),
            passed: false,
            detail: format!("{}; {why}", bound.words(verb, per_s, most)),
        })
    }
}

enum Direction {
    Read,
    Write,
}

/// Direction of the test with this name; `None` for a mixed test, whose reads and writes are checked separately.
fn direction(work: &Work, test: &TestId) -> Option<Direction> {
    let pattern = match work {
        Work::FioFile(file) => {
            let section = file.section_of(test)?;
            match &section.directions {
                Some([reads, _]) if *test == **reads => "read",
                Some([_, writes]) if *test == **writes => "write",
                _ => section.pattern.name(),
            }
        }
        _ => test.name(),
    };
    match pattern {
        "read" | "randread" => Some(Direction::Read),
        "write" | "randwrite" | "copy" => Some(Direction::Write),
        _ => None,
    }
}

/// Sustained rates of a model. Computed once per model, which takes milliseconds; a drawn one has no other trials.
fn rates(group: &DiskGroup, trial: &Trial, models: &Models) -> Option<Sustained> {
    let machine = &trial.cell.machine;
    if machine.changes_models() {
        return sustained(&models.of_seed(group, machine, trial.seed).ok()?).ok();
    }
    type Key = (String, Option<String>);
    static KNOWN: Mutex<BTreeMap<Key, Option<Sustained>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known
        .entry((group.model.clone(), group.model_sha256.clone()))
        .or_insert_with(|| sustained(&models.find(group).ok()?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(study: &str) -> Trial {
        Trial {
            cell: crate::disks::test_study::plan(study).cells.remove(0),
            index: 0,
            seed: 1,
        }
    }

    fn nvme_raid5(rest: &str) -> Trial {
        trial(&format!(
            "[disks]\nmodel = \"nvme-ssd-1920gb\"\ncount = 4\n[[stack]]\narray = {{ level = 5 }}\n{rest}\n\
             [[workload]]\nname = \"w\"\nio = {{ rw = \"write\", direct = true }}\n"
        ))
    }

    fn guard(trial: &Trial, test: &str, value: f64) -> Option<Guard> {
        let sample = Sample {
            test: test.into(),
            metric: Metric::Throughput,
            value,
        };
        DiskBound::of(trial, &Models::default())?.judge(&trial.cell.workload.work, &sample)
    }

    /// Issue 12, point 4: four drives of 2280 MB/s, three of which hold data: 6,523 MiB/s.
    #[test]
    fn issue_12_4_more_than_the_disks_sustain_is_marked() {
        let raid = nvme_raid5("");
        let marked = guard(&raid, "write", 8975.0).expect("a throughput");
        assert!(!marked.passed);
        assert_eq!(
            marked.detail,
            "8975 MiB/s, and the 4 disks together sustain 6523 MiB/s once their caches are full; the rest was in the \
                disks' caches when the clock stopped: write more bytes (`size`) or for longer (`runtime`, after a \
             `ramp_time`), or end with `end_fsync = true`"
        );
        assert!(guard(&raid, "write", 6500.0).expect("a throughput").passed);
        // All four disks are read.
        assert!(guard(&raid, "read", 12_000.0).expect("a throughput").passed);
        assert!(!guard(&raid, "randread", 13_500.0).expect("a throughput").passed);
        assert_eq!(guard(&raid, "readwrite", 20_000.0), None);
    }

    /// Issue 13: eight 7200 rpm disks, and eight processes with one request each: 8 / 4.17 ms = 1,920 per second,
    /// 7.5 MiB/s.
    #[test]
    fn issue_13_more_random_requests_than_the_arms_can_serve_are_marked() {
        let of = |fs: &str, job: &str| {
            trial(&format!(
                "ram = \"3G\"\n[disks]\nmodel = \"seagate-ironwolf-12tb\"\ncount = 8\n[[stack]]\n{fs}\n\
                 [[workload]]\nname = \"w\"\nio = {{ bs = \"4K\", numjobs = 8, size = \"2G\", {job} }}\n"
            ))
        };
        let mirrors = of(
            "fs = { type = \"zfs\", pool = \"mirror\", vdev_disks = 2, compression = \"off\" }",
            "rw = \"randread\"",
        );
        for (value, passed) in [(912.0, false), (297.0, false), (22.3, false), (7.0, true), (2.0, true)] {
            let guard = guard(&mirrors, "randread", value).expect("a throughput");
            assert_eq!(guard.passed, passed, "{value}: {}", guard.detail);
        }
        let detail = guard(&mirrors, "randread", 297.0).expect("a throughput").detail;
        assert!(
            detail.starts_with(
                "76032 random reads a second, but with 8 in flight the seeks and rotation of the disks"
            ),
            "{detail}"
        );

        let raid = "array = { level = 10 }\nfs = { type = \"ext4\" }";
        let direct = of(raid, "rw = \"randwrite\", direct = true, runtime = \"60s\"");
        let marked = guard(&direct, "randwrite", 297.0).expect("a throughput");
        assert!(
            !marked.passed && marked.detail.contains("and full write caches"),
            "{}",
            marked.detail
        );
        assert!(guard(&direct, "randwrite", 6.0).expect("a throughput").passed);
        // They are sorted and merged in memory.
        let buffered = of(raid, "rw = \"randwrite\", runtime = \"60s\"");
        assert!(guard(&buffered, "randwrite", 297.0).expect("a throughput").passed);
        // Most of the area is in the disks' own buffers.
        let small = of(raid, "rw = \"randread\", direct = true").clone();
        let small = Trial {
            cell: {
                let mut cell = small.cell;
                if let Work::Io(spec) = &mut cell.workload.work {
                    spec.size_bytes = 64 << 20;
                }
                cell
            },
            ..small
        };
        assert!(guard(&small, "randread", 297.0).expect("a throughput").passed);
    }

    #[test]
    fn what_is_compressed_has_no_bound() {
        let compressed = nvme_raid5("fs = { type = \"btrfs\" }\nmount = \"compress=zstd\"");
        assert_eq!(guard(&compressed, "write", 1e6), None);
    }
}
