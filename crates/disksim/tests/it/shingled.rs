//! A drive with shingled tracks: fast until its conventional zone is full, then slow; fast again after an idle time.

use disksim::catalogue;
use disksim::description::{Description, Device, DiskDescription};
use disksim::disk_set::World;
use disksim::request::{Completion, Op, Request};

const SECTOR_BYTES: f64 = 512.0;
/// 44 KiB: the share of each disk in a 128 KiB record on a RAIDZ1 of four.
const RECORD: u32 = 88;
const ZONE_SECTORS: u64 = 200 * 2048;

struct User {
    world: World,
    now_ns: u64,
    done: Vec<Completion>,
    random: u64,
}

impl User {
    fn new(disk: DiskDescription) -> Self {
        let disks = vec![disk];
        User {
            world: World::new(&Description { links: vec![], disks }).expect("a sound description"),
            now_ns: 0,
            done: Vec::new(),
            random: 5,
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((u128::from(self.random) * u128::from(limit)) >> 64) as u64
    }

    fn next(&mut self) {
        while self.done.is_empty() {
            self.now_ns = self.world.next_event_ns().expect("a request is under way");
            self.world.advance(self.now_ns, &mut self.done);
        }
        self.done.remove(0);
    }

    fn submit(&mut self, op: Op, sector: u64, sectors: u32) {
        let request = Request {
            tag: 0,
            op,
            sector,
            sectors,
            fua: false,
        };
        self.world.submit(0, self.now_ns, request);
    }

    /// MB/s of scattered records, flushed at the end.
    fn records_mb_s(&mut self, count: u64, span: u64) -> f64 {
        let from_ns = self.now_ns;
        for _ in 0..count {
            let sector = self.below(span / u64::from(RECORD)) * u64::from(RECORD);
            self.submit(Op::Write, sector, RECORD);
            self.next();
        }
        self.submit(Op::Flush, 0, 0);
        self.next();
        (count * u64::from(RECORD)) as f64 * SECTOR_BYTES / (self.now_ns - from_ns) as f64 * 1e3
    }

    /// MB/s of sequential writes of one size.
    fn stream_mb_s(&mut self, sectors: u32, count: u64) -> f64 {
        let from_ns = self.now_ns;
        for i in 0..count {
            self.submit(Op::Write, i * u64::from(sectors), sectors);
            self.next();
        }
        self.submit(Op::Flush, 0, 0);
        self.next();
        (count * u64::from(sectors)) as f64 * SECTOR_BYTES / (self.now_ns - from_ns) as f64 * 1e3
    }
}

/// A WD40EFAX with a zone that a test can fill.
fn shingled() -> DiskDescription {
    let mut disk = catalogue::find("wd-wd40efax").expect("in the catalogue").description(3);
    if let Device::Mechanical(model) = &mut disk.device {
        model.shingled.as_mut().expect("its tracks overlap").zone_sectors = ZONE_SECTORS;
    }
    disk
}

fn conventional() -> DiskDescription {
    catalogue::find("wd-wd40efrx").expect("in the catalogue").description(3)
}

#[test]
fn scattered_writes_are_quick_until_the_zone_is_full_and_again_after_a_rest() {
    let span = 2_000_000_000;
    let mut user = User::new(shingled());
    let first = user.records_mb_s(ZONE_SECTORS / u64::from(RECORD) * 8 / 10, span);
    user.records_mb_s(ZONE_SECTORS / u64::from(RECORD), span);
    let full = user.records_mb_s(2000, span);
    let plain = User::new(conventional()).records_mb_s(4000, span);
    println!("records of 44 KiB: {first:.1} MB/s at first, {full:.2} when the zone is full; a CMR disk {plain:.1}");
    assert!(
        first > 2.0 * plain,
        "the zone is written in order: {first} against {plain}"
    );
    assert!(full < plain / 5.0, "each record costs a band: {full} against {plain}");
    // Bands take 0.3 to 0.7 s each; there are less than 5000 of them.
    user.now_ns += 3_600_000_000_000;
    user.world.advance(user.now_ns, &mut user.done);
    let rested = user.records_mb_s(2000, span);
    assert!(rested > 0.8 * first, "{rested} after a rest, {first} at first");
}

impl User {
    /// Writes records in ascending runs with gaps as long as a record; the runs are anywhere on the drive. Returns GB
    /// per hour.
    fn resilver_gb_h(&mut self, records: u64, run: u64) -> f64 {
        let from_ns = self.now_ns;
        let record = u64::from(RECORD);
        for _ in 0..records / run {
            let first = self.below(7_800_000_000 / (2 * run * record)) * 2 * run * record;
            for i in 0..run {
                self.submit(Op::Write, first + 2 * i * record, RECORD);
                self.next();
            }
        }
        (records / run * run * record) as f64 * SECTOR_BYTES / (self.now_ns - from_ns) as f64 * 3600.0
    }
}

/// The published rebuild of a WD40EFAX took 9.5 days with ZFS where a CMR disk took 16 hours, 14 times as long; with
/// md, which writes all stripes in order, it was "modestly slower". This test uses the real zone and the whole drive.
#[test]
fn a_resilver_is_many_times_slower_and_a_rebuild_in_order_is_not() {
    let whole = |name: &str| catalogue::find(name).expect("in the catalogue").description(3);
    let (md, cmr) = (
        User::new(whole("wd-wd40efax")).stream_mb_s(1024, 60_000),
        User::new(whole("wd-wd40efrx")).stream_mb_s(1024, 60_000),
    );
    println!("in order, 512 KiB a write: {md:.0} MB/s, a CMR disk {cmr:.0}");
    assert!(md > 0.8 * cmr, "{md} against {cmr}");
    let mut times = Vec::new();
    for run in [1, 16, 256] {
        // Its zone holds 444,000 records.
        let mut smr = User::new(whole("wd-wd40efax"));
        smr.resilver_gb_h(460_000, run);
        let smr = smr.resilver_gb_h(40_000, run);
        let cmr = User::new(whole("wd-wd40efrx")).resilver_gb_h(20_000, run);
        println!(
            "runs of {run} records of 44 KiB: {smr:.2} GB an hour, a CMR disk {cmr:.1}: {:.1} times",
            cmr / smr
        );
        times.push(cmr / smr);
    }
    // The length of the runs in that resilver is unknown: the published figure is between the shortest and the
    // longest.
    let published = 9.5 * 24.0 / 16.0;
    assert!(times.is_sorted_by(|a, b| a > b), "{times:?}");
    assert!(times[0] > published && times[2] < published, "{times:?}");
}

#[test]
fn large_writes_in_order_are_as_quick_as_on_other_disks_and_small_ones_are_not() {
    let large = User::new(shingled()).stream_mb_s(2048, 2000);
    let small = User::new(shingled()).stream_mb_s(64, 64_000);
    let plain = User::new(conventional()).stream_mb_s(64, 64_000);
    println!("in order: 1 MiB {large:.1} MB/s, 32 KiB {small:.1}; a CMR disk, 32 KiB {plain:.1}");
    assert!(large > 0.9 * plain, "{large} {plain}");
    assert!(small < 0.6 * plain, "{small} {plain}");
}
