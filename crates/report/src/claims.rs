//! The study's claims with their verdicts, in words: for the page and the terminal alike.

use crate::doubt::Doubts;
use crate::figure::number;
use crate::input::Input;
use crate::words;
use stats::claims::Verdict;
use stats::{ClaimEffect, JudgedClaim};
use study::plan::Claim;

/// A claim of the study, judged.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ClaimWords {
    pub says: String,
    /// `supported`, `refuted`, `undecided`, `untestable`.
    pub verdict: &'static str,
    /// What it compares and where, as the study wrote it.
    pub compares: String,
    pub place: String,
    pub published: Option<String>,
    /// `1.24 times (95 %: 1.20 to 1.28, 3 trials)`; empty if nothing was measured.
    pub effect: String,
    /// Of which two cells that is.
    pub of: String,
    /// What is missing, or of how many pairs the claim seems to hold; may be empty.
    pub note: String,
    /// What makes the comparison doubtful.
    pub warnings: Vec<String>,
}

/// In the study's order.
pub(crate) fn claims(input: &Input, doubts: &Doubts) -> Vec<ClaimWords> {
    let judged = stats::judge_claims(&input.plan, &input.samples);
    let claims = input.plan.claims.iter().zip(&judged).enumerate();
    claims
        .map(|(at, (claim, judged))| claim_words(claim, judged, doubts.of_claim(at)))
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
    let counts: Vec<String> = ["supported", "refuted", "undecided", "untestable"]
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
        all => format!("Of {all} claims {}.", counts.join(", ")),
    }
}

fn effect(effect: &ClaimEffect) -> String {
    let times = |ratio: f64| {
        let decimals = match ratio {
            100.0.. => 0,
            10.0.. => 1,
            0.1.. => 2,
            0.01.. => 3,
            _ => 4,
        };
        number(ratio, decimals)
    };
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
    if judged.compared > 1 {
        let (compared, holds) = (judged.compared, judged.seems_to_hold);
        notes.push(format!(
            "seems to hold for {holds} of {compared} pairs; the weakest pair is shown"
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
