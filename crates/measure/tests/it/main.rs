//! Measures simulated disks with known parameters, and compares the results with them.

mod array;
mod closed_loop;
mod ssd;
