//! Shared links, faults, and flash drives.

use disksim::catalogue;
use disksim::description::{Description, Device, DiskDescription};
use disksim::disk_set::World;
use disksim::faults::{SectorRange, Slow};
use disksim::flash::{Flash, OldData};
use disksim::link::LinkDescription;
use disksim::request::{Completion, Op, Request, Status};

struct Bench {
    world: World,
    now_ns: u64,
    done: Vec<Completion>,
    random: u64,
}

impl Bench {
    fn new(disks: Vec<DiskDescription>, links: Vec<LinkDescription>) -> Self {
        let world = World::new(&Description { links, disks }).expect("a sound description");
        Bench {
            world,
            now_ns: 0,
            done: Vec::new(),
            random: 11,
        }
    }

    fn random(&mut self, below: u64) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((u128::from(self.random) * u128::from(below)) >> 64) as u64
    }

    fn submit(&mut self, disk: usize, tag: u32, op: Op, sector: u64, sectors: u32) {
        self.world.submit(
            disk,
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

    fn next(&mut self) -> Completion {
        while self.done.is_empty() {
            let at_ns = self.world.next_event_ns().expect("a request is under way");
            self.now_ns = at_ns;
            self.world.advance(at_ns, &mut self.done);
        }
        self.done.remove(0)
    }

    fn one(&mut self, disk: usize, op: Op, sector: u64, sectors: u32) -> (u64, Status) {
        let from_ns = self.now_ns;
        self.submit(disk, 0, op, sector, sectors);
        let status = self.next().status;
        (self.now_ns - from_ns, status)
    }

    /// Keeps every disk busy with one request; returns the mean time between completions.
    fn all_busy(
        &mut self,
        count: u64,
        op: Op,
        sectors: u32,
        mut sector: impl FnMut(&mut Self, usize) -> u64,
    ) -> f64 {
        let from_ns = self.now_ns;
        for disk in 0..self.world.disks() {
            let at = sector(self, disk);
            self.submit(disk, 0, op, at, sectors);
        }
        for _ in 0..count {
            let disk = self.next().disk as usize;
            let at = sector(self, disk);
            self.submit(disk, 0, op, at, sectors);
        }
        (self.now_ns - from_ns) as f64 / count as f64
    }
}

fn disk(name: &str, seed: u64) -> DiskDescription {
    catalogue::find(name)
        .expect("a model of the catalogue")
        .description(seed)
}

fn link(mb_s: f64, one_command: bool) -> LinkDescription {
    LinkDescription {
        sector_ps: (512e6 / mb_s) as u64,
        transfer_ns: 0,
        one_command,
    }
}

fn on(mut disk: DiskDescription, links: &[u32]) -> DiskDescription {
    disk.links = links.to_vec();
    disk
}

#[test]
fn a_bus_is_shared_by_its_disks() {
    let stream = |links: &[u32], bus: f64| {
        let disks = (0..4)
            .map(|seed| on(disk("seagate-cheetah-15k7-450gb", seed), links))
            .collect();
        let mut bench = Bench::new(disks, vec![link(bus, false)]);
        let mut next = [0; 4];
        let ns = bench.all_busy(2000, Op::Read, 256, |_, disk| {
            next[disk] += 256;
            next[disk]
        });
        256.0 * 512.0 / ns * 1e3
    };
    let alone = stream(&[], 320.0);
    assert!((700.0..840.0).contains(&alone), "four disks of 204 MB/s: {alone}");
    let shared = stream(&[0], 320.0);
    assert!((310.0..321.0).contains(&shared), "a bus of 320 MB/s: {shared}");
    let wide = stream(&[0], 5000.0);
    assert!(
        (0.95..1.01).contains(&(wide / alone)),
        "a bus that is wide enough costs nothing: {wide} {alone}"
    );
}

#[test]
fn an_ide_channel_takes_one_command_for_both_disks() {
    let random_reads = |links: [u32; 2]| {
        let disks = (0..2)
            .map(|i| on(disk("wd-500gb-2007", i as u64), &[links[i]]))
            .collect();
        let mut bench = Bench::new(disks, vec![link(66.0, true), link(66.0, true)]);
        bench.all_busy(1000, Op::Read, 8, |bench, _| bench.random(900_000_000))
    };
    let together = random_reads([0, 0]);
    let apart = random_reads([0, 1]);
    assert!((1.9..2.1).contains(&(together / apart)), "{together} {apart}");
}

#[test]
fn a_path_is_as_wide_as_its_narrowest_link() {
    let disks = (0..2).map(|seed| on(disk("nvme-ssd-1920gb", seed), &[0, 1])).collect();
    let mut bench = Bench::new(disks, vec![link(1000.0, false), link(133.0, false)]);
    let mut next = [0; 2];
    let ns = bench.all_busy(500, Op::Read, 256, |_, disk| {
        next[disk] += 256;
        next[disk]
    });
    let mb_s = 256.0 * 512.0 / ns * 1e3;
    assert!((128.0..134.0).contains(&mb_s), "{mb_s}");
}

#[test]
fn a_disk_dies_and_takes_its_requests_along() {
    for name in ["wd-500gb-2007", "nvme-ssd-1920gb"] {
        let mut dying = disk(name, 1);
        dying.faults.dies_at_ns = Some(50_000_000);
        let mut bench = Bench::new(vec![dying, disk(name, 2)], vec![]);
        let mut fates = [0, 0];
        for tag in 0..32 {
            let sector = bench.random(900_000_000);
            bench.submit(0, tag, Op::Read, sector, 8);
        }
        bench.submit(1, 99, Op::Read, 5, 8);
        for _ in 0..33 {
            let completion = bench.next();
            match completion.status {
                Status::Ok => fates[0] += 1,
                Status::DeviceGone => {
                    fates[1] += 1;
                    assert_eq!((completion.disk, completion.at_ns), (0, 50_000_000));
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(fates[0] + fates[1], 33);
        if name == "wd-500gb-2007" {
            assert!(fates[1] > 20, "a disk serves few random reads in 50 ms: {fates:?}");
        }
        assert_eq!(
            bench.one(0, Op::Read, 0, 8).1,
            if bench.now_ns < 50_000_000 {
                Status::Ok
            } else {
                Status::DeviceGone
            }
        );
        assert_eq!(bench.one(1, Op::Write, 0, 8).1, Status::Ok);
    }
}

#[test]
fn an_unreadable_sector_is_told_and_healed_by_writing() {
    for name in ["wd-500gb-2007", "sata-ssd-960gb"] {
        let mut bad = disk(name, 1);
        bad.faults.unreadable = vec![
            SectorRange {
                sector: 1000,
                sectors: 4,
            },
            SectorRange {
                sector: 5000,
                sectors: 1,
            },
        ];
        bad.faults.recovery_ns = 7_000_000_000;
        let mut bench = Bench::new(vec![bad], vec![]);
        let (ns, status) = bench.one(0, Op::Read, 992, 16);
        assert_eq!(status, Status::MediumError { sector: 1000 });
        assert!(ns > 7_000_000_000, "the drive tries for long: {ns}");
        assert_eq!(bench.one(0, Op::Read, 1002, 8).1, Status::MediumError { sector: 1002 });
        assert_eq!(bench.one(0, Op::Read, 1004, 8).1, Status::Ok);
        assert_eq!(bench.one(0, Op::Write, 1001, 2).1, Status::Ok);
        assert_eq!(bench.one(0, Op::Read, 1001, 2).1, Status::Ok);
        assert_eq!(bench.one(0, Op::Read, 1001, 3).1, Status::MediumError { sector: 1003 });
        assert_eq!(bench.one(0, Op::Read, 5000, 1).1, Status::MediumError { sector: 5000 });
    }
}

#[test]
fn a_slow_disk_is_slower_by_what_was_said() {
    let mean = |slow: Option<Slow>| {
        let mut disk = disk("wd-500gb-2007", 3);
        disk.faults.slow = slow;
        let mut bench = Bench::new(vec![disk], vec![]);
        bench.all_busy(2000, Op::Read, 8, |bench, _| bench.random(900_000_000))
    };
    let extra = mean(Some(Slow {
        from_ns: 0,
        access_ns: 20_000_000,
    })) - mean(None);
    assert!((19e6..21e6).contains(&extra), "{extra}");
}

/// From the time of the call until the next call.
#[test]
fn a_disk_becomes_slow_while_it_runs() {
    let mut bench = Bench::new(vec![disk("wd-500gb-2007", 3)], vec![]);
    let mut mean = |delay_ns: u64| {
        bench.world.delay(0, bench.now_ns, delay_ns);
        let taken = (0..500).map(|_| {
            let sector = bench.random(900_000_000);
            bench.one(0, Op::Read, sector, 8).0
        });
        taken.sum::<u64>() as f64 / 500.0
    };
    let (before, slow, after) = (mean(0), mean(20_000_000), mean(0));
    assert!((19e6..21e6).contains(&(slow - before)), "{before} {slow}");
    assert!((after / before - 1.0).abs() < 0.1, "{before} {after}");
}

/// Requests that it has started complete; later ones wait.
#[test]
fn a_disk_that_hangs_takes_its_requests_later() {
    for model in ["wd-500gb-2007", "samsung-860-pro-512gb"] {
        let mut bench = Bench::new(vec![disk(model, 3)], vec![]);
        let before = bench.one(0, Op::Read, 5_000, 8).0;
        bench.world.hang(0, bench.now_ns, 7_000_000_000, false);
        let (during, status) = bench.one(0, Op::Read, 900_000, 8);
        assert!((7_000_000_000..7_100_000_000).contains(&during), "{model}: {during}");
        assert_eq!(status, Status::Ok);
        let after = bench.one(0, Op::Read, 5_000_000, 8).0;
        assert!(before < 100_000_000 && after < 100_000_000, "{model}: {before} {after}");
    }
}

#[test]
fn a_disk_that_hangs_for_ever_is_gone_in_the_end() {
    let mut bench = Bench::new(vec![disk("wd-500gb-2007", 3)], vec![]);
    bench.world.hang(0, bench.now_ns, 30_000_000_000, true);
    let (taken, status) = bench.one(0, Op::Write, 900_000, 8);
    assert_eq!((taken, status), (30_000_000_000, Status::DeviceGone));
    let (taken, status) = bench.one(0, Op::Read, 900_000, 8);
    assert_eq!((taken, status), (0, Status::DeviceGone));
}

fn flash(disk: &mut DiskDescription) -> &mut Flash {
    match &mut disk.device {
        Device::Flash(model) => model,
        Device::Mechanical(_) => panic!("not a flash drive"),
    }
}

#[test]
fn a_flash_read_takes_command_read_transfer_and_wires() {
    let mut description = disk("nvme-ssd-1920gb", 1);
    let model = flash(&mut description).clone();
    let mut bench = Bench::new(vec![description], vec![]);
    let expected = model.command_ns
        + model.read_ns
        + 8 * model.channel_sector_ps / 1000
        + 8 * model.interface.read_sector_ps / 1000
        + model.read_overhead_ns;
    for i in 0..100 {
        bench.now_ns += 1_000_000;
        let (ns, _) = bench.one(0, Op::Read, i * 77_777 * 8, 8);
        assert!(ns.abs_diff(expected) <= 100, "{ns} {expected}");
    }
    let deep = |bench: &mut Bench, depth: u32| {
        let from_ns = bench.now_ns;
        for tag in 0..depth {
            let sector = bench.random(400_000_000) * 8;
            bench.submit(0, tag, Op::Read, sector, 8);
        }
        for _ in 0..20_000 {
            let tag = bench.next().tag;
            let sector = bench.random(400_000_000) * 8;
            bench.submit(0, tag, Op::Read, sector, 8);
        }
        let rate = 20_000.0 / (bench.now_ns - from_ns) as f64 * 1e9;
        (0..depth).for_each(|_| assert_eq!(bench.next().status, Status::Ok));
        rate
    };
    let (one, many) = (deep(&mut bench, 1), deep(&mut bench, 128));
    assert!(many > 20.0 * one && many < 625_000.0, "{one} {many} reads a second");
}

#[test]
fn a_new_flash_drive_writes_faster_than_one_in_its_steady_state() {
    let rate = |old_data: OldData| {
        let mut description = disk("nvme-ssd-1920gb", 1);
        // A small drive reaches its steady state sooner.
        description.sectors = 16 << 21;
        let model = flash(&mut description);
        (model.old_data, model.block_programs) = (old_data, 32);
        let mut bench = Bench::new(vec![description], vec![]);
        let units = 16 << 18;
        let mut from = (0, 0);
        for tag in 0..32 {
            let sector = bench.random(units) * 8;
            bench.submit(0, tag, Op::Write, sector, 8);
        }
        for i in 0..300_000u64 {
            let tag = bench.next().tag;
            let sector = bench.random(units) * 8;
            bench.submit(0, tag, Op::Write, sector, 8);
            if i == 100_000 {
                from = (i, bench.now_ns);
            }
        }
        let moved = bench.world.counters(0).moved_sectors / 8;
        ((300_000 - from.0) as f64 / (bench.now_ns - from.1) as f64 * 1e9, moved)
    };
    let (new, old) = (rate(OldData::NOTHING), rate(OldData::AGED));
    assert_eq!(new.1, 0, "a new drive has nothing to move");
    assert!(
        old.1 > 300_000,
        "an old one moves more than one unit for each: {}",
        old.1
    );
    assert!((2.0..12.0).contains(&(new.0 / old.0)), "{new:?} {old:?}");
}

#[test]
fn only_capacitors_make_a_flush_free() {
    for (name, kept) in [("sata-ssd-960gb", false), ("nvme-ssd-1920gb", true)] {
        let mut bench = Bench::new(vec![disk(name, 1)], vec![]);
        let (write, _) = bench.one(0, Op::Write, 4096, 8);
        assert!(write < 100_000, "{name}: {write}");
        assert_eq!(bench.world.volatile(0).count(), usize::from(!kept), "{name}");
        let (flush, _) = bench.one(0, Op::Flush, 0, 0);
        assert_eq!(flush > 500_000, !kept, "{name}: {flush}");
        assert_eq!(bench.world.volatile(0).count(), 0, "{name}");
    }
}
