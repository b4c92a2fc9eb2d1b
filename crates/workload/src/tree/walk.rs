//! Walks a tree with unknown names: reads each directory to its end first, then visits its entries in the order of
//! the filesystem, descending into subdirectories as they occur.
//!
//! `cp -r`, `tar`, `rm -r` and `find | xargs cat` did this at the time of Marechal's benchmark. (Newer versions
//! sometimes sort by inode number, which hides the cost of a filesystem's order.)

use crate::WorkloadError;
use crate::latency::{Operation, Stopwatch};
use crate::tree::collection::as_path;
use rustix::fs::{FileType, Mode, OFlags, RawDir, openat};
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

/// Operations of a walk.
pub(crate) trait Visitor {
    /// State of a directory while its entries are visited.
    type Place;

    fn watch(&mut self) -> &mut Stopwatch;

    /// Called for a file in `directory`.
    fn file(&mut self, directory: BorrowedFd<'_>, place: &Self::Place, name: &CStr) -> Result<(), WorkloadError>;

    /// Called before the entries of the subdirectory `name`.
    fn enter(&mut self, place: &Self::Place, name: &CStr) -> Result<Self::Place, WorkloadError>;

    /// Called after them; the subdirectory is closed.
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

/// Visits everything in the directory `name` of `parent`, to which `place` belongs.
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

/// The entries of a directory, names concatenated.
struct Listing {
    names: Vec<u8>,
    entries: Vec<(usize, bool)>,
}

impl Listing {
    /// Same size as that of the C library's readdir.
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
            // By the collection's naming scheme, see `Directory::name`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::fd::AsFd;
    use std::path::{Path, PathBuf};

    /// Records the names that it visits.
    struct Names {
        watch: Stopwatch,
        met: Vec<PathBuf>,
    }

    impl Visitor for Names {
        type Place = PathBuf;

        fn watch(&mut self) -> &mut Stopwatch {
            &mut self.watch
        }

        fn file(&mut self, _: BorrowedFd<'_>, place: &PathBuf, name: &CStr) -> Result<(), WorkloadError> {
            self.met.push(place.join(as_path(name)));
            Ok(())
        }

        fn enter(&mut self, place: &PathBuf, name: &CStr) -> Result<PathBuf, WorkloadError> {
            Ok(place.join(as_path(name)))
        }

        fn leave(&mut self, _: BorrowedFd<'_>, _: &CStr) -> Result<(), WorkloadError> {
            Ok(())
        }
    }

    fn in_the_order_of_readdir(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => in_the_order_of_readdir(&path, files),
                false => files.push(path),
            }
        }
    }

    /// As documented in docs/study.md, and not sorted.
    #[test]
    fn issue_12_9_files_are_visited_in_the_order_of_readdir() {
        let folder = tempfile::tempdir().expect("a folder");
        let top = folder.path().join("tree");
        for directory in ["", "b", "a", "a/c"] {
            let directory = top.join(directory);
            fs::create_dir_all(&directory).expect("a folder");
            for number in [7, 3, 9, 1, 5, 8] {
                fs::write(directory.join(format!("{number}.dat")), "").expect("a file");
            }
        }
        let mut expected = Vec::new();
        in_the_order_of_readdir(&top, &mut expected);
        assert_eq!(expected.len(), 24);
        let mut names = Names {
            watch: Stopwatch::start(),
            met: Vec::new(),
        };
        let parent = fs::File::open(folder.path()).expect("a folder");
        walk(&mut names, parent.as_fd(), c"tree", &top).expect("it is read");
        assert_eq!(names.met, expected);
    }
}
