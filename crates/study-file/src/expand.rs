//! Expansion of a study file to the cells of its plan.

pub(crate) mod build;
pub(crate) mod disk_state;
pub(crate) mod groups;
pub mod label;
pub(crate) mod machine;
pub(crate) mod matrix;
