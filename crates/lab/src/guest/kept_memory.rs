//! Files for the RAM and the disks' contents of guests, kept when a guest has ended and given to a later one.
//!
//! A page that a file in memory gets anew costs the host 3 to 4 µs, one that it already has less than 1 µs. The guest's kernel clears
//! RAM that it is given (`rl_host_clear_ram`); of the disks' contents no block is read before it is written.

use super::StartError;
use super::memory_file::{memfd, sized};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a file is for: RAM is as often reused as there are guests with as much, whatever their disks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Ram,
    Contents,
}

/// A file that one guest uses, or several of a trial. When it is dropped, no process may use it any more: a later guest gets it.
#[derive(Debug)]
pub(super) struct KeptMemory {
    purpose: Purpose,
    bytes: u64,
    /// None once it is on the list of those that nobody uses.
    file: Option<OwnedFd>,
}

static UNUSED: Mutex<Vec<(Purpose, u64, OwnedFd)>> = Mutex::new(Vec::new());

fn unused() -> MutexGuard<'static, Vec<(Purpose, u64, OwnedFd)>> {
    UNUSED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl KeptMemory {
    /// A file of this size: one that was kept, or a new one. Kept files of other sizes are freed, because guests start
    /// when there is room for their own memory.
    pub fn take(purpose: Purpose, bytes: u64) -> Result<KeptMemory, StartError> {
        let mut unused = unused();
        unused.retain(|(theirs, size, _)| *theirs != purpose || *size == bytes);
        let known = unused.iter().position(|(theirs, ..)| *theirs == purpose);
        let file = match (known, purpose) {
            (Some(place), _) => unused.swap_remove(place).2,
            // Its kernel sets the size.
            (None, Purpose::Ram) => memfd("ram")?,
            (None, Purpose::Contents) => sized("contents", bytes)?,
        };
        Ok(KeptMemory {
            purpose,
            bytes,
            file: Some(file),
        })
    }

    /// Gives the memory back to the host.
    pub fn free(mut self) {
        self.file = None;
    }
}

impl AsFd for KeptMemory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_ref().expect("it is taken in drop").as_fd()
    }
}

impl Drop for KeptMemory {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            unused().push((self.purpose, self.bytes, file));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::fstat;

    #[test]
    fn files_of_one_size_are_kept() {
        // No guest of another test has these sizes.
        let (bytes, others) = (12_345 << 12, 54_321 << 12);
        let number = |file: &KeptMemory| fstat(file).expect("open").st_ino;
        let take = |bytes: u64| KeptMemory::take(Purpose::Contents, bytes).expect("a file");
        let first = take(bytes);
        let (first, second) = (number(&first), number(&take(bytes)));
        assert_eq!(number(&take(bytes)), second);
        assert_ne!(first, second);
        assert_eq!(fstat(take(others)).expect("open").st_size, others as i64);
        let sizes = || unused().iter().map(|(_, bytes, _)| *bytes).collect::<Vec<u64>>();
        assert!(sizes().contains(&others) && !sizes().contains(&bytes), "{:?}", sizes());
        take(others).free();
        assert!(!sizes().contains(&others), "{:?}", sizes());
    }
}
