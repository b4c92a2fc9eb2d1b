//! Where a piece of a member's data appears: in the array, and on other members as copies.
//!
//! Sources: `raid5_compute_sector` (left-symmetric) and `__raid10_find_phys` (near copies) in drivers/md.

use crate::array::md::Array;
use crate::machine::error::Cause;
use crate::machine::sysfs;

/// md's number of the layout left-symmetric, the default of RAID 5 and 6.
const LEFT_SYMMETRIC: u64 = 2;
/// RAID 10 with two near copies, the default.
const NEAR_2: u64 = 0x102;

/// How an array distributes data over its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Every member has all data.
    Mirror { members: u64 },
    /// Left-symmetric, with this many parity blocks in each stripe.
    Parity {
        members: u64,
        chunk_bytes: u64,
        parity: u64,
    },
    /// Pairs of members with the same data, striped.
    Pairs { members: u64, chunk_bytes: u64 },
}

/// A piece of a member.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Its offset in the array, in bytes; `None` for parity.
    pub(super) in_array: Option<u64>,
    /// Indices of the other members with a copy of it, at the same offset.
    pub(super) copies: Vec<u64>,
    /// Bytes from there to the end of the chunk.
    pub(super) bytes: u64,
}

impl Layout {
    pub(super) fn of(array: &Array) -> Result<Self, Cause> {
        let read = |name: &str| sysfs::read(&array.attribute(name));
        let number = |name: &str| sysfs::number(&array.attribute(name), &read(name)?);
        let level = read("level")?;
        let members = number("raid_disks")?;
        if level == "raid1" {
            return Ok(Self::Mirror { members });
        }
        let chunk_bytes = number("chunk_size")?;
        let layout = number("layout")?;
        match (level.as_str(), layout) {
            ("raid5", LEFT_SYMMETRIC) => Ok(Self::Parity {
                members,
                chunk_bytes,
                parity: 1,
            }),
            ("raid6", LEFT_SYMMETRIC) => Ok(Self::Parity {
                members,
                chunk_bytes,
                parity: 2,
            }),
            ("raid10", NEAR_2) if members.is_multiple_of(2) => Ok(Self::Pairs { members, chunk_bytes }),
            _ => Err(Cause::Impossible(format!(
                "`corrupt` cannot locate data on {level} with layout {layout}; use RAID 1, 5, 6 or 10 with mdadm's \
                    default layout, RAID 10 with an even number of disks"
            ))),
        }
    }

    /// The piece at this offset from the start of a member's data.
    pub(super) fn at(self, member: u64, offset: u64) -> Piece {
        match self {
            Self::Mirror { members } => Piece {
                in_array: Some(offset),
                copies: (0..members).filter(|other| *other != member).collect(),
                bytes: u64::MAX,
            },
            Self::Pairs { members, chunk_bytes } => {
                let (row, within) = (offset / chunk_bytes, offset % chunk_bytes);
                let chunk = row * (members / 2) + member / 2;
                Piece {
                    in_array: Some(chunk * chunk_bytes + within),
                    copies: vec![member ^ 1],
                    bytes: chunk_bytes - within,
                }
            }
            Self::Parity {
                members,
                chunk_bytes,
                parity,
            } => {
                let (row, within) = (offset / chunk_bytes, offset % chunk_bytes);
                let first_parity = members - 1 - row % members;
                // The parity blocks are consecutive, followed by the data, all modulo the number of members.
                let after = (member + members - first_parity) % members;
                let data = after.checked_sub(parity);
                let chunk = data.map(|data| row * (members - parity) + data);
                Piece {
                    in_array: chunk.map(|chunk| chunk * chunk_bytes + within),
                    copies: Vec::new(),
                    bytes: chunk_bytes - within,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of md(4) for left-symmetric on four disks: parity moves from the last disk to the first.
    #[test]
    fn raid_5_is_left_symmetric() {
        let layout = Layout::Parity {
            members: 4,
            chunk_bytes: 8192,
            parity: 1,
        };
        let chunk = |member: u64, row: u64| layout.at(member, row * 8192).in_array.map(|byte| byte / 8192);
        let row = |row: u64| [0, 1, 2, 3].map(|member| chunk(member, row));
        assert_eq!(row(0), [Some(0), Some(1), Some(2), None]);
        assert_eq!(row(1), [Some(4), Some(5), None, Some(3)]);
        assert_eq!(row(2), [Some(8), None, Some(6), Some(7)]);
        assert_eq!(row(4), [Some(12), Some(13), Some(14), None]);
        assert_eq!(layout.at(1, 512).in_array, Some(8192 + 512));
        assert_eq!(layout.at(1, 512).bytes, 8192 - 512);
    }

    #[test]
    fn raid_6_has_two_parity_blocks() {
        let layout = Layout::Parity {
            members: 4,
            chunk_bytes: 1,
            parity: 2,
        };
        let row = |row: u64| [0, 1, 2, 3].map(|member| layout.at(member, row).in_array);
        assert_eq!(row(0), [None, Some(0), Some(1), None]);
        assert_eq!(row(1), [Some(2), Some(3), None, None]);
        assert_eq!(row(2), [Some(5), None, None, Some(4)]);
    }

    #[test]
    fn copies_are_on_the_other_members() {
        let mirror = Layout::Mirror { members: 3 }.at(1, 5000);
        assert_eq!((mirror.in_array, mirror.copies), (Some(5000), vec![0, 2]));
        let layout = Layout::Pairs {
            members: 4,
            chunk_bytes: 4096,
        };
        let seen = layout.at(3, 4096 * 5 + 7);
        assert_eq!((seen.in_array, seen.copies), (Some(4096 * 11 + 7), vec![2]));
    }
}
