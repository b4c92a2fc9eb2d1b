//! The keys of study files. Parsing, error messages and the reference are all based on them.

pub(crate) mod fio_files;
pub(crate) mod fio_options;
mod fio_ranges;
pub(crate) mod key;
pub(crate) mod keys;
pub(crate) mod pattern;
pub(crate) mod workload;
