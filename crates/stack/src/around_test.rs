//! Operations before and after each test of a trial.

pub(crate) mod as_asked;
pub(crate) mod guards;
pub(crate) mod pool_space;
pub(crate) mod quiesce;
pub(crate) mod snapshots;
