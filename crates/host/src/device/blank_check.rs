//! Whether a device is blank: any non-zero byte counts. Both ends and samples between them are read; a small device is
//! read in full.
//!
//! Each sector that is read is also searched for signatures of members of arrays, pools and volume groups: libblkid
//! looks only at the usual offsets, and that copy may be gone.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// `BLKFLSBUF` of <linux/fs.h>: writes out and drops the cache of a device.
const BLKFLSBUF: libc::Ioctl = 0x1261;

/// Devices up to this size are read in full.
const WHOLE_BYTES_MAX: u64 = 64 << 20;
/// Bytes read at each end of a larger one.
const END_BYTES: u64 = 8 << 20;
/// Number of samples between the ends, at equal distances.
const SAMPLES: u64 = 1024;
/// Every n-th sample is part of the fingerprint and is read again before each act.
const QUICK_EVERY: u64 = 16;
const SAMPLE_BYTES: u64 = 64 << 10;
const CHUNK_BYTES: u64 = 1 << 20;
const SECTOR_BYTES: usize = 512;

/// Copies of btrfs's superblock (`btrfs_sb_offset`).
const BTRFS_SUPERBLOCKS: [u64; 3] = [64 << 10, 64 << 20, 256 << 30];
const BTRFS_BYTES: usize = 4096;

/// A digest of the ends and of some of the samples.
pub(crate) type Fingerprint = String;

/// How much is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Both ends and all samples.
    Full,
    /// Only what the fingerprint covers.
    Quick,
}

/// Observations on a device.
#[derive(Debug)]
pub(crate) struct Survey {
    /// Offset of the first byte read that is not zero.
    pub(crate) first_nonzero: Option<u64>,
    pub(crate) fingerprint: Fingerprint,
    /// Member types by the signatures in sectors, with their offsets.
    pub(crate) members: Vec<(&'static str, u64)>,
}

/// The signature of a member: these bytes at this offset of a sector.
struct Magic {
    of: &'static str,
    at: usize,
    bytes: &'static [u8],
    /// Additional bytes at a second offset.
    and: Option<(usize, &'static [u8])>,
    /// Its sectors are at multiples of this.
    only_at: u64,
    /// Minimum number of copies that make a member: with fewer, the device was wiped.
    count: u32,
}

const fn magic(of: &'static str, at: usize, bytes: &'static [u8]) -> Magic {
    Magic {
        of,
        at,
        bytes,
        and: None,
        only_at: SECTOR_BYTES as u64,
        count: 1,
    }
}

/// The number of uberblocks from which libblkid recognises a pool.
const UBERBLOCKS: u32 = 4;

const MAGICS: &[Magic] = &[
    // md: metadata 0.90, in either byte order, and 1.0, 1.1, 1.2; the version follows.
    Magic {
        and: Some((4, &[0, 0, 0, 0, 90, 0, 0, 0])),
        ..magic("an md array", 0, &[0xfc, 0x4e, 0x2b, 0xa9])
    },
    Magic {
        and: Some((4, &[0, 0, 0, 0, 0, 0, 0, 90])),
        ..magic("an md array", 0, &[0xa9, 0x2b, 0x4e, 0xfc])
    },
    Magic {
        and: Some((4, &[1, 0, 0, 0])),
        ..magic("an md array", 0, &[0xfc, 0x4e, 0x2b, 0xa9])
    },
    Magic {
        and: Some((24, b"LVM2 ")),
        ..magic("an LVM volume group", 0, b"LABELONE")
    },
    // Uberblocks, in either byte order.
    Magic {
        count: UBERBLOCKS,
        only_at: 1024,
        ..magic("a ZFS pool", 0, &[0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0])
    },
    Magic {
        count: UBERBLOCKS,
        only_at: 1024,
        ..magic("a ZFS pool", 0, &[0, 0, 0, 0, 0, 0xba, 0xb1, 0x0c])
    },
    magic(
        "a bcache",
        24,
        &[
            0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81,
        ],
    ),
    magic("a Stratis pool", 4, b"!Stra0tis\x86\xff\x02^\x41rh"),
    magic("a Ceph cluster", 0, b"bluestore block device"),
    magic("an Oracle ASM disk group", 32, b"ORCLDISK"),
    magic("an Intel Matrix RAID", 0, b"Intel Raid ISM Cfg Sig. "),
    magic("a VDO volume", 0, b"dmvdo001"),
    Magic {
        only_at: 1 << 20,
        ..magic("a VMFS", 0, &[0x0d, 0xd0, 0x01, 0xc0])
    },
];

/// Drops the cache of a device, so that the next read comes from the disk.
pub(crate) fn forget_cached(device: &File) -> io::Result<()> {
    // SAFETY: takes no argument and writes no memory of this process.
    match unsafe { libc::ioctl(device.as_raw_fd(), BLKFLSBUF, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Reads the parts of a device.
pub(crate) fn survey(device: &File, size_bytes: u64, depth: Depth) -> io::Result<Survey> {
    let mut reader = Reader {
        digest: Sha256::new(),
        survey: Survey {
            first_nonzero: None,
            fingerprint: String::new(),
            members: Vec::new(),
        },
        counts: [0; MAGICS.len()],
        buffer: vec![0; CHUNK_BYTES as usize],
    };
    reader.digest.update(size_bytes.to_le_bytes());
    for place in places(size_bytes)
        .iter()
        .filter(|place| place.is_quick || depth == Depth::Full)
    {
        let mut at = place.start;
        while at < place.start + place.bytes {
            let count = CHUNK_BYTES.min(place.start + place.bytes - at);
            reader.read(device, at, count, place.is_quick)?;
            at += count;
        }
    }
    for at in BTRFS_SUPERBLOCKS
        .into_iter()
        .filter(|at| at + BTRFS_BYTES as u64 <= size_bytes)
    {
        reader.btrfs(device, at)?;
    }
    reader.survey.fingerprint = hex::encode(reader.digest.finalize());
    Ok(reader.survey)
}

/// A part of a device to read.
#[derive(Debug)]
struct Place {
    start: u64,
    bytes: u64,
    is_quick: bool,
}

/// The parts to read of a device of this size, in order.
fn places(size_bytes: u64) -> Vec<Place> {
    let end = |start, bytes| Place {
        start,
        bytes,
        is_quick: true,
    };
    if size_bytes <= WHOLE_BYTES_MAX {
        return vec![end(0, size_bytes)];
    }
    let mut places = vec![end(0, END_BYTES)];
    let middle = size_bytes - 2 * END_BYTES;
    let step = (middle / SAMPLES).max(SAMPLE_BYTES);
    for index in 0..SAMPLES {
        // In the middle of each part, aligned to 4096 bytes.
        let start = (END_BYTES + index * step + (step - SAMPLE_BYTES) / 2) / 4096 * 4096;
        if start + SAMPLE_BYTES > size_bytes - END_BYTES {
            break;
        }
        places.push(Place {
            start,
            bytes: SAMPLE_BYTES,
            is_quick: index % QUICK_EVERY == 0,
        });
    }
    places.push(end(size_bytes - END_BYTES, END_BYTES));
    places
}

struct Reader {
    digest: Sha256,
    survey: Survey,
    /// Number of times that each signature was seen.
    counts: [u32; MAGICS.len()],
    buffer: Vec<u8>,
}

impl Reader {
    fn read(&mut self, device: &File, at: u64, count: u64, in_digest: bool) -> io::Result<()> {
        let buffer = &mut self.buffer[..count as usize];
        device.read_exact_at(buffer, at)?;
        let first = first_nonzero(buffer);
        if in_digest {
            // For zeros the count is enough: hashing is the slow part.
            self.digest.update(count.to_le_bytes());
            if first.is_some() {
                self.digest.update(&*buffer);
            }
        }
        let Some(first) = first else { return Ok(()) };
        self.survey.first_nonzero.get_or_insert(at + first as u64);
        for (index, sector) in buffer.chunks_exact(SECTOR_BYTES).enumerate() {
            let place = at + (index * SECTOR_BYTES) as u64;
            for (magic, seen) in MAGICS.iter().zip(&mut self.counts) {
                if magic.is_in(sector, place) {
                    *seen += 1;
                    if *seen == magic.count {
                        self.survey.add_member(magic.of, place);
                    }
                }
            }
        }
        Ok(())
    }

    /// A copy of btrfs's superblock that refers to other devices.
    fn btrfs(&mut self, device: &File, at: u64) -> io::Result<()> {
        const MAGIC: (usize, &[u8]) = (0x40, b"_BHRfS_M");
        const NUM_DEVICES: usize = 0x88;
        let block = &mut self.buffer[..BTRFS_BYTES];
        device.read_exact_at(block, at)?;
        self.digest.update(&*block);
        if first_nonzero(block).is_some() {
            self.survey.first_nonzero.get_or_insert(at);
        }
        let devices = block[NUM_DEVICES..NUM_DEVICES + 8]
            .iter()
            .rev()
            .fold(0_u64, |sum, &byte| sum << 8 | u64::from(byte));
        if block[MAGIC.0..].starts_with(MAGIC.1) && devices != 1 {
            self.survey.add_member("a btrfs of several devices", at);
        }
        Ok(())
    }
}

impl Survey {
    fn add_member(&mut self, of: &'static str, at: u64) {
        if !self.members.iter().any(|(other, _)| *other == of) {
            self.members.push((of, at));
        }
    }
}

impl Magic {
    fn is_in(&self, sector: &[u8], place: u64) -> bool {
        sector[self.at..].starts_with(self.bytes)
            && self.and.is_none_or(|(at, bytes)| sector[at..].starts_with(bytes))
            && place.is_multiple_of(self.only_at)
    }
}

fn first_nonzero(buffer: &[u8]) -> Option<usize> {
    const WORD: usize = 64;
    let (words, rest) = buffer.as_chunks::<WORD>();
    let word = words.iter().position(|word| *word != [0; WORD]);
    let from = word.map_or(words.len() * WORD, |index| index * WORD);
    let rest = if word.is_some() { &buffer[from..] } else { rest };
    rest.iter().position(|&byte| byte != 0).map(|index| from + index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: u64) -> File {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(bytes).expect("sparse");
        file
    }

    fn of(file: &File) -> Survey {
        survey(file, file.metadata().expect("it is there").len(), Depth::Full).expect("readable")
    }

    #[test]
    fn a_byte_anywhere_is_content() {
        for at in [0, 511, (5 << 20) + 3, (16 << 20) - 1] {
            let file = file(16 << 20);
            let blank = of(&file);
            assert_eq!(blank.first_nonzero, None);
            file.write_all_at(b"x", at).expect("written");
            let survey = of(&file);
            assert_eq!(survey.first_nonzero, Some(at));
            assert_ne!(survey.fingerprint, blank.fingerprint);
        }
    }

    /// Larger than the distance of two samples.
    #[test]
    fn twenty_megabytes_in_the_middle_of_a_large_disk_are_content() {
        let file = file(8 << 30);
        assert_eq!(of(&file).first_nonzero, None);
        let data = vec![0x5a; 20 << 20];
        file.write_all_at(&data, 3 << 30).expect("written");
        assert!(of(&file).first_nonzero.is_some());
    }

    #[test]
    fn places_lie_in_order_on_the_disk() {
        for size in [1 << 20, WHOLE_BYTES_MAX + 4096, 1 << 30, (500 << 30) + 512, 20 << 40] {
            let places = places(size);
            let mut end = 0;
            for place in &places {
                assert!(place.start >= end && place.start % 512 == 0, "{size}: {place:?}");
                end = place.start + place.bytes;
            }
            assert_eq!(end, size);
        }
    }

    /// The two differ only outside the fingerprint.
    #[test]
    fn a_quick_look_has_the_fingerprint_of_a_full_one() {
        let file = file(1 << 30);
        file.write_all_at(&vec![1; 256 << 20], 300 << 20).expect("written");
        let quick = survey(&file, 1 << 30, Depth::Quick).expect("readable");
        assert_eq!(quick.fingerprint, of(&file).fingerprint);
    }

    #[test]
    fn what_was_wiped_of_a_pool_is_no_member() {
        let file = file(16 << 20);
        for (index, is_member) in [false, false, false, true].into_iter().enumerate() {
            let uberblock = 0x00ba_b10c_u64.to_le_bytes();
            file.write_all_at(&uberblock, (128 + index as u64) << 10)
                .expect("written");
            assert_eq!(!of(&file).members.is_empty(), is_member, "{index}");
        }
    }

    #[test]
    fn members_are_seen_at_any_sector() {
        let file = file(16 << 20);
        let mut label = [0; 512];
        label[..8].copy_from_slice(b"LABELONE");
        label[24..32].copy_from_slice(b"LVM2 001");
        file.write_all_at(&label, (3 << 20) + 512).expect("written");
        assert_eq!(of(&file).members, [("an LVM volume group", (3 << 20) + 512)]);
    }

    #[test]
    fn a_second_superblock_of_btrfs_tells_of_other_devices() {
        let file = file(128 << 20);
        file.write_all_at(b"_BHRfS_M", (64 << 20) + 0x40).expect("written");
        file.write_all_at(&[2], (64 << 20) + 0x88).expect("written");
        assert_eq!(of(&file).members, [("a btrfs of several devices", 64 << 20)]);
        file.write_all_at(&[1], (64 << 20) + 0x88).expect("written");
        assert!(of(&file).members.is_empty());
        assert_eq!(of(&file).first_nonzero, Some(64 << 20));
    }
}
