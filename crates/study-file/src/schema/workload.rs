//! The kinds of work in study files, with their keys. Each kind has its own file and a line in [`KINDS`].

mod bonnie;
mod fio_file;
mod io;
mod iozone;
mod power_cut;
mod server;
mod tree;

use super::key::Key;

/// Every kind of work, in the order of the reference.
pub static KINDS: [&WorkloadKind; 8] = [
    &tree::TREE,
    &io::FIO,
    &fio_file::FIO_FILE,
    &io::IO,
    &bonnie::BONNIE,
    &iozone::IOZONE,
    &server::SERVER,
    &power_cut::POWER_CUT,
];

/// The kinds of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindOfWork {
    Tree,
    Fio,
    FioFile,
    Io,
    Bonnie,
    Iozone,
    Server,
    PowerCut,
}

/// A kind of work in study files.
#[derive(Debug)]
pub struct WorkloadKind {
    pub(crate) work: KindOfWork,
    /// Its key in `[[workload]]`.
    pub key: Key,
    /// The keys of its tables.
    pub(crate) keys: &'static [&'static [Key]],
    /// The names of its tests, for the reference.
    pub tests: &'static str,
    /// Its main metric, for the reference.
    pub metrics: &'static str,
}
