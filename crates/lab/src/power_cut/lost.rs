//! The writes that one power cut removed from the disks' caches, and states in which only some of them are lost.

use super::ddmin::smaller;
use super::{Error, Exploration, Kept};
use crate::guest::{PowerCut, State, States};
use disksim::contents::{ALL_SURVIVES, BLOCK_BYTES, BLOCK_SECTORS, NONE_SURVIVES, Places};
use disksim::request::SECTOR_BYTES;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::AtomicBool;
use trial::power_cut::{Log, StateVerdict};

type Block = [u8; BLOCK_BYTES];

/// Sectors of one block that a power cut removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lost {
    /// Index of the disk.
    pub disk: usize,
    /// The block's place on the disk.
    block: u64,
    /// Its sectors, one bit each.
    sectors: u8,
}

impl Lost {
    /// Sectors of a disk, block by block.
    pub fn sectors(disk: usize, first: u64, sectors: u64) -> Vec<Self> {
        let each = (first..first.saturating_add(sectors)).map(|sector| Lost {
            disk,
            block: sector / BLOCK_SECTORS,
            sectors: 1 << (sector % BLOCK_SECTORS),
        });
        joined(&each.collect::<Vec<_>>())
    }

    /// First sector and number of sectors; a block may have several such runs.
    pub fn runs(self) -> Vec<(u64, u64)> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for sector in (0..BLOCK_SECTORS).filter(|sector| self.sectors & 1 << sector != 0) {
            let at = self.block * BLOCK_SECTORS + sector;
            match runs.last_mut() {
                Some((first, sectors)) if *first + *sectors == at => *sectors += 1,
                _ => runs.push((at, 1)),
            }
        }
        runs
    }

    fn each_sector(self) -> impl Iterator<Item = Lost> {
        let bits = (0..8).map(|bit| 1 << bit).filter(move |bit| self.sectors & bit != 0);
        bits.map(move |sectors| Lost { sectors, ..self })
    }
}

/// A power cut with all its lost writes.
pub struct LostWrites<'a> {
    exploration: &'a Exploration<'a>,
    states: States,
    /// All cached data survives; none does; the seed decides.
    all: Places,
    none: Places,
    drawn: Places,
    cut: PowerCut,
    log: Log,
    lost: Vec<Lost>,
}

impl<'a> LostWrites<'a> {
    /// Runs the operations and keeps three states at that instant: all cached data survives, none, and as the seed
    /// decides.
    ///
    /// # Errors
    /// If a guest fails.
    pub fn of(exploration: &'a Exploration<'a>, cut: PowerCut, stop: &AtomicBool) -> Result<Self, Error> {
        let states = States::new(exploration.config.memory_budget_bytes, exploration.config.folder)?;
        let seeds = [ALL_SURVIVES, NONE_SURVIVES, cut.seed];
        let cuts = seeds.map(|seed| PowerCut { seed, ..cut });
        let kept = exploration.keep(&states, &cuts, stop)?;
        let places = |kept: &Kept| {
            Places::parse(&kept.state.places).map_err(|_| io::Error::other("the state of the disks is incomplete"))
        };
        let (all, none, drawn) = (places(&kept[0])?, places(&kept[1])?, places(&kept[2])?);
        let mut writes = Self {
            exploration,
            states,
            all,
            none,
            drawn,
            cut,
            log: kept[2].log,
            lost: Vec::new(),
        };
        writes.lost = writes.difference()?;
        Ok(writes)
    }

    /// Block by block, in the order of places.
    pub fn all(&self) -> &[Lost] {
        &self.lost
    }

    /// Whether the cut removed one of these sectors.
    pub fn has(&self, of: Lost) -> bool {
        let same = |lost: &&Lost| (lost.disk, lost.block) == (of.disk, of.block);
        self.lost
            .iter()
            .find(same)
            .is_some_and(|lost| lost.sectors & of.sectors != 0)
    }

    /// Progress of the operations.
    pub fn log(&self) -> Log {
        self.log
    }

    fn difference(&self) -> Result<Vec<Lost>, Error> {
        let mut lost = Vec::new();
        for (disk, (all, drawn)) in self.all.disks.iter().zip(&self.drawn.disks).enumerate() {
            let places = all.blocks.keys().chain(drawn.blocks.keys());
            let places: std::collections::BTreeSet<u64> = places.copied().collect();
            for block in places {
                let of = |places: &BTreeMap<u64, u32>| places.get(&block).copied().unwrap_or(0);
                let (new, old) = (of(&all.blocks), of(&drawn.blocks));
                if new != old {
                    let (new, old) = (self.states.block(new)?, self.states.block(old)?);
                    let sectors = differing(&new, &old);
                    lost.push(Lost { disk, block, sectors });
                }
            }
        }
        Ok(lost)
    }

    /// Verdicts on states in which only these of the lost writes are lost, and all other cached data survived.
    ///
    /// # Errors
    /// If they cannot be checked.
    pub fn judge(&self, sets: &[Vec<Lost>], stop: &AtomicBool) -> Result<Vec<StateVerdict>, Error> {
        let mut kept = Vec::new();
        for set in sets {
            let state = State {
                at_ns: self.cut.at_ns,
                seed: self.cut.seed,
                events_bytes: 0,
                places: self.with_lost(set)?.bytes(),
            };
            let index = self.states.add(&state)?;
            kept.push((index, Kept { state, log: self.log }));
        }
        let mut verdicts = Vec::new();
        // After a state on which the kernel panics, another guest continues.
        while verdicts.len() < kept.len() {
            let rest = &kept[verdicts.len()..];
            verdicts.extend(self.exploration.guest_judges_at(&self.states, rest, stop)?);
        }
        Ok(verdicts)
    }

    fn with_lost(&self, set: &[Lost]) -> Result<Places, Error> {
        let mut places = self.all.clone();
        let mut blocks: BTreeMap<(usize, u64), u8> = BTreeMap::new();
        for lost in set {
            *blocks.entry((lost.disk, lost.block)).or_default() |= lost.sectors;
        }
        for ((disk, block), sectors) in blocks {
            let of = |places: &Places| places.disks[disk].blocks.get(&block).copied().unwrap_or(0);
            let (new, old) = (of(&self.all), of(&self.drawn));
            let (mut content, before) = (self.states.block(new)?, self.states.block(old)?);
            let id = match differing(&content, &before) & !sectors {
                0 => old,
                _ => {
                    for sector in (0..BLOCK_SECTORS as usize).filter(|sector| sectors & 1 << sector != 0) {
                        let bytes = sector * SECTOR_BYTES as usize..(sector + 1) * SECTOR_BYTES as usize;
                        content[bytes.clone()].copy_from_slice(&before[bytes]);
                    }
                    self.states.add_block(&content)?
                }
            };
            places.disks[disk].blocks.insert(block, id);
        }
        Ok(places)
    }

    /// The fewest lost writes that still show the defect: first whole blocks are restored, then single sectors.
    /// `None` if the state does not show it with all of them.
    ///
    /// # Errors
    /// If states cannot be checked.
    pub fn fewest(
        &self,
        shows: &dyn Fn(&StateVerdict) -> bool,
        stop: &AtomicBool,
    ) -> Result<Option<Vec<Lost>>, Error> {
        let mut first = |sets: &[Vec<Lost>]| -> Result<Option<usize>, Error> {
            Ok(self.judge(sets, stop)?.iter().position(shows))
        };
        if first(std::slice::from_ref(&self.lost))?.is_none() {
            return Ok(None);
        }
        let blocks = smaller(self.lost.clone(), &mut first)?;
        let sectors = blocks.into_iter().flat_map(Lost::each_sector).collect();
        Ok(Some(joined(&smaller(sectors, &mut first)?)))
    }

    /// A line for each run of lost sectors, with the version that is on the media.
    ///
    /// # Errors
    /// If the contents cannot be read.
    pub fn describe(&self, set: &[Lost]) -> Result<Vec<String>, Error> {
        let mut lines = Vec::new();
        for lost in set {
            let of = |places: &Places| places.disks[lost.disk].blocks.get(&lost.block).copied().unwrap_or(0);
            let none = self.states.block(of(&self.none))?;
            let drawn = self.states.block(of(&self.drawn))?;
            let version = match differing(&none, &drawn) & lost.sectors {
                0 => "what was durable before",
                _ => "an earlier write of the cache",
            };
            let runs = lost.runs().into_iter();
            lines.extend(runs.map(|(sector, sectors)| {
                format!("disk {}, sector {sector}, {sectors} sectors: {version}", lost.disk + 1)
            }));
        }
        Ok(lines)
    }
}

/// The sectors in which two blocks differ, one bit each.
fn differing(one: &Block, other: &Block) -> u8 {
    let sectors = one
        .chunks(SECTOR_BYTES as usize)
        .zip(other.chunks(SECTOR_BYTES as usize));
    let bits = sectors
        .enumerate()
        .map(|(sector, (one, other))| u8::from(one != other) << sector);
    bits.fold(0, |all, bit| all | bit)
}

/// Sectors of the same block together.
fn joined(sectors: &[Lost]) -> Vec<Lost> {
    let mut all: Vec<Lost> = Vec::new();
    for lost in sectors {
        match all.last_mut() {
            Some(last) if (last.disk, last.block) == (lost.disk, lost.block) => last.sectors |= lost.sectors,
            _ => all.push(*lost),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_found_and_named() {
        let (one, mut other) = ([7; BLOCK_BYTES], [7; BLOCK_BYTES]);
        other[512] = 0;
        other[1535] = 0;
        other[4095] = 0;
        let sectors = differing(&one, &other);
        let lost = Lost {
            disk: 1,
            block: 10,
            sectors,
        };
        assert_eq!(lost.runs(), [(81, 2), (87, 1)]);
        let each: Vec<Lost> = lost.each_sector().collect();
        assert_eq!(each.len(), 3);
        assert_eq!(joined(&each), [lost]);
    }
}
