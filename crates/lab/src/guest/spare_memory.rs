//! Files for the RAM and the disks' contents of guests, kept when a guest has ended and given to a later one.
//!
//! A page that a file in memory gets anew costs the host 3 to 4 µs, one that it already has less than 1 µs. The guest's kernel clears
//! RAM that it is given (`rl_host_clear_ram`); of the disks' contents no block is read before it is written.

use super::StartError;
use super::memory_file::{memfd, sized};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a file is for: RAM is as often reused as there are guests with as much, whatever their disks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Ram,
    Contents,
}

/// Files that no guest uses, for the guests of one run. Clones are of the same files.
#[derive(Clone, Debug, Default)]
pub struct SpareMemory(Arc<Mutex<Vec<(Purpose, u64, OwnedFd)>>>);

/// A file that one guest uses. When it is dropped, no process may use it any more: a later guest gets it.
#[derive(Debug)]
pub(super) struct GuestMemory {
    purpose: Purpose,
    bytes: u64,
    /// None once it is among those that nobody uses.
    file: Option<OwnedFd>,
    spare: SpareMemory,
}

impl SpareMemory {
    fn unused(&self) -> MutexGuard<'_, Vec<(Purpose, u64, OwnedFd)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A file of this size: one that was kept, or a new one. Kept files of other sizes are freed, because guests start
    /// when there is room for their own memory.
    pub(super) fn take(&self, purpose: Purpose, bytes: u64) -> Result<GuestMemory, StartError> {
        let mut unused = self.unused();
        unused.retain(|(theirs, size, _)| *theirs != purpose || *size == bytes);
        let known = unused.iter().position(|(theirs, ..)| *theirs == purpose);
        let file = match (known, purpose) {
            (Some(place), _) => unused.swap_remove(place).2,
            // Its kernel sets the size.
            (None, Purpose::Ram) => memfd("ram")?,
            (None, Purpose::Contents) => sized("contents", bytes)?,
        };
        Ok(GuestMemory {
            purpose,
            bytes,
            file: Some(file),
            spare: self.clone(),
        })
    }
}

impl GuestMemory {
    /// Gives the memory back to the host.
    pub fn free(mut self) {
        self.file = None;
    }
}

impl AsFd for GuestMemory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_ref().expect("it is taken in drop").as_fd()
    }
}

impl Drop for GuestMemory {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            self.spare.unused().push((self.purpose, self.bytes, file));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::fstat;

    #[test]
    fn files_of_one_size_are_kept() {
        const MIB: u64 = 1 << 20;
        let spare = SpareMemory::default();
        let number = |file: &GuestMemory| fstat(file).expect("open").st_ino;
        let take = |bytes: u64| spare.take(Purpose::Contents, bytes).expect("a file");
        let first = take(MIB);
        let (first, second) = (number(&first), number(&take(MIB)));
        assert_ne!(first, second);
        assert_eq!(number(&take(MIB)), second);
        assert_eq!(fstat(take(2 * MIB)).expect("open").st_size, 2 << 20);
        let sizes = || spare.unused().iter().map(|(_, bytes, _)| *bytes).collect::<Vec<u64>>();
        assert_eq!(sizes(), [2 * MIB]);
        take(2 * MIB).free();
        assert!(sizes().is_empty());
    }
}
