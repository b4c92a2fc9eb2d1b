//! Figures that are measured in one guest, which has the lab's disks and null_blk's side by side.

use crate::Error;
use crate::MeasuredFigure;
use crate::figures::{self, Array, BenchGuest, Figure, Load, REGION_BYTES};
use disksim::catalogue;
use disksim::description::Description;
use disksim::request::SECTOR_BYTES;
use lab::guest::{Config, EndedGuest, LIMITS, SpareMemory};
use lab::job::{BenchJob, BenchLine, BenchStack, GuestJob, Piece};
use lab::kernel::{Cache, DEFAULT_VERSION, Kernel, KernelName};
use lab::trial_folder::TrialFolder;
use prepare::kernels::{self, ShowBuild};
use prepare::own_init;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use study::event::Event;
use study::stack::{ArraySpec, Bitmap, FilesystemKind, FilesystemSpec, Level, StackSpec};
use trial::ProcessEnd;

const MODEL: &str = "seagate-ironwolf-12tb";

/// The stacks of the guest.
const LAB: usize = 0;
const NULL: usize = 1;

/// How long null_blk takes for a request: its own default.
const NULL_NS: u64 = 10_000;

/// Virtual time of a piece of random reads: a few thousand requests.
const LAB_RUNTIME_NS: u64 = 20_000_000_000;
const NULL_REQUESTS: u64 = 5000;

/// Where guests are run.
pub struct Laboratory<'a> {
    kernel: Kernel,
    cache: Cache,
    stop: &'a AtomicBool,
    pairs: u32,
}

/// A piece of work, with the times measured here.
#[derive(Clone, Copy, Debug, Default)]
struct Timed {
    wall_s: f64,
    virtual_s: f64,
    requests: f64,
}

impl<'a> Laboratory<'a> {
    pub fn new(stop: &'a AtomicBool, pairs: u32, show: ShowBuild) -> Result<Self, Error> {
        let cache = Cache::of_user();
        let kernel = kernels::ready(&cache, &KernelName::parse(DEFAULT_VERSION), show);
        let kernel = kernel.map_err(prepare::Error::from)?;
        Ok(Self {
            kernel,
            cache,
            stop,
            pairs,
        })
    }

    pub fn measure(&self, machine: &BenchGuest, figures: &[Figure]) -> Result<Vec<MeasuredFigure>, Error> {
        if figures.is_empty() {
            return Ok(Vec::new());
        }
        let model = catalogue::find(MODEL).map_err(prepare::Error::from)?;
        let disks = (0..machine.disks)
            .map(|disk| model.description(u64::from(disk)))
            .collect();
        let description = Description {
            links: Vec::new(),
            disks,
        };
        let array_bytes = description.disks[0].sectors * SECTOR_BYTES * u64::from(machine.disks.max(3) - 2);
        let (pieces, places) = self.pieces(figures, array_bytes / 100 * 99);
        let stacks = vec![
            stack(machine, "vd", |n| char::from(b'a' + n as u8).to_string()),
            stack(machine, "nullb", |n| n.to_string()),
        ];
        let timed = self.run(&description, BenchJob { stacks, pieces })?;
        Ok(figures
            .iter()
            .zip(places)
            .map(|(&figure, pairs)| measured(figure, &pairs, &timed))
            .collect())
    }

    /// All pieces in their order, and for each figure where the two halves of its pairs are.
    fn pieces(&self, figures: &[Figure], array_bytes: u64) -> (Vec<Piece>, Vec<Vec<(usize, usize)>>) {
        let mut pieces: Vec<Piece> = [LAB, NULL]
            .map(|stack| Piece {
                stack,
                work: figures::fill(),
                seed: 1,
            })
            .into();
        let mut places = vec![Vec::new(); figures.len()];
        // The first round warms up.
        for round in 0..=u64::from(self.pairs) {
            for (figure, places) in figures.iter().zip(&mut places) {
                let first = pieces.len();
                match *figure {
                    Figure::Cost(_, load) => {
                        for (stack, runtime_ns) in [(LAB, LAB_RUNTIME_NS), (NULL, null_runtime_ns(load))] {
                            pieces.push(Piece {
                                stack,
                                work: load.work(REGION_BYTES, runtime_ns),
                                seed: 2 + round,
                            });
                        }
                    }
                    Figure::Pace(load) => {
                        let work = load.work(array_bytes, LAB_RUNTIME_NS);
                        pieces.push(Piece {
                            stack: LAB,
                            work,
                            seed: 2 + round,
                        });
                    }
                    Figure::Jobs | Figure::Apart | Figure::ModelError | Figure::ModelWorst | Figure::ModelRanks => {
                    }
                }
                if round > 0 {
                    places.push((first, pieces.len() - 1));
                }
            }
        }
        (pieces, places)
    }

    fn run(&self, description: &Description, bench: BenchJob) -> Result<Vec<Timed>, Error> {
        let folder = TrialFolder::new(self.cache.folder()).map_err(prepare::Error::Machine)?;
        let null_disks = bench.stacks[NULL].devices.len();
        let mut clock = Clock {
            timed: vec![Timed::default(); bench.pieces.len()],
            ..Clock::default()
        };
        let job = serde_json::to_vec(&GuestJob::Bench(bench)).expect("a job is plain data");
        let ended = lab::guest::run(
            &Config {
                kernel: self.kernel.image().map_err(prepare::Error::from)?,
                init: &own_init()?,
                root: None,
                ram_bytes: 5 << 30,
                seed: 1,
                disks: &postcard::to_allocvec(description).expect("a description is plain data"),
                job: &job,
                memory_budget_bytes: 4 << 30,
                contents: None,
                power_cut: None,
                states: None,
                spare: &SpareMemory::default(),
                folder: folder.path(),
                trace: None,
                processor: lab::guest::processors().last().copied(),
                kernel_arguments: &null_arguments(null_disks),
                limits: LIMITS,
            },
            self.stop,
            &mut |line| clock.line(line),
            &mut |_| {},
        );
        clock.end(&ended.map_err(prepare::Error::from)?)
    }
}

fn null_runtime_ns(load: Load) -> u64 {
    NULL_NS * NULL_REQUESTS / u64::from(load.depth())
}

/// null_blk as the floor: multi-queue, ended by a timer, contents in the guest's memory, as deep as the lab's disks.
fn null_arguments(disks: usize) -> Vec<String> {
    let options = [
        ("nr_devices", disks as u64),
        ("queue_mode", 2),
        ("irqmode", 2),
        ("completion_nsec", NULL_NS),
        ("memory_backed", 1),
        ("gb", 4),
        ("hw_queue_depth", 32),
        ("bs", 512),
    ];
    options.map(|(name, value)| format!("null_blk.{name}={value}")).into()
}

fn stack(machine: &BenchGuest, prefix: &str, suffix: impl Fn(u32) -> String) -> BenchStack {
    let devices = (0..machine.disks)
        .map(|disk| PathBuf::from(format!("/dev/{prefix}{}", suffix(disk))))
        .collect();
    let array = ArraySpec {
        level: match machine.array {
            Array::Single => Level::Single,
            Array::Raid6 => Level::Raid6,
        },
        bitmap: Bitmap::None,
        ..ArraySpec::default()
    };
    let filesystem = FilesystemSpec {
        kind: FilesystemKind::Raw,
        ..FilesystemSpec::default()
    };
    let spec = StackSpec {
        array,
        filesystem,
        ..StackSpec::default()
    };
    BenchStack { devices, spec }
}

fn measured(figure: Figure, pairs: &[(usize, usize)], timed: &[Timed]) -> MeasuredFigure {
    let cost = |piece: usize| timed[piece].wall_s / timed[piece].requests;
    let pair = |&(first, second): &(usize, usize)| match figure {
        Figure::Pace(_) => (timed[first].virtual_s, timed[first].wall_s),
        _ => (cost(first), cost(second)),
    };
    MeasuredFigure::of_pairs(figure, pairs.iter().map(pair).collect())
}

/// Reads the clock when the guest reports the start or the end of a piece of work.
#[derive(Default)]
struct Clock {
    timed: Vec<Timed>,
    began: Option<(usize, Instant, u64)>,
    failure: Option<String>,
    done: bool,
}

impl Clock {
    fn line(&mut self, line: &[u8]) {
        let now = Instant::now();
        match serde_json::from_slice(line) {
            Ok(BenchLine::Began { piece, at_ns }) => self.began = Some((piece, now, at_ns)),
            Ok(BenchLine::Ended { at_ns }) => self.piece_ended(now, at_ns),
            Ok(BenchLine::Done { piece, requests }) => {
                if let Some(timed) = self.timed.get_mut(piece) {
                    timed.requests = requests as f64;
                }
            }
            Err(_) => match serde_json::from_slice(line) {
                Ok(Event::Failed(failure)) => self.failure = Some(failure.message),
                Ok(Event::Done { .. }) => self.done = true,
                Ok(_) => {}
                Err(error) => self.failure = Some(format!("invalid output: {error}")),
            },
        }
    }

    fn piece_ended(&mut self, now: Instant, at_ns: u64) {
        let Some((piece, began, began_ns)) = self.began.take() else {
            return;
        };
        if let Some(timed) = self.timed.get_mut(piece) {
            timed.wall_s = (now - began).as_secs_f64();
            timed.virtual_s = (at_ns - began_ns) as f64 / 1e9;
        }
    }

    fn end(self, ended: &EndedGuest) -> Result<Vec<Timed>, Error> {
        match (&ended.end, self.failure) {
            (ProcessEnd::Exited, None) if self.done => Ok(self.timed),
            (how, failure) => Err(Error::Guest {
                how: format!("{how:?}"),
                message: failure.unwrap_or_default(),
                console: ended.console.clone(),
            }),
        }
    }
}
