//! Shows what a run found: [`html`], one file that opens from disk without network or script, and [`table`] for
//! the terminal. Both are made from an [`Input`] of plain data. Two runs against one another: [`comparison_html`] and
//! [`comparison`].
//!
//! HTML is known here and nowhere else. Nothing here reads a store, and nothing here judges: that is `stats`.
//!
//! *Invariant*: the page holds no script and asks its browser to run none, and everything that a study or a
//! program said is escaped: a stranger's study can be looked at. *Invariant*: a simulated figure is never shown
//! without saying so.

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
