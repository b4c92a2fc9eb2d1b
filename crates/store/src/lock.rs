//! One writer for each run, across processes: each run has one byte of a lock file next to the store.
//!
//! The kernel releases the lock when its holder exits for any reason, so there are no stale locks. The lock file is
//! separate because a process that opens and closes a database file without SQLite drops SQLite's locks on it.

use crate::open::part;
use crate::record::RunId;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;
use nix::sys::stat::Mode;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Held while this process writes the run.
#[derive(Debug)]
pub(crate) struct RunLock {
    file: File,
    path: PathBuf,
}

impl RunLock {
    /// `None` if another process (or another part of this one) writes the run.
    pub(crate) fn try_take(store: &Path, run: RunId) -> io::Result<Option<Self>> {
        let path = lock_path(store);
        loop {
            let file = open(&path, OFlag::O_RDWR | OFlag::O_CREAT)?;
            if !try_lock(&file, run.0, 1)? {
                return Ok(None);
            }
            // The last holder may have removed the file between open and lock.
            if is_still_at(&file, &path) {
                return Ok(Some(Self { file, path }));
            }
        }
    }
}

/// Whether a process writes the run; on a network filesystem also one on another machine.
pub(crate) fn is_taken(store: &Path, run: RunId) -> bool {
    let Ok(file) = open(&lock_path(store), OFlag::O_RDONLY) else {
        return false;
    };
    let mut range = libc::flock {
        // A read lock works on a file opened for reading, and conflicts with a writer's lock.
        l_type: libc::F_RDLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: run.0,
        l_len: 1,
        l_pid: 0,
    };
    let asked = fcntl(&file, FcntlArg::F_OFD_GETLK(&mut range));
    asked.is_ok() && i32::from(range.l_type) != libc::F_UNLCK
}

impl Drop for RunLock {
    /// Removes the lock file, unless another run of the store is being written. The lock itself ends with the file
    /// descriptor.
    fn drop(&mut self) {
        const TO_THE_END: i64 = 0;
        if let Ok(true) = try_lock(&self.file, 0, TO_THE_END) {
            // A remaining lock file is harmless.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A link is not followed: it could make a file for somebody else, or lock one of theirs. A pipe is not waited for.
fn open(path: &Path, flags: OFlag) -> io::Result<File> {
    let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let file = File::from(nix::fcntl::open(path, flags, Mode::from_bits_truncate(0o644))?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

fn lock_path(store: &Path) -> PathBuf {
    part(store, "-lock")
}

fn is_still_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(theirs)) => ours.dev() == theirs.dev() && ours.ino() == theirs.ino(),
        _ => false,
    }
}

/// The locks are open file description locks, so two stores in one process exclude each other too.
fn try_lock(file: &File, start: i64, length: i64) -> io::Result<bool> {
    let range = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: start,
        l_len: length,
        l_pid: 0,
    };
    match fcntl(file, FcntlArg::F_OFD_SETLK(&range)) {
        Ok(_) => Ok(true),
        Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_that_is_a_link_is_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = folder.path().join("x.db");
        let victim = folder.path().join("victim");
        std::os::unix::fs::symlink(&victim, lock_path(&store)).expect("a link");
        RunLock::try_take(&store, RunId(1)).expect_err("a link");
        assert!(!victim.exists() && !is_taken(&store, RunId(1)));
    }

    /// Two runs wrote one store, one of them through a link, and their trials counted twice.
    #[test]
    fn issue_39_22_a_store_has_one_lock_by_every_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let (store, link) = (folder.path().join("x.db"), folder.path().join("link.db"));
        File::create(&store).expect("a file");
        std::os::unix::fs::symlink(&store, &link).expect("a link");
        let held = RunLock::try_take(&store, RunId(1)).expect("a lock");
        assert!(held.is_some() && is_taken(&link, RunId(1)));
        assert!(RunLock::try_take(&link, RunId(1)).expect("an answer").is_none());
    }

    #[test]
    fn a_lock_file_that_is_a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = folder.path().join("x.db");
        nix::unistd::mkfifo(&lock_path(&store), Mode::S_IRWXU).expect("a pipe");
        assert!(!is_taken(&store, RunId(1)));
        RunLock::try_take(&store, RunId(1)).expect_err("a pipe");
    }
}
