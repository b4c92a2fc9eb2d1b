//! Which parts of a disk's cache survive a power cut.

use crate::contents_segments::Heap;
use disksim::contents::{ALL_SURVIVES, Cache, NONE_SURVIVES, Store, Survival, Survivors};
use std::collections::BTreeSet;

const BLOCK: usize = 4096;
const SECTOR: usize = 512;
const BLOCKS: u64 = 12;
/// Writes after the last flush: two to each block.
const WRITES: u64 = 2 * BLOCKS;

/// Durable blocks of ones, and then cached writes of 2, 3, 4, …, two to each block.
fn store(survival: Survival) -> Store {
    let mut store = Store::new(Box::new(Heap::unlimited()));
    for disk in 0..2 {
        store.add_disk(BLOCKS * 8);
        store.set_cache(disk, Cache::Volatile).unwrap();
        store.set_survival(disk, survival).unwrap();
        for block in 0..BLOCKS {
            store.write(disk, block * 8, &[1; BLOCK]).unwrap();
        }
        store.flush(disk).unwrap();
        for write in 0..WRITES {
            store.write(disk, place(write) * 8, &[write as u8 + 2; BLOCK]).unwrap();
        }
    }
    store
}

/// The block of a write: not in the order of places.
fn place(write: u64) -> u64 {
    write * 5 % BLOCKS
}

/// The first byte of each sector after a power cut.
fn after(store: &mut Store, seed: u64, disk: usize) -> Vec<u8> {
    store.power_cut(seed);
    let mut bytes = vec![0; BLOCKS as usize * BLOCK];
    store.read(disk, 0, &mut bytes).unwrap();
    bytes.chunks(SECTOR).map(|sector| sector[0]).collect()
}

fn with(survivors: Survivors, whole_blocks: bool, seed: u64) -> Vec<u8> {
    after(
        &mut store(Survival {
            survivors,
            whole_blocks,
        }),
        seed,
        1,
    )
}

/// Contents of a disk after this many writes, and this many sectors of the next one.
fn done(writes: u64, sectors: usize) -> Vec<u8> {
    let mut all = vec![1; BLOCKS as usize * 8];
    for write in 0..writes {
        let first = place(write) as usize * 8;
        all[first..first + 8].fill(write as u8 + 2);
    }
    if writes < WRITES {
        let first = place(writes) as usize * 8;
        all[first..first + sectors].fill(writes as u8 + 2);
    }
    all
}

fn is_torn(sectors: &[u8]) -> bool {
    sectors
        .chunks(8)
        .any(|block| block.iter().any(|sector| *sector != block[0]))
}

#[test]
fn none_and_all_are_what_they_say() {
    for seed in 0..20 {
        assert_eq!(with(Survivors::None, false, seed), done(0, 0));
        assert_eq!(with(Survivors::All, false, seed), done(WRITES, 0));
    }
    for survivors in [Survivors::Subset, Survivors::Prefix, Survivors::Any] {
        assert_eq!(with(survivors, false, NONE_SURVIVES), done(0, 0));
        assert_eq!(with(survivors, false, ALL_SURVIVES), done(WRITES, 0));
    }
}

#[test]
fn a_prefix_is_one() {
    let mut seen = BTreeSet::new();
    for (whole_blocks, sectors_max) in [(false, 8), (true, 1)] {
        for seed in 0..400 {
            let found = with(Survivors::Prefix, whole_blocks, seed);
            let writes =
                (0..=WRITES).find(|&writes| (0..sectors_max).any(|sectors| done(writes, sectors) == found));
            seen.insert(writes.unwrap_or_else(|| panic!("seed {seed}: {found:?}")));
        }
    }
    assert_eq!(seen.len() as u64, WRITES + 1, "each prefix occurs");
}

#[test]
fn blocks_are_torn_unless_they_are_whole() {
    for survivors in [Survivors::Subset, Survivors::Prefix, Survivors::Any] {
        let torn = |whole_blocks| {
            (0..200)
                .filter(|&seed| is_torn(&with(survivors, whole_blocks, seed)))
                .count()
        };
        assert!(torn(false) > 20, "{survivors:?}");
        assert_eq!(torn(true), 0, "{survivors:?}");
    }
}

#[test]
fn each_disk_draws_for_itself() {
    let survival = Survival {
        survivors: Survivors::Any,
        whole_blocks: true,
    };
    let (none, all) = (done(0, 0), done(WRITES, 0));
    let of = |seed, disk| after(&mut store(survival), seed, disk);
    let both: Vec<(Vec<u8>, Vec<u8>)> = (0..300).map(|seed| (of(seed, 0), of(seed, 1))).collect();
    assert!(both.iter().any(|(one, other)| *one == none && *other == all));
    assert!(
        both.iter()
            .any(|(one, other)| *one == all && *other != all && *other != none)
    );
}

/// A block is written, a flush begins, the block is written again, and the flush ends while that is in the cache.
#[test]
fn what_was_written_before_a_flush_stays_although_it_is_written_again_meanwhile() {
    for seed in [NONE_SURVIVES, ALL_SURVIVES, 1, 2, 3, 4, 5] {
        let mut store = Store::new(Box::new(Heap::unlimited()));
        store.add_disk(BLOCKS * 8);
        store.set_cache(0, Cache::Volatile).unwrap();
        store.write(0, 0, &[1; BLOCK]).unwrap();
        let flush = store.next_write(0).unwrap();
        store.write(0, 8, &[1; BLOCK]).unwrap();
        store.persist_all_but(0, &mut [(0, 16)]).unwrap();
        store.persist_until(0, flush).unwrap();
        store.write(0, 0, &[2; BLOCK]).unwrap();
        let sectors = after(&mut store, seed, 0);
        assert!(sectors[..8].iter().all(|&sector| sector > 0), "{seed}: {sectors:?}");
        if seed == NONE_SURVIVES {
            assert_eq!(sectors[..16], [[1; 8], [0; 8]].concat());
        }
    }
}
