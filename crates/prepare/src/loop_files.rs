//! Sparse files behind loop devices, for those who name no disks: `8x20G`.

use std::fmt;
use std::str::FromStr;

/// Number and size of the files behind loop devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopFiles {
    pub count: usize,
    pub bytes_each: u64,
}

impl FromStr for LoopFiles {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "write number and size of the files, at least 16M each: `8x20G`".to_owned();
        let (count, size) = text.split_once(['x', 'X']).ok_or_else(wrong)?;
        let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let shift = match &size[digits.len()..] {
            "M" | "MiB" => 20,
            "G" | "GiB" => 30,
            "T" | "TiB" => 40,
            _ => return Err(wrong()),
        };
        let files = LoopFiles {
            count: count.parse().map_err(|_| wrong())?,
            bytes_each: digits
                .parse::<u64>()
                .ok()
                .and_then(|size| size.checked_mul(1 << shift))
                .ok_or_else(wrong)?,
        };
        let is_fit = (1..=256).contains(&files.count) && (16 << 20..=1 << 50).contains(&files.bytes_each);
        is_fit.then_some(files).ok_or_else(wrong)
    }
}

/// `8x20G`
impl fmt::Display for LoopFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (size, unit) = [(40, "T"), (30, "G")]
            .into_iter()
            .find(|(shift, _)| self.bytes_each.is_multiple_of(1 << shift))
            .map_or((self.bytes_each >> 20, "M"), |(shift, unit)| {
                (self.bytes_each >> shift, unit)
            });
        write!(f, "{}x{size}{unit}", self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loop_files_are_read_and_written() {
        let files: LoopFiles = "8x20G".parse().expect("is right");
        assert_eq!((files.count, files.bytes_each), (8, 20 << 30));
        for text in ["8x20G", "1x16M", "2x1T", "3x1500M"] {
            assert_eq!(
                text.parse::<LoopFiles>().map(|files| files.to_string()),
                Ok(text.to_owned())
            );
        }
        for text in [
            "",
            "8",
            "x20G",
            "8x",
            "0x20G",
            "8x20",
            "8x1M",
            "8x20Q",
            "-1x20G",
            "9999999x1G",
            "8x99999999999999T",
        ] {
            assert!(text.parse::<LoopFiles>().is_err(), "{text}");
        }
    }
}
