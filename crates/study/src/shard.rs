//! A shard: one of several parts of a study's trials.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A part of a study's trials, by its number: `3/16` is the third of sixteen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    number: u32,
    count: u32,
}

impl Shard {
    /// Upper limit, more than any cluster has cores for one study.
    pub const COUNT_MAX: u32 = 100_000;

    /// Shard `number`, from 1, of `count`; `None` if there is no such shard.
    pub fn new(number: u32, count: u32) -> Option<Self> {
        ((1..=Self::COUNT_MAX).contains(&count) && (1..=count).contains(&number)).then_some(Self { number, count })
    }

    /// Its number, from 1.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// Number of shards.
    pub const fn count(self) -> u32 {
        self.count
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "write NUMBER/COUNT, as in `3/16` for the third of 16 shards".to_owned();
        let (number, count) = text.split_once('/').ok_or_else(wrong)?;
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(number) || !is_digits(count) {
            return Err(wrong());
        }
        let most = Self::COUNT_MAX;
        let count = count.parse().unwrap_or(u32::MAX);
        if !(1..=most).contains(&count) {
            return Err(format!("the number of shards must be from 1 to {most}"));
        }
        let number = number.parse().unwrap_or(u32::MAX);
        Self::new(number, count).ok_or_else(|| format!("{count} shards are numbered 1 to {count}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_read_as_it_is_written() {
        for text in ["1/1", "3/16", "100000/100000"] {
            assert_eq!(text.parse::<Shard>().expect("a shard").to_string(), text);
        }
    }

    #[test]
    fn what_is_no_shard_is_refused_with_what_would_be_right() {
        for text in ["x", "", "/", "3", "3/", "/3", "+1/4", "-1/4", "1/4/4", "1 /4"] {
            let error = text.parse::<Shard>().expect_err(text);
            assert!(error.contains("NUMBER/COUNT"), "{text}: {error}");
        }
        for text in ["0/4", "5/4", "99999999999/4"] {
            let error = text.parse::<Shard>().expect_err(text);
            assert!(error.contains("1 to 4"), "{text}: {error}");
        }
        for text in ["1/0", "1/100001", "1/99999999999"] {
            let error = text.parse::<Shard>().expect_err(text);
            assert!(error.contains("1 to 100000"), "{text}: {error}");
        }
    }
}
