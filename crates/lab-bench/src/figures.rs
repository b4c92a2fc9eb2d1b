//! The figures: the comparison, its machine, and its goal.

use lab::job::PieceWork;
use std::fmt;
use study::workload::{IoEngine, IoPattern, IoSpec};

/// The goal of a ratio.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    AtMost(f64),
    AtLeast(f64),
    /// It explains another figure.
    None,
}

impl Goal {
    pub fn is_met(self, ratio: f64) -> bool {
        match self {
            Self::AtMost(most) => ratio <= most,
            Self::AtLeast(least) => ratio >= least,
            Self::None => true,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "goal ≤ {most}"),
            Self::AtLeast(least) => write!(f, "goal ≥ {least}"),
            Self::None => Ok(()),
        }
    }
}

/// A figure of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Wall time of a request, lab compared with null_blk.
    Cost(Array, Load),
    /// Virtual seconds per wall second, on RAID 6.
    Pace(Load),
    /// Wall time of a study, one guest at a time compared with two.
    Jobs,
    /// The scaling of this machine's processors: the study twice, one after the other compared with both at the
    /// same time, in two independent raidlab processes, each on its own processor. Two guests of one raidlab can
    /// hardly be better.
    Apart,
    /// Deviation of a lab with the model of this machine's processor from this machine, where the processor
    /// decides: the median of the tests, the worst of them, and Spearman's rank correlation over them.
    ModelError,
    ModelWorst,
    ModelRanks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Array {
    Single,
    Raid6,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Random direct reads of 4 KiB at depth 1.
    Read4k,
    /// The same with 32 jobs at the same time, each with a system call and a wake-up for every read.
    Read4k32Jobs,
    /// The same with io_uring, 32 at a time. null_blk completes all of them at the same virtual moment, so it needs
    /// one system call for 32; disks with arms do not.
    Read4k32Ring,
    StreamRead,
    StreamWrite,
    /// No two blocks alike.
    StreamWriteDistinct,
}

/// A guest in which some figures are measured.
pub struct BenchGuest {
    pub array: Array,
    pub disks: u32,
    pub figures: Vec<Figure>,
}

/// The region that is read, and was written before: the first bytes on both sides.
pub const REGION_BYTES: u64 = 1 << 30;

/// Bytes transferred by one streaming job.
const STREAM_BYTES: u64 = 512 << 20;

pub fn machines() -> Vec<BenchGuest> {
    use Load::{Read4k, Read4k32Jobs, Read4k32Ring, StreamRead, StreamWrite, StreamWriteDistinct};
    let loads = [
        Read4k,
        Read4k32Jobs,
        Read4k32Ring,
        StreamRead,
        StreamWrite,
        StreamWriteDistinct,
    ];
    let costs = |array| loads.map(|load| Figure::Cost(array, load));
    let mut raid6 = costs(Array::Raid6).to_vec();
    raid6.extend([Figure::Pace(Read4k32Ring), Figure::Pace(StreamRead)]);
    vec![
        BenchGuest {
            array: Array::Single,
            disks: 1,
            figures: costs(Array::Single).to_vec(),
        },
        BenchGuest {
            array: Array::Raid6,
            disks: 8,
            figures: raid6,
        },
    ]
}

impl Figure {
    pub fn name(self) -> String {
        match self {
            Self::Cost(array, load) => format!("lab_{}{}_vs_null_blk", array.infix(), load.name(array)),
            Self::Pace(Load::StreamRead) => "lab_raid6_stream_virtual_per_wall".to_owned(),
            Self::Pace(_) => "lab_raid6_random_virtual_per_wall".to_owned(),
            Self::Jobs => "lab_jobs2_vs_jobs1".to_owned(),
            Self::Apart => "machine_two_raidlabs_vs_one".to_owned(),
            Self::ModelError => "cpu_model_error".to_owned(),
            Self::ModelWorst => "cpu_model_error_worst".to_owned(),
            Self::ModelRanks => "cpu_model_rank_correlation".to_owned(),
        }
    }

    pub fn goal(self) -> Goal {
        match self {
            Self::Cost(_, Load::Read4k32Ring | Load::StreamWriteDistinct) | Self::Apart => Goal::None,
            Self::Cost(..) => Goal::AtMost(1.3),
            Self::Pace(Load::StreamRead) => Goal::AtLeast(1.0),
            Self::Pace(_) => Goal::AtLeast(10.0),
            Self::Jobs => Goal::AtLeast(1.8),
            Self::ModelError => Goal::AtMost(0.15),
            Self::ModelWorst => Goal::AtMost(0.4),
            Self::ModelRanks => Goal::AtLeast(0.95),
        }
    }
}

impl Array {
    const fn infix(self) -> &'static str {
        match self {
            Self::Single => "",
            Self::Raid6 => "raid6_",
        }
    }
}

impl Load {
    const fn name(self, array: Array) -> &'static str {
        match (self, array) {
            (Self::Read4k, Array::Single) => "read_4k_qd1",
            (Self::Read4k, Array::Raid6) => "read_4k",
            (Self::Read4k32Jobs, _) => "read_4k_qd32",
            (Self::Read4k32Ring, _) => "read_4k_qd32_io_uring",
            (Self::StreamRead, _) => "stream_read",
            (Self::StreamWrite, _) => "stream_write",
            (Self::StreamWriteDistinct, _) => "stream_write_distinct",
        }
    }

    /// Requests in flight.
    pub const fn depth(self) -> u32 {
        match self {
            Self::Read4k32Jobs | Self::Read4k32Ring => 32,
            Self::Read4k | Self::StreamRead | Self::StreamWrite | Self::StreamWriteDistinct => 1,
        }
    }

    /// The job itself, within a region. Random reads end by virtual time: their cost is counted per request.
    pub fn work(self, region_bytes: u64, runtime_ns: u64) -> PieceWork {
        PieceWork::Io(Box::new(match self {
            Self::StreamWriteDistinct => return PieceWork::Distinct { bytes: STREAM_BYTES },
            Self::StreamRead => stream(IoPattern::Read, STREAM_BYTES),
            Self::StreamWrite => stream(IoPattern::Write, STREAM_BYTES),
            Self::Read4k | Self::Read4k32Ring => IoSpec {
                queue_depth: self.depth(),
                ..random_reads(region_bytes, runtime_ns)
            },
            Self::Read4k32Jobs => {
                let part_bytes = region_bytes / u64::from(self.depth());
                IoSpec {
                    jobs: self.depth(),
                    ..random_reads(part_bytes, runtime_ns)
                }
            }
        }))
    }
}

/// Writes everything that is read later.
pub fn fill() -> PieceWork {
    PieceWork::Io(Box::new(stream(IoPattern::Write, REGION_BYTES)))
}

fn random_reads(size_bytes: u64, runtime_ns: u64) -> IoSpec {
    let pattern = IoPattern::RandRead;
    IoSpec {
        pattern,
        block_bytes: 4096,
        runtime_ns: Some(runtime_ns),
        ..stream(pattern, size_bytes)
    }
}

fn stream(pattern: IoPattern, size_bytes: u64) -> IoSpec {
    IoSpec {
        engine: IoEngine::Native,
        pattern,
        read_percent: 0,
        block_bytes: 1 << 20,
        size_bytes,
        offset_bytes: 0,
        jobs: 1,
        queue_depth: 1,
        direct: true,
        fsync_every: 0,
        end_fsync: false,
        runtime_ns: None,
        ..IoSpec::default()
    }
}
