//! Claims: what a study states about its results. Evaluated where the results are.
//!
//! ```text
//! that   = side ( ">" | "<" ) side [ "by" margin ]     the left is faster, slower
//!        | side "~" side [ "within" margin ]           about equal
//!        | side ( "fastest" | "slowest" ) [ "by" margin ]
//!        | "all equal" [ "within" margin ]
//! side   = AXIS "=" VALUE { "," AXIS "=" VALUE }
//! margin = NUMBER "%" | NUMBER "x"
//! ```
//! Faster means better by the metric's direction: more MiB/s, fewer milliseconds.

use crate::plan::{Cell, Claim, METRIC, Side, TEST};
use std::collections::HashMap;
use std::fmt;

/// Default margin of `~`.
const EQUAL_WITHIN: f64 = 1.1;

/// The comparison of a claim. Margins are ratios of the better to the worse: `by 20%` is 1.2, `by 2x` is 2.
#[derive(Clone, Debug, PartialEq)]
pub enum Comparison {
    /// Each cell of one side is better than its partner on the other, by at least this ratio. Partners differ only in
    /// the axes that the sides name. `A < B` is the same with exchanged sides.
    Better { better: Side, worse: Side, by: f64 },
    /// Partners are equal within this ratio.
    Equal { left: Side, right: Side, within: f64 },
    /// Each cell of the side is better than every other cell with its workload.
    Fastest { side: Side, by: f64 },
    /// Each cell of the side is worse than every other cell with its workload.
    Slowest { side: Side, by: f64 },
    /// All cells with the same workload are equal.
    AllEqual { within: f64 },
}

/// Two cells that a claim compares, by index in the plan. If it compares two tests of a cell, both are the same
/// cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contest {
    /// The better one, unless they are equal.
    pub better: usize,
    pub worse: usize,
}

impl Claim {
    /// Parses `that`. Always succeeds for a claim from a study file.
    pub fn comparison(&self) -> Result<Comparison, ClaimError> {
        Comparison::parse(&self.that, &mut |side| split_side(side))
    }

    /// The pairs of `cells` for which the comparison must hold.
    pub fn contests(&self, cells: &[Cell]) -> Vec<Contest> {
        self.comparison()
            .map(|comparison| comparison.contests(&self.filter, cells))
            .unwrap_or_default()
    }

    /// The test of the claim; `None` for all tests.
    pub fn test(&self) -> Option<&str> {
        self.filtered(TEST)
    }

    /// The metric of the claim; if none, the test's main metric (usually throughput).
    pub fn metric(&self) -> Option<&str> {
        self.filtered(METRIC)
    }

    fn filtered(&self, axis: &str) -> Option<&str> {
        self.filter
            .iter()
            .find(|(name, _)| name == axis)
            .map(|(_, value)| value.as_str())
    }
}

impl Comparison {
    /// Parses the grammar above; the caller parses the sides.
    pub fn parse(
        text: &str,
        read_side: &mut dyn FnMut(&str) -> Result<Side, ClaimError>,
    ) -> Result<Self, ClaimError> {
        let (body, margin) = peel_margin(text.trim())?;
        let by = match margin {
            Some((Keyword::Within, _)) | None => 1.0,
            Some((Keyword::By, ratio)) => ratio,
        };
        let within = match margin {
            Some((Keyword::Within, ratio)) => ratio,
            _ => EQUAL_WITHIN,
        };
        let keyword = margin.map(|(keyword, _)| keyword);
        let must_be = |right: Keyword| match keyword {
            Some(other) if other != right => error(
                format!("`{}` cannot be used in this comparison", other.word()),
                format!("write `{}`", right.word()),
            ),
            _ => Ok(()),
        };
        if body == "all equal" {
            must_be(Keyword::Within)?;
            return Ok(Self::AllEqual { within });
        }
        if let Some(side) = body.strip_suffix(" fastest") {
            must_be(Keyword::By)?;
            return Ok(Self::Fastest {
                side: read_side(side)?,
                by,
            });
        }
        if let Some(side) = body.strip_suffix(" slowest") {
            must_be(Keyword::By)?;
            return Ok(Self::Slowest {
                side: read_side(side)?,
                by,
            });
        }
        let Some((at, relation)) = body.char_indices().find(|(_, c)| matches!(c, '<' | '>' | '~')) else {
            return error(format!("`{body}` compares nothing"), HOW);
        };
        let (left, right) = (read_side(body[..at].trim())?, read_side(body[at + 1..].trim())?);
        if left == right {
            return error("both sides are the same", HOW);
        }
        must_be(if relation == '~' { Keyword::Within } else { Keyword::By })?;
        Ok(match relation {
            '>' => Self::Better {
                better: left,
                worse: right,
                by,
            },
            '<' => Self::Better {
                better: right,
                worse: left,
                by,
            },
            _ => Self::Equal { left, right, within },
        })
    }

    /// The compared sides; empty if it compares all cells.
    pub fn sides(&self) -> Vec<&Side> {
        match self {
            Self::Better { better, worse, .. } => vec![better, worse],
            Self::Equal { left, right, .. } => vec![left, right],
            Self::Fastest { side, .. } | Self::Slowest { side, .. } => vec![side],
            Self::AllEqual { .. } => Vec::new(),
        }
    }

    /// The pairs of those `cells` that match `filter`.
    pub fn contests(&self, filter: &Side, cells: &[Cell]) -> Vec<Contest> {
        let ring = Ring {
            cells,
            chosen: (0..cells.len()).filter(|at| holds(filter, &cells[*at])).collect(),
        };
        match self {
            Self::Better { better, worse, .. } => ring.partners(better, worse),
            Self::Equal { left, right, .. } => ring.partners(left, right),
            Self::Fastest { side, .. } => ring.against_the_rest(side),
            Self::Slowest { side, .. } => {
                let turned = ring.against_the_rest(side).into_iter();
                turned
                    .map(|Contest { better, worse }| Contest {
                        better: worse,
                        worse: better,
                    })
                    .collect()
            }
            Self::AllEqual { .. } => ring.all(),
        }
    }
}

/// The cells of a claim.
struct Ring<'a> {
    cells: &'a [Cell],
    chosen: Vec<usize>,
}

impl Ring<'_> {
    fn of(&self, side: &Side) -> impl Iterator<Item = usize> {
        self.chosen.iter().copied().filter(|at| holds(side, &self.cells[*at]))
    }

    /// Pairs that differ only in the axes that the sides name.
    fn partners(&self, left: &Side, right: &Side) -> Vec<Contest> {
        let named: Vec<&str> = left.iter().chain(right).map(|(axis, _)| axis.as_str()).collect();
        let rest = |at: usize| -> Vec<&(String, String)> {
            self.cells[at]
                .axes
                .iter()
                .filter(|(axis, _)| !named.contains(&axis.as_str()))
                .collect()
        };
        let mut rights: HashMap<Vec<_>, Vec<usize>> = HashMap::new();
        for worse in self.of(right) {
            rights.entry(rest(worse)).or_default().push(worse);
        }
        let mut all = Vec::new();
        for better in self.of(left) {
            let same = rights.get(&rest(better)).into_iter().flatten();
            all.extend(same.map(|worse| Contest { better, worse: *worse }));
        }
        all
    }

    fn against_the_rest(&self, side: &Side) -> Vec<Contest> {
        let mut all = Vec::new();
        for better in self.of(side) {
            let others = self.chosen.iter().copied().filter(|at| !holds(side, &self.cells[*at]));
            let others = others.filter(|worse| same_work(self.cells, better, *worse));
            // A replicate is not another stack.
            let others = others.filter(|worse| !self.cells[better].is_replicate_of(&self.cells[*worse]));
            all.extend(others.map(|worse| Contest { better, worse }));
        }
        all
    }

    fn all(&self) -> Vec<Contest> {
        let pairs = self
            .chosen
            .iter()
            .flat_map(|left| self.chosen.iter().map(move |right| (*left, *right)));
        let pairs = pairs.filter(|(left, right)| left < right && same_work(self.cells, *left, *right));
        pairs.map(|(better, worse)| Contest { better, worse }).collect()
    }
}

fn same_work(cells: &[Cell], left: usize, right: usize) -> bool {
    cells[left].workload.name == cells[right].workload.name
}

/// Whether a cell matches `place`; test and metric are ignored, because they belong to samples.
pub fn holds(place: &Side, cell: &Cell) -> bool {
    place
        .iter()
        .filter(|(axis, _)| axis != TEST && axis != METRIC)
        .all(|item| cell.axes.contains(item))
}

/// An error in a claim's `that`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimError {
    pub message: String,
    /// How to fix it.
    pub help: String,
}

impl fmt::Display for ClaimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.help)
    }
}

impl std::error::Error for ClaimError {}

const HOW: &str = "write `A=1 > A=2`, `A=1 < A=2 by 20%`, `A=1 ~ A=2 within 10%`, `A=1 fastest`, `all equal`";

fn error<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, ClaimError> {
    Err(ClaimError {
        message: message.into(),
        help: help.into(),
    })
}

/// `by` or `within` with its ratio.
type Margin = (Keyword, f64);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keyword {
    By,
    Within,
}

impl Keyword {
    const fn word(self) -> &'static str {
        match self {
            Self::By => "by",
            Self::Within => "within",
        }
    }
}

/// Splits the margin off the end, as a ratio.
fn peel_margin(text: &str) -> Result<(&str, Option<Margin>), ClaimError> {
    for keyword in [Keyword::By, Keyword::Within] {
        let Some((body, margin)) = text.rsplit_once(&format!(" {} ", keyword.word())) else {
            continue;
        };
        // The word may be part of a workload's name.
        if !margin
            .trim_start()
            .starts_with(|c: char| c.is_ascii_digit() || c == '-')
        {
            continue;
        }
        let ratio = match margin.trim() {
            percent if percent.ends_with('%') => number(&percent[..percent.len() - 1]).map(|n| 1.0 + n / 100.0),
            times if times.ends_with('x') => number(&times[..times.len() - 1]),
            _ => None,
        };
        return match ratio.filter(|ratio| (1.0..1e6).contains(ratio)) {
            Some(ratio) => Ok((body.trim_end(), Some((keyword, ratio)))),
            None => error(
                format!("`{}` is not a margin", margin.trim()),
                "write `20%`, or `2x` for twice",
            ),
        };
    }
    Ok((text, None))
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|n: &f64| n.is_finite())
}

/// Parses a resolved side of a claim. Only mount options contain commas, and no mount option is named like an axis.
fn split_side(side: &str) -> Result<Side, ClaimError> {
    let mut pairs: Side = Vec::new();
    for piece in side.split(", ") {
        match piece.split_once('=') {
            Some((axis, value)) => pairs.push((axis.trim().to_owned(), value.trim().to_owned())),
            None => return error(format!("`{piece}` is not AXIS=VALUE"), HOW),
        }
    }
    Ok(pairs)
}

/// A side in the syntax of claims.
pub fn write_side(side: &Side) -> String {
    let pairs: Vec<String> = side.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
    pairs.join(", ")
}
