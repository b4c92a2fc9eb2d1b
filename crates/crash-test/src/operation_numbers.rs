//! Numbers of operations.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The most operations that a study can have, with those that prepare.
const OPERATIONS_MAX: u32 = 20_000;

/// Numbers and ranges, as in `3,7-20`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers(pub Vec<u32>);

impl fmt::Display for Numbers {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for &number in &self.0 {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == number => *last = number,
                _ => runs.push((number, number)),
            }
        }
        for (place, (first, last)) in runs.into_iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            match first == last {
                true => write!(to, "{comma}{first}")?,
                false => write!(to, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = BTreeSet::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |word: &str| {
                word.trim()
                    .parse::<u32>()
                    .ok()
                    .filter(|number| *number <= OPERATIONS_MAX)
            };
            match (number(first), number(last)) {
                (Some(first), Some(last)) if first <= last => all.extend(first..=last),
                _ => {
                    return Err(format!(
                        "`{part}` is neither the number of an operation nor a range such as 3-20"
                    ));
                }
            }
        }
        Ok(Self(all.into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_printed() {
        for text in ["3", "0-48", "1,3,5-7,9"] {
            assert_eq!(Numbers::from_str(text).expect("good").to_string(), text);
        }
        assert_eq!(Numbers::from_str("7,3,4,5").expect("good").to_string(), "3-5,7");
        for bad in ["", "a", "5-3", "1,,2", "99999"] {
            assert!(Numbers::from_str(bad).is_err(), "{bad}");
        }
    }
}
