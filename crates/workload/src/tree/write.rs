//! Writes a tree, as unpacking an archive does.
//!
//! Depth first, the files of a directory before its subdirectories. A file needs open, write and close; large ones
//! are written a mebibyte at a time.

use crate::WorkloadError;
use crate::contents::Contents;
use crate::latency::{Operation, Stopwatch};
use crate::tree::collection::{Collection, as_path};
use rustix::fs::{Mode, OFlags, mkdirat, openat};
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o755);
const FILE_MODE: Mode = Mode::from_raw_mode(0o644);

/// Creates the directory `name` in `parent` and opens it, both timed.
pub(crate) fn make_directory(
    parent: BorrowedFd<'_>,
    name: &CStr,
    watch: &mut Stopwatch,
) -> Result<OwnedFd, WorkloadError> {
    mkdirat(parent, name, DIRECTORY_MODE).map_err(WorkloadError::at("make the directory", as_path(name)))?;
    watch.lap(Operation::Mkdir);
    super::walk::open_directory(parent, name, watch)
}

/// Creates the file `name` in `directory` for writing, timed.
pub(crate) fn create_file(
    directory: BorrowedFd<'_>,
    name: &CStr,
    watch: &mut Stopwatch,
) -> Result<OwnedFd, WorkloadError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = openat(directory, name, flags, FILE_MODE).map_err(WorkloadError::at("create", as_path(name)))?;
    watch.lap(Operation::Create);
    Ok(file)
}

/// Writes all of `bytes` at the file's position, each call timed.
pub(crate) fn write_all(
    file: &OwnedFd,
    mut bytes: &[u8],
    name: &CStr,
    watch: &mut Stopwatch,
) -> Result<(), WorkloadError> {
    while !bytes.is_empty() {
        let written = rustix::io::write(file, bytes).map_err(WorkloadError::at("write", as_path(name)))?;
        watch.lap(Operation::Write);
        bytes = &bytes[written..];
    }
    Ok(())
}

/// Writes the whole collection as the directory `name` of `parent`.
pub(crate) fn write_tree(
    collection: &Collection,
    contents: &mut Contents,
    parent: BorrowedFd<'_>,
    name: &CStr,
    watch: &mut Stopwatch,
) -> Result<(), WorkloadError> {
    let mut writer = Writer {
        collection,
        contents,
        watch,
    };
    writer.directory(parent, name, 0)
}

struct Writer<'a> {
    collection: &'a Collection,
    contents: &'a mut Contents,
    watch: &'a mut Stopwatch,
}

impl Writer<'_> {
    fn directory(&mut self, parent: BorrowedFd<'_>, name: &CStr, number: u32) -> Result<(), WorkloadError> {
        let fd = make_directory(parent, name, self.watch)?;
        self.entries(&fd, number).map_err(|error| error.inside(as_path(name)))
    }

    fn entries(&mut self, fd: &OwnedFd, number: u32) -> Result<(), WorkloadError> {
        let collection = self.collection;
        let directory = &collection.directories[number as usize];
        for file in directory.files.clone() {
            self.file(fd, file)?;
        }
        for &child in &directory.children {
            self.directory(fd.as_fd(), &collection.directories[child as usize].name, child)?;
        }
        Ok(())
    }

    fn file(&mut self, directory: &OwnedFd, number: u32) -> Result<(), WorkloadError> {
        let file = &self.collection.files[number as usize];
        let fd = create_file(directory.as_fd(), &file.name, self.watch)?;
        for index in 0..Contents::segments(file.size) {
            let segment = self.contents.segment(u64::from(number), file.size, index);
            write_all(&fd, &segment, &file.name, self.watch)?;
            self.watch.moved(segment.len() as u64);
        }
        drop(fd);
        self.watch.lap(Operation::Close);
        Ok(())
    }
}
