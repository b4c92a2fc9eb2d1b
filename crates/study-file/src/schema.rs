//! The keys of study files, from which files are parsed, errors are explained and the reference is generated.

pub(crate) mod fio_files;
pub(crate) mod fio_options;
pub(crate) mod key;
pub(crate) mod keys;
pub(crate) mod pattern;
pub(crate) mod workload;
