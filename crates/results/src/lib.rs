//! Stored runs, read for tables, reports, exports and comparisons; and the results of other programs, stored as runs.
//!
//! Nothing is printed and no statistics are made here: `store` reads, `stats` evaluates, `report` has the words.

mod claims;
mod comparison;
mod difference;
mod error;
mod export;
mod exported_run;
mod figures;
mod import;
mod list_of_runs;
mod open_store;

pub use comparison::{ComparedRun, comparison_json};
pub use difference::{Difference, difference};
pub use error::Error;
pub use export::{ExportFormat, export};
pub use exported_run::ExportedRun;
pub use figures::as_json;
pub use import::{ImportOptions, Imported, import};
pub use list_of_runs::{runs_json, runs_text};
pub use open_store::{input, open, shown};
