//! Power cuts: explores all states of a cell's disks, tests random stacks until the time is up, repeats one state, and
//! finds the shortest workload that shows a finding.
//!
//! Guests are started here; nothing is printed. Progress is logged.

mod error;
mod finding;
mod guests;
mod lost_range;
mod operation_numbers;
mod random_study;
mod reproduce;
mod shrink;
mod soak;

pub use error::Error;
pub use lost_range::LostSectors;
pub use operation_numbers::Numbers;
pub use reproduce::{StateChoice, state};
pub use shrink::shrink;
pub use soak::{Soak, SoakOptions, Total, study_of_history};
