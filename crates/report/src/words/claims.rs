//! The study's claims with their verdicts, in words, for the page and the terminal.

use crate::input::Input;
use crate::words;
use crate::words::figure::number;
use crate::words::warnings::Warnings;
use stats::claims::Verdict;
use stats::{ClaimEffect, Claimed, Deciding, JudgedClaim};
use study::plan::Claim;
use study::wording::magnitude;

/// A claim of the study, judged.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ClaimWords {
    pub says: String,
    /// `supported`, `refuted`, `undecided`, `untestable`, `not yet measured`.
    pub verdict: &'static str,
    /// What it compares, and for which cells, as in the study.
    pub compares: String,
    pub place: String,
    pub published: Option<String>,
    /// `1.24 times (95 %: 1.20 to 1.28, 3 trials)`; empty if nothing was measured.
    pub effect: String,
    /// `deciding interval 1.17 to 1.31 (99.2 %), claimed above 1.00`; empty if nothing was measured.
    pub deciding: String,
    /// Whether `deciding` has an interval.
    #[serde(skip)]
    has_interval: bool,
    /// The two compared cells.
    pub of: String,
    /// What is missing, or the number of pairs for which the claim seems to hold; may be empty.
    pub note: String,
    /// Reasons to doubt the comparison.
    pub warnings: Vec<String>,
}

impl ClaimWords {
    /// Whether more is to be said of it than that it is not yet measured.
    pub(crate) fn is_measured(&self) -> bool {
        self.verdict != NOT_YET
    }
}

/// How claims are decided; shown below the claims.
const HOW_DECIDED: &str = "A claim is supported if the deciding interval of each of its pairs lies within the claimed \
    range, and refuted if that of one lies completely outside; it is wider than the 95 % interval, which is that of \
    the shown pair alone, so that the verdicts on all claims together have an error of 5 %.";

/// The verdict on a claim of which an unfinished run lacks a figure.
const NOT_YET: &str = "not yet measured";

/// [`HOW_DECIDED`] if there is a deciding interval; otherwise empty.
pub(crate) fn how_decided(claims: &[ClaimWords]) -> &'static str {
    match claims.iter().any(|claim| claim.has_interval) {
        true => HOW_DECIDED,
        false => "",
    }
}

/// In the study's order.
pub(crate) fn claims(input: &Input, warnings: &Warnings) -> Vec<ClaimWords> {
    let judged = stats::judge_claims(&input.plan, &input.samples);
    let claims = input.plan.claims.iter().zip(&judged).enumerate();
    let is_finished = input.run.finished_at_unix_s.is_some();
    claims
        .map(|(at, (claim, judged))| {
            let mut words = claim_words(claim, judged, warnings.of_claim(at));
            let is_untestable = matches!(judged.verdict, Verdict::Untestable { .. });
            if is_untestable && !is_finished && claim.untestable.is_none() {
                words.verdict = NOT_YET;
                words.note.clear();
            }
            words
        })
        .collect()
}

/// A judged claim in words.
pub fn claim_words(claim: &Claim, judged: &JudgedClaim, warnings: Vec<String>) -> ClaimWords {
    ClaimWords {
        says: claim.says.clone(),
        verdict: judged.verdict.word(),
        compares: claim.that.clone(),
        place: words::axes(&claim.filter),
        published: claim.published.clone(),
        effect: judged.effect.as_ref().map_or_else(String::new, effect),
        deciding: judged.effect.as_ref().map_or_else(String::new, deciding),
        has_interval: judged.effect.as_ref().and_then(interval).is_some(),
        of: judged.effect.as_ref().map_or_else(String::new, |effect| {
            format!("{} against {}", effect.first, effect.second)
        }),
        note: note(judged),
        warnings,
    }
}

/// `Of 4 claims 2 are supported, 1 is refuted, 1 is undecided.` Empty without claims.
pub(crate) fn summary(claims: &[ClaimWords]) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let counts: Vec<String> = ["supported", "refuted", "undecided", "untestable", NOT_YET]
        .into_iter()
        .filter_map(
            |verdict| match claims.iter().filter(|claim| claim.verdict == verdict).count() {
                0 => None,
                1 => Some(format!("1 is {verdict}")),
                count => Some(format!("{count} are {verdict}")),
            },
        )
        .collect();
    match claims.len() {
        1 => format!("The study's claim is {}.", claims[0].verdict),
        all if !claims.iter().any(ClaimWords::is_measured) => {
            format!("None of the {all} claims has been measured yet.")
        }
        all => format!("Of {all} claims {}.", counts.join(", ")),
    }
}

/// With `more` additional decimals.
fn times_to(ratio: f64, more: usize) -> String {
    let decimals = match ratio {
        100.0.. => 0,
        10.0.. => 1,
        0.1.. => 2,
        0.01.. => 3,
        _ => 4,
    };
    number(ratio, decimals + more)
}

fn times(ratio: f64) -> String {
    times_to(ratio, 0)
}

/// The deciding interval; `None` if it is a point.
fn interval(effect: &ClaimEffect) -> Option<Deciding> {
    effect
        .deciding
        .filter(|deciding| deciding.interval.low != deciding.interval.high)
}

fn deciding(effect: &ClaimEffect) -> String {
    let Claimed { low, high } = effect.claimed;
    let bounds = || std::iter::once(low).chain(high);
    let claimed = |more| match high {
        Some(high) => format!("claimed {} to {}", times_to(low, more), times_to(high, more)),
        None => format!("claimed above {}", times_to(low, more)),
    };
    let Some(Deciding { confidence, interval }) = interval(effect) else {
        return claimed(0);
    };
    // An end must not look as if it were on the bound.
    let touches = |more: &usize| {
        let ends = [interval.low, interval.high].map(|end| times_to(end, *more));
        bounds().any(|bound| ends.contains(&times_to(bound, *more)))
    };
    let more = (0..3).find(|more| !touches(more)).unwrap_or(3);
    format!(
        "deciding interval {} to {} ({} %), {}",
        times_to(interval.low, more),
        times_to(interval.high, more),
        percent(confidence),
        claimed(more)
    )
}

/// A confidence in percent: two significant digits of its distance from 100.
fn percent(confidence: f64) -> String {
    let missing = 100.0 * (1.0 - confidence);
    let decimals = (1 - magnitude(missing)).clamp(0, 9) as usize;
    let digits = number(100.0 * confidence, decimals);
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits,
    }
}

fn effect(effect: &ClaimEffect) -> String {
    let trials = match effect.trials {
        1 => "1 trial of each".to_owned(),
        count => format!("{count} trials of each"),
    };
    match effect.interval {
        Some(interval) if interval.low == interval.high => {
            format!("{} times (the same in all {trials})", times(effect.ratio))
        }
        Some(interval) => format!(
            "{} times (95 %: {} to {}, {trials})",
            times(effect.ratio),
            times(interval.low),
            times(interval.high)
        ),
        None => format!("{} times ({trials})", times(effect.ratio)),
    }
}

fn note(judged: &JudgedClaim) -> String {
    let mut notes = Vec::new();
    let testable = !matches!(judged.verdict, Verdict::Untestable { .. });
    if judged.compared > 1 && testable {
        let (compared, holds) = (judged.compared, judged.seems_to_hold);
        notes.push(format!(
            "seems to hold for {holds} of {compared} pairs; the weakest deciding pair is shown"
        ));
    }
    match &judged.verdict {
        Verdict::Untestable { reason } => notes.push(reason.clone()),
        Verdict::Undecided { further_trials } => notes.push(match further_trials {
            Some(1) => "1 further trial of each cell would likely decide it".to_owned(),
            Some(count) => format!("{count} further trials of each cell would likely decide it"),
            None => "no feasible number of trials would decide it".to_owned(),
        }),
        Verdict::Supported | Verdict::Refuted => {}
    }
    notes.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::{Basis, Interval};

    fn words(low: f64, high: f64, claimed: Claimed) -> String {
        let interval = Interval {
            low,
            high,
            basis: Basis::Blocks,
        };
        deciding(&ClaimEffect {
            first: String::new(),
            second: String::new(),
            ratio: 1.0,
            interval: Some(interval),
            deciding: Some(Deciding {
                confidence: 0.998_4,
                interval,
            }),
            claimed,
            trials: 3,
        })
    }

    const FASTER: Claimed = Claimed { low: 1.2, high: None };
    const EQUAL: Claimed = Claimed {
        low: 1.0 / 1.05,
        high: Some(1.05),
    };

    #[test]
    fn what_decides_stands_next_to_what_is_claimed() {
        let expected = "deciding interval 1.10 to 2.27 (99.84 %), claimed above 1.20";
        assert_eq!(words(1.1, 2.27, FASTER), expected);
        let expected = "deciding interval 0.97 to 1.01 (99.84 %), claimed 0.95 to 1.05";
        assert_eq!(words(0.97, 1.01, EQUAL), expected);
        assert_eq!(words(1.3, 1.3, FASTER), "claimed above 1.20");
    }

    #[test]
    fn an_end_next_to_the_bound_is_not_shown_on_it() {
        let expected = "deciding interval 1.199 to 2.000 (99.84 %), claimed above 1.200";
        assert_eq!(words(1.1986, 2.0, FASTER), expected);
        assert!(words(0.96, 1.0496, EQUAL).starts_with("deciding interval 0.9600 to 1.0496 "));
    }

    #[test]
    fn a_confidence_has_the_digits_that_matter() {
        let words = [0.96, 0.995, 0.9984, 0.999_880_95, 1.0 - 0.04 / 20.0].map(percent);
        assert_eq!(words, ["96", "99.5", "99.84", "99.988", "99.8"]);
    }
}
