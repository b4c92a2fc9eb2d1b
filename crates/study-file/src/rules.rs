//! Rules that combinations must keep, and why others are impossible. Called for each stack (`expand/matrix.rs`, `expand/groups.rs`)
//! and for each workload on it (`workload_forms/`).

pub(crate) mod acts;
pub(crate) mod consistency;
pub(crate) mod filesystem;
pub(crate) mod images;
pub(crate) mod impossible;
pub(crate) mod integrity;
pub(crate) mod layers;
pub(crate) mod lvm;
pub(crate) mod machine;
pub(crate) mod many_devices;
pub(crate) mod md_geometry;
pub(crate) mod md_tunables;
pub(crate) mod members;
pub(crate) mod memory;
pub(crate) mod parallel;
pub(crate) mod stack;
