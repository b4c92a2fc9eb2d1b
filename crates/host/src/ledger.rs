//! What a run did to this machine and left on it, in files that survive it.

pub(crate) mod ledger_file;
pub(crate) mod leftovers;
pub(crate) mod root_files;
pub(crate) mod run_devices;
pub(crate) mod state;
pub(crate) mod undo;
