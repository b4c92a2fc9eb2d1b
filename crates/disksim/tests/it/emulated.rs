//! Disks with 4 KiB sectors that emulate sectors of 512 bytes: a partial write costs an additional revolution.

use disksim::catalogue::{self, Model};
use disksim::description::{Description, Device, DiskDescription};
use disksim::disk_set::World;
use disksim::request::{Op, Request};

const SECTORS: u64 = 31_256_085_168;
const TURN_MS: f64 = 60_000.0 / 7200.0;

struct User {
    world: World,
    now_ns: u64,
    random: u64,
}

impl User {
    fn new(physical_sectors: u32, cached: bool) -> Self {
        let mut disk: DiskDescription = catalogue::find("seagate-exos-x16-16tb")
            .expect("in the catalogue")
            .description(3);
        assert_eq!(disk.sectors, SECTORS);
        let Device::Mechanical(model) = &mut disk.device else {
            panic!("it has platters")
        };
        assert_eq!(model.physical_sectors, 8, "a 512e disk");
        model.physical_sectors = physical_sectors;
        model.write_cache.enabled = cached;
        let disks = vec![disk];
        User {
            world: World::new(&Description { links: vec![], disks }).expect("a sound description"),
            now_ns: 0,
            random: 5,
        }
    }

    fn serve(&mut self, op: Op, sector: u64, sectors: u32) {
        let request = Request {
            tag: 0,
            op,
            sector,
            sectors,
            fua: false,
        };
        self.world.submit(0, self.now_ns, request);
        let mut done = Vec::new();
        while done.is_empty() {
            self.now_ns = self.world.next_event_ns().expect("a request is under way");
            self.world.advance(self.now_ns, &mut done);
        }
    }

    /// Mean of random writes of this size, this many sectors past the start of a physical sector.
    fn write_ms(&mut self, sectors: u32, past: u64) -> f64 {
        const WRITES: u64 = 4000;
        let from_ns = self.now_ns;
        for _ in 0..WRITES {
            self.random = self
                .random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let sector = (self.random >> 16) % (SECTORS / 8 - 8) * 8 + past;
            self.serve(Op::Write, sector, sectors);
        }
        (self.now_ns - from_ns) as f64 / WRITES as f64 / 1e6
    }

    fn stream_mb_s(&mut self, from: u64, sectors: u32) -> f64 {
        let mut at = from;
        for _ in 0..4000 {
            self.serve(Op::Write, at, sectors);
            at += u64::from(sectors);
        }
        let (from_ns, counted) = (self.now_ns, at);
        for _ in 0..8000 {
            self.serve(Op::Write, at, sectors);
            at += u64::from(sectors);
        }
        ((at - counted) * 512) as f64 / (self.now_ns - from_ns) as f64 * 1e3
    }
}

#[test]
fn a_write_of_a_part_of_a_sector_waits_for_it_to_pass_again() {
    let whole = User::new(8, false).write_ms(8, 0);
    for (what, sectors, past) in [
        ("512 bytes", 1, 3),
        ("4 KiB, misaligned", 8, 3),
        ("64 KiB, misaligned", 128, 7),
    ] {
        let emulated = User::new(8, false).write_ms(sectors, past);
        let native = User::new(1, false).write_ms(sectors, past);
        println!(
            "{what}: {emulated:.2} ms, {native:.2} ms with sectors of 512 bytes; 4 KiB, aligned: {whole:.2} ms"
        );
        let more = (emulated - native) / TURN_MS;
        // After a seek a write waits 1 ms longer than a read; after a read of its own track it does not.
        assert!((0.85..1.05).contains(&more), "{what}: {more} turns");
    }
    let native = User::new(1, false).write_ms(8, 0);
    assert_eq!(whole, native, "whole sectors are written at once");
}

#[test]
fn a_stream_that_splits_sectors_is_as_fast_as_another_one() {
    let (aligned, shifted) = (
        User::new(8, true).stream_mb_s(0, 128),
        User::new(8, true).stream_mb_s(63, 128),
    );
    println!("64 KiB at a time: {aligned:.1} MB/s from sector 0, {shifted:.1} from sector 63");
    assert!((0.97..1.03).contains(&(shifted / aligned)), "{shifted} {aligned}");
}

#[test]
fn what_was_just_read_is_not_read_again() {
    let mut user = User::new(8, false);
    user.serve(Op::Read, 8_000_000, 8);
    let from_ns = user.now_ns;
    user.serve(Op::Write, 8_000_003, 1);
    let ms = (user.now_ns - from_ns) as f64 / 1e6;
    assert!(ms < 1.1 * TURN_MS, "{ms} ms: it is in the buffer");
}

#[test]
fn a_size_that_no_sector_has_is_refused() {
    let text = include_str!("../../../../data/disks/seagate-exos-x16-16tb.toml");
    for wrong in ["0", "3", "128"] {
        let changed = text.replace(
            "physical_sectors = { is = 8,",
            &format!("physical_sectors = {{ is = {wrong},"),
        );
        assert_ne!(text, changed);
        let error = Model::parse("own.toml", &changed)
            .expect_err("no such sectors")
            .to_string();
        let words = format!("physical sectors of {wrong} sectors of 512 bytes: 1 to 64 and a power of two");
        assert!(error.contains(&words) && error.contains("own.toml:"), "{error}");
    }
}
