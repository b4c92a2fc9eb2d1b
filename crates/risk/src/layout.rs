//! Which disks are in one group, and how many of a group may be missing.

/// A level by what it tolerates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// All disks are copies of each other.
    Mirror,
    /// One group, or several as RAID 50 and 60, with this number of redundant disks in each.
    Parity(u32),
    /// The same of ZFS, whose groups may have a single disk of data.
    Raidz(u32),
    /// Groups of copies: RAID 10.
    Mirrors,
}

/// Equal groups: the array is lost when one of them is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedundantLayout {
    groups: u32,
    disks: u32,
    parity: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedundantLayoutError {
    #[error("this level needs {} disks or more{}, not {disks}", needed * groups, in_groups(*groups))]
    Few { disks: u32, groups: u32, needed: u32 },
    #[error("{disks} disks cannot be divided into {groups} equal groups: write a multiple of {groups}")]
    Unequal { disks: u32, groups: u32 },
    #[error("{disks} disks cannot be divided into groups of {copies} copies: write a multiple of {copies}")]
    Copies { disks: u32, copies: u32 },
    #[error("{disks} disks are too many: at most {disks_max} in a group and {groups_max} groups")]
    Many {
        disks: u32,
        disks_max: u32,
        groups_max: u32,
    },
}

/// The most disks of a group: the time of a history grows with the square.
const DISKS_MAX: u32 = 128;
const GROUPS_MAX: u32 = 10_000;

fn in_groups(groups: u32) -> String {
    match groups {
        1 => String::new(),
        groups => format!(" for {groups} groups"),
    }
}

impl RedundantLayout {
    /// `copies` is for [`Scheme::Mirrors`], `groups` for [`Scheme::Parity`].
    pub fn new(scheme: Scheme, disks: u32, groups: u32, copies: u32) -> Result<Self, RedundantLayoutError> {
        let (groups, parity, needed) = match scheme {
            Scheme::Mirror => (1, disks.saturating_sub(1), 2),
            // Md makes RAID 5 of two disks, RAID 6 of four.
            Scheme::Parity(parity) => (groups.max(1), parity, 2 * parity),
            Scheme::Raidz(parity) => (groups.max(1), parity, parity + 1),
            Scheme::Mirrors if copies < 2 || disks < copies => {
                let needed = copies.max(2);
                return Err(RedundantLayoutError::Few {
                    disks,
                    groups: 1,
                    needed,
                });
            }
            Scheme::Mirrors if !disks.is_multiple_of(copies) => {
                return Err(RedundantLayoutError::Copies { disks, copies });
            }
            Scheme::Mirrors => (disks / copies, copies - 1, copies),
        };
        if !disks.is_multiple_of(groups) {
            return Err(RedundantLayoutError::Unequal { disks, groups });
        }
        let in_group = disks / groups;
        if in_group < needed {
            return Err(RedundantLayoutError::Few { disks, groups, needed });
        }
        if in_group > DISKS_MAX || groups > GROUPS_MAX {
            return Err(RedundantLayoutError::Many {
                disks,
                disks_max: DISKS_MAX,
                groups_max: GROUPS_MAX,
            });
        }
        Ok(Self {
            groups,
            disks: in_group,
            parity,
        })
    }

    pub const fn groups(self) -> u32 {
        self.groups
    }

    /// Disks of a group.
    pub const fn disks_of_group(self) -> u32 {
        self.disks
    }

    /// Disks of a group that may be missing at the same time.
    pub const fn parity(self) -> u32 {
        self.parity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_what_may_be_missing() {
        let of = |scheme, disks, groups| {
            RedundantLayout::new(scheme, disks, groups, 2).map(|l| (l.groups(), l.disks_of_group(), l.parity()))
        };
        assert_eq!(of(Scheme::Mirror, 3, 1), Ok((1, 3, 2)));
        assert_eq!(of(Scheme::Mirrors, 8, 1), Ok((4, 2, 1)));
        assert_eq!(of(Scheme::Parity(2), 24, 2), Ok((2, 12, 2)));
        assert_eq!(
            of(Scheme::Mirrors, 7, 1),
            Err(RedundantLayoutError::Copies { disks: 7, copies: 2 })
        );
        assert_eq!(
            of(Scheme::Parity(1), 9, 2),
            Err(RedundantLayoutError::Unequal { disks: 9, groups: 2 })
        );
        let few = |disks, groups, needed| Err(RedundantLayoutError::Few { disks, groups, needed });
        assert_eq!(of(Scheme::Parity(1), 1, 1), few(1, 1, 2));
        assert_eq!(of(Scheme::Parity(2), 3, 1), few(3, 1, 4));
        assert_eq!(of(Scheme::Raidz(2), 3, 1), Ok((1, 3, 2)));
        assert_eq!(of(Scheme::Mirror, 1, 1), few(1, 1, 2));
        assert_eq!(of(Scheme::Mirrors, 0, 1), few(0, 1, 2));
        assert!(of(Scheme::Parity(2), 5000, 1).is_err());
    }
}
