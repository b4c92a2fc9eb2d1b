//! Which parts of a disk's cache survive a power cut.

use super::BLOCK_SECTORS;
use super::unflushed_versions::Version;
use core::ops::Range;
use serde::{Deserialize, Serialize};

/// Seeds of power cuts without random choices: all cached data of every disk survives, or none.
pub const ALL_SURVIVES: u64 = u64::MAX;
pub const NONE_SURVIVES: u64 = u64::MAX - 1;

/// Which cached writes of a disk survive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Survivors {
    /// Any subset: a drive destages in the order that suits it.
    #[default]
    Subset,
    /// Those before a random one: a drive that destages in the order of arrival.
    Prefix,
    None,
    All,
    /// Each disk draws one of the others.
    Any,
}

/// How a disk loses its cached data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survival {
    pub survivors: Survivors,
    /// Writes are atomic for blocks of 4 KiB (physical sectors of 4 KiB). Otherwise they are atomic for sectors of
    /// 512 bytes.
    pub whole_blocks: bool,
}

/// Decides which writes a power cut loses.
pub struct Choice {
    state: u64,
    fate: Fate,
    whole_blocks: bool,
}

enum Fate {
    None,
    All,
    /// Writes before this one, and the first sectors of this one.
    Prefix {
        end: u64,
        sectors: u64,
    },
    /// Probability that a write survives; it differs between cuts, so that some lose nearly all and some nearly
    /// nothing.
    Subset {
        survive_of_256: u64,
    },
}

impl Choice {
    /// `orders` are the writes' numbers.
    pub fn new(seed: u64, survival: Survival, orders: Range<u64>) -> Choice {
        let mut choice = Choice {
            state: scramble(seed),
            fate: Fate::None,
            whole_blocks: survival.whole_blocks,
        };
        let survivors = match (seed, survival.survivors) {
            (ALL_SURVIVES, _) => Survivors::All,
            (NONE_SURVIVES, _) => Survivors::None,
            (_, Survivors::Any) => {
                let each = [Survivors::Subset, Survivors::Prefix, Survivors::None, Survivors::All];
                each[choice.below(4) as usize]
            }
            (_, survivors) => survivors,
        };
        choice.fate = match survivors {
            Survivors::None => Fate::None,
            Survivors::All | Survivors::Any => Fate::All,
            Survivors::Prefix => Fate::Prefix {
                end: orders.start + choice.below(orders.end - orders.start + 1),
                sectors: match survival.whole_blocks {
                    true => 0,
                    false => choice.below(BLOCK_SECTORS),
                },
            },
            Survivors::Subset => Fate::Subset {
                survive_of_256: choice.below(257),
            },
        };
        choice
    }

    fn below(&mut self, end: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scramble(self.state) % end
    }

    /// For each sector of a block: how many of these writes were done when the power failed.
    pub fn moments(&mut self, versions: &[Version]) -> [usize; BLOCK_SECTORS as usize] {
        let mut moments = [0; BLOCK_SECTORS as usize];
        match self.fate {
            Fate::None => {}
            Fate::All => moments.fill(versions.len()),
            Fate::Prefix { end, sectors } => {
                let before = versions.partition_point(|version| version.order < end);
                let is_torn = versions.get(before).is_some_and(|version| version.order == end);
                for (sector, moment) in (0..).zip(&mut moments) {
                    *moment = before + usize::from(is_torn && sector < sectors);
                }
            }
            Fate::Subset { survive_of_256 } => {
                // Usually all sectors of a block share the same fate, because the drive writes them at once.
                let torn = self.below(4) == 0 && !self.whole_blocks;
                moments.fill(self.moment(versions.len(), survive_of_256));
                if torn {
                    moments.fill_with(|| self.moment(versions.len(), survive_of_256));
                }
            }
        }
        moments
    }

    fn moment(&mut self, writes: usize, survive_of_256: u64) -> usize {
        if self.below(256) < survive_of_256 {
            writes
        } else {
            self.below(writes as u64) as usize
        }
    }
}

/// Hashes a number to 64 bits (the finaliser of SplitMix64).
pub fn scramble(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
