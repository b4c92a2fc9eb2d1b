//! Contents of simulated disks, kept by this process from one guest to the next.

use super::kept_contents::{PIECE_BYTES, Part, SeePiece};
use super::memory_file::{Ends, duplicate, memfd};
use super::spare_memory::{GuestMemory, Purpose, SpareMemory};
use super::{StartError, starting};
use rustix::fs::{Mode, OFlags, SeekFrom, fstat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a segment of contents; the memory budget is counted in them.
const SEGMENT_BYTES: u64 = disksim::contents::SEGMENT_BYTES as u64;

/// Number of the file for contents beyond the budget, in the guest (`kernel/driver/raidlab.h`).
pub(super) const SPILL: i32 = 104;

/// The contents of all disks of a machine: zeros, until a guest is started with them. The next guest with the same
/// disks finds the contents that the previous one left, if that one exited or had its power cut. Only one guest at
/// a time can use them.
///
/// They cost as much memory as the distinct 4 KiB blocks that were written.
#[derive(Debug)]
pub struct DiskContents {
    /// Block data, as many segments as the budget allows.
    memory: GuestMemory,
    /// Block data beyond the budget.
    spill: OwnedFd,
    /// Map of places to blocks, written by a guest at its end.
    places: OwnedFd,
    /// A guest has used them.
    used: AtomicBool,
}

impl DiskContents {
    /// Zeros. Data beyond `memory_budget_bytes` goes to an unnamed file in `folder`. The memory is freed with this value.
    ///
    /// # Errors
    /// If the files cannot be created.
    pub fn new(memory_budget_bytes: u64, folder: &Path) -> Result<Self, StartError> {
        Self::of_spare(&SpareMemory::default(), memory_budget_bytes, folder)
    }

    /// The same in memory of ended guests, of which it becomes part again.
    pub(super) fn of_spare(
        spare: &SpareMemory,
        memory_budget_bytes: u64,
        folder: &Path,
    ) -> Result<Self, StartError> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let spill = rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|error| starting("cannot make a file for the disks' contents")(error.into()))?;
        Ok(Self {
            memory: spare.take(Purpose::Contents, memory_budget_bytes / SEGMENT_BYTES * SEGMENT_BYTES)?,
            spill,
            places: memfd("places")?,
            used: AtomicBool::new(false),
        })
    }

    /// A copy for a guest, whose writes do not change these. Data beyond the memory goes to an unnamed file in `folder`.
    ///
    /// # Errors
    /// If the files cannot be created, copied, or are those of a guest that was killed.
    pub fn copy(&self, spare: &SpareMemory, folder: &Path) -> Result<Self, StartError> {
        const DOING: &str = "cannot copy the disks' contents";
        let copy = Self::of_spare(spare, size(&self.memory).map_err(starting(DOING))?, folder)?;
        let mut write = |part, offset, data: &[u8]| copy.write_piece(part, offset, data);
        self.pieces(&mut write).map_err(starting(DOING))?;
        Ok(copy.left_by_a_guest())
    }

    /// Marks them as those of a guest that has ended.
    pub(super) fn left_by_a_guest(self) -> Self {
        self.used.store(true, Ordering::Relaxed);
        self
    }

    /// All data in order, in pieces: what a sparse file has, not its holes.
    ///
    /// # Errors
    /// If no guest has left any.
    pub(super) fn pieces(&self, see: &mut SeePiece<'_>) -> io::Result<()> {
        if size(&self.places)? == 0 {
            return Err(io::Error::other("no guest has left any"));
        }
        let in_memory = self.memory_bytes()?;
        for (part, file, first) in [
            (Part::Blocks, self.memory.as_fd(), 0),
            (Part::Blocks, self.spill.as_fd(), in_memory),
            (Part::Places, self.places.as_fd(), 0),
        ] {
            each_piece(file, &mut |offset, data| see(part, first + offset, data))?;
        }
        Ok(())
    }

    pub(super) fn write_piece(&self, part: Part, offset: u64, data: &[u8]) -> io::Result<()> {
        if part == Part::Places {
            return File::from(self.places.try_clone()?).write_all_at(data, offset);
        }
        let in_first = (SEGMENT_BYTES - offset % SEGMENT_BYTES).min(data.len() as u64) as usize;
        let (first, second) = data.split_at(in_first);
        self.write_data(offset, first)?;
        match second.is_empty() {
            true => Ok(()),
            false => self.write_data(offset + in_first as u64, second),
        }
    }

    /// Bytes that they take of memory and disk.
    pub fn bytes(&self) -> u64 {
        let files = [self.memory.as_fd(), self.spill.as_fd(), self.places.as_fd()];
        let blocks = files.map(|file| fstat(file).map_or(0, |there| there.st_blocks as u64));
        blocks.iter().sum::<u64>() * 512
    }

    /// A guest's file descriptors, with their numbers in the guest.
    ///
    /// # Errors
    /// If the previous guest was killed: its last writes may be incomplete.
    pub(super) fn ends(&self) -> Result<Ends, StartError> {
        let length =
            fstat(&self.places).map_err(|error| starting("cannot examine the disks' contents")(error.into()))?;
        if self.used.swap(true, Ordering::Relaxed) && length.st_size == 0 {
            let error = io::Error::other("the previous guest was killed");
            return Err(starting("the contents of the disks are unknown")(error));
        }
        let mut ends = self.data_ends()?;
        ends.push((109, duplicate(&self.places)?));
        Ok(ends)
    }

    /// The file descriptors for block data only.
    pub(super) fn data_ends(&self) -> Result<Ends, StartError> {
        Ok(vec![(103, duplicate(&self.memory)?), (SPILL, duplicate(&self.spill)?)])
    }

    /// Reads block data at an offset into all segments.
    pub(super) fn read_data(&self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        let (file, offset) = self.place(offset)?;
        file.read_exact_at(data, offset)
    }

    /// Writes block data at an offset into all segments. A call does not cross segments.
    pub(super) fn write_data(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let (file, offset) = self.place(offset)?;
        file.write_all_at(data, offset)
    }

    /// The memory holds as many segments as its size allows; the others are in the other file.
    fn place(&self, offset: u64) -> io::Result<(File, u64)> {
        let in_memory = self.memory_bytes()?;
        let (file, offset) = match offset.checked_sub(in_memory) {
            Some(beyond) => (self.spill.as_fd(), beyond),
            None => (self.memory.as_fd(), offset),
        };
        Ok((file.try_clone_to_owned()?.into(), offset))
    }

    /// Bytes of the segments in memory.
    fn memory_bytes(&self) -> io::Result<u64> {
        Ok(size(&self.memory)? / SEGMENT_BYTES * SEGMENT_BYTES)
    }
}

fn size(file: impl AsFd) -> io::Result<u64> {
    Ok(fstat(file)?.st_size as u64)
}

/// What a sparse file has, not its holes, with offsets.
fn each_piece(file: BorrowedFd<'_>, see: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<()> {
    let file = File::from(file.try_clone_to_owned()?);
    let mut buffer = vec![0; PIECE_BYTES];
    let mut at = 0;
    loop {
        at = match rustix::fs::seek(&file, SeekFrom::Data(at)) {
            Ok(data) => data,
            // There is no more.
            Err(Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        let end = rustix::fs::seek(&file, SeekFrom::Hole(at))?;
        while at < end {
            let piece = (end - at).min(buffer.len() as u64) as usize;
            file.read_exact_at(&mut buffer[..piece], at)?;
            see(at, &buffer[..piece])?;
            at += piece as u64;
        }
    }
    Ok(())
}
