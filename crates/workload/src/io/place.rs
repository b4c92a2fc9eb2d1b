//! Where jobs read and write: a file each, or a part each of the device.

use crate::buffer::AlignedBuffer;
use crate::contents::Contents;
use crate::io::order::{has_reads, has_writes};
use crate::{Target, WorkloadError};
use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, open, syncfs, unlink};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use study::workload::IoSpec;

/// What one job works on.
pub(super) struct Place {
    pub(super) job: u32,
    pub(super) path: PathBuf,
    /// Jobs on the device share it: opened exclusively, it can be opened only once.
    pub(super) file: Arc<OwnedFd>,
    /// Where block 0 of the job is.
    pub(super) offset: u64,
}

/// The file of a job; fio puts its own numbers, which are the same, for `$jobnum`.
pub(super) fn file_name(job: impl std::fmt::Display) -> String {
    format!("io.{job}")
}

/// Makes what the jobs find when they begin, unmeasured, as fio does: files to be read are there with all their
/// contents; files only to be written are new and have their space reserved, where the filesystem can do that.
pub(super) fn lay_out(spec: &IoSpec, mount_point: &Path, contents: &Contents) -> Result<(), WorkloadError> {
    for job in 0..spec.jobs {
        let path = mount_point.join(file_name(job));
        match unlink(&path) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(WorkloadError::at("delete", &path)(error)),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = open(&path, flags, Mode::from_raw_mode(0o644)).map_err(WorkloadError::at("create", &path))?;
        if has_reads(spec.pattern) {
            fill(spec, job, &file, &path, contents)?;
        } else {
            match fallocate(&file, FallocateFlags::empty(), 0, spec.size_bytes) {
                Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
                Err(error) => return Err(WorkloadError::at("reserve space for", &path)(error)),
            }
        }
    }
    Ok(())
}

/// Writes a file of a job whole, at least a mebibyte at a time.
fn fill(spec: &IoSpec, job: u32, file: &OwnedFd, path: &Path, contents: &Contents) -> Result<(), WorkloadError> {
    let blocks_at_once = (Contents::SEGMENT_BYTES / spec.block_bytes).max(1);
    let mut buffer = AlignedBuffer::zeroed((blocks_at_once * spec.block_bytes) as usize);
    let mut block = 0;
    let mut offset = 0;
    while offset < spec.size_bytes {
        let len = (spec.size_bytes - offset).min(buffer.len() as u64) as usize;
        for part in buffer[..len].chunks_mut(spec.block_bytes as usize) {
            part.copy_from_slice(contents.stretch(u64::from(job), block, part.len()));
            block += 1;
        }
        let mut written = 0;
        while written < len {
            let at = offset + written as u64;
            written +=
                rustix::io::pwrite(file, &buffer[written..len], at).map_err(WorkloadError::at("lay out", path))?;
        }
        offset += len as u64;
    }
    Ok(())
}

/// Opens what the jobs work on.
pub(super) fn open_places(spec: &IoSpec, target: &Target<'_>) -> Result<Vec<Place>, WorkloadError> {
    let mut flags = OFlags::CLOEXEC;
    flags |= if has_writes(spec.pattern) {
        OFlags::RDWR
    } else {
        OFlags::RDONLY
    };
    if spec.direct {
        flags |= OFlags::DIRECT;
    }
    let open_as = |path: &Path, flags| {
        open(path, flags, Mode::empty())
            .map(Arc::new)
            .map_err(WorkloadError::at("open", path))
    };
    if let Some(mount_point) = target.mount_point {
        return (0..spec.jobs)
            .map(|job| {
                let path = mount_point.join(file_name(job));
                Ok(Place {
                    job,
                    file: open_as(&path, flags)?,
                    path,
                    offset: 0,
                })
            })
            .collect();
    }
    // The kernel refuses to open a mounted device, or a member of an array, exclusively.
    let exclusive = if has_writes(spec.pattern) {
        flags | OFlags::EXCL
    } else {
        flags
    };
    let device = open_as(target.block_device, exclusive)?;
    let place = |job: u32| Place {
        job,
        path: target.block_device.to_owned(),
        file: Arc::clone(&device),
        offset: spec.offset_bytes + u64::from(job) * spec.size_bytes,
    };
    Ok((0..spec.jobs).map(place).collect())
}

/// Writes out what is still in memory.
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
