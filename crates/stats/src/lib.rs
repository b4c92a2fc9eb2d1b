//! Judges samples: what a cell's figure is and how sure it is, which of two cells is faster, which stacks cannot
//! be told apart, when a cell needs no further trial. Pure functions: no I/O, no clock, no randomness.
//!
//! *Invariant*: a sample whose guard failed reaches no figure; it is listed. *Invariant*: nothing here claims a
//! difference that is not shown at 95 % confidence over all the comparisons that the claim rests on.

mod compare;
mod interval;
mod judge;
mod latency;
mod precision;
mod ranking;
mod summary;
mod verdict;

pub use compare::{Comparison, Pairing, Seeded, Verdict, compare};
pub use interval::{Basis, Interval};
pub use judge::{Measure, Results, Row, TestResults, WorkloadResults, headline, judge};
pub use latency::{LatencyError, Percentiles, merge_latencies};
pub use precision::{ALPHA, Decision, alpha_per_look, decide, looks};
pub use ranking::tiers;
pub use summary::Summary;
pub use verdict::verdict;
