//! Through a tree as a stranger goes through it, knowing no name: directory by directory, each read to its end
//! first, then its entries in the order in which the filesystem gave them, into subdirectories as they come.
//!
//! That is how `cp -r`, `tar`, `rm -r` and `find | xargs cat` of Marechal's time went. (Newer ones sort by inode
//! number now and then, which hides what a filesystem's order costs.)

use crate::WorkloadError;
use crate::latency::{Operation, Stopwatch};
use crate::tree::collection::as_path;
use rustix::fs::{FileType, Mode, OFlags, RawDir, openat};
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

/// What is done on the way.
pub(crate) trait Visitor {
    /// What a directory needs besides itself while its entries are visited.
    type Place;

    fn watch(&mut self) -> &mut Stopwatch;

    /// A file met in `directory`.
    fn file(&mut self, directory: BorrowedFd<'_>, place: &Self::Place, name: &CStr) -> Result<(), WorkloadError>;

    /// Before the entries of the subdirectory `name`.
    fn enter(&mut self, place: &Self::Place, name: &CStr) -> Result<Self::Place, WorkloadError>;

    /// After them; the subdirectory is closed.
    fn leave(&mut self, directory: BorrowedFd<'_>, name: &CStr) -> Result<(), WorkloadError>;
}

/// Opens the directory `name` in `parent`, timed.
pub(crate) fn open_directory(
    parent: BorrowedFd<'_>,
    name: &CStr,
    watch: &mut Stopwatch,
) -> Result<OwnedFd, WorkloadError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = openat(parent, name, flags, Mode::empty())
        .map_err(WorkloadError::at("open the directory", as_path(name)))?;
    watch.lap(Operation::OpenDir);
    Ok(directory)
}

/// Visits all that is in the directory `name` of `parent`, which `place` belongs to.
pub(crate) fn walk<V: Visitor>(
    visitor: &mut V,
    parent: BorrowedFd<'_>,
    name: &CStr,
    place: &V::Place,
) -> Result<(), WorkloadError> {
    let directory = open_directory(parent, name, visitor.watch())?;
    visit_entries(visitor, &directory, place).map_err(|error| error.inside(as_path(name)))
}

fn visit_entries<V: Visitor>(visitor: &mut V, directory: &OwnedFd, place: &V::Place) -> Result<(), WorkloadError> {
    use std::os::fd::AsFd;
    let listing = Listing::read(directory, visitor.watch())?;
    for (name, is_directory) in listing.entries() {
        if is_directory {
            let inner = visitor.enter(place, name)?;
            walk(visitor, directory.as_fd(), name, &inner)?;
            drop(inner);
            visitor.leave(directory.as_fd(), name)?;
        } else {
            visitor.file(directory.as_fd(), place, name)?;
        }
    }
    Ok(())
}

/// The entries of a directory, names end to end.
struct Listing {
    names: Vec<u8>,
    entries: Vec<(usize, bool)>,
}

impl Listing {
    /// As large as that of the C library's readdir.
    const BUFFER_BYTES: usize = 32 << 10;

    fn read(directory: &OwnedFd, watch: &mut Stopwatch) -> Result<Self, WorkloadError> {
        let mut buffer = [const { MaybeUninit::uninit() }; Self::BUFFER_BYTES];
        let mut reader = RawDir::new(directory, &mut buffer);
        let mut listing = Self {
            names: Vec::new(),
            entries: Vec::new(),
        };
        loop {
            let calls = reader.is_buffer_empty();
            let entry = reader.next();
            if calls {
                watch.lap(Operation::Getdents);
            }
            let Some(entry) = entry else { return Ok(listing) };
            let entry = entry.map_err(WorkloadError::at("read the directory", ""))?;
            listing.add(entry.file_name(), entry.file_type());
        }
    }

    fn add(&mut self, name: &CStr, kind: FileType) {
        if name == c"." || name == c".." {
            return;
        }
        let is_directory = match kind {
            FileType::Directory => true,
            // By the collection's own names, see `Directory::name`.
            FileType::Unknown => !name.to_bytes().contains(&b'.'),
            _ => false,
        };
        self.entries.push((self.names.len(), is_directory));
        self.names.extend_from_slice(name.to_bytes_with_nul());
    }

    fn entries(&self) -> impl Iterator<Item = (&CStr, bool)> {
        self.entries.iter().map(|&(start, is_directory)| {
            let name = CStr::from_bytes_until_nul(&self.names[start..]).expect("each name was kept with its NUL");
            (name, is_directory)
        })
    }
}
