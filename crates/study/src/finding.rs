//! Findings after a power cut.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Kinds of damage to a stack after a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Data that was acknowledged is missing.
    Lost,
    /// Data that nobody wrote there.
    Wrong,
    NotMountable,
    /// The filesystem's checker complains.
    Checker,
    /// Copies or parity disagree.
    Parity,
    GuestDied,
}

impl FindingKind {
    pub const ALL: [Self; 6] = [
        Self::Lost,
        Self::Wrong,
        Self::NotMountable,
        Self::Checker,
        Self::Parity,
        Self::GuestDied,
    ];

    /// The prefix of the detail in a finding's text.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Lost => "acknowledged, but lost: ",
            Self::Wrong => "wrong data: ",
            Self::NotMountable => "not mountable: ",
            Self::Checker => "checker: ",
            Self::Parity => "",
            Self::GuestDied => "a guest died: ",
        }
    }
}

/// One thing that is wrong after one power cut, with the instant and the seed that repeat it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub at_ns: u64,
    pub seed: u64,
    pub kind: FindingKind,
    pub detail: String,
}

/// `cut at 1264472393 ns, seed 63107: wrong data: n5: it is a folder`: as stores keep it and people read it.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (prefix, detail) = (self.kind.prefix(), &self.detail);
        write!(f, "cut at {} ns, seed {}: {prefix}{detail}", self.at_ns, self.seed)
    }
}

/// The text is not that of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAFinding;

impl FromStr for Finding {
    type Err = NotAFinding;

    fn from_str(text: &str) -> Result<Self, NotAFinding> {
        let split = || {
            let (at_ns, rest) = text.strip_prefix("cut at ")?.split_once(" ns, seed ")?;
            let (seed, what) = rest.split_once(": ")?;
            let with_prefix = |kind: &FindingKind| *kind != FindingKind::Parity && what.starts_with(kind.prefix());
            let kind = FindingKind::ALL.into_iter().find(with_prefix);
            let kind = kind.unwrap_or(FindingKind::Parity);
            Some(Self {
                at_ns: at_ns.parse().ok()?,
                seed: seed.parse().ok()?,
                kind,
                detail: what[kind.prefix().len()..].to_owned(),
            })
        };
        split().ok_or(NotAFinding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_read_from_its_text() {
        for kind in FindingKind::ALL {
            let finding = Finding {
                at_ns: 1_264_472_393,
                seed: u64::MAX,
                kind,
                detail: "n5: it is gone".to_owned(),
            };
            assert_eq!(finding.to_string().parse(), Ok(finding));
        }
        for text in ["", "cut at 5 ns", "cut at x ns, seed 3: lost", "cut at 5 ns, seed 3"] {
            assert_eq!(text.parse::<Finding>(), Err(NotAFinding), "{text}");
        }
    }

    #[test]
    fn the_text_is_that_of_earlier_stores() {
        let text = "cut at 5 ns, seed 7: 8 sectors disagree after the resync";
        let finding: Finding = text.parse().expect("a finding");
        assert_eq!(
            (finding.kind, finding.to_string().as_str()),
            (FindingKind::Parity, text)
        );
        let text = "cut at 5 ns, seed 7: acknowledged, but lost: n1: it is gone";
        let finding: Finding = text.parse().expect("a finding");
        assert_eq!(
            (finding.kind, finding.detail.as_str()),
            (FindingKind::Lost, "n1: it is gone")
        );
    }
}
