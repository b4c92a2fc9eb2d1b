//! Direct I/O: reads and writes a device without the page cache, which neither md nor filesystems with their own copies
//! use.

use crate::machine::error::Cause;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

pub(super) const SECTOR_BYTES: usize = 512;
/// Direct I/O needs this alignment in memory.
const ALIGNMENT: usize = 4096;

pub(super) fn read(path: &Path, at: u64, bytes: usize) -> Result<Vec<u8>, Cause> {
    let file = open(path, OpenOptions::new().read(true))?;
    let doing = format!("read {bytes} bytes of {}", path.display());
    read_of(&file, at, bytes).map_err(Cause::system(doing))
}

/// The same for an open file.
pub(super) fn read_of(file: &File, at: u64, bytes: usize) -> io::Result<Vec<u8>> {
    let mut memory = vec![0; bytes + ALIGNMENT];
    let skip = memory.as_ptr().align_offset(ALIGNMENT);
    let piece = &mut memory[skip..skip + bytes];
    file.read_exact_at(piece, at)?;
    Ok(piece.to_vec())
}

pub(super) fn write(path: &Path, at: u64, data: &[u8]) -> Result<(), Cause> {
    let file = open(path, OpenOptions::new().write(true))?;
    let mut memory = vec![0; data.len() + ALIGNMENT];
    let skip = memory.as_ptr().align_offset(ALIGNMENT);
    let piece = &mut memory[skip..skip + data.len()];
    piece.copy_from_slice(data);
    let doing = format!("change {} bytes of {}", data.len(), path.display());
    file.write_all_at(piece, at).map_err(Cause::system(doing))
}

/// Bytes of a device, in one or several pieces.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) device: PathBuf,
    /// Offsets and lengths.
    pub(super) pieces: Vec<(u64, usize)>,
}

impl Spot {
    pub(super) fn one(device: &Path, at: u64, bytes: usize) -> Self {
        Self {
            device: device.to_owned(),
            pieces: vec![(at, bytes)],
        }
    }

    pub(super) fn read(&self) -> Result<Vec<u8>, Cause> {
        let pieces = self.pieces.iter().map(|(at, bytes)| read(&self.device, *at, *bytes));
        Ok(pieces.collect::<Result<Vec<_>, _>>()?.concat())
    }

    pub(super) fn write(&self, data: &[u8]) -> Result<(), Cause> {
        let mut rest = data;
        for (at, bytes) in &self.pieces {
            let (piece, after) = rest.split_at(*bytes);
            write(&self.device, *at, piece)?;
            rest = after;
        }
        Ok(())
    }
}

pub(super) fn open(path: &Path, how: &mut OpenOptions) -> Result<File, Cause> {
    let doing = format!("open {}", path.display());
    how.custom_flags(libc::O_DIRECT)
        .open(path)
        .map_err(Cause::system(doing))
}

/// For each sector, whether it differs.
pub(super) fn differ(read: &[u8], good: &[u8]) -> Vec<bool> {
    let sectors = read.chunks(SECTOR_BYTES).zip(good.chunks(SECTOR_BYTES));
    sectors.map(|(read, good)| read != good).collect()
}
