//! Whole stacks by the real programs on a real kernel. What this machine lacks is skipped, with its reason.

mod loops;
mod md;
mod rig;
