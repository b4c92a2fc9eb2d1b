//! Properties of any disk under any requests.

use disksim::catalogue;
use disksim::description::{Description, Destage, Device, DiskDescription, Mapping, Policy, ReadAhead, SeekEarly};
use disksim::disk_set::World;
use disksim::request::{Op, Request, Status};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Disks of the catalogue with random features.
fn any_disk() -> impl Strategy<Value = DiskDescription> {
    let names = prop::sample::select(vec![
        "wd-500gb-2007",
        "seagate-ironwolf-12tb",
        "seagate-cheetah-15k7-450gb",
        "sata-ssd-960gb",
        "nvme-ssd-1920gb",
    ]);
    (names, any::<[bool; 12]>(), 0..4u32, 0..6u32, 1..5u32, any::<u64>()).prop_map(
        |(name, flags, policy, ahead, depth, seed)| {
            let mut disk = catalogue::find(name).expect("in the catalogue").description(seed);
            disk.sectors = disk.sectors.min(400_000_000);
            if let Device::Mechanical(model) = &mut disk.device {
                let policies = [Policy::Fcfs, Policy::Sstf, Policy::Sptf, Policy::Elevator];
                let aheads = [
                    ReadAhead::None,
                    ReadAhead::Sectors(300),
                    ReadAhead::FillSegment,
                    ReadAhead::TrackAhead,
                    ReadAhead::ToEndOfTrack,
                    ReadAhead::ToEndOfCylinder,
                ];
                model.queue.policy = policies[policy as usize];
                model.buffer.read_ahead = aheads[ahead as usize];
                model.queue.depth = depth * depth * 2;
                model.write_cache.enabled = flags[0];
                model.buffer.read_on_arrival = flags[1];
                model.buffer.read_free_sectors = flags[2];
                model.buffer.hits_while_busy = flags[3];
                model.buffer.stop_in_sector = flags[4];
                model.queue.flush_alone = flags[5];
                model.buffer.write_on_arrival = flags[6];
                model.layout.mapping = if flags[7] {
                    Mapping::Serpentine
                } else {
                    Mapping::Cylinders
                };
                if flags[8] {
                    model.write_cache.in_segments = true;
                    model.write_cache.destage = Destage::InTurn;
                    model.write_cache.accept_while_busy = flags[9];
                    model.write_cache.own_segment = flags[10];
                    model.write_cache.extents_max = 3;
                    model.queue.seek_early = SeekEarly::No;
                    model.buffer.segments = 4;
                }
                if flags[11] {
                    for zone in &mut model.layout.zones {
                        zone.slips = vec![5, 6, 700, 5000, 5001, 100_000];
                        zone.spares = 6;
                    }
                    model.layout.sparing = disksim::description::Sparing::PerZone;
                    disk.sectors -= 1000;
                }
            }
            disk
        },
    )
}

#[derive(Clone, Debug)]
struct Ask {
    op: Op,
    sector: u64,
    sectors: u32,
    fua: bool,
    wait_ns: u64,
}

fn asks() -> impl Strategy<Value = Vec<Ask>> {
    let op = prop_oneof![4 => Just(Op::Read), 4 => Just(Op::Write), 1 => Just(Op::Flush), 1 => Just(Op::Discard)];
    let place = prop_oneof![0..400_000_000u64, 0..20_000u64, Just(u64::MAX)];
    let ask = (
        op,
        place,
        prop_oneof![Just(8u32), 1..4000u32, Just(0u32)],
        any::<bool>(),
        0..3u64,
    )
        .prop_map(|(op, sector, sectors, fua, pause)| Ask {
            op,
            sector,
            sectors,
            fua,
            wait_ns: [0, 300_000, 40_000_000][pause as usize],
        });
    prop::collection::vec(ask, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn every_request_completes_once_in_time(disk in any_disk(), asks in asks()) {
        let sectors = disk.sectors;
        let mut world = World::new(&Description { links: vec![], disks: vec![disk] }).expect("sound");
        let mut pending = BTreeMap::new();
        let mut done = Vec::new();
        let (mut now_ns, mut last_ns) = (0, 0);
        let mut check = |world: &mut World, now_ns: u64, pending: &mut BTreeMap<u32, (u64, bool)>| {
            world.advance(now_ns, &mut done);
            for completion in done.drain(..) {
                prop_assert!(completion.at_ns >= last_ns, "time goes back");
                prop_assert!(completion.at_ns <= now_ns, "from the future");
                last_ns = completion.at_ns;
                let (submitted_ns, sane) = pending.remove(&completion.tag).expect("once");
                prop_assert!(completion.at_ns >= submitted_ns);
                prop_assert_eq!(completion.status == Status::Invalid, !sane);
                prop_assert!(completion.at_ns - submitted_ns < 30_000_000_000, "starved");
            }
            Ok(())
        };
        for (tag, ask) in asks.iter().enumerate() {
            now_ns += ask.wait_ns;
            check(&mut world, now_ns, &mut pending)?;
            let inside = ask.sector.checked_add(ask.sectors.into()).is_some_and(|e| e <= sectors) && ask.sectors > 0;
            pending.insert(tag as u32, (now_ns, inside || ask.op == Op::Flush));
            let Ask { op, sector, sectors, fua, .. } = *ask;
            world.submit(0, now_ns, Request { tag: tag as u32, op, sector, sectors, fua });
        }
        let mut steps = 0;
        while let Some(at_ns) = world.next_event_ns() {
            prop_assert!(at_ns >= now_ns, "an event in the past");
            now_ns = at_ns;
            check(&mut world, now_ns, &mut pending)?;
            steps += 1;
            prop_assert!(steps < 100_000, "events without end");
        }
        prop_assert!(pending.is_empty(), "lost: {:?}", pending);
        let counters = world.counters(0);
        prop_assert!(counters.busy_ns <= now_ns);
    }

    #[test]
    fn the_media_gives_no_more_than_passes_the_head(disk in any_disk(), asks in asks()) {
        let Device::Mechanical(model) = disk.device.clone() else { return Ok(()) };
        let most = model.layout.zones.iter().map(|z| z.track_sectors).max().unwrap_or(1);
        let sector_ns = model.revolution_ns / u64::from(most);
        let sectors = disk.sectors;
        let mut world = World::new(&Description { links: vec![], disks: vec![disk] }).expect("sound");
        let mut seen = BTreeSet::new();
        let (mut now_ns, mut done) = (0, Vec::new());
        for ask in asks.iter().filter(|a| a.sectors > 0 && a.sector < sectors - 4000) {
            world.submit(0, now_ns, Request { tag: 0, op: Op::Read, sector: ask.sector, sectors: ask.sectors, fua: false });
            while done.is_empty() {
                now_ns = world.next_event_ns().expect("under way");
                world.advance(now_ns, &mut done);
            }
            done.clear();
            seen.extend(ask.sector..ask.sector + u64::from(ask.sectors));
            prop_assert!(now_ns >= seen.len() as u64 * sector_ns, "{} sectors in {} ns", seen.len(), now_ns);
        }
    }

    #[test]
    fn what_was_flushed_is_durable(disk in any_disk(), asks in asks()) {
        let sectors = disk.sectors;
        let mut world = World::new(&Description { links: vec![], disks: vec![disk] }).expect("sound");
        let (mut now_ns, mut done) = (0, Vec::new());
        let mut wait = |world: &mut World| {
            let mut now_ns = 0;
            while done.is_empty() {
                now_ns = world.next_event_ns().expect("under way");
                world.advance(now_ns, &mut done);
            }
            done.clear();
            now_ns
        };
        for ask in asks.iter().filter(|a| a.sectors > 0 && a.sector < sectors - 4000) {
            world.submit(0, now_ns, Request { tag: 0, op: Op::Write, sector: ask.sector, sectors: ask.sectors, fua: ask.fua });
            now_ns = wait(&mut world);
            if ask.wait_ns > 0 {
                world.submit(0, now_ns, Request { tag: 0, op: Op::Flush, sector: 0, sectors: 0, fua: false });
                now_ns = wait(&mut world);
                prop_assert_eq!(world.volatile(0).count(), 0);
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_times(disk in any_disk(), asks in asks()) {
        let run = || {
            let mut world = World::new(&Description { links: vec![], disks: vec![disk.clone(), disk.clone()] }).expect("sound");
            let mut done = Vec::new();
            let mut now_ns = 0;
            for (tag, ask) in asks.iter().enumerate() {
                now_ns += ask.wait_ns;
                let Ask { op, sector, sectors, fua, .. } = *ask;
                world.submit(tag % 2, now_ns, Request { tag: tag as u32, op, sector, sectors, fua });
            }
            while let Some(at_ns) = world.next_event_ns() {
                world.advance(at_ns, &mut done);
            }
            done.iter().map(|c| (c.disk, c.tag, c.at_ns)).collect::<Vec<_>>()
        };
        prop_assert_eq!(run(), run());
    }
}
