//! The translation layer: location of each unit, choice of superblocks to empty, and moves for that.
//!
//! Memory grows only with the data written in this run. Old data that this run did not touch have no location of their
//! own: superblocks only count them.

use super::{Flash, OldData};
use alloc::boxed::Box;
use alloc::vec::Vec;

const LEAF: usize = 4096;
/// Not written in this run.
const UNTOUCHED: u32 = u32::MAX;
const TRIMMED: u32 = u32::MAX - 1;
/// Superblocks reserved for moves.
const RESERVE: usize = 2;

/// Location of a unit's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// Never written: no die is accessed.
    Nowhere,
    /// Number of the physical unit.
    At(u32),
}

/// Garbage collection caused by a write.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Units to read and to program elsewhere.
    pub moves: u32,
    /// Superblocks to erase.
    pub erases: u32,
}

pub struct Translation {
    table: Vec<Option<Box<[u32; LEAF]>>>,
    superblocks: Vec<Superblock>,
    free: Vec<u32>,
    /// Write positions for the host's data and for moves: superblock and next unit.
    host: (u32, u32),
    moved: (u32, u32),
    victim: Option<Victim>,
    /// Moves that are due, in 1/256.
    due: u64,
    units: u32,
    old_data: OldData,
    seed: u64,
}

#[derive(Default)]
struct Superblock {
    valid: u32,
    /// Number of valid units that are not known individually.
    anonymous: u32,
    /// Units written here in this run; some have moved since.
    members: Vec<u32>,
    in_use: bool,
}

struct Victim {
    superblock: u32,
    members: Vec<u32>,
    next: usize,
    /// Moves per unit written, in 1/256.
    price: u64,
}

impl Translation {
    pub fn new(model: &Flash, sectors: u64, seed: u64) -> Self {
        let (units, superblocks) = model.size(sectors);
        let mut this = Translation {
            table: Vec::new(),
            superblocks: (0..superblocks).map(|_| Superblock::default()).collect(),
            free: (0..superblocks as u32).rev().collect(),
            host: (0, 0),
            moved: (0, 0),
            victim: None,
            due: 0,
            units: model.superblock_units() as u32,
            old_data: model.old_data,
            seed,
        };
        this.table.resize_with(units.div_ceil(LEAF as u64) as usize, || None);
        match model.old_data.in_order {
            true => this.fill_in_order(model.old_data.count(units)),
            false => this.age(model.old_data.count(units)),
        }
        this.host.0 = this.open();
        this.moved.0 = this.open();
        this
    }

    /// Full superblocks, one after the other.
    fn fill_in_order(&mut self, units: u64) {
        let mut left = units;
        while left > 0 {
            let count = left.min(u64::from(self.units)) as u32;
            self.hold(count);
            left -= u64::from(count);
        }
    }

    /// Old data in the next superblock.
    fn hold(&mut self, count: u32) {
        let superblock = self.open();
        let block = &mut self.superblocks[superblock as usize];
        (block.valid, block.anonymous) = (count, count);
    }

    /// Distributes the units with data over the superblocks as uniform random writes do in the long run: each superblock loses
    /// units in proportion to its valid ones, so the fill decreases geometrically with age (Desnoyers 2012, the cyclic
    /// case, which is close to greedy selection).
    fn age(&mut self, units: u64) {
        if units == 0 {
            return;
        }
        let used = self.superblocks.len() - RESERVE - 2;
        let fill = |ratio: u64| {
            let mut valid = u64::from(self.units) << 16;
            let mut sum = 0;
            for _ in 0..used {
                sum += valid >> 16;
                valid = ((u128::from(valid) * u128::from(ratio)) >> 32) as u64;
            }
            sum
        };
        let (mut low, mut high) = (0u64, 1u64 << 32);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fill(middle) < units {
                low = middle
            } else {
                high = middle
            }
        }
        let mut valid = u64::from(self.units) << 16;
        let mut left = units;
        for _ in 0..used {
            let count = (valid >> 16).min(left) as u32;
            left -= u64::from(count);
            self.hold(count);
            valid = ((u128::from(valid) * u128::from(high)) >> 32) as u64;
        }
    }

    fn open(&mut self) -> u32 {
        // With the reserve for moves there is always one; in case of a bug the first is as good as any.
        let superblock = self.free.pop().unwrap_or(0);
        if let Some(block) = self.superblocks.get_mut(superblock as usize) {
            block.in_use = true;
        }
        superblock
    }

    fn entry(&mut self, unit: u32) -> &mut u32 {
        let leaf = &mut self.table[unit as usize / LEAF];
        &mut leaf.get_or_insert_with(|| Box::new([UNTOUCHED; LEAF]))[unit as usize % LEAF]
    }

    /// Location of a unit. Data that a drive held before this run is in order.
    pub fn find(&self, unit: u32) -> Location {
        let entry = match self.table.get(unit as usize / LEAF) {
            Some(Some(leaf)) => leaf[unit as usize % LEAF],
            _ => UNTOUCHED,
        };
        match entry {
            UNTOUCHED if self.old_data.has(u64::from(unit)) => Location::At(unit),
            UNTOUCHED | TRIMMED => Location::Nowhere,
            physical => Location::At(physical),
        }
    }

    /// The host writes a unit; returns its physical unit.
    pub fn write(&mut self, unit: u32, work: &mut Work) -> u32 {
        self.invalidate(unit);
        let physical = self.place(unit, false);
        self.pay(work);
        physical
    }

    /// The host trims a unit.
    pub fn trim(&mut self, unit: u32) {
        self.invalidate(unit);
        *self.entry(unit) = TRIMMED;
    }

    fn invalidate(&mut self, unit: u32) {
        let entry = *self.entry(unit);
        match entry {
            TRIMMED => {}
            UNTOUCHED if !self.old_data.has(u64::from(unit)) => {}
            UNTOUCHED => {
                let count = self.superblocks.len();
                let from = self.old_superblock(unit);
                let found = (0..count)
                    .map(|i| (from + i) % count)
                    .find(|&i| self.superblocks[i].anonymous > 0);
                if let Some(index) = found {
                    self.superblocks[index].anonymous -= 1;
                    self.superblocks[index].valid -= 1;
                }
            }
            physical => {
                let block = &mut self.superblocks[(physical / self.units) as usize];
                block.valid = block.valid.saturating_sub(1);
            }
        }
    }

    /// Where old data of a unit was written, if it is still there.
    fn old_superblock(&self, unit: u32) -> usize {
        let unit = u64::from(unit);
        let index = match self.old_data.in_order {
            true => unit * u64::from(self.old_data.permille) / 1000 / u64::from(self.units),
            false => crate::random::mix(self.seed ^ unit),
        };
        (index % self.superblocks.len() as u64) as usize
    }

    fn place(&mut self, unit: u32, moving: bool) -> u32 {
        let (superblock, offset) = self.next_place(moving);
        let physical = superblock * self.units + offset;
        *self.entry(unit) = physical;
        let block = &mut self.superblocks[superblock as usize];
        block.valid += 1;
        block.members.push(unit);
        physical
    }

    fn next_place(&mut self, moving: bool) -> (u32, u32) {
        let (superblock, offset) = if moving { self.moved } else { self.host };
        let next = if offset + 1 < self.units {
            (superblock, offset + 1)
        } else {
            (self.open(), 0)
        };
        *(if moving { &mut self.moved } else { &mut self.host }) = next;
        (superblock, offset)
    }

    /// A superblock with `v` of `p` units valid yields `p - v` places when it is emptied, so this many writes pay for
    /// moving `v`. When the reserve is in use, they pay double.
    fn pay(&mut self, work: &mut Work) {
        if self.victim.is_none() {
            if self.free.len() > RESERVE {
                return;
            }
            self.choose_victim();
        }
        let Some(victim) = &self.victim else { return };
        let hurry = if self.free.len() < RESERVE { 2 } else { 1 };
        self.due += hurry * victim.price + 1;
        while self.due >= 256 {
            self.due -= 256;
            if !self.move_one(work) {
                return;
            }
        }
    }

    fn choose_victim(&mut self) {
        let open = [self.host.0, self.moved.0];
        let closed = self.superblocks.iter().enumerate();
        let closed = closed.filter(|(i, b)| b.in_use && !open.contains(&(*i as u32)));
        let Some((index, _)) = closed.min_by_key(|(_, b)| b.valid) else {
            return;
        };
        let members = core::mem::take(&mut self.superblocks[index].members);
        let valid = u64::from(self.superblocks[index].valid);
        let price = (valid << 8) / u64::from(self.units).saturating_sub(valid).max(1);
        self.victim = Some(Victim {
            superblock: index as u32,
            members,
            next: 0,
            price,
        });
    }

    /// Moves one unit out of the victim; false if it was the last and the superblock was erased.
    fn move_one(&mut self, work: &mut Work) -> bool {
        let Some(mut victim) = self.victim.take() else {
            return false;
        };
        let index = victim.superblock as usize;
        while let Some(&unit) = victim.members.get(victim.next) {
            victim.next += 1;
            let here = matches!(self.find(unit), Location::At(p) if p / self.units == victim.superblock);
            if here && *self.entry(unit) != UNTOUCHED {
                self.superblocks[index].valid -= 1;
                self.place(unit, true);
                work.moves += 1;
                self.victim = Some(victim);
                return true;
            }
        }
        if self.superblocks[index].anonymous > 0 {
            self.superblocks[index].anonymous -= 1;
            self.superblocks[index].valid = self.superblocks[index].valid.saturating_sub(1);
            let (superblock, _) = self.next_place(true);
            let block = &mut self.superblocks[superblock as usize];
            block.valid += 1;
            block.anonymous += 1;
            work.moves += 1;
            self.victim = Some(victim);
            return true;
        }
        self.superblocks[index].valid = 0;
        self.superblocks[index].in_use = false;
        victim.members.clear();
        self.superblocks[index].members = victim.members;
        self.free.insert(0, victim.superblock);
        work.erases += 1;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::Interface;

    fn small(old_data: OldData) -> Flash {
        Flash {
            channels: 2,
            dies_per_channel: 2,
            unit_sectors: 8,
            program_units: 4,
            block_programs: 16,
            read_ns: 50_000,
            program_ns: 500_000,
            erase_ns: 3_000_000,
            channel_sector_ps: 1_000_000,
            spare_permille: 100,
            old_data,
            suspend_ns: None,
            third_page_read_ns: 50_000,
            move_programs: 1,
            slc: None,
            buffer_sectors: 256,
            power_loss_protection: false,
            read_overhead_ns: 0,
            write_overhead_ns: 0,
            flush_overhead_ns: 0,
            command_ns: 0,
            write_command_ns: 0,
            interface: Interface {
                read_sector_ps: 0,
                write_sector_ps: 0,
            },
            half_duplex: false,
            queue_depth: 32,
            flush_alone: false,
        }
    }

    const UNITS: u32 = 8192;

    /// Writes at random and checks consistency: each unit is at its recorded location, alone.
    fn churn(old_data: OldData, writes: u32) -> f64 {
        let mut translation = Translation::new(&small(old_data), u64::from(UNITS) * 8, 5);
        let mut work = Work::default();
        let mut written = alloc::vec![false; UNITS as usize];
        for i in 0..writes {
            let unit = (crate::random::mix(u64::from(i)) % u64::from(UNITS)) as u32;
            written[unit as usize] = true;
            let physical = translation.write(unit, &mut work);
            assert_eq!(translation.find(unit), Location::At(physical));
        }
        let mut places: Vec<u32> = (0..UNITS)
            .filter(|&u| written[u as usize])
            .map(|u| match translation.find(u) {
                Location::At(physical) => physical,
                Location::Nowhere => panic!("unit {u} was written"),
            })
            .collect();
        let known = places.len();
        let old = (0..UNITS).filter(|&u| old_data.has(u64::from(u)));
        let untouched = old.filter(|&u| !written[u as usize]).count();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), known, "two units share a place");
        let valid: u32 = translation.superblocks.iter().map(|b| b.valid).sum();
        assert_eq!(valid as usize, known + untouched, "valid units");
        assert!(!translation.free.is_empty(), "there is always room to move");
        f64::from(work.moves) / f64::from(writes)
    }

    #[test]
    fn a_new_drive_moves_nothing_and_a_full_one_reaches_a_steady_state() {
        assert_eq!(churn(OldData::NOTHING, 4000), 0.0);
        let first = churn(OldData::AGED, 10_000);
        let later = churn(OldData::AGED, 200_000);
        // 10 % of spare space: random writes move 2 to 6 units for each one written.
        assert!((1.5..6.5).contains(&later), "{later}");
        assert!(
            (0.5..2.0).contains(&(first / later)),
            "the aged state starts near the steady one: {first} {later}"
        );
    }

    #[test]
    fn a_drive_that_is_partly_full_moves_less_the_less_it_holds() {
        let part = |permille, in_order| OldData { permille, in_order };
        // Only what is written again counts: writes go to all of the drive, which fills it.
        let first = |old_data| churn(old_data, 4000);
        let (half, most) = (first(part(500, false)), first(part(900, false)));
        assert!(
            half < 0.2 && half < most && most < first(OldData::AGED),
            "{half} {most}"
        );
        assert!(first(part(500, true)) < 0.1, "half of it is free");
        let in_order = part(1000, true);
        assert!(
            first(in_order) < first(OldData::AGED),
            "its spare superblocks are empty yet"
        );
        let steady = churn(OldData::AGED, 200_000);
        for old_data in [part(250, false), part(750, true), in_order] {
            let later = churn(old_data, 200_000);
            assert!((0.75..1.3).contains(&(later / steady)), "{old_data:?} {later} {steady}");
        }
    }

    #[test]
    fn old_data_is_counted_as_it_is_found() {
        for permille in [0, 1, 250, 750, 999, 1000] {
            for units in [1, 256, 257, 300_000, 1_000_001] {
                let old_data = OldData {
                    permille,
                    in_order: false,
                };
                let found = (0..units).filter(|&unit| old_data.has(unit)).count() as u64;
                assert_eq!(old_data.count(units), found, "{permille} {units}");
            }
        }
    }

    #[test]
    fn trimming_everything_makes_a_drive_new() {
        let mut translation = Translation::new(&small(OldData::AGED), u64::from(UNITS) * 8, 5);
        (0..UNITS).for_each(|unit| translation.trim(unit));
        assert_eq!(translation.superblocks.iter().map(|b| b.valid).sum::<u32>(), 0);
        assert_eq!(translation.find(17), Location::Nowhere);
        let mut work = Work::default();
        (0..4096).for_each(|unit| {
            translation.write(unit, &mut work);
        });
        assert_eq!(work.moves, 0);
    }

    #[test]
    fn writing_in_order_moves_little() {
        let mut translation = Translation::new(&small(OldData::NOTHING), u64::from(UNITS) * 8, 5);
        let mut work = Work::default();
        for _ in 0..20 {
            (0..UNITS).for_each(|unit| {
                translation.write(unit, &mut work);
            });
        }
        assert!(work.moves < UNITS, "{}", work.moves);
    }
}
