//! Setting a stack up and tearing it down.

mod alignment;
mod arrays;
pub(crate) mod checks;
mod disk_settings;
pub(crate) mod dry_run;
pub(crate) mod failure;
mod filesystems;
mod images;
mod integrity;
mod layers;
mod partitions;
mod pools;
pub(crate) mod stack;
mod steps;
pub(crate) mod undo;
pub(crate) mod up;
