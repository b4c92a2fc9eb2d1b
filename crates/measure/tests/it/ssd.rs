//! Measures simulated SSDs with known parameters; the resulting models must perform like the originals.

use crate::array::{Figures, Level};
use disksim::catalogue::{self, Model};
use disksim::description::Device;
use disksim::flash::Flash;
use measure::model::KnownFacts;
use measure::{
    DiskAccess, DiskFigures, DiskMeasurement, Extent, ReadableDisk, SimulatedDisk, SsdLimits, Step, Writable,
};

const KNOWN: KnownFacts<'_> = KnownFacts {
    name: "measured",
    title: "Measured",
    write_back: None,
};
/// Random reads at each depth.
const READS: usize = 20_000;
/// MiB per stream: several cycles of garbage collection.
const STREAM: u64 = 6144;
const READ_DEPTHS: [u32; 5] = [1, 4, 32, 64, 256];
const WRITE_DEPTHS: [u32; 3] = [32, 4, 1];

fn disk(model: &Model) -> SimulatedDisk {
    SimulatedDisk::new(model.description(7)).expect("a sound model")
}

fn flash(model: &Model) -> &Flash {
    match &model.device {
        Device::Flash(flash) => flash,
        Device::Mechanical(_) => panic!("{} is no SSD", model.file.name),
    }
}

fn off_percent(out: f64, original: f64) -> f64 {
    (out / original - 1.0) * 100.0
}

/// Random places of 4 KiB on the whole disk: Knuth's MMIX generator.
fn places(model: &Model, seed: u64, count: usize) -> Vec<Extent> {
    let (mut state, blocks) = (seed, model.sectors / 8);
    let place = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        Extent {
            sector: (state >> 16) % blocks * 8,
            sectors: 8,
        }
    };
    std::iter::repeat_with(place).take(count).collect()
}

/// Figures of a model's disk, by name.
fn figures(model: &Model) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    let mut user = disk(model);
    for depth in READ_DEPTHS {
        let from_ns = user.now_ns();
        user.read(&places(model, u64::from(depth), READS), depth)
            .expect("no faults");
        let per_s = READS as f64 / (user.now_ns() - from_ns) as f64 * 1e9;
        found.push((format!("reads a second at depth {depth}"), per_s));
    }
    let mut user = disk(model);
    let stream: Vec<Extent> = (0..STREAM)
        .map(|index| Extent {
            sector: index * 2048,
            sectors: 2048,
        })
        .collect();
    let mb_s = |from_ns: u64, to_ns: u64| STREAM as f64 * 1048.576 * 1e6 / (to_ns - from_ns) as f64;
    let from_ns = user.now_ns();
    user.read(&stream, 8).expect("no faults");
    found.push(("MB/s of reads".to_owned(), mb_s(from_ns, user.now_ns())));
    let mut user = disk(model);
    user.write(&stream[..1000], 8).expect("no faults");
    let from_ns = user.now_ns();
    user.write(&stream, 8).expect("no faults");
    found.push(("MB/s of writes".to_owned(), mb_s(from_ns, user.now_ns())));
    let mut user = disk(model);
    // Garbage collection recurs with each superblock.
    let turn = flash(model).superblock_units() as usize;
    user.write(&places(model, 42, 2 * turn), 32).expect("no faults");
    for depth in WRITE_DEPTHS {
        let from_ns = user.now_ns();
        user.write(&places(model, 43 + u64::from(depth), turn), depth)
            .expect("no faults");
        let per_s = turn as f64 / (user.now_ns() - from_ns) as f64 * 1e9;
        found.push((format!("writes a second at depth {depth}"), per_s));
    }
    user.flush().expect("no faults");
    let from_ns = user.now_ns();
    for place in places(model, 99, 1000) {
        user.write(&[place], 1).expect("no faults");
        user.flush().expect("no faults");
    }
    let ms = (user.now_ns() - from_ns) as f64 / 1000.0 / 1e6;
    found.push(("ms of a write and a flush".to_owned(), ms));
    found
}

/// The permitted deviation of a figure, in percent.
fn goal_percent(what: &str) -> f64 {
    match what {
        _ if what.starts_with("MB/s") => 3.0,
        _ if what.starts_with("writes") || what.starts_with("ms") => 10.0,
        _ => 5.0,
    }
}

fn measured(model: &Model, limits: SsdLimits) -> DiskFigures {
    let mut disk = disk(model);
    let mut measurement = DiskMeasurement::new(model.sectors, true, limits).expect("it is large enough");
    let mut access = DiskAccess::Destroy(&mut disk);
    while measurement.next(&access).is_some() {
        measurement.advance(&mut access).expect("no faults");
    }
    measurement.measured()
}

/// A figure outside its goal, for a reason in docs/internals/disks.md, and its permitted deviation.
type Miss = (&'static str, f64);

/// Measures a model, returns the deviations outside the goals, and prints a line for each figure.
fn loop_of(name: &str, limits: SsdLimits, misses: &[Miss]) -> Vec<String> {
    let model = catalogue::find(name).expect("in the catalogue");
    let found = measured(&model, limits);
    let text = measure::model::write(&KNOWN, &found).expect("a sound model");
    let made = Model::parse("measured.toml", &text).expect("a sound model");
    let mut wrong = Vec::new();
    let mut goal = |what: &str, out: f64, original: f64, most: f64| {
        let off = off_percent(out, original);
        println!("| {name} | {what} | {original:.4} -> {out:.4} | {off:+.1} % |");
        let miss = misses.iter().find(|(missed, _)| *missed == what);
        let most = miss.map_or(most, |(_, most)| *most);
        if off.abs() > most {
            wrong.push(format!(
                "{name}: {what} {original:.4}, off by {off:+.2} %, at most {most} %"
            ));
        }
    };
    for ((what, original), (_, out)) in figures(&model).iter().zip(&figures(&made)) {
        goal(what, *out, *original, goal_percent(what));
    }
    for level in [Level::Five, Level::Ten] {
        let (a, b) = (Figures::of(&model, level), Figures::of(&made, level));
        goal(&format!("RAID {level:?}: reads"), b.reads_per_s, a.reads_per_s, 5.0);
        goal(&format!("RAID {level:?}: writes"), b.writes_per_s, a.writes_per_s, 5.0);
        goal(&format!("RAID {level:?}: MB/s"), b.stream_mb_s, a.stream_mb_s, 5.0);
    }
    let (a, b) = (flash(&model), flash(&made));
    if a.power_loss_protection != b.power_loss_protection || a.half_duplex != b.half_duplex {
        wrong.push(format!("{name}: protection or wire, {b:?}"));
    }
    if a.slc.is_some() != b.slc.is_some() {
        wrong.push(format!("{name}: SLC cache, {:?}", b.slc));
    }
    wrong
}

fn assert_loop(name: &str, limits: SsdLimits, misses: &[Miss]) {
    let wrong = loop_of(name, limits, misses);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A consumer SATA SSD with a small buffer and coarse garbage collection. Neither can be measured directly, so the
/// fit chooses a large buffer and small steps: bursts and streams deviate.
#[test]
fn a_sata_drive_gives_its_figures_back() {
    let limits = SsdLimits {
        condition_s: 20.0,
        random_s: 12.0,
        stream_s: 24.0,
    };
    let misses = [
        ("MB/s of writes", 25.0),
        ("writes a second at depth 4", 25.0),
        ("RAID Five: writes", 7.0),
        ("RAID Ten: writes", 40.0),
    ];
    assert_loop("samsung-860-pro-512gb", limits, &misses);
}

/// A consumer NVMe SSD with a 4 GB SLC cache.
#[test]
fn a_drive_with_an_slc_cache_gives_its_figures_back() {
    let limits = SsdLimits {
        condition_s: 60.0,
        random_s: 40.0,
        stream_s: 280.0,
    };
    assert_loop("samsung-970-evo-500gb", limits, &[("RAID Five: writes", 6.0)]);
}

/// A data-centre SATA SSD with power-loss protection and two kinds of pages.
#[test]
fn a_protected_drive_gives_its_figures_back() {
    let limits = SsdLimits {
        condition_s: 20.0,
        random_s: 10.0,
        stream_s: 20.0,
    };
    assert_loop("samsung-pm883-480gb", limits, &[]);
}

#[test]
fn an_ssd_that_is_only_read_is_marked_so() {
    let model = catalogue::find("samsung-pm9a3-1920gb").expect("in the catalogue");
    let mut disk = disk(&model);
    let mut measurement =
        DiskMeasurement::new(model.sectors, true, SsdLimits::of(0.0)).expect("it is large enough");
    let mut access = DiskAccess::Read(&mut disk);
    let mut steps = Vec::new();
    while let Some(step) = measurement.next(&access) {
        steps.push(step);
        measurement.advance(&mut access).expect("no faults");
    }
    assert_eq!(steps, [Step::Rotation, Step::Queue, Step::Transfers]);
    let text = measure::model::write(&KNOWN, &measurement.measured()).expect("a sound model");
    let made = Model::parse("measured.toml", &text).expect("a sound model");
    let measured: Vec<&str> = made
        .notes
        .iter()
        .filter(|note| note.sure == catalogue::format::Sure::Measured)
        .map(|note| note.name.as_str())
        .collect();
    assert_eq!(measured, ["sectors"], "{text}");
    for key in ["spare_percent", "buffer_sectors", "power_loss_protection"] {
        let note = made.notes.iter().find(|note| note.name == format!("flash.{key}"));
        assert!(
            note.is_some_and(|note| note.source.contains("only read")),
            "{key}: {text}"
        );
    }
    for (what, original) in figures(&model).iter().filter(|(what, _)| what.contains("read")) {
        let all = figures(&made);
        let (_, out) = all.iter().find(|(other, _)| other == what).expect("the same figures");
        let off = off_percent(*out, *original);
        println!(
            "| {} | {what} | {original:.1} -> {out:.1} | {off:+.1} % |",
            model.file.name
        );
        assert!(off.abs() <= goal_percent(what), "{what}: {original} {out}");
    }
}
