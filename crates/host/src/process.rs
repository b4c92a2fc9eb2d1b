//! A run: the session, the processes that it starts, and what they do.

pub(crate) mod cgroup;
pub mod job;
pub(crate) mod loops;
pub(crate) mod roll_back;
pub(crate) mod running;
pub(crate) mod session;
pub(crate) mod trial_ledger;
