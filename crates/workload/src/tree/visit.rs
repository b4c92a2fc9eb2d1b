//! Operations on the files of an existing tree: read, copy, delete.

use crate::WorkloadError;
use crate::contents::Contents;
use crate::latency::{Operation, Stopwatch};
use crate::tree::collection::{Collection, as_path};
use crate::tree::walk::Visitor;
use crate::tree::write::{create_file, make_directory, write_all};
use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Bytes compared at both ends of a file while it is read: enough to identify the file by its stamp and to detect a
/// tail that never reached the disk, and few enough to cost no time.
const COMPARED_BYTES: usize = 32;

fn open_file(directory: BorrowedFd<'_>, name: &CStr, watch: &mut Stopwatch) -> Result<OwnedFd, WorkloadError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = openat(directory, name, flags, Mode::empty()).map_err(WorkloadError::at("open", as_path(name)))?;
    watch.lap(Operation::Open);
    Ok(file)
}

fn read_some(
    file: &OwnedFd,
    buffer: &mut [u8],
    name: &CStr,
    watch: &mut Stopwatch,
) -> Result<usize, WorkloadError> {
    let len = rustix::io::read(file, buffer).map_err(WorkloadError::at("read", as_path(name)))?;
    watch.lap(Operation::Read);
    Ok(len)
}

/// Reads every file to its end, like `cat` to /dev/null.
///
/// A regular file returns less than requested only at its end, so a short read is the last one and no empty read is
/// needed.
pub(crate) struct Reader<'a> {
    pub(crate) collection: &'a Collection,
    pub(crate) contents: &'a Contents,
    pub(crate) buffer: &'a mut [u8],
    pub(crate) watch: &'a mut Stopwatch,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    /// Files whose name, length, first or last bytes are wrong; the first of them by name.
    pub(crate) wrong: u64,
    pub(crate) first_wrong: Option<String>,
}

impl Reader<'_> {
    fn is_as_written(&self, number: Option<u32>, offset: u64, found: &[u8]) -> bool {
        let Some(number) = number else { return false };
        let file = u64::from(number);
        let head = &found[..found.len().min(COMPARED_BYTES)];
        let tail_start = found.len() - head.len();
        (offset > 0 || self.contents.mismatch(file, 0, head).is_none())
            && self
                .contents
                .mismatch(file, offset + tail_start as u64, &found[tail_start..])
                .is_none()
    }
}

impl Visitor for Reader<'_> {
    type Place = ();

    fn watch(&mut self) -> &mut Stopwatch {
        self.watch
    }

    fn file(&mut self, directory: BorrowedFd<'_>, _: &(), name: &CStr) -> Result<(), WorkloadError> {
        let number = self.collection.file_number(name.to_bytes());
        let file = open_file(directory, name, self.watch)?;
        let mut size = 0;
        let mut right = true;
        loop {
            let len = read_some(&file, self.buffer, name, self.watch)?;
            self.watch.moved(len as u64);
            right &= self.is_as_written(number, size, &self.buffer[..len]);
            size += len as u64;
            if len < self.buffer.len() {
                break;
            }
        }
        drop(file);
        self.watch.lap(Operation::Close);
        right &= number.is_some_and(|number| self.collection.files[number as usize].size == size);
        if !right {
            self.wrong += 1;
            self.first_wrong
                .get_or_insert_with(|| as_path(name).display().to_string());
        }
        self.files += 1;
        self.bytes += size;
        Ok(())
    }

    fn enter(&mut self, (): &(), _: &CStr) -> Result<(), WorkloadError> {
        Ok(())
    }

    fn leave(&mut self, _: BorrowedFd<'_>, _: &CStr) -> Result<(), WorkloadError> {
        Ok(())
    }
}

/// Copies every file with read and write, as `cp -r` did at the time of Marechal's benchmark: never with reflinks
/// or copy_file_range, which would copy no data on btrfs and XFS.
pub(crate) struct Copier<'a> {
    pub(crate) buffer: &'a mut [u8],
    pub(crate) watch: &'a mut Stopwatch,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

impl Visitor for Copier<'_> {
    /// The target directory.
    type Place = OwnedFd;

    fn watch(&mut self) -> &mut Stopwatch {
        self.watch
    }

    fn file(&mut self, directory: BorrowedFd<'_>, to: &OwnedFd, name: &CStr) -> Result<(), WorkloadError> {
        let source = open_file(directory, name, self.watch)?;
        let copy = create_file(to.as_fd(), name, self.watch)?;
        loop {
            let len = read_some(&source, self.buffer, name, self.watch)?;
            write_all(&copy, &self.buffer[..len], name, self.watch)?;
            self.watch.moved(len as u64);
            self.bytes += len as u64;
            if len < self.buffer.len() {
                break;
            }
        }
        drop(copy);
        self.watch.lap(Operation::Close);
        drop(source);
        self.watch.lap(Operation::Close);
        self.files += 1;
        Ok(())
    }

    fn enter(&mut self, to: &OwnedFd, name: &CStr) -> Result<OwnedFd, WorkloadError> {
        make_directory(to.as_fd(), name, self.watch)
    }

    fn leave(&mut self, _: BorrowedFd<'_>, _: &CStr) -> Result<(), WorkloadError> {
        Ok(())
    }
}

/// Deletes every file and every directory, like `rm -r`.
pub(crate) struct Deleter<'a> {
    pub(crate) watch: &'a mut Stopwatch,
    pub(crate) files: u64,
}

impl Visitor for Deleter<'_> {
    type Place = ();

    fn watch(&mut self) -> &mut Stopwatch {
        self.watch
    }

    fn file(&mut self, directory: BorrowedFd<'_>, _: &(), name: &CStr) -> Result<(), WorkloadError> {
        unlinkat(directory, name, AtFlags::empty()).map_err(WorkloadError::at("delete", as_path(name)))?;
        self.watch.lap(Operation::Unlink);
        self.files += 1;
        Ok(())
    }

    fn enter(&mut self, (): &(), _: &CStr) -> Result<(), WorkloadError> {
        Ok(())
    }

    fn leave(&mut self, directory: BorrowedFd<'_>, name: &CStr) -> Result<(), WorkloadError> {
        unlinkat(directory, name, AtFlags::REMOVEDIR)
            .map_err(WorkloadError::at("delete the directory", as_path(name)))?;
        self.watch.lap(Operation::Rmdir);
        Ok(())
    }
}
