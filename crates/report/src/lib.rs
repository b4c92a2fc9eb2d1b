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
mod claims;
mod clock;
mod comparison;
mod control;
mod device_time;
mod distribution;
mod doubt;
mod figure;
mod input;
mod over_time;
mod page;
mod plot;
mod power_cut;
mod processor;
mod scale;
mod shaped;
mod spread;
mod sweep;
mod table;
mod verdict;
mod words;

pub use claims::{ClaimWords, claim_words};
pub use clock::clock;
pub use comparison::{ComparedSide, comparison, comparison_html};
pub use distribution::{Distribution, distributions};
pub use doubt::{Doubts, order_of};
pub use figure::{count, time};
pub use input::{DiskInfo, Input, RunInfo, ShownPart, TrialInfo, TrialState};
pub use page::html;
pub use plot::{Curve, Plot, plots};
pub use processor::processor_notes;
pub use table::{TableOptions, table};
pub use verdict::speed_verdict;
