//! Simulated disks of known parameters are measured, and their parameters come back.

use disksim::catalogue::{self, Model};
use disksim::description::{Description, Device};
use disksim::faults::SectorRange;
use disksim::request::{Completion, Op, Request, Status};
use disksim::show::show;
use disksim::world::World;
use measure::model::Known;
use measure::{DEPTHS, Error, Measured, Read, Target, Timing, measure};

/// A disk of `disksim`, without a host's own time.
struct Simulated {
    world: World,
    sectors: u64,
    now_ns: u64,
}

impl Simulated {
    fn new(model: &Model, unreadable: &[u64]) -> Self {
        let mut disk = model.description(7);
        disk.faults.unreadable = unreadable
            .iter()
            .map(|&sector| SectorRange { sector, sectors: 1 })
            .collect();
        let disks = vec![disk];
        let world = World::new(&Description {
            links: Vec::new(),
            disks,
        })
        .expect("a sound model");
        Simulated {
            world,
            sectors: model.sectors,
            now_ns: 0,
        }
    }
}

impl Target for Simulated {
    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn run(&mut self, reads: &[Read], depth: u32) -> Result<Vec<Timing>, Error> {
        let mut timings = vec![Timing { from_ns: 0, to_ns: 0 }; reads.len()];
        let (mut next, mut under_way) = (0, 0);
        let mut done: Vec<Completion> = Vec::new();
        while next < reads.len() || under_way > 0 {
            while next < reads.len() && under_way < depth {
                let Read { sector, sectors } = reads[next];
                timings[next].from_ns = self.now_ns;
                let request = Request {
                    tag: next as u32,
                    op: Op::Read,
                    sector,
                    sectors,
                    fua: false,
                };
                self.world.submit(0, self.now_ns, request);
                (next, under_way) = (next + 1, under_way + 1);
            }
            self.now_ns = self.world.next_event_ns().expect("reads are under way");
            self.world.advance(self.now_ns, &mut done);
            for completion in done.drain(..) {
                under_way -= 1;
                timings[completion.tag as usize].to_ns = completion.at_ns;
                if let Status::MediumError { sector } = completion.status {
                    return Err(Error::Unreadable {
                        sector,
                        sectors: reads[completion.tag as usize].sectors,
                        why: "medium error".to_owned(),
                    });
                }
            }
        }
        Ok(timings)
    }

    fn pause(&mut self, ms: u64) {
        let until_ns = self.now_ns + ms * 1_000_000;
        let mut done = Vec::new();
        while let Some(at_ns) = self.world.next_event_ns().filter(|&at_ns| at_ns <= until_ns) {
            self.world.advance(at_ns, &mut done);
        }
        self.world.advance(until_ns, &mut done);
        self.now_ns = until_ns;
    }
}

/// Random 4 KiB reads at one depth.
struct RandomReads {
    mean_ms: f64,
    per_s: f64,
}

/// At each of the depths, other places than those that were measured. The mean of so many reads, whose standard deviation
/// is about a third of it, is within 0.3 %.
fn random_reads(model: &Model) -> Vec<RandomReads> {
    const READS: usize = 20_000;
    let mut disk = Simulated::new(model, &[]);
    // Knuth's MMIX generator.
    let mut state = 42_u64;
    let mut at_depth = |depth: u32| {
        let mut next = |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            Read {
                sector: (state >> 16) % (model.sectors / 8) * 8,
                sectors: 8,
            }
        };
        let reads: Vec<Read> = (0..READS).map(&mut next).collect();
        let from_ns = disk.now_ns;
        let timings = disk.run(&reads, depth).expect("no faults");
        let all: u64 = timings.iter().map(|timing| timing.to_ns - timing.from_ns).sum();
        RandomReads {
            mean_ms: all as f64 / READS as f64 / 1e6,
            per_s: READS as f64 / (disk.now_ns - from_ns) as f64 * 1e9,
        }
    };
    DEPTHS.iter().map(|&depth| at_depth(depth)).collect()
}

const KNOWN: Known<'_> = Known {
    name: "measured",
    title: "Measured",
    write_back: None,
};

fn off_percent(out: f64, original: f64) -> f64 {
    (out / original - 1.0) * 100.0
}

/// Measures a model; returns what is outside of the goals.
fn loop_of(name: &str) -> Vec<String> {
    let model = catalogue::find(name).expect("in the catalogue");
    let measured = measure(&mut Simulated::new(&model, &[]), &mut |_| {}).expect("it is measured");
    let text = measure::model::write(&KNOWN, &measured).expect("a sound model");
    let made = Model::parse("measured.toml", &text).expect("a sound model");
    misses(&model, &made, &measured)
}

/// What is outside of the goals, and a line of figures on standard output.
fn misses(model: &Model, made: &Model, measured: &Measured) -> Vec<String> {
    let Device::Mechanical(disk) = &model.device else {
        panic!("it has platters")
    };
    let (original, out) = (show(model).expect("sound"), show(made).expect("sound"));
    let platters = measured.platters.as_ref().expect("it has platters");
    let mut wrong = Vec::new();
    let mut goal = |what: String, off: f64, most: f64| {
        if off.abs() > most {
            wrong.push(format!("{}: {what} is off by {off:+.3}, at most {most}", original.name));
        }
        off.abs()
    };
    let rpm = off_percent(platters.rpm(), 60e9 / disk.revolution_ns as f64);
    goal("rpm, percent".to_owned(), rpm, 0.1);
    let mut rates = 0.0_f64;
    for (a, b) in original.streaming.iter().zip(&out.streaming) {
        let what = format!("MB/s at {}", a.place);
        rates = rates.max(goal(what, off_percent(b.read_mb_s, a.read_mb_s), 1.0));
    }
    let curve = &original.platters.as_ref().expect("platters").seek_ms;
    let at = |cylinders: f64| {
        let high = curve
            .partition_point(|point| f64::from(point.0) < cylinders)
            .clamp(1, curve.len() - 1);
        let ((x0, y0), (x1, y1)) = (curve[high - 1], curve[high]);
        y0 + (y1 - y0) * (cylinders - f64::from(x0)) / f64::from(x1 - x0)
    };
    // What the command of a miss takes longer than that of a hit cannot be distinguished from its seek.
    let command_ms = disk.overheads.read_miss_after_read_ns as f64 / 1e6 - measured.cache.command_ms();
    let mut seeks = 0.0_f64;
    for seek in platters
        .seeks
        .iter()
        .filter(|seek| seek.tracks >= 10 * u64::from(disk.heads))
    {
        let real = at(seek.tracks as f64 / f64::from(disk.heads)) + command_ms;
        let off = goal(
            format!("seek of {} tracks, ms", seek.tracks),
            seek.ms - real,
            (0.03 * real).max(0.15),
        );
        seeks = seeks.max(off);
    }
    let (a, b) = (random_reads(model), random_reads(made));
    let read = goal(
        "random read, percent".to_owned(),
        off_percent(b[0].mean_ms, a[0].mean_ms),
        2.0,
    );
    let mut gains = 0.0_f64;
    for i in 1..a.len() {
        let gain = |reads: &[RandomReads]| reads[i].per_s / reads[0].per_s;
        let what = format!("gain at depth {}", DEPTHS[i]);
        gains = gains.max(goal(what, off_percent(gain(&b), gain(&a)), 5.0));
    }
    println!(
        "| {} | {:.3} | {:.3} | {rates:.2} % | {seeks:.3} ms | {:.3} | {:.3} | {read:.2} % | {gains:.1} % |",
        original.name,
        60e9 / disk.revolution_ns as f64,
        platters.rpm(),
        a[0].mean_ms,
        b[0].mean_ms
    );
    println!(
        "  {:?}; original {} segments, ahead {:?}",
        measured.cache, disk.buffer.segments, disk.buffer.read_ahead
    );
    wrong.iter().for_each(|w| println!("  MISS {w}"));
    wrong
}

#[test]
fn disks_give_their_parameters_back() {
    let names = [
        "samsung-f1-1tb",
        "wd-raptor-150gb",
        "hitachi-7k500",
        "seagate-cheetah-15k7-450gb",
        "wd-wd40efrx",
    ];
    println!(
        "| disk | rpm in | out | MB/s off by | seeks off by | random read in, ms | out | off by | queue gain off by |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let wrong: Vec<String> = names.into_iter().flat_map(loop_of).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_ssd_has_no_rotation() {
    let model = catalogue::find("samsung-860-pro-512gb").expect("in the catalogue");
    let measured = measure(&mut Simulated::new(&model, &[]), &mut |_| {}).expect("it is measured");
    assert_eq!(measured.platters, None);
    let first = measured.depths[0].mean_ms;
    assert!(
        (0.09..0.13).contains(&first),
        "{first} ms; the drive's figure is 0.106 ms"
    );
    assert_eq!(measure::model::write(&KNOWN, &measured), Err(Error::NoRotation));
}
