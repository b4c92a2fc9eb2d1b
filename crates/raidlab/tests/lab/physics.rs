//! A raw disk of the lab performs like its model, seen from the guest's user space.

use crate::laboratory::{Laboratory, Results, succeeded};
use disksim::catalogue::{self, Model};
use disksim::description::{Device, Mechanical};
use disksim::geometry::Geometry;
use lab::trace::{Record, TraceOp};

const SECTOR_BYTES: u64 = 512;
const MIB: u64 = 1 << 20;
/// Streamed at each place.
const STREAM_BYTES: u64 = 512 * MIB;

#[test]
fn the_desktop_disk_of_first_look() {
    does_what_its_model_says("wd-500gb-2007");
}

#[test]
#[ignore = "test-all"]
fn the_nas_disk() {
    does_what_its_model_says("seagate-ironwolf-12tb");
}

#[test]
#[ignore = "test-all"]
fn the_server_disk() {
    does_what_its_model_says("seagate-cheetah-15k7-450gb");
}

#[test]
#[ignore = "test-all"]
fn the_disk_of_many_published_figures() {
    does_what_its_model_says("hitachi-7k500");
}

fn does_what_its_model_says(name: &str) {
    let Some(laboratory) = Laboratory::open() else { return };
    let model = catalogue::find(name).expect("the catalogue has it");
    let Device::Mechanical(disk) = &model.device else {
        panic!("{name} has platters")
    };
    let results = laboratory.run(&study(&model));
    for (place, offset_bytes) in places(&model) {
        streams_at_its_media_rate(name, disk, &results, place, offset_bytes);
    }
    let requests = laboratory.trace("depth-1");
    let expected_ms = mean_random_read_ms(disk, &requests);
    let measured_ms = 1e3 / results.sample("depth-1", "randread", "iops");
    println!("{name}: random 4 KiB reads {measured_ms:.3} ms, the model's figures say {expected_ms:.3} ms");
    assert!(
        (0.97..1.03).contains(&(measured_ms / expected_ms)),
        "{name}: {measured_ms} ms, not {expected_ms} ms"
    );

    let gain = results.sample("depth-32", "randread", "iops") / results.sample("depth-1", "randread", "iops");
    println!("{name}: depth 32 is {gain:.2} times depth 1");
    assert!(gain > 1.2, "{name}: depth 32 is {gain} times depth 1");
}

fn places(model: &Model) -> [(&'static str, u64); 3] {
    let capacity = model.sectors * SECTOR_BYTES / MIB * MIB;
    [
        ("outer", 0),
        ("middle", capacity / 2 / MIB * MIB),
        ("inner", capacity - STREAM_BYTES),
    ]
}

fn study(model: &Model) -> String {
    let capacity = model.sectors * SECTOR_BYTES / MIB;
    let mut study = format!(
        "ram = \"128M\"\n[disks]\nmodel = \"{}\"\n[[stack]]\narray = {{ level = \"single\" }}\n\
         fs = {{ type = \"raw\" }}\n[precision]\ntrials = 1\n",
        model.file.name
    );
    for (place, offset_bytes) in places(model) {
        study += &format!(
            "[[workload]]\nname = \"{place}\"\nio = {{ rw = \"read\", bs = \"1M\", direct = true, \
             size = \"{}M\", offset = \"{}M\" }}\n",
            STREAM_BYTES / MIB,
            offset_bytes / MIB
        );
    }
    for depth in [1, 32] {
        study += &format!(
            "[[workload]]\nname = \"depth-{depth}\"\nio = {{ rw = \"randread\", bs = \"4K\", direct = true, \
             size = \"{capacity}M\", iodepth = {depth}, runtime = \"20s\" }}\n"
        );
    }
    study
}

fn streams_at_its_media_rate(name: &str, disk: &Mechanical, results: &Results, place: &str, offset_bytes: u64) {
    let measured = results.sample(place, "read", "throughput") * MIB as f64 / 1e6;
    let expected = STREAM_BYTES as f64 / media_ns(disk, offset_bytes / SECTOR_BYTES) as f64 * 1e3;
    println!("{name}: {place} {measured:.2} MB/s, its media passes {expected:.2} MB/s");
    assert!(
        (0.99..1.01).contains(&(measured / expected)),
        "{name} {place}: {measured} MB/s, not {expected} MB/s"
    );
}

/// Time that the sectors take to pass under the heads, across tracks, if no revolution is lost.
fn media_ns(disk: &Mechanical, first: u64) -> u64 {
    let geometry = Geometry::new(&disk.layout, disk.heads, disk.revolution_ns);
    let end = first + STREAM_BYTES / SECTOR_BYTES;
    let (mut sector, mut passed_ns) = (first, 0);
    let start = geometry.locate(first);
    while sector < end {
        let spot = geometry.locate(sector);
        // Since the first sector's start, the platters have turned by this angle plus whole revolutions.
        let turned = (spot.angle_ns + disk.revolution_ns - start.angle_ns) % disk.revolution_ns;
        let past = passed_ns % disk.revolution_ns;
        passed_ns += (turned + disk.revolution_ns - past) % disk.revolution_ns;
        let run = u64::from(spot.run).min(end - sector);
        passed_ns += (run * spot.sector_fp) >> 32;
        sector += run;
    }
    passed_ns
}

/// Seek, half a revolution and transfer, with the actual distances of the arm.
fn mean_random_read_ms(disk: &Mechanical, requests: &[Record]) -> f64 {
    let geometry = Geometry::new(&disk.layout, disk.heads, disk.revolution_ns);
    // Before the workload started, the guest's kernel looked for partitions.
    let begin = requests.len()
        - requests
            .iter()
            .rev()
            .take_while(|request| is_of_the_work(request))
            .count();
    let mut sum_ns = 0.0;
    for pair in requests[begin..].windows(2) {
        let (from, to) = (geometry.locate(pair[0].sector + 7), geometry.locate(pair[1].sector));
        let mut move_ns = seek_ns(disk, from.place.cylinder.abs_diff(to.place.cylinder));
        if from.place.head != to.place.head {
            move_ns = move_ns.max(disk.head_switch_ns as f64);
        }
        let media_ns = 8.0 * (to.sector_fp >> 32) as f64;
        let wire_ns = 8.0 * disk.interface.read_sector_ps as f64 / 1e3;
        sum_ns += disk.overheads.read_miss_after_read_ns as f64 + move_ns + disk.revolution_ns as f64 / 2.0;
        sum_ns += media_ns + wire_ns;
    }
    let pairs = requests.len() - begin - 1;
    assert!(pairs > 1000, "{pairs} reads are too few for a mean");
    sum_ns / pairs as f64 / 1e6
}

fn is_of_the_work(request: &Record) -> bool {
    request.op != TraceOp::Write && request.sectors == 8 && request.sector != 0
}

/// Linear between the points of the model's curve.
fn seek_ns(disk: &Mechanical, cylinders: u32) -> f64 {
    let above = disk
        .seek
        .partition_point(|point| point.cylinders < cylinders)
        .min(disk.seek.len() - 1);
    let high = disk.seek[above];
    if cylinders == 0 || above == 0 {
        return if cylinders == 0 { 0.0 } else { high.seek_ns as f64 };
    }
    let low = disk.seek[above - 1];
    let share = f64::from(cylinders - low.cylinders) / f64::from(high.cylinders - low.cylinders);
    low.seek_ns as f64 + share * (high.seek_ns as f64 - low.seek_ns as f64)
}

/// Intervals said how seeds scatter, and nothing of what is known of the disks: every trial had the same disk.
#[test]
fn issue_41_each_trial_has_disks_of_a_drawn_model_and_all_stacks_the_same() {
    let Some(laboratory) = Laboratory::open() else { return };
    let study = |models: &str| {
        format!(
            "ram = \"128M\"\n[disks]\nmodel = \"seagate-ironwolf-4tb\"\ncount = 2\n[[stack]]\narray = {{ level = [0, 1] }}\n\
             fs = {{ type = \"none\" }}\n[[workload]]\nname = \"w\"\n\
             io = {{ rw = \"read\", bs = \"1M\", size = \"256M\", direct = true, iodepth = 4 }}\n[precision]\ntrials = 4\n{models}\n"
        )
    };
    let relative = |models: &str, store: &str| -> Vec<f64> {
        laboratory.study(&study(models));
        succeeded(&mut laboratory.raidlab(&["run", "study.toml", "--store", store]));
        let exported = succeeded(&mut laboratory.raidlab(&["export", "--store", store, "--format", "json"]));
        let exported: serde_json::Value = serde_json::from_str(&exported).expect("JSON");
        let samples = exported["samples"].as_array().expect("samples");
        let of = |cell: &str| -> Vec<f64> {
            let of_cell = samples.iter().filter(|one| {
                one["metric"] == "throughput" && one["cell"].as_str().is_some_and(|name| name.starts_with(cell))
            });
            of_cell.map(|one| one["value"].as_f64().expect("a number")).collect()
        };
        let (striped, mirrored) = (of("RAID 0"), of("RAID 1"));
        assert_eq!((striped.len(), mirrored.len()), (4, 4), "{samples:?}");
        let (least, most) = striped.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
            (low.min(*value), high.max(*value))
        });
        let ratios = striped.iter().zip(&mirrored).map(|(one, other)| one / other);
        std::iter::once(most / least).chain(ratios).collect()
    };
    let plain = relative("", "plain.db");
    let drawn = relative("models = true", "drawn.db");
    // The rate of the media is from memory: 12 %.
    assert!(
        plain[0] < 1.01 && (1.03..1.6).contains(&drawn[0]),
        "{plain:?} {drawn:?}"
    );
    // It is that of both stacks, so that their ratio hardly changes.
    for ratio in &drawn[1..] {
        assert!((ratio / plain[1] - 1.0).abs() < 0.1, "{plain:?} {drawn:?}");
    }
    assert_eq!(relative("models = true", "again.db"), drawn);
    let exported = succeeded(&mut laboratory.raidlab(&["export", "--store", "drawn.db", "--format", "json"]));
    assert!(exported.contains("drawn.seagate-ironwolf-4tb.disk.rate"));
    assert_eq!(
        lab::disks::drawn_words("seagate-ironwolf-4tb.disk.rate"),
        "the rate of the media of seagate-ironwolf-4tb"
    );
}
