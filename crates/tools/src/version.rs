//! Versions as programs print them.

use std::fmt;

/// The version of a program: the line that it printed, and the numbers in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// `mdadm - v4.2 - 2021-12-30 - Debian 4.2-5`
    pub line: String,
    /// `[4, 2, 0]`
    pub numbers: [u32; 3],
}

impl Version {
    /// Finds the first `digits.digits[.digits]` in what a program printed, and keeps its line.
    pub fn parse(output: &str) -> Option<Self> {
        output.lines().find_map(|line| {
            let numbers = numbers_in(line)?;
            Some(Self {
                line: line.trim().to_owned(),
                numbers,
            })
        })
    }

    /// For a program that cannot print one.
    pub fn unknown() -> Self {
        Self {
            line: "unknown".to_owned(),
            numbers: [0; 3],
        }
    }

    pub fn at_least(&self, numbers: [u32; 3]) -> bool {
        self.numbers >= numbers
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}")?;
        if patch > 0 { write!(f, ".{patch}") } else { Ok(()) }
    }
}

fn numbers_in(line: &str) -> Option<[u32; 3]> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    line.split(|c| !is_part(c)).find_map(|run| {
        let parts: Option<Vec<u32>> = run
            .trim_matches('.')
            .split('.')
            .map(|digits| digits.parse().ok())
            .collect();
        match parts?.as_slice() {
            [major, minor] => Some([*major, *minor, 0]),
            [major, minor, patch, ..] => Some([*major, *minor, *patch]),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_numbers_in_what_programs_print() {
        let printed = [
            ("mdadm - v4.2 - 2021-12-30 - Debian 4.2-5\n", [4, 2, 0]),
            (
                "mke2fs 1.47.0 (5-Feb-2023)\n\tUsing EXT2FS Library version 1.47.0\n",
                [1, 47, 0],
            ),
            ("mkfs.xfs version 6.1.0\n", [6, 1, 0]),
            ("mkfs.jfs version 1.1.15, 04-Mar-2011\n", [1, 1, 15]),
            ("mkfs.reiserfs 3.6.27\n\n", [3, 6, 27]),
            ("mkfs.btrfs, part of btrfs-progs v6.2\n", [6, 2, 0]),
            ("\nfio-3.33\n", [3, 33, 0]),
            ("wipefs from util-linux 2.38.1\n", [2, 38, 1]),
        ];
        for (output, numbers) in printed {
            assert_eq!(Version::parse(output).expect(output).numbers, numbers);
        }
    }

    #[test]
    fn keeps_the_line_and_refuses_garbage() {
        let version = Version::parse("warning: odd\nmdadm - v4.2 - 2021\n").expect("has a version");
        assert_eq!(version.line, "mdadm - v4.2 - 2021");
        assert_eq!(version.to_string(), "4.2");
        assert_eq!(Version::parse("segmentation fault\nmke2fs 7\n99999999999.1"), None);
    }

    #[test]
    fn compares_numbers_and_not_letters() {
        let version = Version::parse("mke2fs 1.47.0").expect("has a version");
        assert!(version.at_least([1, 9, 9]));
        assert!(!version.at_least([1, 47, 1]));
    }
}
