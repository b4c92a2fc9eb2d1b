//! Files in memory that a guest gets open, under a number.

use super::{StartError, starting};
use rustix::fs::{MemfdFlags, SealFlags};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};

/// The guest's ends, with their file descriptor numbers in the guest.
pub type Ends = Vec<(i32, OwnedFd)>;

/// An unnamed file in memory.
pub(super) fn memory(name: &str, contents: &[u8]) -> Result<OwnedFd, StartError> {
    let fd = memfd(name)?;
    let mut file = File::from(fd);
    file.write_all(contents)
        .map_err(starting("cannot write a file in memory"))?;
    Ok(file.into())
}

/// A sparse file in memory with a sealed size: access to a truncated heartbeat page would raise SIGBUS here, and the
/// contents have a budget.
pub(super) fn sized(name: &str, bytes: u64) -> Result<OwnedFd, StartError> {
    let fd = memfd(name)?;
    let size = || {
        rustix::fs::ftruncate(&fd, bytes)?;
        rustix::fs::fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)
    };
    size().map_err(|error| starting("cannot size a file in memory")(error.into()))?;
    Ok(fd)
}

pub(super) fn memfd(name: &str) -> Result<OwnedFd, StartError> {
    rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)
        .map_err(|error| starting("cannot make a file in memory")(io::Error::from(error)))
}

/// For a guest.
pub(super) fn duplicate(fd: impl AsFd) -> Result<OwnedFd, StartError> {
    fd.as_fd()
        .try_clone_to_owned()
        .map_err(starting("cannot duplicate a descriptor for the guest"))
}
