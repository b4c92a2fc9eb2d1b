//! Measures a disk of this machine and makes a model of it. Nothing is written to the disk unless the user released it
//! by its serial number. The results of each step are kept in a file, so that an interrupted measurement can be
//! resumed.
//!
//! Crate `measure` computes the figures; this crate sends the requests, checks the disk and writes the messages.

mod device;
mod error;
mod measurement;
mod page;
mod resumed;
mod summary;

pub use error::Error;
pub use measurement::{MeasureArguments, measure};
