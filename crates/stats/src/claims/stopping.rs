//! Which cells get further trials to decide a study's claims.
//!
//! The claims are judged at planned looks only ([`looks`]), and each look has its share of the error. The p-value
//! of a claim at one of L looks, times L, is valid at any look, so Holm's procedure holds at 5 % over all claims
//! although they stop at different times. Abandoning a claim decides nothing and costs no error.

use super::{JudgedPair, Verdict, judged};
use crate::group_sequential::looks;
use std::collections::{HashMap, HashSet};
use study::plan::Plan;
use study::{CellId, Measurement};

/// Total number of trials that each cell should have to decide the claims, given the number it has had;
/// `measurements` are those of these trials.
///
/// At the look after most trials, cells of undecided claims get trials up to the next look. That includes cells
/// that stopped earlier: Holm's procedure may be less sure of a claim when it has more data on the others.
pub fn trials_to_decide(
    plan: &Plan,
    had: &HashMap<CellId, u32>,
    measurements: &[Measurement],
) -> HashMap<CellId, u32> {
    let most = had.values().copied().max().unwrap_or(0);
    let Some(next) = looks(&plan.precision).into_iter().find(|look| *look > most) else {
        return had.clone();
    };
    let open = open_cells(plan, measurements);
    let wanted = |(&cell, &had): (&CellId, &u32)| (cell, if open.contains(&cell) { next } else { had });
    had.iter().map(wanted).collect()
}

/// The cells that undecided claims depend on, except claims that `max_trials` could hardly decide even if the
/// difference were as large as possible.
fn open_cells(plan: &Plan, measurements: &[Measurement]) -> HashSet<CellId> {
    let max_trials = plan.precision.max_trials;
    let (judged, level) = judged(plan, measurements);
    let undecided = judged
        .iter()
        .filter(|(_, verdict)| matches!(verdict, Verdict::Undecided { .. }));
    let open = undecided.flat_map(|(claim, _)| {
        let open: Vec<&JudgedPair> = claim.open(level).collect();
        let can_be = |pair: &&JudgedPair| claim.trials_at_best(pair, level).is_none_or(|all| all <= max_trials);
        let is_worth_it = open.iter().all(can_be);
        if is_worth_it { open } else { Vec::new() }
    });
    open.flat_map(|pair| pair.cells).collect()
}
