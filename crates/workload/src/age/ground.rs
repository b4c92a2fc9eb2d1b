//! The files of ageing on their filesystem.

use super::extents::{self, Extent};
use super::population::{File, Part};
use crate::WorkloadError;
use crate::buffer::AlignedBuffer;
use crate::random::Random;
use rustix::fs::{Mode, OFlags, mkdirat, open, openat, statfs, statvfs, syncfs, unlinkat};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

const FOLDER: &str = "aged";

/// BTRFS_SUPER_MAGIC (linux/magic.h).
const BTRFS_MAGIC: u32 = 0x9123_683e;

/// Files of a directory, on average.
const FILES_OF_DIRECTORY: u64 = 64;
const DIRECTORIES_MAX: u64 = 4096;

/// Size of the largest write.
const WRITE_BYTES: usize = 1 << 20;
/// What every block has, if the filesystem does not compress.
const GRAIN_BYTES: usize = 4096;

/// Some filesystems free the space of deleted files a moment later.
const PAUSE: Duration = Duration::from_millis(20);
const PAUSES_MAX: u32 = 50;

/// Size and free space of a filesystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) bytes: u64,
    pub(super) free_bytes: u64,
}

/// What statfs(2) says; free is what root can still write to files. btrfs counts the space of metadata as free, too, and has only in
/// f_bavail what is left for data; elsewhere f_bavail lacks what is reserved for root.
pub(super) fn usage(mount_point: &Path) -> Result<Usage, WorkloadError> {
    let stat = statvfs(mount_point).map_err(WorkloadError::at("statvfs", mount_point))?;
    let kind = statfs(mount_point)
        .map_err(WorkloadError::at("statfs", mount_point))?
        .f_type;
    let free = match u32::try_from(kind) {
        Ok(BTRFS_MAGIC) => stat.f_bavail,
        _ => stat.f_bfree,
    };
    Ok(Usage {
        bytes: stat.f_blocks * stat.f_frsize,
        free_bytes: free * stat.f_frsize,
    })
}

/// Where the data of all files is.
pub(super) struct Layout {
    /// Files with data outside of metadata.
    pub(super) files: u64,
    /// Those with more than one extent.
    pub(super) split: u64,
    pub(super) extents: Vec<Extent>,
}

/// The folder of the aged files.
pub(super) struct Ground {
    mount_point: PathBuf,
    folder: OwnedFd,
    directories: u64,
    contents: AlignedBuffer,
}

impl Ground {
    /// Makes the directories for about `files` files.
    pub(super) fn new(mount_point: &Path, files: u64, compresses: bool, seed: u64) -> Result<Self, WorkloadError> {
        let path = mount_point.join(FOLDER);
        let mode = Mode::from_raw_mode(0o755);
        mkdirat(rustix::fs::CWD, &path, mode).map_err(WorkloadError::at("make the directory", &path))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = open(&path, flags, Mode::empty()).map_err(WorkloadError::at("open", &path))?;
        let directories = (files / FILES_OF_DIRECTORY).clamp(1, DIRECTORIES_MAX);
        for number in 0..directories {
            let name = number.to_string();
            mkdirat(&folder, &name, mode).map_err(WorkloadError::at("make the directory", path.join(&name)))?;
        }
        Ok(Self {
            mount_point: mount_point.to_owned(),
            folder,
            directories,
            contents: contents(compresses, seed),
        })
    }

    pub(super) fn mount_point(&self) -> &Path {
        &self.mount_point
    }

    /// Its name in the folder: files that are created one after the other are in different directories.
    fn name(&self, number: u64) -> String {
        format!("{}/{number}", number % self.directories)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.mount_point.join(FOLDER).join(name)
    }

    /// Writes a file; `false`, and no file, if there is no space.
    pub(super) fn create(&self, file: File) -> Result<bool, WorkloadError> {
        let name = self.name(file.number);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let outcome = openat(&self.folder, &name, flags, Mode::from_raw_mode(0o644)).and_then(|fd| {
            self.write(&fd, 0, file.bytes)
                .inspect_err(|_| drop_file(&self.folder, &name))
        });
        match outcome {
            Ok(()) => Ok(true),
            Err(Errno::NOSPC) => Ok(false),
            Err(error) => Err(WorkloadError::at("write", self.path(&name))(error)),
        }
    }

    fn write(&self, file: &OwnedFd, start: u64, bytes: u64) -> rustix::io::Result<()> {
        let mut written = 0;
        while written < bytes {
            let len = (bytes - written).min(WRITE_BYTES as u64) as usize;
            written += rustix::io::pwrite(file, &self.contents[..len], start + written)? as u64;
        }
        Ok(())
    }

    /// `false` if there is no space for it.
    pub(super) fn overwrite(&self, part: Part) -> Result<bool, WorkloadError> {
        let name = self.name(part.number);
        let outcome = openat(&self.folder, &name, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())
            .and_then(|file| self.write(&file, part.offset, part.bytes));
        match outcome {
            Ok(()) => Ok(true),
            Err(Errno::NOSPC) => Ok(false),
            Err(error) => Err(WorkloadError::at("overwrite", self.path(&name))(error)),
        }
    }

    pub(super) fn delete(&self, file: File) -> Result<(), WorkloadError> {
        let name = self.name(file.number);
        unlinkat(&self.folder, &name, rustix::fs::AtFlags::empty())
            .map_err(WorkloadError::at("delete", self.path(&name)))
    }

    pub(super) fn sync(&self) -> Result<(), WorkloadError> {
        syncfs(&self.folder).map_err(WorkloadError::at("sync", &self.mount_point))
    }

    /// The usage after the filesystem has freed what was deleted: two readings agree.
    pub(super) fn steady_usage(&self) -> Result<Usage, WorkloadError> {
        let mut last = usage(&self.mount_point)?;
        for _ in 0..PAUSES_MAX {
            std::thread::sleep(PAUSE);
            let next = usage(&self.mount_point)?;
            if next == last {
                break;
            }
            last = next;
        }
        Ok(last)
    }

    /// `None` if the filesystem does not say.
    pub(super) fn free_extents(&self) -> Result<Option<Vec<Extent>>, WorkloadError> {
        self.sync()?;
        Ok(extents::free(self.folder.as_fd()))
    }

    /// `None` if the filesystem does not say.
    pub(super) fn layout(&self, files: &[File]) -> Result<Option<Layout>, WorkloadError> {
        let mut layout = Layout {
            files: 0,
            split: 0,
            extents: Vec::new(),
        };
        for file in files.iter().filter(|file| file.bytes > 0) {
            let name = self.name(file.number);
            let fd = openat(&self.folder, &name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                .map_err(WorkloadError::at("open", self.path(&name)))?;
            let Some(extents) = extents::of_file(fd.as_fd()) else {
                return Ok(None);
            };
            layout.files += u64::from(!extents.is_empty());
            layout.split += u64::from(extents.len() > 1);
            layout.extents.extend(extents);
        }
        Ok(Some(layout))
    }
}

/// What was written of it is of no use.
fn drop_file(folder: &OwnedFd, name: &str) {
    let _ = unlinkat(folder, name, rustix::fs::AtFlags::empty());
}

fn contents(compresses: bool, seed: u64) -> AlignedBuffer {
    let mut buffer = AlignedBuffer::zeroed(WRITE_BYTES);
    let mut random = Random::new(seed, u64::from_le_bytes(*b"contents"));
    let unique = if compresses { WRITE_BYTES } else { GRAIN_BYTES };
    for word in buffer[..unique].chunks_exact_mut(8) {
        word.copy_from_slice(&random.next().to_le_bytes());
    }
    let (first, rest) = buffer.split_at_mut(unique);
    for grain in rest.chunks_exact_mut(unique) {
        grain.copy_from_slice(first);
    }
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_repeat_only_where_nothing_compresses_them() {
        let plain = contents(false, 3);
        assert!(plain.chunks(GRAIN_BYTES).all(|grain| *grain == plain[..GRAIN_BYTES]));
        assert_ne!(plain[..8], plain[8..16]);
        let incompressible = contents(true, 3);
        let mut words: Vec<&[u8]> = incompressible.chunks(8).collect();
        words.sort_unstable();
        words.dedup();
        assert!(words.len() > WRITE_BYTES / 8 - 3);
    }

    #[test]
    fn files_are_written_overwritten_and_deleted_in_their_directories() {
        let folder = tempfile::tempdir().expect("a folder");
        let ground = Ground::new(folder.path(), 130, false, 3).expect("directories");
        let file = File {
            number: 5,
            bytes: (2 << 20) + 5,
        };
        assert!(ground.create(file).expect("written"));
        let path = folder.path().join("aged/1/5");
        assert_eq!(path.metadata().expect("a file").len(), file.bytes);
        let part = Part {
            number: 5,
            offset: 1 << 20,
            bytes: 8192,
        };
        assert!(ground.overwrite(part).expect("written"));
        assert_eq!(path.metadata().expect("a file").len(), file.bytes);
        ground.sync().expect("synced");
        if let Some(layout) = ground.layout(&[file]).expect("a file") {
            let found: u64 = layout.extents.iter().map(|extent| extent.bytes).sum();
            assert!(layout.files == 0 || found >= file.bytes, "{found}");
        }
        ground.delete(file).expect("deleted");
        assert!(!path.exists());
    }
}
