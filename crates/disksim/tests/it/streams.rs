//! Every disk of the catalogue streams at media rate, whatever the requests, and a RAID 0 of four as fast as four of
//! them, or as their shared link.

use disksim::catalogue::{self, Model};
use disksim::description::{Description, Device, DiskDescription, Mechanical, ReadAhead};
use disksim::disk_set::World;
use disksim::geometry::Geometry;
use disksim::link::LinkDescription;
use disksim::request::{Completion, Op, Request};

const SECTOR_BYTES: u64 = 512;

/// A kind of stream: request size, and number of requests in flight.
#[derive(Clone, Copy, Debug)]
struct How {
    words: &'static str,
    op: Op,
    sectors: u32,
    depth: u32,
}

const fn how(words: &'static str, op: Op, kib: u32, depth: u32) -> How {
    How {
        words,
        op,
        sectors: kib * 2,
        depth,
    }
}

/// Linux reads 128 KiB ahead by default, the next window while the last one is used; it writes back merged requests
/// at a high depth.
const HOWS: [How; 8] = [
    how("direct reads of 32 KiB", Op::Read, 32, 1),
    how("direct reads of 128 KiB", Op::Read, 128, 1),
    how("direct reads of 1 MiB", Op::Read, 1024, 1),
    how("buffered reads", Op::Read, 128, 2),
    how("direct writes of 32 KiB", Op::Write, 32, 1),
    how("direct writes of 128 KiB", Op::Write, 128, 1),
    how("direct writes of 1 MiB", Op::Write, 1024, 1),
    how("buffered writes", Op::Write, 512, 32),
];

fn mechanical_models() -> Vec<Model> {
    let models = catalogue::list()
        .into_iter()
        .map(|entry| catalogue::find(&entry.name).unwrap_or_else(|e| panic!("{e}")));
    models
        .filter(|model| matches!(model.device, Device::Mechanical(_)))
        .collect()
}

fn mechanical(disk: &mut DiskDescription) -> &mut Mechanical {
    match &mut disk.device {
        Device::Mechanical(model) => model,
        Device::Flash(_) => panic!("not a disk with platters"),
    }
}

/// Keeps requests in flight on a disk.
struct User {
    world: World,
    now_ns: u64,
    done: Vec<Completion>,
}

impl User {
    fn new(disks: Vec<DiskDescription>, links: Vec<LinkDescription>) -> Self {
        User {
            world: World::new(&Description { links, disks }).expect("a sound description"),
            now_ns: 0,
            done: Vec::new(),
        }
    }

    fn submit(&mut self, disk: usize, op: Op, sector: u64, sectors: u32) {
        let request = Request {
            tag: 0,
            op,
            sector,
            sectors,
            fua: false,
        };
        self.world.submit(disk, self.now_ns, request);
    }

    fn next(&mut self) -> Completion {
        while self.done.is_empty() {
            self.now_ns = self.world.next_event_ns().expect("a request is under way");
            self.world.advance(self.now_ns, &mut self.done);
        }
        self.done.remove(0)
    }

    /// Time of `counted` requests after `warm` others.
    fn stream_ns(&mut self, how: How, from: u64, warm: u64, counted: u64) -> u64 {
        let at = |i: u64| from + i * u64::from(how.sectors);
        let ahead = u64::from(how.depth);
        for i in 0..ahead {
            self.submit(0, how.op, at(i), how.sectors);
        }
        let mut start_ns = 0;
        for i in 0..warm + counted {
            self.next();
            if i + 1 == warm {
                start_ns = self.now_ns;
            }
            self.submit(0, how.op, at(i + ahead), how.sectors);
        }
        self.now_ns - start_ns
    }
}

/// At the outer edge, in the middle, and at the inner edge, with room for a stream of this length.
fn places(model: &Model, length: u64) -> [u64; 3] {
    let last = model.sectors - length;
    [0, last / 2, last]
}

#[test]
fn every_disk_streams_at_the_sustained_rate_of_its_zone() {
    let mut misses = Vec::new();
    for model in mechanical_models() {
        let mut description = model.description(3);
        let disk = mechanical(&mut description);
        // On any disk, a write that is acknowledged from the media waits for the next revolution at depth 1.
        disk.write_cache.enabled = true;
        let disk = disk.clone();
        let geometry = Geometry::new(&disk.layout, disk.heads, disk.revolution_ns);
        // Writes to a shingled disk go to its zone unless they start at a band: tests/shingled.rs.
        let in_place = |how: &&How| how.op == Op::Read || disk.shingled.is_none();
        for how in HOWS.iter().filter(in_place).copied() {
            // Enough to fill every cache first, and then for many tracks; no more than a small disk has.
            let buffered = u64::from(disk_cache_sectors(&model));
            let bytes_counted: u64 = 48 << 20;
            let warm = (buffered * 24).div_ceil(u64::from(how.sectors)) + 64;
            let counted = (bytes_counted / SECTOR_BYTES / u64::from(how.sectors)).max(32);
            let length = (warm + counted + 64) * u64::from(how.sectors);
            for from in places(&model, length) {
                let mut user = User::new(vec![description.clone()], Vec::new());
                let took_ns = user.stream_ns(how, from, warm, counted);
                let first = from + warm * u64::from(how.sectors);
                let passes_ns = geometry.pass_ns(first, counted * u64::from(how.sectors));
                let ratio = passes_ns as f64 / took_ns as f64;
                // A drive that reads sectors as they pass need not wait for the first one of a track: skews cost
                // nothing, only the switches themselves do.
                let most = if disk.buffer.read_on_arrival && how.op == Op::Read {
                    1.03 * skew_costs(&disk, first)
                } else {
                    1.03
                };
                if !(0.97..most).contains(&ratio) {
                    let rate = (counted * u64::from(how.sectors) * SECTOR_BYTES) as f64 / took_ns as f64 * 1e3;
                    misses.push(format!(
                        "{}, sector {from}, {}: {rate:.1} MB/s, {ratio:.3} of what its media passes",
                        model.file.name, how.words
                    ));
                }
            }
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

/// A member of a RAID 5 of four has data in three of four chunks, one of a RAID 10 may be asked for every other one. Six disks of a
/// measured RAID 10 with chunks of 64 KiB read at the rate of about three; of four disks of a RAID 5 three are to be expected.
#[test]
fn a_drive_that_reads_ahead_when_hits_are_likely_does_so_over_small_gaps() {
    const CHUNK: u64 = 128;
    let mut tried = 0;
    for model in mechanical_models() {
        let mut description = model.description(3);
        let disk = mechanical(&mut description).clone();
        let reaches =
            matches!(disk.buffer.read_ahead, ReadAhead::Sectors(sectors) if u64::from(sectors) >= 2 * CHUNK);
        if !disk.buffer.adaptive_read_ahead || !reaches {
            continue;
        }
        tried += 1;
        let geometry = Geometry::new(&disk.layout, disk.heads, disk.revolution_ns);
        for (wanted, of) in [(3, 4), (1, 2)] {
            let mut user = User::new(vec![description.clone()], Vec::new());
            let place = |i: u64| (i / wanted * of + i % wanted) * CHUNK;
            let count = 1000;
            for i in 0..count {
                user.submit(0, Op::Read, place(i), CHUNK as u32);
                user.next();
            }
            let ratio = geometry.pass_ns(0, place(count)) as f64 / user.now_ns as f64;
            assert!(
                ratio > 0.95,
                "{}: {ratio:.2} of what its media passes, {wanted} of {of}",
                model.file.name
            );
        }
    }
    assert!(tried > 5, "{tried} models");
}

/// How much faster a zone streams without its skews.
fn skew_costs(disk: &Mechanical, sector: u64) -> f64 {
    let geometry = Geometry::new(&disk.layout, disk.heads, disk.revolution_ns);
    let zone = &disk.layout.zones[geometry.locate(sector).zone as usize];
    let turn = |angle: u64| angle as f64 / 2f64.powi(64);
    let heads = f64::from(disk.heads);
    1.0 + ((heads - 1.0) * turn(zone.track_skew_angle) + turn(zone.cylinder_skew_angle)) / heads
}

/// Maximum sectors in the drive's caches.
fn disk_cache_sectors(model: &Model) -> u32 {
    match &model.device {
        Device::Mechanical(disk) => {
            (disk.buffer.segments * disk.buffer.segment_sectors).max(disk.write_cache.sectors_max)
        }
        Device::Flash(_) => 0,
    }
}

#[test]
fn a_raid_0_of_four_is_as_fast_as_its_disks_or_what_they_share() {
    const CHUNK: u32 = 128;
    let mut misses = Vec::new();
    for model in mechanical_models() {
        let mut description = model.description(3);
        let disk = mechanical(&mut description).clone();
        let geometry = Geometry::new(&disk.layout, disk.heads, disk.revolution_ns);
        let (warm, counted) = (200, 800);
        let sectors = counted * u64::from(CHUNK);
        let one_ns = geometry.pass_ns(warm * u64::from(CHUNK), sectors);
        let one_mb_s = (sectors * SECTOR_BYTES) as f64 / one_ns as f64 * 1e3;
        for part in [0.3, 1.0, 2.5, 6.0] {
            let link_mb_s = one_mb_s * part;
            let link = LinkDescription {
                sector_ps: (512e6 / link_mb_s) as u64,
                transfer_ns: 0,
                one_command: false,
            };
            let disks = (0..4).map(|seed| DiskDescription {
                links: vec![0],
                ..model.description(seed)
            });
            let mut user = User::new(disks.collect(), vec![link]);
            let rate = raid_0_mb_s(&mut user, CHUNK, warm, counted);
            let expected = (4.0 * one_mb_s).min(link_mb_s);
            // As above: a drive that reads sectors as they pass does not wait for skews.
            let skews = if disk.buffer.read_on_arrival {
                skew_costs(&disk, warm * u64::from(CHUNK))
            } else {
                1.0
            };
            let most = (4.0 * one_mb_s * skews).min(link_mb_s);
            let ratio = rate / expected;
            if !(0.95..1.05 * most / expected).contains(&ratio) {
                misses.push(format!(
                    "{} of {one_mb_s:.1} MB/s through {link_mb_s:.1} MB/s: {rate:.1} MB/s, {ratio:.3} of what it should",
                    model.file.name
                ));
            }
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

/// A stream over four disks with a window of stripes in flight, like Linux's read-ahead over a whole stripe.
fn raid_0_mb_s(user: &mut User, chunk: u32, warm: u64, counted: u64) -> f64 {
    const STRIPES_AHEAD: u64 = 2;
    let mut next = [0u64; 4];
    let read = |user: &mut User, disk: usize, next: &mut [u64; 4]| {
        let sector = next[disk] * u64::from(chunk);
        next[disk] += 1;
        user.submit(disk, Op::Read, sector, chunk);
    };
    for _ in 0..STRIPES_AHEAD {
        for disk in 0..4 {
            read(user, disk, &mut next);
        }
    }
    let mut start_ns = 0;
    for i in 0..(warm + counted) * 4 {
        let disk = user.next().disk as usize;
        if i + 1 == warm * 4 {
            start_ns = user.now_ns;
        }
        read(user, disk, &mut next);
    }
    (counted * 4 * u64::from(chunk) * SECTOR_BYTES) as f64 / (user.now_ns - start_ns) as f64 * 1e3
}
