//! Shows the results of a run: [`html`], one file that opens from disk without network or script, and [`table`] for
//! the terminal. Both are made from an [`Input`] of plain data. Comparison of two runs: [`comparison_html`] and
//! [`comparison`].
//!
//! HTML is used only in this crate. It does not read a store and does not evaluate samples: that is `stats`.
//!
//! *Invariant*: the page contains no script and tells its browser to run none, and all text from studies and
//! programs is escaped, so that untrusted studies can be viewed. *Invariant*: a simulated figure is never shown
//! without its mark.

mod chart;
mod input;
mod page;
mod scoreboard;
mod sensitivity;
mod table;
mod words;

pub use input::{DiskInfo, Input, ModelFit, RunInfo, ShownPart, TrialInfo, TrialState};
pub use page::{Curve, Distribution, Plot, comparison_html, distributions, html, plots};
pub use scoreboard::{Advice, Choice, Column, Layout, Score, ScoreRow, Scoreboard, verdict};
pub use sensitivity::sensitivity;
pub use table::{TableOptions, comparison, table};
pub use words::{
    ClaimWords, ComparedSide, IMPORTED, IMPORTED_SETTINGS, RateUnit, Warnings, claim_words, clock, count, limits,
    order_of, time,
};
