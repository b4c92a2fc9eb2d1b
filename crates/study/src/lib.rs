//! What is to be measured: a study file read into a [`Plan`](plan::Plan) of cells and trials, and the plain
//! data types in which all later stages speak of it.
//!
//! TOML is known here and nowhere else. Nothing here knows how a stack is built, how work is done, or where a
//! sample is kept: those stages use these types and are not used by them.

pub mod event;
pub mod plan;
pub mod stack;
pub mod workload;
