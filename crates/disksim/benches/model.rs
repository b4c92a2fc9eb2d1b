//! Cost of a request in the model, in nanoseconds: `cargo bench -p disksim --features catalogue --bench model`.
//! `LOAD=depth 1` selects loads by name, `REQUESTS` sets the number of requests.

use disksim::catalogue;
use disksim::description::Description;
use disksim::disk_set::World;
use disksim::request::{Completion, Op, Request};
use std::hint::black_box;
use std::time::Instant;

struct Load {
    name: &'static str,
    model: &'static str,
    disks: usize,
    depth: u32,
    op: Op,
    sectors: u32,
    sequential: bool,
}

const fn load(name: &'static str, disks: usize, depth: u32, op: Op, sectors: u32, sequential: bool) -> Load {
    Load {
        name,
        model: "seagate-ironwolf-12tb",
        disks,
        depth,
        op,
        sectors,
        sequential,
    }
}

const LOADS: [Load; 9] = [
    load("random 4 KiB reads, depth 1", 1, 1, Op::Read, 8, false),
    load("random 4 KiB reads, depth 32", 1, 32, Op::Read, 8, false),
    load("random 4 KiB writes, cached, depth 32", 1, 32, Op::Write, 8, false),
    load("1 MiB sequential reads, depth 1", 1, 1, Op::Read, 2048, true),
    load("1 MiB sequential reads, depth 8", 1, 8, Op::Read, 2048, true),
    load("1 MiB sequential writes, depth 8", 1, 8, Op::Write, 2048, true),
    load("random 4 KiB reads, 8 disks, depth 32 each", 8, 32, Op::Read, 8, false),
    load("random 4 KiB reads, 24 disks, depth 1 each", 24, 1, Op::Read, 8, false),
    Load {
        name: "random 4 KiB reads, Cheetah 15K.7, depth 1",
        model: "seagate-cheetah-15k7-450gb",
        disks: 1,
        depth: 1,
        op: Op::Read,
        sectors: 8,
        sequential: false,
    },
];

fn main() {
    let requests: u64 = std::env::var("REQUESTS")
        .ok()
        .and_then(|r| r.parse().ok())
        .unwrap_or(300_000);
    let wanted = std::env::var("LOAD").unwrap_or_default();
    for load in LOADS.iter().filter(|load| load.name.contains(&wanted)) {
        let mut best = f64::MAX;
        for _ in 0..5 {
            best = best.min(run(load, requests));
        }
        println!("{best:8.0} ns  {}", load.name);
    }
}

fn run(load: &Load, requests: u64) -> f64 {
    let model = catalogue::find(load.model).expect("in the catalogue");
    let disks = (0..load.disks as u64).map(|seed| model.description(seed)).collect();
    let mut world = World::new(&Description { links: vec![], disks }).expect("a sound model");
    let mut random = 1u64;
    let mut next = vec![0u64; load.disks];
    let mut sector = |disk: usize| {
        if load.sequential {
            next[disk] = (next[disk] + u64::from(load.sectors)) % (model.sectors - 4096);
            return next[disk];
        }
        random = random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((u128::from(random) * u128::from(model.sectors / 8 - 1)) >> 64) as u64 * 8
    };
    let request = |tag, sector| Request {
        tag,
        op: load.op,
        sector,
        sectors: load.sectors,
        fua: false,
    };
    for disk in 0..load.disks {
        for tag in 0..load.depth {
            world.submit(disk, 0, request(tag, sector(disk)));
        }
    }
    let mut done: Vec<Completion> = Vec::with_capacity(64);
    let started = Instant::now();
    let mut left = requests;
    while left > 0 {
        let Some(now_ns) = world.next_event_ns() else { break };
        world.advance(now_ns, &mut done);
        for completion in done.drain(..) {
            left = left.saturating_sub(1);
            let disk = completion.disk as usize;
            world.submit(disk, now_ns, request(completion.tag, sector(disk)));
        }
    }
    black_box(&world);
    started.elapsed().as_nanos() as f64 / requests as f64
}
