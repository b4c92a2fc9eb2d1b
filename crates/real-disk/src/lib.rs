//! Measures a disk of this machine and makes a model of it. Nothing is written to the disk, unless it was given up by its
//! serial number. What each step found is kept in a file, so that a measurement that was ended is continued.
//!
//! The figures are crate `measure`'s; here are the requests, the checks of the disk, and the words.

mod device;
mod error;
mod measurement;
mod page;
mod resumed;
mod summary;

pub use error::Error;
pub use measurement::{Wanted, measure};
