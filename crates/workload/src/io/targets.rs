//! Files or device parts of jobs.

use crate::buffer::AlignedBuffer;
use crate::contents::Contents;
use crate::{Target, WorkloadError};
use rustix::fs::{Advice, FallocateFlags, Mode, OFlags, fadvise, fallocate, open, syncfs, unlink};
use rustix::io::Errno;
use std::borrow::Cow;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use study::workload::{IoSpec, SyncMode};

/// File or device part of one job.
pub(super) struct Place {
    pub(super) job: u32,
    pub(super) path: PathBuf,
    /// Shared by jobs on the device: with O_EXCL it can be opened only once.
    pub(super) file: Arc<OwnedFd>,
    /// Offset of the job's block 0.
    pub(super) offset: u64,
}

/// The file of a job; fio inserts its own job number, which is the same, for `$jobnum`.
pub(super) fn file_name(job: impl std::fmt::Display) -> String {
    format!("io.{job}")
}

/// Files of jobs that start together.
pub(super) struct Layout<'a> {
    pub(super) mount_point: &'a Path,
    /// Prefix of the names, followed by a full stop.
    pub(super) prefix: Cow<'a, str>,
    pub(super) jobs: u32,
    /// Number of files per job.
    pub(super) files: u32,
    /// Size of each file.
    pub(super) file_bytes: u64,
    pub(super) block_bytes: u64,
    /// Offset of the first block in the file.
    pub(super) offset_bytes: u64,
    /// Files are filled, for reading.
    pub(super) filled: bool,
    /// Space is reserved for the files, if the filesystem supports it.
    pub(super) reserved: bool,
}

impl<'a> Layout<'a> {
    pub(super) fn of(spec: &IoSpec, mount_point: &'a Path) -> Self {
        Self {
            mount_point,
            prefix: "io".into(),
            jobs: spec.jobs,
            files: 1,
            file_bytes: spec.offset_bytes + spec.size_bytes,
            block_bytes: spec.block_bytes,
            offset_bytes: spec.offset_bytes,
            filled: spec.pattern.has_reads() || spec.overwrite,
            reserved: true,
        }
    }

    pub(super) fn name(&self, job: u32, file: u32) -> String {
        match self.files {
            1 => format!("{}.{job}", self.prefix),
            _ => format!("{}.{job}.{file}", self.prefix),
        }
    }

    /// Every file, jobs in order.
    pub(super) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        let numbers = (0..self.jobs).flat_map(|job| (0..self.files).map(move |file| (job, file)));
        numbers.map(|(job, file)| self.mount_point.join(self.name(job, file)))
    }

    /// The same names in fio's format (`filename_format`).
    pub(super) fn fio_format(&self) -> String {
        match self.files {
            1 => format!("{}.$jobnum", self.prefix),
            _ => format!("{}.$jobnum.$filenum", self.prefix),
        }
    }
}

/// Prepares the files for the jobs, unmeasured, as fio does: new files, with space reserved if the filesystem supports
/// it; files to be read are filled.
pub(super) fn prepare(layout: &Layout<'_>, contents: &Contents) -> Result<(), WorkloadError> {
    for (job, number) in (0..layout.jobs).flat_map(|job| (0..layout.files).map(move |file| (job, file))) {
        let path = layout.mount_point.join(layout.name(job, number));
        match unlink(&path) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(WorkloadError::at("delete", &path)(error)),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = open(&path, flags, Mode::from_raw_mode(0o644)).map_err(WorkloadError::at("create", &path))?;
        let reserve = |bytes| fallocate(&file, FallocateFlags::empty(), 0, bytes);
        match layout.reserved.then_some(layout.file_bytes).map_or(Ok(()), reserve) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => return Err(WorkloadError::at("reserve space for", &path)(error)),
        }
        if layout.filled {
            fill(layout, job, &file, &path, contents)?;
        }
    }
    Ok(())
}

/// Fills a job's file, at least a mebibyte at a time; the part before its first block is zeros.
fn fill(
    layout: &Layout<'_>,
    job: u32,
    file: &OwnedFd,
    path: &Path,
    contents: &Contents,
) -> Result<(), WorkloadError> {
    let block_bytes = layout.block_bytes;
    let blocks_at_once = (Contents::SEGMENT_BYTES / block_bytes).max(1);
    let mut buffer = AlignedBuffer::zeroed((blocks_at_once * block_bytes) as usize);
    let mut scratch = AlignedBuffer::zeroed(block_bytes as usize);
    let mut offset = 0;
    while offset < layout.offset_bytes {
        let len = (layout.offset_bytes - offset).min(buffer.len() as u64);
        write_at(file, path, offset, &buffer[..len as usize])?;
        offset += len;
    }
    let mut block = 0;
    while offset < layout.file_bytes {
        let len = (layout.file_bytes - offset).min(buffer.len() as u64) as usize;
        for part in buffer[..len].chunks_mut(block_bytes as usize) {
            let whole = contents.block(u64::from(job), block, &mut scratch);
            part.copy_from_slice(&whole[..part.len()]);
            block += 1;
        }
        write_at(file, path, offset, &buffer[..len])?;
        offset += len as u64;
    }
    Ok(())
}

fn write_at(file: &OwnedFd, path: &Path, offset: u64, bytes: &[u8]) -> Result<(), WorkloadError> {
    let mut written = 0;
    while written < bytes.len() {
        let at = offset + written as u64;
        written += rustix::io::pwrite(file, &bytes[written..], at).map_err(WorkloadError::at("prepare", path))?;
    }
    Ok(())
}

/// Opens the jobs' files or device, and advises the kernel of the pattern as fio does (`fadvise_hint`): read-ahead is
/// doubled for sequential patterns and disabled for random ones.
pub(super) fn open_places(spec: &IoSpec, target: &Target<'_>) -> Result<Vec<Place>, WorkloadError> {
    let mut flags = OFlags::CLOEXEC;
    flags |= if spec.pattern.has_writes() {
        OFlags::RDWR
    } else {
        OFlags::RDONLY
    };
    if spec.direct {
        flags |= OFlags::DIRECT;
    }
    if spec.pattern.has_writes() {
        flags |= match spec.sync {
            SyncMode::None => OFlags::empty(),
            SyncMode::Sync => OFlags::SYNC,
            SyncMode::Dsync => OFlags::DSYNC,
        };
    }
    let advice = if spec.pattern.is_random() {
        Advice::Random
    } else {
        Advice::Sequential
    };
    let open_as = |path: &Path, flags| -> Result<Arc<OwnedFd>, WorkloadError> {
        let file = open(path, flags, Mode::empty()).map_err(WorkloadError::at("open", path))?;
        fadvise(&file, 0, None, advice).map_err(WorkloadError::at("advise on", path))?;
        Ok(Arc::new(file))
    };
    if let Some(mount_point) = target.mount_point {
        return (0..spec.jobs)
            .map(|job| {
                let path = mount_point.join(file_name(job));
                Ok(Place {
                    job,
                    file: open_as(&path, flags)?,
                    path,
                    offset: spec.offset_bytes,
                })
            })
            .collect();
    }
    // The kernel refuses to open a mounted device or a member of an array exclusively.
    let exclusive = if spec.pattern.has_writes() {
        flags | OFlags::EXCL
    } else {
        flags
    };
    let device = open_as(target.block_device, exclusive)?;
    let apart = spec.offset_increment_bytes.unwrap_or(spec.size_bytes);
    let place = |job: u32| Place {
        job,
        path: target.block_device.to_owned(),
        file: Arc::clone(&device),
        offset: spec.offset_bytes + u64::from(job) * apart,
    };
    Ok((0..spec.jobs).map(place).collect())
}

/// Writes back dirty data.
pub(super) fn sync(target: &Target<'_>) -> Result<(), WorkloadError> {
    let path = target.mount_point.unwrap_or(target.block_device);
    let file =
        open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(WorkloadError::at("open", path))?;
    let synced = if target.mount_point.is_some() {
        syncfs(&file)
    } else {
        rustix::fs::fsync(&file)
    };
    synced.map_err(WorkloadError::at("sync", path))
}
