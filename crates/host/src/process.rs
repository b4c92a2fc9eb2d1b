//! A run: the session, the processes that it starts, and what they do.

pub(crate) mod cgroup;
pub mod child_process;
pub(crate) mod loop_devices;
pub(crate) mod roll_back;
pub(crate) mod session;
pub(crate) mod trial_ledger;
pub(crate) mod watched_process;
