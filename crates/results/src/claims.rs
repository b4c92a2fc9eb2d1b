//! The verdicts on a study's claims, as JSON and as test cases.

use report::{ClaimWords, Warnings};
use serde_json::{Value, json};
use stats::JudgedClaim;
use stats::claims::Verdict;
use store::{ClaimCase, ClaimOutcome};
use study::Measurement;
use study::plan::{Claim, Plan};

/// Every claim with its verdict, in the study's order.
pub fn as_json(plan: &Plan, samples: &[Measurement], warnings: &Warnings) -> Value {
    let judged = stats::judge_claims(plan, samples);
    let claims = plan.claims.iter().zip(&judged).enumerate();
    claims
        .map(|(at, (claim, judged))| one(claim, judged, warnings.of_claim(at)))
        .collect()
}

/// The A/A control: every comparison of a cell with its replicate.
pub fn control_as_json(plan: &Plan, samples: &[Measurement]) -> Value {
    let pairs = stats::control(plan, samples);
    pairs
        .iter()
        .map(|pair| {
            json!({
                "first": pair.first, "second": pair.second, "test": pair.test, "times_faster": pair.ratio,
                "low": pair.interval.low, "high": pair.interval.high, "differs": pair.differs,
            })
        })
        .collect()
}

/// The same as test cases: a supported claim passes, a refuted one fails.
pub fn as_cases(plan: &Plan, samples: &[Measurement], warnings: &Warnings) -> Vec<ClaimCase> {
    let judged = stats::judge_claims(plan, samples);
    let claims = plan.claims.iter().zip(&judged).enumerate();
    let case = |(at, (claim, judged)): (usize, (&Claim, &JudgedClaim))| ClaimCase {
        name: claim.says.clone(),
        outcome: match &judged.verdict {
            Verdict::Supported => ClaimOutcome::Passed,
            Verdict::Refuted => ClaimOutcome::Failed,
            Verdict::Undecided { .. } | Verdict::Untestable { .. } => ClaimOutcome::Skipped,
        },
        detail: detail(&report::claim_words(claim, judged, warnings.of_claim(at))),
    };
    claims.map(case).collect()
}

fn detail(words: &ClaimWords) -> String {
    let parts = [words.verdict, &words.of, &words.effect, &words.deciding, &words.note].into_iter();
    let warnings = words.warnings.iter().map(String::as_str);
    let parts: Vec<&str> = parts.chain(warnings).filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

fn one(claim: &Claim, judged: &JudgedClaim, warnings: Vec<String>) -> Value {
    let filter = claim.filter.iter().map(|(axis, value)| (axis.clone(), json!(value)));
    let effect = judged.effect.as_ref().map(|effect| {
        json!({
            "first": effect.first, "second": effect.second, "times_faster": effect.ratio,
            "low": effect.interval.map(|interval| interval.low),
            "high": effect.interval.map(|interval| interval.high),
            "deciding_low": effect.deciding.map(|deciding| deciding.interval.low),
            "deciding_high": effect.deciding.map(|deciding| deciding.interval.high),
            "deciding_confidence": effect.deciding.map(|deciding| deciding.confidence),
            "claimed_low": effect.claimed.low,
            "claimed_high": effect.claimed.high,
            "trials": effect.trials,
        })
    });
    let (further_trials, reason) = match &judged.verdict {
        Verdict::Undecided { further_trials } => (*further_trials, None),
        Verdict::Untestable { reason } => (None, Some(reason)),
        Verdict::Supported | Verdict::Refuted => (None, None),
    };
    json!({
        "says": claim.says, "where": Value::Object(filter.collect()), "that": claim.that,
        "published": claim.published, "verdict": judged.verdict.word(), "reason": reason,
        "further_trials": further_trials, "effect": effect,
        "pairs": judged.compared, "pairs_that_seem_to_hold": judged.seems_to_hold,
        "warnings": warnings,
    })
}
