//! Memory use of the store of contents, and its behaviour when memory runs out.

use crate::contents_segments::Heap;
use disksim::contents::{Error, SEGMENT_BYTES, Store};
use std::cell::Cell;
use std::rc::Rc;

const BLOCK: usize = 4096;
const DISK_SECTORS: u64 = 12_000_000_000_000 / 512;

/// A block unlike any of another number.
fn random_block(number: u64) -> [u8; BLOCK] {
    let mut state = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut block = [0; BLOCK];
    for word in block.chunks_exact_mut(8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        word.copy_from_slice(&state.to_le_bytes());
    }
    block
}

fn store(segments: usize) -> (Store, Rc<Cell<usize>>) {
    let allowed = Rc::new(Cell::new(segments));
    (with_disks(Heap::limited(allowed.clone())), allowed)
}

fn with_disks(heap: Heap) -> Store {
    let mut store = Store::new(Box::new(heap));
    for _ in 0..8 {
        store.add_disk(DISK_SECTORS);
    }
    store
}

#[test]
fn eight_disks_of_12_tb_cost_nothing_until_written() {
    let (mut store, _) = store(0);
    for disk in 0..8 {
        store.write(disk, DISK_SECTORS - 800, &[0; 800 * 512]).unwrap();
        store.discard(disk, 0..DISK_SECTORS).unwrap();
    }
    assert!(store.stats().metadata_bytes < 2048, "{:?}", store.stats());
    assert_eq!(store.stats().segments, 0);
}

/// The goal: 16 GiB of patterned and 1 GiB of random data in 2 GiB.
fn check_goal(scale: u64) {
    let mut store = with_disks(Heap::unlimited());
    let random_blocks = (1 << 30) / scale / BLOCK as u64;
    let patterns: Vec<_> = (0..64).map(|number| random_block(u64::MAX / 2 + number)).collect();
    for n in 0..16 * random_blocks {
        store
            .write(
                (n / 128 % 8) as usize,
                n / 1024 * 1024 + n % 128 * 8,
                &patterns[(n * n % 61) as usize],
            )
            .unwrap();
    }
    for n in 0..random_blocks {
        store
            .write((n % 8) as usize, DISK_SECTORS / 2 + n / 8 * 8, &random_block(n))
            .unwrap();
    }
    let stats = store.stats();
    println!("{stats:?}");
    // At full size, the partly used last segment does not matter.
    let data_bytes = stats.distinct_blocks * BLOCK as u64;
    assert_eq!(stats.mapped_blocks, 17 * random_blocks);
    assert!(stats.distinct_blocks <= random_blocks + 61);
    assert!(data_bytes + stats.metadata_bytes <= (2 << 30) / scale, "{stats:?}");
    // Per distinct block 12 bytes and a sixth to a third of a bucket; per place 4 bytes and its share of the nodes.
    let metadata_bytes_max = 30 * stats.distinct_blocks + 5 * stats.mapped_blocks + 8 * 64 * 1024;
    assert!(stats.metadata_bytes <= metadata_bytes_max, "{stats:?}");
}

#[test]
fn sixteen_parts_patterned_and_one_random_fit_into_two_parts() {
    check_goal(64);
}

#[test]
#[ignore = "writes 17 GiB and takes 1.1 GiB of memory: for --release"]
fn patterned_16_gib_and_random_1_gib_fit_into_2_gib() {
    if cfg!(debug_assertions) {
        return requirements::skip("writes 17 GiB: for --release (scripts/bench)");
    }
    check_goal(1);
}

#[test]
fn lone_blocks_all_over_12_tb_cost_a_few_nodes_each() {
    let mut store = with_disks(Heap::unlimited());
    let places = 20_000;
    for n in 0..places {
        store
            .write(0, n * 7919 * 999_983 % (DISK_SECTORS / 8) * 8, &[1; BLOCK])
            .unwrap();
    }
    assert!(store.stats().metadata_bytes / places < 320, "{:?}", store.stats());
}

#[test]
fn without_room_writes_fail_and_nothing_is_lost() {
    let (mut store, allowed) = store(1);
    let capacity = (SEGMENT_BYTES / BLOCK) as u64;
    for n in 0..capacity {
        store.write(0, n * 8, &random_block(n)).unwrap();
    }
    let digest = store.digest(0).unwrap();
    assert_eq!(store.write(0, capacity * 8, &random_block(capacity)), Err(Error::Full));
    assert_eq!(store.write(1, 3, &random_block(capacity)), Err(Error::Full));
    assert_eq!(store.digest(0).unwrap(), digest);
    // Operations without a new block still work: equal content, zeros, a block that only this place uses.
    store.write(1, 0, &random_block(3)).unwrap();
    store.write(0, 5 * 8, &random_block(capacity)).unwrap();
    store.write(0, 6 * 8, &[0; BLOCK]).unwrap();
    store.write(0, capacity * 8, &random_block(capacity + 1)).unwrap();
    assert_eq!(store.write(1, 0, &random_block(capacity + 2)), Err(Error::Full));
    let mut out = [0; BLOCK];
    for n in 0..=capacity {
        let expected = match n {
            5 => random_block(capacity),
            6 => [0; BLOCK],
            _ if n == capacity => random_block(capacity + 1),
            _ => random_block(n),
        };
        store.read(0, n * 8, &mut out).unwrap();
        assert_eq!(out, expected, "block {n}");
    }
    store.read(1, 0, &mut out).unwrap();
    assert_eq!(out, random_block(3));
    allowed.set(2);
    store.write(1, 0, &random_block(capacity + 2)).unwrap();
}

#[test]
fn freed_blocks_are_used_again() {
    let (mut store, _) = store(1);
    let capacity = (SEGMENT_BYTES / BLOCK) as u64;
    for round in 0..4 {
        for n in 0..capacity {
            store
                .write(round % 8, n * 8, &random_block(round as u64 * capacity + n))
                .unwrap();
        }
        assert_eq!(store.stats().distinct_blocks, capacity);
        store.discard(round % 8, 0..DISK_SECTORS).unwrap();
        assert_eq!(store.stats().distinct_blocks, 0);
        assert_eq!(store.stats().mapped_blocks, 0);
    }
}
