//! Study files: TOML → [`Plan`](study::plan::Plan), with every error at its line and column.
//!
//! The names, keys and rules of study files are only in this crate. It does not depend on how stacks are built,
//! workloads run or samples stored.

mod axes;
mod evaluation;
mod expand;
mod inventory;
mod known;
mod parse;
mod read;
mod rules;
mod schema;
mod syntax;
mod workload_forms;

pub use evaluation::cell_filter::{Only, OnlyError};
pub use inventory::{Inventory, InventoryNode};
pub use known::{INFINITE, Known, KnownModel, KnownProcessor, MediaKind, ReadModel, ReadProcessor, UnusableModel};
pub use parse::model_files::MODEL_BYTES_MAX;
pub use read::read;
pub use syntax::diagnostic::{Diagnostic, Diagnostics};
pub use syntax::unit::{describe_size, format_size};

/// Bytes that a cell's stack can hold, from the capacity of one disk; unknown if the array cannot be built.
pub fn room_bytes(cell: &study::plan::Cell, disk_bytes: Option<u64>) -> Option<u64> {
    rules::stack::room_bytes(&cell.machine, &cell.stack, disk_bytes)
}

/// The table of all keys.
pub mod key {
    pub use crate::schema::key::*;
    pub use crate::schema::keys::all;
}

pub use expand::label;

/// The kinds of work.
pub mod workload {
    pub use crate::schema::workload::{KINDS, WorkloadKind};
}
