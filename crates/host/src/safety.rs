//! The reasons not to overwrite a disk, and the claim on a disk that has none.

pub(crate) mod claim;
pub(crate) mod in_use;
pub(crate) mod judgement;
pub(crate) mod mounts;
pub(crate) mod obstacle;
pub(crate) mod openers;
pub(crate) mod select;
pub(crate) mod signature;
pub(crate) mod write_checks;
