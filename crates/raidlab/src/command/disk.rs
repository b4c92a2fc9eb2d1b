//! `raidlab disk`: the catalogue.

use super::{not_yet, print};
use crate::cli::{DiskCommand, Format};
use crate::expected::ExpectedError;
use disksim::catalogue;
use disksim::request::SECTOR_BYTES;
use std::process::ExitCode;

pub fn disk(command: &DiskCommand) -> Result<ExitCode, ExpectedError> {
    match command {
        DiskCommand::List { format: Format::Text } => {
            let lines: Vec<String> = catalogue::list()
                .into_iter()
                .map(|entry| format!("{:<28} {:>9}  {}\n", entry.name, capacity(entry.sectors), entry.title))
                .collect();
            print(&lines.concat())?;
        }
        DiskCommand::List { format: Format::Json } => {
            let entries: Vec<_> = catalogue::list()
                .into_iter()
                .map(|entry| {
                    serde_json::json!({
                        "name": entry.name,
                        "title": entry.title,
                        "size_bytes": entry.sectors * SECTOR_BYTES,
                    })
                })
                .collect();
            print(&format!("{}\n", serde_json::Value::from(entries)))?;
        }
        DiskCommand::Show { .. } => return Err(not_yet("showing what a disk does")),
        DiskCommand::Replay { .. } => return Err(not_yet("replaying a trace")),
        DiskCommand::Import { .. } => return Err(not_yet("importing a parameter file")),
    }
    Ok(ExitCode::SUCCESS)
}

/// In the units in which disks are sold.
fn capacity(sectors: u64) -> String {
    let gigabytes = (sectors * SECTOR_BYTES) as f64 / 1e9;
    if gigabytes < 1000.0 { format!("{gigabytes:.1} GB") } else { format!("{:.1} TB", gigabytes / 1000.0) }
}
