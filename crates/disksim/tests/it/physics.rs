//! Properties of a disk that follow from its platters and arm.

use disksim::catalogue;
use disksim::description::{Description, Device, DiskDescription, Mechanical, Policy};
use disksim::disk_set::World;
use disksim::request::{Completion, Op, Request, Status};

const SECTOR_BYTES: f64 = 512.0;
const MODELS: [&str; 3] = ["wd-500gb-2007", "seagate-ironwolf-12tb", "seagate-cheetah-15k7-450gb"];

struct Bench {
    world: World,
    now_ns: u64,
    done: Vec<Completion>,
    random: u64,
}

impl Bench {
    fn new(disk: DiskDescription) -> Self {
        let world = World::new(&Description {
            links: vec![],
            disks: vec![disk],
        })
        .expect("a sound description");
        Bench {
            world,
            now_ns: 0,
            done: Vec::new(),
            random: 7,
        }
    }

    fn random(&mut self, below: u64) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((u128::from(self.random) * u128::from(below)) >> 64) as u64
    }

    fn submit(&mut self, tag: u32, op: Op, sector: u64, sectors: u32) {
        self.world.submit(
            0,
            self.now_ns,
            Request {
                tag,
                op,
                sector,
                sectors,
                fua: false,
            },
        );
    }

    /// Waits for the next completion.
    fn next(&mut self) -> Completion {
        while self.done.is_empty() {
            let at_ns = self.world.next_event_ns().expect("a request is under way");
            assert!(at_ns >= self.now_ns, "time goes back");
            self.now_ns = at_ns;
            self.world.advance(at_ns, &mut self.done);
        }
        self.done.remove(0)
    }

    fn one(&mut self, op: Op, sector: u64, sectors: u32) -> u64 {
        let from_ns = self.now_ns;
        self.submit(0, op, sector, sectors);
        let completion = self.next();
        assert_eq!(completion.status, Status::Ok);
        assert_eq!(completion.at_ns, self.now_ns);
        self.now_ns - from_ns
    }

    /// Mean time of `count` random 4 KiB reads at depth `depth`.
    fn random_reads_ns(&mut self, sectors: u64, depth: u32, count: u32) -> f64 {
        let from_ns = self.now_ns;
        for tag in 0..depth {
            let sector = self.random(sectors / 8) * 8;
            self.submit(tag, Op::Read, sector, 8);
        }
        for _ in 0..count {
            let tag = self.next().tag;
            let sector = self.random(sectors / 8) * 8;
            self.submit(tag, Op::Read, sector, 8);
        }
        (self.now_ns - from_ns) as f64 / f64::from(count)
    }
}

fn disk(name: &str) -> DiskDescription {
    catalogue::find(name).expect("a model of the catalogue").description(3)
}

fn mechanical(disk: &mut DiskDescription) -> &mut Mechanical {
    match &mut disk.device {
        Device::Mechanical(model) => model,
        Device::Flash(_) => panic!("not a disk with platters"),
    }
}

#[test]
fn streaming_runs_at_the_media_rate_of_the_zone() {
    for name in MODELS {
        let mut description = disk(name);
        let model = mechanical(&mut description).clone();
        for zone in [0, model.layout.zones.len() / 2, model.layout.zones.len() - 1] {
            let z = &model.layout.zones[zone];
            let heads = f64::from(model.heads);
            let per_track = f64::from(z.track_sectors);
            let turn = |angle: u64| angle as f64 / 2f64.powi(64);
            let turns = heads + (heads - 1.0) * turn(z.track_skew_angle) + turn(z.cylinder_skew_angle);
            let expected = heads * per_track * SECTOR_BYTES / (turns * model.revolution_ns as f64) * 1e9;
            let before: u64 = model.layout.zones[..zone]
                .iter()
                .map(|z| u64::from(z.last_cylinder - z.first_cylinder + 1) * u64::from(z.track_sectors))
                .sum();
            let start = before * u64::from(model.heads);
            let mut bench = Bench::new(description.clone());
            bench.one(Op::Read, start, 2048);
            let from_ns = bench.now_ns;
            for i in 1..=200u64 {
                bench.one(Op::Read, start + i * 2048, 2048);
            }
            let rate = 200.0 * 2048.0 * SECTOR_BYTES / (bench.now_ns - from_ns) as f64 * 1e9;
            let ratio = rate / expected;
            assert!(
                (0.99..1.01).contains(&ratio),
                "{name} zone {zone}: {rate} of {expected}"
            );
        }
    }
}

#[test]
fn streaming_writes_run_at_the_media_rate() {
    for name in MODELS {
        let mut description = disk(name);
        mechanical(&mut description).write_cache.enabled = true;
        let sustained = [89.6e6, 210e6, 204e6][MODELS.iter().position(|m| *m == name).unwrap()];
        let mut bench = Bench::new(description);
        for tag in 0..4 {
            bench.submit(tag, Op::Write, u64::from(tag) * 2048, 2048);
        }
        let mut measured_from = (0, 0);
        for i in 4..1200u64 {
            let tag = bench.next().tag;
            bench.submit(tag, Op::Write, i * 2048, 2048);
            if i == 400 {
                measured_from = (i, bench.now_ns);
            }
        }
        let bytes = (1200 - measured_from.0) as f64 * 2048.0 * SECTOR_BYTES;
        let rate = bytes / (bench.now_ns - measured_from.1) as f64 * 1e9;
        assert!(
            (0.97..1.01).contains(&(rate / sustained)),
            "{name}: {rate} of {sustained}"
        );
    }
}

#[test]
fn a_random_read_takes_seek_half_a_turn_and_transfer() {
    for name in MODELS {
        let mut description = disk(name);
        let model = mechanical(&mut description).clone();
        let cylinders = f64::from(model.layout.zones.last().unwrap().last_cylinder + 1);
        // The mean over all pairs of cylinders, weighted by the number of sectors in each zone.
        let mut bench = Bench::new(description.clone());
        let (mut seek, mut pairs) = (0.0, 0.0);
        let cylinder_of = |lbn: u64| {
            let mut left = lbn;
            for z in &model.layout.zones {
                let per = u64::from(z.track_sectors) * u64::from(model.heads);
                let all = per * u64::from(z.last_cylinder - z.first_cylinder + 1);
                if left < all {
                    return f64::from(z.first_cylinder) + (left / per) as f64;
                }
                left -= all;
            }
            cylinders
        };
        for _ in 0..20_000 {
            let a = bench.random(description.sectors);
            let b = bench.random(description.sectors);
            seek += seek_ns(&model, (cylinder_of(a) - cylinder_of(b)).abs());
            pairs += 1.0;
        }
        let transfer = 8.0 * model.revolution_ns as f64 / f64::from(model.layout.zones[0].track_sectors);
        let expected = seek / pairs + model.revolution_ns as f64 / 2.0 + transfer;
        let measured = bench.random_reads_ns(description.sectors, 1, 4000);
        assert!(
            (0.97..1.03).contains(&(measured / expected)),
            "{name}: {measured} against {expected}"
        );
    }
}

/// Linear between the points of the curve: duplicated here on purpose.
fn seek_ns(model: &Mechanical, distance: f64) -> f64 {
    let points = &model.seek;
    if distance < 1.0 {
        return 0.0;
    }
    for pair in points.windows(2) {
        let (a, b) = (f64::from(pair[0].cylinders), f64::from(pair[1].cylinders));
        if distance >= a && distance <= b {
            let part = (distance - a) / (b - a);
            return pair[0].seek_ns as f64 * (1.0 - part) + pair[1].seek_ns as f64 * part;
        }
    }
    points.last().unwrap().seek_ns as f64
}

#[test]
fn a_queue_of_32_pays_and_the_policy_decides_how_much() {
    for name in MODELS {
        let with = |policy: Policy, depth: u32| {
            let mut description = disk(name);
            mechanical(&mut description).queue.policy = policy;
            let sectors = description.sectors;
            Bench::new(description).random_reads_ns(sectors, depth, 3000)
        };
        let alone = with(Policy::Sptf, 1);
        let fcfs = with(Policy::Fcfs, 32);
        let sstf = with(Policy::Sstf, 32);
        let sptf = with(Policy::Sptf, 32);
        assert!(
            (0.95..1.05).contains(&(fcfs / alone)),
            "{name}: a queue without a policy gains nothing"
        );
        assert!(sptf < sstf && sstf < fcfs, "{name}: {sptf} {sstf} {fcfs}");
        assert!(
            (1.6..4.0).contains(&(fcfs / sptf)),
            "{name}: SPTF gains {}",
            fcfs / sptf
        );
    }
}

#[test]
fn a_flush_makes_everything_before_it_durable() {
    let mut bench = Bench::new(disk("wd-500gb-2007"));
    let sectors = disk("wd-500gb-2007").sectors;
    let quick = bench.one(Op::Write, 1000, 8);
    assert!(quick < 200_000, "a cached write is acknowledged at once: {quick}");
    assert_eq!(bench.world.volatile(0).collect::<Vec<_>>(), [(1000, 8)]);
    for _ in 0..99 {
        let sector = bench.random(sectors / 8) * 8;
        bench.one(Op::Write, sector, 8);
    }
    let flush = bench.one(Op::Flush, 0, 0);
    assert_eq!(bench.world.volatile(0).count(), 0);
    // 100 writes in the best order: a large part of a revolution each.
    assert!((300e6..1400e6).contains(&(flush as f64)), "{flush}");
    let empty = bench.one(Op::Flush, 0, 0);
    assert!(empty < 200_000, "nothing left to flush: {empty}");
    assert_eq!(bench.world.counters(0).flushes, 2);
}

#[test]
fn a_cache_empties_itself_when_idle() {
    let mut bench = Bench::new(disk("wd-500gb-2007"));
    for i in 0..20 {
        bench.one(Op::Write, i * 1_000_000, 8);
    }
    assert!(bench.world.volatile(0).count() >= 19);
    bench.now_ns += 3_000_000_000;
    bench.world.advance(bench.now_ns, &mut bench.done);
    assert_eq!(bench.world.volatile(0).count(), 0);
    assert_eq!(bench.world.next_event_ns(), None, "an idle disk has no events");
}

#[test]
fn fua_and_a_disk_without_write_cache_wait_for_the_media() {
    let mut bench = Bench::new(disk("wd-500gb-2007"));
    let request = Request {
        tag: 1,
        op: Op::Write,
        sector: 500_000,
        sectors: 8,
        fua: true,
    };
    bench.world.submit(0, 0, request);
    let first = bench.next().at_ns;
    bench.world.submit(
        0,
        first,
        Request {
            sector: 500_000,
            ..request
        },
    );
    let again = bench.next().at_ns - first;
    let turn = 8_333_333;
    assert!(
        (turn - 400_000..turn + 200_000).contains(&again),
        "the same sector comes round once: {again}"
    );
    assert_eq!(bench.world.volatile(0).count(), 0);
}

#[test]
fn what_was_read_ahead_comes_from_the_buffer() {
    let mut bench = Bench::new(disk("wd-500gb-2007"));
    bench.one(Op::Read, 80_000, 8);
    bench.now_ns += 20_000_000;
    let hit = bench.one(Op::Read, 80_008, 8);
    assert!(hit < 100_000, "{hit}");
    let again = bench.one(Op::Read, 80_000, 8);
    assert!(again < 100_000, "{again}");
    assert_eq!(bench.world.counters(0).hits, 2);
}

#[test]
fn nonsense_is_refused() {
    let mut bench = Bench::new(disk("wd-500gb-2007"));
    let sectors = disk("wd-500gb-2007").sectors;
    for (sector, length) in [(sectors, 1), (sectors - 1, 2), (u64::MAX, 8), (0, 0), (5, u32::MAX)] {
        bench.submit(9, Op::Read, sector, length);
        assert_eq!(bench.next().status, Status::Invalid, "{sector}+{length}");
    }
    bench.world.submit(
        1,
        bench.now_ns,
        Request {
            tag: 2,
            op: Op::Read,
            sector: 0,
            sectors: 1,
            fua: false,
        },
    );
    assert_eq!(bench.next().status, Status::DeviceGone, "there is no disk 1");
    assert!(bench.one(Op::Read, sectors - 1, 1) > 0);
}
