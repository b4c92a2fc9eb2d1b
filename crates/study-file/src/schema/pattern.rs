//! `rw = "read:8K"`: a pattern with fio's optional suffix.

use crate::syntax::diagnostic::suggest;
use crate::syntax::unit::{format_size, parse_size};
use study::workload::IoPattern;

/// A pattern of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub pattern: IoPattern,
    /// For sequential patterns: bytes skipped after each block; negative goes backwards.
    pub skip_bytes: i64,
    /// For random patterns: blocks before the next jump.
    pub run_blocks: u32,
}

impl Pattern {
    /// Parses a pattern; the error and a suggestion if it is invalid.
    pub fn parse(text: &str) -> Result<Self, (String, String)> {
        let lower = text.trim().to_lowercase();
        let (name, after) = match lower.split_once(':') {
            Some((name, after)) => (name, Some(after)),
            None => (lower.as_str(), None),
        };
        let Some(pattern) = IoPattern::from_name(name) else {
            let names: Vec<&str> = IoPattern::ALL.iter().map(|pattern| pattern.name()).collect();
            return Err((format!("`rw` cannot be `{text}`"), suggest(name, &names)));
        };
        let mut whole = Self {
            pattern,
            skip_bytes: 0,
            run_blocks: 1,
        };
        match after {
            None => {}
            Some(after) if pattern.is_random() => {
                whole.run_blocks = after.parse().ok().filter(|blocks| *blocks > 0).ok_or_else(|| {
                    let message = format!("`{after}` is not a number of blocks before the next jump");
                    (message, format!("write \"{name}:8\""))
                })?;
            }
            Some(after) => {
                let (sign, size) = match after.strip_prefix('-') {
                    Some(size) => (-1, size),
                    None => (1, after),
                };
                let bytes = parse_size(size).map_err(|unit| (unit.message, format!("write \"{name}:8K\"")))?;
                whole.skip_bytes = i64::try_from(bytes).unwrap_or(i64::MAX) * sign;
            }
        }
        Ok(whole)
    }

    /// Its canonical form.
    pub fn word(&self) -> String {
        let name = self.pattern.name();
        let sign = if self.skip_bytes < 0 { "-" } else { "" };
        match (self.skip_bytes, self.run_blocks) {
            (0, 0 | 1) => name.to_owned(),
            (0, blocks) => format!("{name}:{blocks}"),
            (skip, _) => format!("{name}:{sign}{}", format_size(skip.unsigned_abs())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_one_spelling_and_read_back() {
        for (text, word) in [
            ("read", "read"),
            ("RW", "readwrite"),
            ("read:8192B", "read:8K"),
            ("write:-4K", "write:-4K"),
            ("randread:8", "randread:8"),
            ("randrw:1", "randrw"),
        ] {
            let pattern = Pattern::parse(text).expect(text);
            assert_eq!(pattern.word(), word);
            assert_eq!(Pattern::parse(word), Ok(pattern));
        }
    }

    #[test]
    fn what_is_none_is_told() {
        let help = |text| Pattern::parse(text).expect_err(text).1;
        assert_eq!(help("raed"), "did you mean `read`?");
        assert_eq!(help("read:8"), "write \"read:8K\"");
        assert_eq!(help("randread:8K"), "write \"randread:8\"");
        assert_eq!(help("randread:0"), "write \"randread:8\"");
    }
}
