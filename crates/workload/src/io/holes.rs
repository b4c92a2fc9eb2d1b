//! Parts of files that were never written: reads of them return zeros without a request to a disk.

use super::targets::Layout;
use crate::WorkloadError;
use crate::reporter::Reporter;
use rustix::fs::{Mode, OFlags, SeekFrom, open, seek};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// Checks the files of a read-only job. Call it after the measurement: it reads the extent maps of the files.
pub(super) fn report(layouts: &[Layout<'_>], reporter: &mut Reporter<'_>) -> Result<(), WorkloadError> {
    let (mut all, mut unwritten, mut first) = (0, 0, None);
    let files = layouts
        .iter()
        .flat_map(|layout| layout.paths().map(move |path| (layout, path)));
    for (layout, path) in files {
        let file = open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .map_err(WorkloadError::at("open", &path))?;
        let bytes = unwritten_bytes(&file, layout.offset_bytes, layout.file_bytes)
            .map_err(WorkloadError::at("look for holes in", &path))?;
        all += layout.file_bytes - layout.offset_bytes;
        unwritten += bytes;
        if bytes > 0 {
            first.get_or_insert(path);
        }
    }
    let detail = match first {
        None => format!("all {all} bytes of the files have been written"),
        Some(path) => format!(
            "{unwritten} of {all} bytes of the files are holes or reserved space, first in {}: no disk is read for them; \
             write data there first, and not zeros (`zero_buffers`) if the filesystem does not store them",
            path.display()
        ),
    };
    reporter.guard("holes", unwritten == 0, detail);
    Ok(())
}

/// Bytes from `start` to `end` in holes or unwritten extents, as reported by lseek(2). Filesystems without support
/// report everything as data.
fn unwritten_bytes(file: &OwnedFd, start: u64, end: u64) -> rustix::io::Result<u64> {
    let (mut at, mut unwritten) = (start, 0);
    while at < end {
        let hole = match seek(file, SeekFrom::Hole(at)) {
            // The file ends earlier.
            Err(Errno::NXIO) => at,
            hole => hole?.min(end),
        };
        at = match seek(file, SeekFrom::Data(hole)) {
            // No more data follows.
            Err(Errno::NXIO) => end,
            data => data?.min(end),
        };
        unwritten += at - hole;
    }
    Ok(unwritten)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn holes_are_counted_wherever_they_are() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let write = |at: u64, len: usize| file.as_file().write_all_at(&vec![1; len], at).expect("written");
        write(64 << 10, 64 << 10);
        write(192 << 10, 64 << 10);
        file.as_file().set_len(512 << 10).expect("longer");
        file.as_file().sync_all().expect("on the disk");
        let fd = || OwnedFd::from(file.reopen().expect("the same file"));
        let of = |start_kib: u64, end_kib: u64| {
            unwritten_bytes(&fd(), start_kib << 10, end_kib << 10).expect("known") >> 10
        };
        assert_eq!(of(0, 512), 64 + 64 + 256);
        assert_eq!(of(64, 128), 0);
        assert_eq!(of(96, 224), 64);
        assert_eq!(of(192, 1024), 768, "what is behind the end was not written either");
    }
}
