//! Sectors of the disks' write caches that a power cut loses.

use std::fmt;
use std::str::FromStr;

/// The most sectors of one range.
const LOST_MAX: u64 = 1 << 20;

/// The word for no sectors.
const NOTHING: &str = "nothing";

/// Sectors of a disk, counted from 1; none for `nothing`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSectors {
    pub disk: usize,
    pub sector: u64,
    pub count: u64,
}

impl fmt::Display for LostSectors {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            0 => to.write_str(NOTHING),
            count => write!(to, "{}:{}+{count}", self.disk, self.sector),
        }
    }
}

impl LostSectors {
    pub const NOTHING: Self = Self {
        disk: 1,
        sector: 0,
        count: 0,
    };
}

impl FromStr for LostSectors {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == NOTHING {
            return Ok(LostSectors::NOTHING);
        }
        let parsed = || {
            let (disk, sectors) = text.split_once(':')?;
            let (sector, count) = sectors.split_once('+')?;
            Some(LostSectors {
                disk: disk.parse().ok().filter(|disk| *disk > 0)?,
                sector: sector.parse().ok()?,
                count: count.parse().ok().filter(|count| (1..=LOST_MAX).contains(count))?,
            })
        };
        parsed().ok_or_else(|| {
            "expected DISK:SECTOR+COUNT, such as 2:493956+2 for two sectors of the second disk".to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_sectors_are_read_as_they_are_printed() {
        for text in ["2:493956+2", "nothing"] {
            assert_eq!(LostSectors::from_str(text).expect("good").to_string(), text);
        }
        for bad in ["0:1+1", "2:493956", "2:1+0", "x:1+1", "1:2:3"] {
            assert!(LostSectors::from_str(bad).is_err(), "{bad}");
        }
    }
}
