//! Simulated disks of known parameters are measured, and their parameters come back.

mod array;
mod closed_loop;
mod ssd;
