//! Crash images: states of the disks after power cuts, stored while the guest that produces them continues.

use super::contents::DiskContents;
use super::memory_file::{Ends, memfd};
use super::{StartError, starting};
use disksim::contents::{BLOCK_BYTES, Places};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Bytes of `struct rl_state` of `kernel/driver/raidlab.h`.
const HEAD_BYTES: usize = 32;

/// States of all disks of a machine, written by one guest and read by others. They share the distinct 4 KiB blocks.
#[derive(Debug)]
pub struct States {
    contents: DiskContents,
    states: File,
    /// The last block that was added, or 0.
    next: Mutex<u32>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Virtual time of its power cut.
    pub at_ns: u64,
    /// Seed of the surviving data in the disks' caches.
    pub seed: u64,
    /// Bytes of the guest's event lines that were written before.
    pub events_bytes: u64,
    /// Map of places to blocks. Two states have equal maps only if the contents of the disks are equal.
    pub places: Vec<u8>,
}

impl States {
    /// No states yet. Data beyond `memory_budget_bytes` goes to an unnamed file in `folder`.
    ///
    /// # Errors
    /// If the files cannot be created.
    pub fn new(memory_budget_bytes: u64, folder: &Path) -> Result<Self, StartError> {
        Ok(Self {
            contents: DiskContents::new(memory_budget_bytes, folder)?,
            states: memfd("states")?.into(),
            next: Mutex::new(0),
        })
    }

    /// A guest's file descriptors, with their numbers in the guest.
    pub(super) fn ends(&self) -> Result<Ends, StartError> {
        let mut ends = self.contents.data_ends()?;
        let states = self
            .states
            .try_clone()
            .map_err(starting("cannot duplicate the descriptor of the disks' states"))?;
        ends.push((111, OwnedFd::from(states)));
        Ok(ends)
    }

    /// The data of the block with this number; zeros for 0.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn block(&self, id: u32) -> io::Result<[u8; BLOCK_BYTES]> {
        let mut data = [0; BLOCK_BYTES];
        if let Some(entry) = id.checked_sub(1) {
            self.contents
                .read_data(u64::from(entry) * BLOCK_BYTES as u64, &mut data)?;
        }
        Ok(data)
    }

    /// Adds a block for states that will be added; returns its number. No guest may be writing states.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add_block(&self, data: &[u8; BLOCK_BYTES]) -> io::Result<u32> {
        if data.iter().all(|byte| *byte == 0) {
            return Ok(0);
        }
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if *next == 0 {
            let invalid = |_| io::Error::other("a state of the disks is incomplete");
            for state in self.read()? {
                for disk in Places::parse(&state.places).map_err(invalid)?.disks {
                    *next = disk.blocks.into_values().fold(*next, u32::max);
                }
            }
        }
        *next += 1;
        self.contents
            .write_data(u64::from(*next - 1) * BLOCK_BYTES as u64, data)?;
        Ok(*next)
    }

    /// Adds a state; returns its index. No guest may be writing states.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&self, state: &State) -> io::Result<u64> {
        let index = self.read()?.len() as u64;
        let words = [state.at_ns, state.seed, state.events_bytes, state.places.len() as u64];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(&state.places);
        self.states.write_all_at(&bytes, self.states.metadata()?.len())?;
        Ok(index)
    }

    /// All states, in the order of their power cuts.
    ///
    /// # Errors
    /// If they cannot be read, or if the guest that wrote them was killed in the middle of one.
    pub fn read(&self) -> io::Result<Vec<State>> {
        let length = self.states.metadata()?.len();
        let (mut at, mut all) = (0, Vec::new());
        while at < length {
            let mut head = [0; HEAD_BYTES];
            self.states.read_exact_at(&mut head, at)?;
            let mut words = head.chunks_exact(8).map(|word| {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(word);
                u64::from_le_bytes(bytes)
            });
            let mut word = || words.next().unwrap_or(0);
            let (at_ns, seed, events_bytes, places_bytes) = (word(), word(), word(), word());
            at += HEAD_BYTES as u64;
            if places_bytes == 0 || places_bytes > length - at {
                return Err(io::Error::other("the last state of the disks is incomplete"));
            }
            let mut places = vec![0; places_bytes as usize];
            self.states.read_exact_at(&mut places, at)?;
            at += places_bytes;
            all.push(State {
                at_ns,
                seed,
                events_bytes,
                places,
            });
        }
        Ok(all)
    }
}
