//! Record of a run's changes to this machine, in files that survive the run.

pub(crate) mod ledger_file;
pub(crate) mod ledger_folder;
pub(crate) mod leftovers;
pub(crate) mod root_files;
pub(crate) mod run_devices;
pub(crate) mod undo;
