//! The model of ageing: which sizes new files have, which file is deleted next, and which part of a file is overwritten. No I/O.
//!
//! **Sizes** are drawn by the weights of the profile's buckets, evenly within a bucket: with the bounds alone, as in Geriatrix,
//! a new file fits exactly where one of the same bucket was. **Deletions** move the ages of the files towards those of the profile,
//! as in Geriatrix: the clock counts created files, the bucket with the largest surplus loses one of its files, any of them with the
//! same probability. The oldest bucket ends at the age of the filesystem.

use crate::random::Random;
use study::workload::{AgeProfile, AgeSpec};

/// Space is counted in blocks of this size.
pub(super) const BLOCK_BYTES: u64 = 4096;

/// Overwrites have 1 to 16 blocks, in powers of two.
const OVERWRITTEN_SHIFTS: u64 = 5;

/// Files that are drawn for each overwrite: the largest of them is overwritten, because such data is in large files.
const OVERWRITE_DRAWS: usize = 8;

/// A file of the aged filesystem. Its number is the time of its creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) number: u64,
    pub(super) bytes: u64,
}

impl File {
    /// The space that its data takes.
    pub(super) const fn space(self) -> u64 {
        space_of(self.bytes)
    }
}

/// The space that a file of this size takes.
pub(super) const fn space_of(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK_BYTES) * BLOCK_BYTES
}

/// A part of a file that is overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) number: u64,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// A bucket of sizes.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    below: u64,
    bound: u64,
    /// Sum of the weights up to this bucket.
    weights: u64,
}

/// The files of the aged filesystem.
pub(super) struct Population {
    random: Random,
    sizes: Vec<Sizes>,
    ages: &'static [(u64, u64)],
    /// By number.
    live: Vec<File>,
    born: u64,
}

impl Population {
    /// An empty one; no file has more than `bytes_max`.
    pub(super) fn new(profile: AgeProfile, bytes_max: u64, seed: u64) -> Self {
        let mut sizes: Vec<Sizes> = Vec::new();
        let (mut below, mut weights) = (0, 0);
        for &(bound, weight) in profile.sizes() {
            if bound > bytes_max && weights > 0 {
                break;
            }
            weights += weight;
            sizes.push(Sizes { below, bound, weights });
            below = bound;
        }
        Self {
            random: Random::new(seed, u64::from_le_bytes(*b"ageing..")),
            sizes,
            ages: profile.ages(),
            live: Vec::new(),
            born: 0,
        }
    }

    /// The seed of a filesystem, of its specification and of the replicate.
    pub(super) fn seed(spec: &AgeSpec, replicate: u32) -> u64 {
        crate::random::hash(u64::from(spec.seed), u64::from(replicate), 0)
    }

    pub(super) fn live(&self) -> &[File] {
        &self.live
    }

    /// The size of the next file.
    pub(super) fn draw_size(&mut self) -> u64 {
        let all = self.sizes.last().map_or(1, |last| last.weights);
        let place = self.random.below(all);
        let at = self.sizes.partition_point(|bucket| bucket.weights <= place);
        let Sizes { below, bound, .. } = self.sizes[at];
        match bound - below {
            0 => bound,
            width => below + 1 + self.random.below(width),
        }
    }

    /// Adds a file.
    pub(super) fn create(&mut self, bytes: u64) -> File {
        let file = File {
            number: self.born,
            bytes,
        };
        self.born += 1;
        self.live.push(file);
        file
    }

    /// Removes the file that is deleted next.
    pub(super) fn victim(&mut self) -> Option<File> {
        let files = self.live.len() as i128;
        let all: i128 = self.ages.iter().map(|(_, weight)| i128::from(*weight)).sum();
        let oldest = self.ages.last()?.0;
        let mut most: Option<(i128, usize, usize)> = None;
        // From the youngest bucket on, so that the oldest of equals is the last.
        let mut end = self.live.len();
        for &(bound, weight) in self.ages {
            let age = (u128::from(bound) * u128::from(self.born)).div_ceil(u128::from(oldest)) as u64;
            let first = self.born.saturating_sub(age);
            let start = self.live.partition_point(|file| file.number < first).min(end);
            let surplus = (end - start) as i128 * all - i128::from(weight) * files;
            if start < end && most.is_none_or(|(most, ..)| surplus >= most) {
                most = Some((surplus, start, end));
            }
            end = start;
        }
        let (_, start, end) = most?;
        let at = start + self.random.below((end - start) as u64) as usize;
        Some(self.live.remove(at))
    }

    /// A part of a file with at least one block.
    pub(super) fn overwritten(&mut self) -> Option<Part> {
        let files = self.live.len() as u64;
        if files == 0 {
            return None;
        }
        let drawn = (0..OVERWRITE_DRAWS).map(|_| self.random.below(files) as usize);
        let file = drawn.map(|at| self.live[at]).max_by_key(|file| file.bytes)?;
        let blocks = file.bytes / BLOCK_BYTES;
        if blocks == 0 {
            return None;
        }
        let part = (1 << self.random.below(OVERWRITTEN_SHIFTS)).min(blocks);
        Some(Part {
            number: file.number,
            offset: self.random.below(blocks - part + 1) * BLOCK_BYTES,
            bytes: part * BLOCK_BYTES,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn population(profile: AgeProfile) -> Population {
        Population::new(profile, 32 << 20, 7)
    }

    #[test]
    fn sizes_have_the_weights_of_their_buckets() {
        for profile in AgeProfile::ALL {
            let mut files = population(profile);
            let drawn: Vec<u64> = (0..40_000).map(|_| files.draw_size()).collect();
            let mean: u64 = drawn.iter().map(|bytes| space_of(*bytes)).sum::<u64>() / drawn.len() as u64;
            let expected = profile.mean_bytes(32 << 20);
            // A tenth of the bytes of some profiles is in one file of 10,000.
            assert!(
                mean * 4 > expected * 3 && mean * 3 < expected * 4,
                "{profile:?}: {mean} {expected}"
            );
            let of_all: u64 = files.sizes.last().expect("a bucket").weights;
            let at = files.sizes.len() / 2;
            let share = files.sizes[at].weights as f64 / of_all as f64;
            let found = drawn.iter().filter(|bytes| **bytes <= files.sizes[at].bound).count() as f64 / 40_000.0;
            assert!((share - found).abs() < 0.01, "{profile:?}: {share} {found}");
        }
        assert!(
            population(AgeProfile::Grundman)
                .sizes
                .iter()
                .all(|bucket| bucket.bound <= 32 << 20)
        );
    }

    /// 4000 files, each replaced 60 times: no share differs by more than 2 % of all files.
    #[test]
    fn ages_become_those_of_the_profile() {
        let mut files = population(AgeProfile::Agrawal);
        for _ in 0..4000 {
            files.create(1);
        }
        for _ in 0..240_000 {
            files.victim().expect("a file");
            files.create(1);
        }
        let ages = AgeProfile::Agrawal.ages();
        let (all, oldest) = (464, ages[9].0);
        assert_eq!(ages.iter().map(|(_, weight)| weight).sum::<u64>(), all);
        let mut shares = 0;
        for &(bound, weight) in ages {
            shares += weight;
            let limit = files.born - (bound * files.born).div_ceil(oldest);
            let younger = files.live.iter().filter(|file| file.number >= limit).count() as u64;
            // No more can be younger than have been created since.
            let expected = (shares * 1000 / all).min((files.born - limit) * 1000 / 4000);
            let found = younger * 1000 / 4000;
            assert!(expected.abs_diff(found) < 20, "{bound}: {expected} {found} of 1000");
        }
        assert!(files.live.is_sorted_by_key(|file| file.number));
    }

    #[test]
    fn one_seed_gives_one_history() {
        let history = |seed| {
            let mut files = Population::new(AgeProfile::Meyer, 1 << 20, seed);
            let mut said = Vec::new();
            for step in 0..3000 {
                let bytes = files.draw_size();
                said.push(files.create(bytes).bytes);
                if step > 1000 {
                    said.extend(files.victim().map(|file| file.number));
                    said.extend(files.overwritten().map(|part| part.offset));
                }
            }
            said
        };
        assert_eq!(history(1), history(1));
        assert_ne!(history(1), history(2));
    }

    #[test]
    fn parts_are_whole_blocks_within_their_file() {
        let mut files = population(AgeProfile::WangOs);
        assert_eq!(files.overwritten(), None);
        for _ in 0..200 {
            let bytes = files.draw_size();
            files.create(bytes);
        }
        for _ in 0..1000 {
            let Some(part) = files.overwritten() else { continue };
            let file = files.live[part.number as usize];
            assert!(
                part.bytes > 0 && part.offset + part.bytes <= file.bytes,
                "{part:?} {file:?}"
            );
            assert!(part.offset.is_multiple_of(BLOCK_BYTES) && part.bytes.is_multiple_of(BLOCK_BYTES));
        }
    }
}
