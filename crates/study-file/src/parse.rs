//! TOML to entries: tables whose values are parsed by their keys.

mod disks;
pub(crate) mod document;
pub(crate) mod entry;
mod long_text;
pub(crate) mod model_files;
pub(crate) mod value;
mod wrong_value;
