//! A study on many machines: submitted to Slurm as shards, watched, and merged into one store.
//!
//! Shards share nothing but their plan: each has a store of its own, and only these stores are read.

mod error;
mod merge;
mod status;
mod store_parts;
mod submit;

pub use error::Error;
pub use merge::{MergeOptions, Merged, merge};
pub use status::StudyStatus;
pub use store_parts::PartsError;
pub use submit::{SubmitError, SubmitOptions, submit};
