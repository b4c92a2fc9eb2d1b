//! Contents of disks in a file, from which later runs of raidlab read them.
//!
//! The file is a sequence of pieces: the data of all blocks, memory and beyond it alike, then the map of places. A piece is three
//! little-endian 64-bit numbers (0 for blocks or 1 for places, offset, bytes) and its data.

use super::contents::DiskContents;
use super::{StartError, starting};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Data of a piece.
pub(super) const PIECE_BYTES: usize = 1 << 20;

const HEADER_BYTES: usize = 24;

/// Which data a piece is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Blocks,
    Places,
}

/// Called with the offset and the data of a piece.
pub(super) type SeePiece<'a> = dyn FnMut(Part, u64, &[u8]) -> io::Result<()> + 'a;

impl DiskContents {
    /// Writes them into an empty file; returns its SHA-256.
    ///
    /// # Errors
    /// If the file cannot be written, or no guest has left contents.
    pub fn write_to(&self, file: &mut File) -> io::Result<String> {
        let mut hash = Sha256::new();
        self.pieces(&mut |part, offset, data| {
            let numbers = [part as u64, offset, data.len() as u64];
            let header: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
            for bytes in [header.as_slice(), data] {
                hash.update(bytes);
                file.write_all(bytes)?;
            }
            Ok(())
        })?;
        Ok(hex::encode(hash.finalize()))
    }

    /// Contents from a file that [`DiskContents::write_to`] wrote; `None` if it is not that file. Data beyond
    /// `memory_budget_bytes` goes to an unnamed file in `folder`.
    ///
    /// # Errors
    /// If files for them cannot be created.
    pub fn read_from(
        file: &mut File,
        sha256: &str,
        memory_budget_bytes: u64,
        folder: &Path,
    ) -> Result<Option<Self>, StartError> {
        let contents = Self::new(memory_budget_bytes, folder)?;
        let mut hash = Sha256::new();
        let read = contents.read_pieces(file, &mut hash);
        read.map_err(starting("cannot read the contents of disks"))?;
        let is_whole = hex::encode(hash.finalize()) == sha256;
        Ok(is_whole.then(|| contents.left_by_a_guest()))
    }

    /// Contents as a guest leaves them, with this data at the start of the blocks.
    #[cfg(test)]
    pub(crate) fn of_test(memory_budget_bytes: u64, folder: &Path, data: &[u8]) -> Self {
        let contents = Self::new(memory_budget_bytes, folder).expect("files");
        contents.write_piece(Part::Blocks, 0, data).expect("written");
        contents.write_piece(Part::Places, 0, &[1]).expect("written");
        contents.left_by_a_guest()
    }

    fn read_pieces(&self, file: &mut File, hash: &mut Sha256) -> io::Result<()> {
        let mut header = [0; HEADER_BYTES];
        let mut data = vec![0; PIECE_BYTES];
        loop {
            match file.read_exact(&mut header) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                read => read?,
            }
            hash.update(header);
            let number = |place: usize| u64::from_le_bytes(std::array::from_fn(|byte| header[place * 8 + byte]));
            let part = match number(0) {
                0 => Part::Blocks,
                1 => Part::Places,
                // Its hash is that of no file.
                _ => return Ok(()),
            };
            let Some(data) = usize::try_from(number(2)).ok().and_then(|bytes| data.get_mut(..bytes)) else {
                return Ok(());
            };
            match file.read_exact(data) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                read => read?,
            }
            hash.update(&*data);
            self.write_piece(part, number(1), data)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom};

    const BUDGET: u64 = disksim::contents::SEGMENT_BYTES as u64;

    /// Data in memory, across its end and beyond it, and a map of places.
    fn contents(folder: &Path) -> DiskContents {
        let contents = DiskContents::new(BUDGET, folder).expect("files");
        for (offset, byte) in [(0, 1), (BUDGET - 4096, 2), (BUDGET, 3), (3 * BUDGET + 8192, 4)] {
            contents
                .write_piece(Part::Blocks, offset, &[byte; 4096])
                .expect("written");
        }
        contents.write_piece(Part::Places, 4, &[7; 100]).expect("written");
        contents
    }

    fn pieces(contents: &DiskContents) -> Vec<(Part, u64, Vec<u8>)> {
        let mut all: Vec<(Part, u64, Vec<u8>)> = Vec::new();
        let mut add = |part, offset, data: &[u8]| {
            // Where pieces end depends on the files; what is between them does not.
            for (at, page) in (offset..).step_by(4096).zip(data.chunks(4096)) {
                if page.iter().any(|byte| *byte != 0) {
                    all.push((part, at, page.to_vec()));
                }
            }
            Ok(())
        };
        contents.pieces(&mut add).expect("read");
        all
    }

    #[test]
    fn contents_are_read_as_they_were_whatever_the_budget_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let before = contents(folder.path());
        let mut file = tempfile::tempfile().expect("a file");
        let sha256 = before.write_to(&mut file).expect("written");
        for segments in [1, 2, 5] {
            file.seek(SeekFrom::Start(0)).expect("a file");
            let after =
                DiskContents::read_from(&mut file, &sha256, segments * BUDGET, folder.path()).expect("read");
            let after = after.expect("it is that file");
            assert_eq!(pieces(&after), pieces(&before));
            after
                .copy(&super::super::SpareMemory::default(), folder.path())
                .expect("a guest has left them");
        }
    }

    #[test]
    fn a_file_that_was_changed_is_no_contents() {
        let folder = tempfile::tempdir().expect("a folder");
        let before = contents(folder.path());
        let mut file = tempfile::tempfile().expect("a file");
        let sha256 = before.write_to(&mut file).expect("written");
        let bytes = file.metadata().expect("a file").len();
        for (at, change) in [(0, 9), (17, 0xff), (30, 1), (bytes - 1, 1)] {
            use std::os::unix::fs::FileExt;
            let mut old = [0];
            file.read_exact_at(&mut old, at).expect("read");
            file.write_all_at(&[old[0] ^ change], at).expect("written");
            file.seek(SeekFrom::Start(0)).expect("a file");
            let read = DiskContents::read_from(&mut file, &sha256, BUDGET, folder.path());
            assert!(read.is_ok_and(|read| read.is_none()), "byte {at}");
            file.write_all_at(&old, at).expect("written");
        }
        file.set_len(bytes - 1).expect("ours");
        file.seek(SeekFrom::Start(0)).expect("a file");
        let cut = DiskContents::read_from(&mut file, &sha256, BUDGET, folder.path());
        assert!(cut.is_ok_and(|read| read.is_none()));
    }
}
