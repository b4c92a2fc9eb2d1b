//! The state of the page cache, and write-back.

use crate::machine::error::Cause;
use rustix::fs::{Mode, OFlags};
use rustix::mm::{MapFlags, ProtFlags};
use std::fs::{self, File};
use std::path::Path;

/// sync(2), and syncfs(2) of the filesystem mounted on `folder`, which also reports errors.
pub fn write_back(folder: Option<&Path>) -> Result<(), Cause> {
    rustix::fs::sync();
    let Some(folder) = folder else { return Ok(()) };
    let doing = format!("sync {}", folder.display());
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::empty())
        .and_then(rustix::fs::syncfs)
        .map_err(Cause::errno(doing))
}

/// Dirty and writeback bytes of the whole machine.
pub fn dirty_bytes() -> Result<u64, Cause> {
    let table = fs::read_to_string("/proc/meminfo").map_err(Cause::system("read /proc/meminfo"))?;
    dirty_in(&table).ok_or_else(|| Cause::State("/proc/meminfo has no valid Dirty and Writeback lines".to_owned()))
}

fn dirty_in(table: &str) -> Option<u64> {
    let kibibytes = |name: &str| {
        let line = table.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_start_matches(':')
            .trim()
            .strip_suffix(" kB")?
            .parse::<u64>()
            .ok()
    };
    Some((kibibytes("Dirty")? + kibibytes("Writeback")?) * 1024)
}

/// How much of a file is in the page cache.
pub fn cached_bytes(path: &Path) -> Result<u64, Cause> {
    let doing = || format!("query the page cache of {}", path.display());
    let file = File::open(path).map_err(Cause::system(doing()))?;
    let length = file.metadata().map_err(Cause::system(doing()))?.len();
    let length = usize::try_from(length).map_err(|_| Cause::State(format!("{} is too large", path.display())))?;
    if length == 0 {
        return Ok(0);
    }
    resident_pages(&file, length)
        .map(|pages| pages * page_bytes() as u64)
        .map_err(Cause::errno(doing()))
}

fn page_bytes() -> usize {
    rustix::param::page_size()
}

fn resident_pages(file: &File, length: usize) -> rustix::io::Result<u64> {
    let null = std::ptr::null_mut();
    // SAFETY: a new mapping at an address that the kernel chooses; no page of it is ever read or written.
    let address = unsafe { rustix::mm::mmap(null, length, ProtFlags::READ, MapFlags::SHARED, file, 0)? };
    let mut pages = vec![0_u8; length.div_ceil(page_bytes())];
    // SAFETY: the range is the mapping just made, and `pages` has a byte for each of its pages.
    let status = unsafe { libc::mincore(address, length, pages.as_mut_ptr()) };
    let error = std::io::Error::last_os_error();
    // SAFETY: the same mapping, to which there are no references left.
    unsafe { rustix::mm::munmap(address, length)? };
    if status != 0 {
        let errno = rustix::io::Errno::from_io_error(&error);
        return Err(errno.unwrap_or(rustix::io::Errno::IO));
    }
    Ok(pages.iter().filter(|&&page| page & 1 != 0).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_what_waits_and_what_is_being_written() {
        let table =
            "MemFree:  9 kB\nDirty:               132 kB\nWriteback:             4 kB\nWritebackTmp:  7 kB\n";
        assert_eq!(dirty_in(table), Some(136 * 1024));
        assert_eq!(dirty_in("Dirty: 1 kB\n"), None);
        dirty_bytes().expect("this machine says it");
    }

    #[test]
    fn what_was_just_written_is_cached() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert_eq!(cached_bytes(file.path()).expect("empty"), 0);
        fs::write(file.path(), vec![1; 5 * page_bytes() + 1]).expect("written");
        assert_eq!(cached_bytes(file.path()).expect("looked at"), 6 * page_bytes() as u64);
    }
}
