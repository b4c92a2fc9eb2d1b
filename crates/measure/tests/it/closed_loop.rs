//! Measures simulated disks with known parameters and compares the results with them.

use crate::array::{Figures, Level};
use disksim::catalogue::{self, Model};
use disksim::description::Device;
use disksim::show::show;
use measure::model::KnownFacts;
use measure::{
    DEPTHS, DiskAccess, DiskFigures, DiskMeasurement, Extent, ReadableDisk, SimulatedDisk, SsdLimits, Timing,
    Writable,
};

fn disk(model: &Model) -> SimulatedDisk {
    SimulatedDisk::new(model.description(7)).expect("a sound model")
}

/// Random 4 KiB reads at one depth.
struct RandomReads {
    mean_ms: f64,
    per_s: f64,
}

/// Random places of 4 KiB on the whole disk: Knuth's MMIX generator.
fn places(model: &Model, seed: u64) -> impl Iterator<Item = Extent> {
    let (mut state, blocks) = (seed, model.sectors / 8);
    std::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        Extent {
            sector: (state >> 16) % blocks * 8,
            sectors: 8,
        }
    })
}

/// Reads at each depth, at other places than the measured ones. The standard deviation of a read is about a third
/// of the mean, so the mean of this many is within 0.3 %.
fn random_reads(model: &Model) -> Vec<RandomReads> {
    const READS: usize = 20_000;
    let mut disk = disk(model);
    let mut places = places(model, 42);
    let mut at_depth = |depth: u32| {
        let reads: Vec<Extent> = places.by_ref().take(READS).collect();
        let from_ns = disk.now_ns();
        let timings = disk.read(&reads, depth).expect("no faults");
        let all: u64 = timings.iter().map(|timing| timing.to_ns - timing.from_ns).sum();
        RandomReads {
            mean_ms: all as f64 / READS as f64 / 1e6,
            per_s: READS as f64 / (disk.now_ns() - from_ns) as f64 * 1e9,
        }
    };
    DEPTHS.iter().map(|&depth| at_depth(depth)).collect()
}

const KNOWN: KnownFacts<'_> = KnownFacts {
    name: "measured",
    title: "Measured",
    write_back: None,
};

fn off_percent(out: f64, original: f64) -> f64 {
    (out / original - 1.0) * 100.0
}

/// Measures a model and returns the deviations outside the goals.
fn loop_of(name: &str) -> Vec<String> {
    let model = catalogue::find(name).expect("in the catalogue");
    let mut disk = disk(&model);
    let mut measurement =
        DiskMeasurement::new(model.sectors, true, SsdLimits::of(0.0)).expect("it is large enough");
    let mut access = DiskAccess::Destroy(&mut disk);
    while measurement.next(&access).is_some() {
        measurement.advance(&mut access).expect("no faults");
    }
    let measured = measurement.measured();
    let text = measure::model::write(&KNOWN, &measured).expect("a sound model");
    let made = Model::parse("measured.toml", &text).expect("a sound model");
    let mut wrong = misses(&model, &made, &measured);
    wrong.extend(misses_of_writes(&model, &made, &measured));
    wrong.extend(misses_of_arrays(&model, &made));
    wrong
}

/// Arrays of four measured disks are within 5 % of arrays of the originals.
fn misses_of_arrays(model: &Model, made: &Model) -> Vec<String> {
    let Device::Mechanical(disk) = &model.device else {
        panic!("it has platters")
    };
    let mut wrong = Vec::new();
    for level in [Level::Five, Level::Ten] {
        let (a, b) = (Figures::of(model, level), Figures::of(made, level));
        let mut offs = vec![
            ("reads", a.reads_per_s, off_percent(b.reads_per_s, a.reads_per_s)),
            ("MB/s", a.stream_mb_s, off_percent(b.stream_mb_s, a.stream_mb_s)),
        ];
        // Shingled disks are only measured by reads.
        if disk.shingled.is_none() {
            let off = off_percent(b.writes_per_s, a.writes_per_s);
            offs.insert(1, ("writes", a.writes_per_s, off));
        }
        let words: Vec<String> = offs
            .iter()
            .map(|(what, original, off)| format!("{original:.1} {what} {off:+.1} %"))
            .collect();
        println!("| {} | RAID {level:?} | {} |", model.file.name, words.join(" | "));
        for (what, original, off) in offs.into_iter().filter(|(.., off)| off.abs() > 5.0) {
            let name = &model.file.name;
            wrong.push(format!(
                "{name}, RAID {level:?}: {what} {original:.1}, off by {off:+.2} %, at most 5 %"
            ));
        }
    }
    wrong.iter().for_each(|w| println!("  MISS {w}"));
    wrong
}

/// A mean of random writes, in milliseconds.
struct RandomWrites {
    /// Preceded by enough writes to fill the cache.
    mean_ms: f64,
    /// Each followed by a flush.
    sync_ms: f64,
    /// A flush after 32 writes.
    flush_ms: f64,
}

fn random_writes(model: &Model) -> RandomWrites {
    let mut disk = disk(model);
    let ms = |timings: &[Timing]| (timings[timings.len() - 1].to_ns - timings[0].from_ns) as f64 / 1e6;
    let many: Vec<Extent> = places(model, 43).take(10_000).collect();
    disk.write(&many[..3000], 1).expect("no faults");
    let mean_ms = ms(&disk.write(&many[3000..], 1).expect("no faults")) / 7000.0;
    disk.flush().expect("no faults");
    let from_ns = disk.now_ns();
    for &extent in &many[..3000] {
        disk.write(&[extent], 1).expect("no faults");
        disk.flush().expect("no faults");
    }
    let sync_ms = (disk.now_ns() - from_ns) as f64 / 3000.0 / 1e6;
    let mut flushes_ms = 0.0;
    for extents in many[..6400].chunks(32) {
        disk.write(extents, 1).expect("no faults");
        flushes_ms += ms(&[disk.flush().expect("no faults")]);
    }
    RandomWrites {
        mean_ms,
        sync_ms,
        flush_ms: flushes_ms / 200.0,
    }
}

/// Deviations of writes outside the goals; prints a line of figures.
fn misses_of_writes(model: &Model, made: &Model, measured: &DiskFigures) -> Vec<String> {
    let Device::Mechanical(disk) = &model.device else {
        panic!("it has platters")
    };
    let writes = measured.writes.as_ref().expect("the disk was given up");
    let cache = disk.write_cache;
    if disk.shingled.is_some() {
        println!("| {} | writes go elsewhere first |", model.file.name);
        let is_seen = writes.go_elsewhere(&measured.cache);
        return if is_seen {
            Vec::new()
        } else {
            vec!["the cache zone is not seen".to_owned()]
        };
    }
    let mut wrong = Vec::new();
    if writes.go_elsewhere(&measured.cache) {
        wrong.push(format!("{}: writes go to their places", model.file.name));
    }
    let mut goal = |what: &str, out: f64, original: f64, most: f64| {
        let off = off_percent(out, original);
        if off.abs() > most {
            wrong.push(format!(
                "{}: {what} is {out:.3}, {original:.3} in the original: off by {off:+.2} %, at most {most} %",
                model.file.name
            ));
        }
        off
    };
    if cache.enabled {
        let sectors = f64::from(writes.sectors.unwrap_or(0));
        goal(
            "sectors of the write cache",
            sectors,
            f64::from(cache.sectors_max),
            15.0,
        );
        let extents = f64::from(writes.extents.unwrap_or(0));
        goal(
            "extents of the write cache",
            extents,
            f64::from(cache.extents_max),
            10.0,
        );
    }
    let (a, b) = (random_writes(model), random_writes(made));
    let random = goal("a random write, ms", b.mean_ms, a.mean_ms, 5.0);
    let sync = goal("a write and a flush, ms", b.sync_ms, a.sync_ms, 5.0);
    // Without a write cache a flush takes a few microseconds.
    let flush = if cache.enabled {
        goal("a flush after 32 writes, ms", b.flush_ms, a.flush_ms, 10.0)
    } else {
        0.0
    };
    println!(
        "| {} | cache {} -> {} | extents {} -> {:?} | sectors {} -> {:?} | write {:.3} ms, {random:+.2} % | sync {:.3} ms, \
         {sync:+.2} % | flush of 32 {:.1} ms, {flush:+.1} % |",
        model.file.name,
        cache.enabled,
        writes.is_cached,
        cache.extents_max,
        writes.extents,
        cache.sectors_max,
        writes.sectors,
        a.mean_ms,
        a.sync_ms,
        a.flush_ms
    );
    if cache.enabled != writes.is_cached {
        wrong.push(format!("{}: the write cache is {}", model.file.name, cache.enabled));
    }
    wrong.iter().for_each(|w| println!("  MISS {w}"));
    wrong
}

/// Deviations outside the goals; prints a line of figures.
fn misses(model: &Model, made: &Model, measured: &DiskFigures) -> Vec<String> {
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
    // The command overhead of a miss beyond that of a hit cannot be distinguished from its seek.
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
        "wd-wd40efax",
    ];
    println!(
        "| disk | rpm in | out | MB/s off by | seeks off by | random read in, ms | out | off by | queue gain off by |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let wrong: Vec<String> = names.into_iter().flat_map(loop_of).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
