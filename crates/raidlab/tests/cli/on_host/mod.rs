//! Trials on this machine: `root_loop_…` needs root and loop devices, and reports which is missing.

pub mod interposed;
mod killed;
mod options;
pub mod refused;
pub mod rig;
mod trials;
