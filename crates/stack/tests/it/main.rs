//! Whole stacks with the real programs on a real kernel. Tests whose requirements this machine lacks are reported
//! as skipped, with the reason.

mod loops;
mod md;
mod rig;
