//! States of the disks after power cuts, kept while the guest that writes them goes on.

use super::contents::Contents;
use super::files::{Ends, memfd};
use super::{StartError, starting};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes of `struct rl_state` of `kernel/driver/raidlab.h`.
const HEAD_BYTES: usize = 32;

/// States of all disks of a machine, written by one guest and read by others. They share the distinct blocks of 4 KiB.
#[derive(Debug)]
pub struct States {
    contents: Contents,
    states: File,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Virtual time of its power cut.
    pub at_ns: u64,
    /// What decided which data survived in the disks' caches.
    pub seed: u64,
    /// Bytes of the guest's lines that were written before.
    pub events_bytes: u64,
    /// Which block lies where. Those of two states are equal only if the disks hold the same.
    pub places: Vec<u8>,
}

impl States {
    /// None yet. What is written beyond `memory_budget_bytes` goes to an unnamed file in `folder`.
    ///
    /// # Errors
    /// When the files for it cannot be made.
    pub fn new(memory_budget_bytes: u64, folder: &Path) -> Result<Self, StartError> {
        Ok(Self {
            contents: Contents::new(memory_budget_bytes, folder)?,
            states: memfd("states")?.into(),
        })
    }

    /// A guest's ends, with the numbers that it knows them by.
    pub(super) fn ends(&self) -> Result<Ends, StartError> {
        let mut ends = self.contents.data_ends()?;
        let states = self
            .states
            .try_clone()
            .map_err(starting("cannot duplicate the descriptor of the disks' states"))?;
        ends.push((111, OwnedFd::from(states)));
        Ok(ends)
    }

    /// All of them, in the order of their power cuts.
    ///
    /// # Errors
    /// When they cannot be read, or the guest that wrote them was ended in the middle of one.
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
                return Err(io::Error::other("the last state of the disks is not whole"));
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
