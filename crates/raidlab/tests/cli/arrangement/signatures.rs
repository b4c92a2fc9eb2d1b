//! The on-disk signatures of filesystems, arrays and partition tables, as far as they are needed for recognition.

use super::system::run;
use std::fs::{self, File};
use std::path::Path;

const MIB: u64 = 1 << 20;

/// A small ext4, made once.
pub fn ext4() -> Vec<u8> {
    let image = Path::new("/tmp/ext4");
    if !image.exists() {
        let file = File::create(image).expect("room");
        file.set_len(2 * MIB).expect("room");
        assert!(run(
            "mke2fs",
            &[
                "-q",
                "-F",
                "-t",
                "ext4",
                "-b",
                "1024",
                "-O",
                "^has_journal",
                "/tmp/ext4"
            ]
        ));
    }
    fs::read(image).expect("it was made")
}

/// md's superblock for a metadata version, and its offset on a device of this size.
pub fn md(version: &str, device_bytes: u64) -> (Vec<u8>, u64) {
    let magic = 0xa92b_4efc_u32.to_le_bytes();
    let mut block = vec![0; 4096];
    block[..4].copy_from_slice(&magic);
    if version == "0.90" {
        block[8..12].copy_from_slice(&90_u32.to_le_bytes());
        return (block, device_bytes / (64 << 10) * (64 << 10) - (64 << 10));
    }
    let at = match version {
        "1.0" => (device_bytes - 16 * 512) / 4096 * 4096,
        "1.1" => 0,
        _ => 4096,
    };
    block[4] = 1;
    block[16..32].copy_from_slice(&[7; 16]);
    block[144..152].copy_from_slice(&(at / 512).to_le_bytes());
    let word = |word: &[u8]| u64::from(u32::from_le_bytes(word.try_into().expect("four")));
    let sum: u64 = block[..256].chunks(4).map(word).sum();
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    block[216..220].copy_from_slice(&(sum as u32).to_le_bytes());
    (block[..256].to_vec(), at)
}

/// A DOS table of two partitions, of 3 MiB each.
pub fn table() -> [u8; 512] {
    let mut sector = [0; 512];
    for (index, start) in [(0, 2048_u32), (1, 8192)] {
        let entry = &mut sector[446 + 16 * index..462 + 16 * index];
        entry[4] = 0x83;
        entry[8..12].copy_from_slice(&start.to_le_bytes());
        entry[12..16].copy_from_slice(&6144_u32.to_le_bytes());
    }
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    sector
}

/// The first page of a swap device.
pub fn swap() -> Vec<u8> {
    let mut page = vec![0; 4096];
    page[1024..1028].copy_from_slice(&1_u32.to_le_bytes());
    page[1028..1032].copy_from_slice(&200_u32.to_le_bytes());
    page[4086..].copy_from_slice(b"SWAPSPACE2");
    page
}
