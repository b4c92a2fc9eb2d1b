//! Statistics of samples: a cell's figure and its error, which of two cells is faster, which stacks cannot be
//! distinguished, and when a cell needs no further trial. Pure functions: no I/O, no clock, no randomness.
//!
//! *Invariant*: a sample whose guard failed is in no figure; it is listed. *Invariant*: a difference is reported
//! only if it is shown at 95 % confidence over all comparisons involved.

mod aa_control;
mod best_stacks;
mod bottleneck;
pub mod claims;
mod compare;
mod confounders;
mod group_sequential;
mod guesses;
mod interval;
mod judge;
mod latency;
mod precision;
mod ranking;
pub mod run_comparison;
mod summary;
mod time_effects;

pub use aa_control::{ControlPair, control};
pub use best_stacks::best_stacks;
pub use bottleneck::{Limit, Limited, PARITY_READ_MIN, limits, moved};
pub use claims::{ClaimEffect, Claimed, Deciding, JudgedClaim, judge_claims, trials_to_decide};
pub use compare::{Effect, InBlock, Pairing, PooledVariance, faster, holm, times_better, trials_to_find};
pub use confounders::{ComparedBy, Held, Setting, Unlike, unlike};
pub use group_sequential::{ALPHA, alpha_of_differences, alpha_per_look, looks};
pub use guesses::{Guess, deciding_guess};
pub use interval::{Basis, Interval, TRIALS_MIN};
pub use judge::{Measure, Results, Row, TestResults, WorkloadResults, headline, judge, judge_part};
pub use latency::{LatencyBin, LatencyError, Percentiles, latency_bins, merge_latencies};
pub use precision::{Decision, decide};
pub use ranking::{Closeness, Ranking, rank};
pub use summary::Summary;
pub use time_effects::{Drift, LEVEL, OrderEffect, RunPosition, drift, order_effects};
