//! Compares the store of contents with a simple model: a map of sectors.

use crate::contents_segments::Heap;
use crate::kept_segments::Kept;
use disksim::contents::{Cache, Corruption, Error, Places, Segments, Store, Survival, Survivors};
use proptest::prelude::*;
use std::collections::HashMap;

const DISKS: usize = 2;
const SECTORS: u64 = 203; // Not whole blocks.
const SECTOR_BYTES: usize = 512;

type Sector = [u8; SECTOR_BYTES];

#[derive(Clone, Debug)]
enum Step {
    Write { disk: usize, sector: u64, fills: Vec<u8> },
    Read { disk: usize, sector: u64, sectors: u64 },
    Discard { disk: usize, start: u64, end: u64 },
    Persist { disk: usize, start: u64, end: u64 },
    Flush { disk: usize },
    PowerCut { seed: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let place = || (0..DISKS, 0..SECTORS, 0..40u64);
    prop_oneof![
        // Few different fills, so that equal blocks and zeros are common; aligned pieces, so that whole blocks are
        // common.
        6 => (place(), any::<bool>(), proptest::collection::vec(0..3u8, 40)).prop_map(|((disk, sector, n), align, fills)| {
            let sector = if align { sector / 8 * 8 } else { sector };
            let n = n.min(SECTORS - sector) as usize;
            let fills = if align { fills.iter().map(|_| fills[0]).take(n).collect() } else { fills[..n].to_vec() };
            Step::Write { disk, sector, fills }
        }),
        3 => place().prop_map(|(disk, sector, n)| Step::Read { disk, sector, sectors: n.min(SECTORS - sector) }),
        1 => place().prop_map(|(disk, start, n)| Step::Discard { disk, start, end: SECTORS.min(start + 3 * n) }),
        1 => place().prop_map(|(disk, start, n)| Step::Persist { disk, start, end: SECTORS.min(start + n) }),
        1 => (0..DISKS).prop_map(|disk| Step::Flush { disk }),
        1 => any::<u64>().prop_map(|seed| Step::PowerCut { seed }),
    ]
}

fn sector_of(fill: u8, sector: u64) -> Sector {
    let mut content = [fill; SECTOR_BYTES];
    // One of the fills differs from sector to sector; 0 stays zeros.
    if fill == 2 {
        content[..8].copy_from_slice(&sector.to_le_bytes());
    }
    content
}

/// The contents that each sector may have after a power cut; the current one is last.
#[derive(Default)]
struct Model {
    versions: HashMap<(usize, u64), Vec<Sector>>,
    volatile: bool,
}

impl Model {
    fn now(&self, disk: usize, sector: u64) -> Sector {
        self.versions
            .get(&(disk, sector))
            .map_or([0; SECTOR_BYTES], |versions| *versions.last().unwrap())
    }

    fn set(&mut self, disk: usize, sector: u64, content: Sector) {
        let versions = self
            .versions
            .entry((disk, sector))
            .or_insert_with(|| vec![[0; SECTOR_BYTES]]);
        versions.push(content);
        if !self.volatile {
            versions.drain(..versions.len() - 1);
        }
    }

    fn make_durable(&mut self, disk: usize, sector: u64) {
        let now = self.now(disk, sector);
        self.versions.insert((disk, sector), vec![now]);
    }
}

fn read_sectors(store: &Store, disk: usize, sector: u64, sectors: u64) -> Vec<Sector> {
    let mut out = vec![0xee; sectors as usize * SECTOR_BYTES];
    store.read(disk, sector, &mut out).unwrap();
    out.chunks_exact(SECTOR_BYTES)
        .map(|bytes| bytes.try_into().unwrap())
        .collect()
}

fn take(store: &mut Store, model: &mut Model, step: &Step) {
    match *step {
        Step::Write {
            disk,
            sector,
            ref fills,
        } => {
            let contents: Vec<Sector> = (sector..).zip(fills).map(|(at, &fill)| sector_of(fill, at)).collect();
            store.write(disk, sector, &contents.concat()).unwrap();
            (sector..)
                .zip(contents)
                .for_each(|(at, content)| model.set(disk, at, content));
        }
        Step::Read { disk, sector, sectors } => {
            for (at, content) in (sector..).zip(read_sectors(store, disk, sector, sectors)) {
                assert_eq!(content, model.now(disk, at), "sector {at} of disk {disk}");
            }
        }
        Step::Discard { disk, start, end } => {
            store.discard(disk, start..end).unwrap();
            (start..end).for_each(|at| model.set(disk, at, [0; SECTOR_BYTES]));
        }
        Step::Persist { disk, start, end } => {
            store.persist(disk, start..end).unwrap();
            (start..end).for_each(|at| model.make_durable(disk, at));
        }
        Step::Flush { disk } => {
            store.flush(disk).unwrap();
            (0..SECTORS).for_each(|at| model.make_durable(disk, at));
        }
        Step::PowerCut { seed } => {
            store.power_cut(seed);
            for disk in 0..DISKS {
                for (at, content) in (0..).zip(read_sectors(store, disk, 0, SECTORS)) {
                    let versions = model
                        .versions
                        .entry((disk, at))
                        .or_insert_with(|| vec![[0; SECTOR_BYTES]]);
                    assert!(
                        versions.contains(&content),
                        "sector {at} of disk {disk} is no version of itself"
                    );
                    *versions = vec![content];
                }
            }
        }
    }
}

fn run(steps: &[Step], volatile: bool) -> (Store, Model) {
    run_on(Box::new(Heap::unlimited()), steps, volatile)
}

fn run_on(segments: Box<dyn Segments>, steps: &[Step], volatile: bool) -> (Store, Model) {
    let mut store = Store::new(segments);
    let mut model = Model {
        volatile,
        ..Model::default()
    };
    for disk in 0..DISKS {
        assert_eq!(store.add_disk(SECTORS), disk);
        store
            .set_cache(disk, if volatile { Cache::Volatile } else { Cache::Durable })
            .unwrap();
    }
    steps.iter().for_each(|step| take(&mut store, &mut model, step));
    (store, model)
}

/// The stored blocks must be exactly the distinct ones that are not zero.
fn check_blocks(store: &mut Store, model: &Model) {
    (0..DISKS).for_each(|disk| store.flush(disk).unwrap());
    let mut mapped = Vec::new();
    for disk in 0..DISKS {
        for block in 0..SECTORS.div_ceil(8) {
            let content: Vec<Sector> = (block * 8..block * 8 + 8)
                .map(|sector| model.now(disk, sector))
                .collect();
            if content.iter().any(|sector| *sector != [0; SECTOR_BYTES]) {
                mapped.push(content);
            }
        }
    }
    assert_eq!(store.stats().mapped_blocks, mapped.len() as u64);
    mapped.sort();
    mapped.dedup();
    assert_eq!(store.stats().distinct_blocks, mapped.len() as u64);
}

/// The digest of a store that was given the same contents in one pass, backwards.
fn digest_anew(model: &Model, disk: usize) -> u128 {
    let mut store = Store::new(Box::new(Heap::unlimited()));
    store.add_disk(SECTORS);
    for sector in (0..SECTORS).rev() {
        store.write(0, sector, &model.now(disk, sector)).unwrap();
    }
    store.digest(0).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn durable_disks_hold_what_was_written(steps in proptest::collection::vec(step(), 1..60)) {
        let (mut store, model) = run(&steps, false);
        check_blocks(&mut store, &model);
        for disk in 0..DISKS {
            take(&mut store, &mut Model { versions: model.versions.clone(), volatile: false },
                &Step::Read { disk, sector: 0, sectors: SECTORS });
            prop_assert_eq!(store.digest(disk).unwrap(), digest_anew(&model, disk));
        }
    }

    #[test]
    fn volatile_disks_lose_only_what_they_may(steps in proptest::collection::vec(step(), 1..60), seed: u64) {
        let (mut store, mut model) = run(&steps, true);
        take(&mut store, &mut model, &Step::PowerCut { seed });
        check_blocks(&mut store, &model);
        // The same steps and the same seed lose the same writes.
        let (mut again, mut model) = run(&steps, true);
        take(&mut again, &mut model, &Step::PowerCut { seed });
        for disk in 0..DISKS {
            prop_assert_eq!(store.digest(disk).unwrap(), again.digest(disk).unwrap());
        }
    }
}

fn saved(store: &Store) -> Vec<u8> {
    let mut saved = Vec::new();
    store.save(&mut |piece| saved.extend_from_slice(piece));
    saved
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn a_store_goes_on_where_the_one_before_ended(
        before in proptest::collection::vec(step(), 1..60),
        after in proptest::collection::vec(step(), 1..60),
        volatile: bool,
    ) {
        let kept = Kept::default();
        let (store, mut model) = run_on(kept.segments(), &before, volatile);
        let bytes = saved(&store);
        prop_assert_eq!(Places::parse(&bytes).unwrap().bytes(), bytes.clone());
        let digests: Vec<_> = (0..DISKS).map(|disk| store.digest(disk).unwrap()).collect();
        let mapped = store.stats().mapped_blocks;
        drop(store);
        let mut store = Store::restore(kept.segments(), &bytes).unwrap();
        prop_assert_eq!(store.sectors().collect::<Vec<_>>(), vec![SECTORS; DISKS]);
        prop_assert_eq!(store.stats().mapped_blocks, mapped);
        for (disk, digest) in digests.into_iter().enumerate() {
            prop_assert_eq!(store.digest(disk).unwrap(), digest);
            for sector in 0..SECTORS {
                model.make_durable(disk, sector);
            }
        }
        model.volatile = false;
        check_blocks(&mut store, &model);
        after.iter().for_each(|step| take(&mut store, &mut model, step));
        check_blocks(&mut store, &model);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Whatever happens to the store later, each saved state is the one that a power cut at that moment would have
    /// left, and saving a state changes none of the later ones.
    #[test]
    fn states_after_power_cuts_are_kept_while_the_store_goes_on(
        before in proptest::collection::vec(step(), 1..60),
        after in proptest::collection::vec(step(), 1..60),
        seeds in proptest::collection::vec(any::<u64>(), 1..4),
        caches in proptest::collection::vec(proptest::collection::vec((0..SECTORS, 0..30_u32), 0..8), 2 * DISKS),
        survivors in prop_oneof![
            Just(Survivors::Subset), Just(Survivors::Prefix), Just(Survivors::None), Just(Survivors::Any)
        ],
        whole_blocks: bool,
    ) {
        let survival = Survival { survivors, whole_blocks };
        let survive = |store: &mut Store| (0..DISKS).for_each(|disk| store.set_survival(disk, survival).unwrap());
        let (first, second) = caches.split_at(DISKS);
        let kept = Kept::default();
        let (mut store, mut model) = run_on(kept.segments(), &before, true);
        survive(&mut store);
        let keep = |store: &mut Store, seed: u64, caches: &[Vec<(u64, u32)>]| {
            let mut bytes = Vec::new();
            store.save_after_power_cut(seed, caches, &mut |piece| bytes.extend(piece)).unwrap();
            bytes
        };
        let states: Vec<Vec<u8>> = seeds.iter().map(|&seed| keep(&mut store, seed, first)).collect();
        after.iter().for_each(|step| take(&mut store, &mut model, step));
        let later: Vec<Vec<u8>> = seeds.iter().map(|&seed| keep(&mut store, seed, second)).collect();
        let twin = |goes_on: bool| {
            let (mut twin, mut model) = run_on(Kept::default().segments(), &before, true);
            survive(&mut twin);
            if goes_on {
                after.iter().for_each(|step| take(&mut twin, &mut model, step));
            }
            twin
        };
        for disk in 0..DISKS {
            prop_assert_eq!(store.digest(disk).unwrap(), twin(true).digest(disk).unwrap());
        }
        drop(store);
        for (goes_on, states, caches) in [(false, states, first), (true, later, second)] {
            for (&seed, state) in seeds.iter().zip(states) {
                let mut cut = twin(goes_on);
                for (disk, cache) in caches.iter().enumerate() {
                    cut.persist_all_but(disk, &mut cache.clone()).unwrap();
                }
                cut.power_cut(seed);
                let found = Store::restore(kept.segments(), &state).unwrap();
                for disk in 0..DISKS {
                    prop_assert_eq!(found.digest(disk).unwrap(), cut.digest(disk).unwrap());
                }
            }
        }
    }
}

#[test]
fn what_was_not_saved_whole_is_refused() {
    let kept = Kept::default();
    let mut store = Store::new(kept.segments());
    let disk = store.add_disk(SECTORS);
    store.write(disk, 8, &[1; 8192]).unwrap();
    let whole = saved(&store);
    drop(store);
    for length in 0..whole.len() {
        let outcome = Store::restore(kept.segments(), &whole[..length]);
        // The magic number alone is a valid store without disks.
        assert_eq!(outcome.err(), (length != 8).then_some(Error::Invalid), "{length} bytes");
    }
    let mut past_the_end = whole.clone();
    past_the_end[16..24].copy_from_slice(&SECTORS.to_le_bytes());
    assert_eq!(
        Store::restore(kept.segments(), &past_the_end).err(),
        Some(Error::Invalid)
    );
}

#[test]
fn a_store_of_terabytes_is_saved_in_what_was_written() {
    let kept = Kept::default();
    let mut store = Store::new(kept.segments());
    let disk = store.add_disk(24 << 30);
    // 64 MiB that repeat after 1 MiB, and a single block far away.
    let pattern: Vec<u8> = (0..1u32 << 18).flat_map(u32::to_le_bytes).collect();
    for piece in 0..64 {
        store.write(disk, piece * 2048, &pattern).unwrap();
    }
    store.write(disk, 23 << 30, &[1; 4096]).unwrap();
    let bytes = saved(&store);
    let blocks = 64 * 256 + 1;
    assert!(bytes.len() < 4 * blocks + 200, "{} bytes", bytes.len());
    let digest = store.digest(disk).unwrap();
    drop(store);
    let next = Store::restore(kept.segments(), &bytes).unwrap();
    assert_eq!(next.digest(disk).unwrap(), digest);
    assert_eq!(next.stats().distinct_blocks, 257);
}

#[test]
fn only_what_a_cache_still_holds_can_be_lost() {
    let mut lost = std::collections::HashSet::new();
    for seed in 0..200 {
        let mut store = volatile_store();
        store.write(0, 0, &[1; 16 * 512]).unwrap();
        store.flush(0).unwrap();
        store.write(0, 0, &[2; 16 * 512]).unwrap();
        store
            .persist_all_but(0, &mut [(12, 1), (4, 3), (3, 2), (202, 9)])
            .unwrap();
        store.power_cut(seed);
        for (at, sector) in read_sectors(&store, 0, 0, 16).iter().enumerate() {
            if *sector == [1; 512] {
                lost.insert(at);
            }
        }
    }
    let mut lost: Vec<usize> = lost.into_iter().collect();
    lost.sort_unstable();
    assert_eq!(lost, [3, 4, 5, 6, 12]);
}

fn volatile_store() -> Store {
    let mut store = Store::new(Box::new(Heap::unlimited()));
    store.add_disk(SECTORS);
    store.set_cache(0, Cache::Volatile).unwrap();
    store
}

#[test]
fn each_version_of_each_sector_can_survive() {
    let mut seen = std::collections::HashSet::new();
    for seed in 0..400 {
        let mut store = volatile_store();
        store.write(0, 0, &[1; 1024]).unwrap();
        store.write(0, 1, &[2; 1024]).unwrap();
        store.power_cut(seed);
        let sectors = read_sectors(&store, 0, 0, 3);
        seen.insert([sectors[0][0], sectors[1][0], sectors[2][0]]);
    }
    // Two versions for the first and the last sector, three for the middle one, in all combinations.
    assert_eq!(seen.len(), 12);
}

#[test]
fn a_block_rewritten_without_end_keeps_its_durable_content_and_little_else() {
    for seed in 0..40 {
        let mut store = volatile_store();
        store.write(0, 0, &[7; 4096]).unwrap();
        store.flush(0).unwrap();
        for version in 0..1000u64 {
            store.write(0, version % 8, &version.to_le_bytes().repeat(64)).unwrap();
        }
        assert!(store.stats().distinct_blocks < 40);
        store.power_cut(seed);
        for (at, sector) in read_sectors(&store, 0, 0, 8).into_iter().enumerate() {
            let version = u64::from_le_bytes(sector[..8].try_into().unwrap());
            assert!(sector == [7; 512] || version % 8 == at as u64);
        }
    }
}

#[test]
fn corruption_shows_in_reads_alone_and_not_in_what_is_saved() {
    let mut store = Store::new(Box::new(Heap::unlimited()));
    let disk = store.add_disk(SECTORS);
    store.write(disk, 0, &[5; 20 * 512]).unwrap();
    let digest = store.digest(disk).unwrap();
    store
        .corrupt(
            disk,
            Corruption {
                sectors: 3..11,
                seed: 9,
            },
        )
        .unwrap();
    let whole = read_sectors(&store, disk, 0, 20);
    for (at, sector) in whole.iter().enumerate() {
        assert_eq!(*sector != [5; 512], (3..11).contains(&at), "sector {at}");
    }
    assert_eq!(
        read_sectors(&store, disk, 5, 1)[0],
        whole[5],
        "the same in whichever read"
    );
    assert_eq!(store.digest(disk).unwrap(), digest);
    let kept = Kept::default();
    let mut store = Store::new(kept.segments());
    let disk = store.add_disk(SECTORS);
    store.write(disk, 0, &[5; 20 * 512]).unwrap();
    let sectors = 3..11;
    store.corrupt(disk, Corruption { sectors, seed: 9 }).unwrap();
    let next = Store::restore(kept.segments(), &saved(&store)).unwrap();
    assert_eq!(read_sectors(&next, disk, 0, 20), vec![[5; 512]; 20]);
}

#[test]
fn nonsense_is_refused_and_changes_nothing() {
    let mut store = Store::new(Box::new(Heap::unlimited()));
    let disk = store.add_disk(SECTORS);
    let mut two = [1; 1024];
    for (disk, sector) in [
        (disk, SECTORS - 1),
        (disk, SECTORS),
        (disk, u64::MAX),
        (disk, u64::MAX - 1),
        (1, 0),
    ] {
        assert_eq!(store.write(disk, sector, &two), Err(Error::Invalid));
        assert_eq!(store.read(disk, sector, &mut two), Err(Error::Invalid));
        assert_eq!(store.discard(disk, sector..sector.wrapping_add(2)), Err(Error::Invalid));
        assert_eq!(store.persist(disk, sector..sector.wrapping_add(2)), Err(Error::Invalid));
    }
    assert_eq!(store.write(disk, 0, &two[..1000]), Err(Error::Invalid));
    assert_eq!(store.read(disk, 0, &mut two[..1]), Err(Error::Invalid));
    assert_eq!(store.stats().distinct_blocks, 0);
}
