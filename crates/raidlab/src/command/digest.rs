//! `raidlab digest`: the one number of a run, and where two runs that should have the same first differ.

mod difference;

use super::{print, stored};
use crate::cli::{DigestArguments, Format};
use crate::expected::ExpectedError;
use difference::Export;
use serde_json::json;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use store::RunChoice;

/// The two runs differ.
const EXIT_DIFFERENT: u8 = 1;

/// What a SQLite file begins with.
const SQLITE: &[u8] = b"SQLite format 3\0";

pub fn digest(arguments: &DigestArguments) -> Result<ExitCode, ExpectedError> {
    let one = read(&arguments.one, arguments.run.as_ref())?;
    let Some(other) = &arguments.other else {
        match arguments.format {
            Format::Text => print(&format!("{}\n", one.digest()))?,
            Format::Json => print(&format!("{:#}\n", json!({ "digest_sha256": one.digest() })))?,
        }
        return Ok(ExitCode::SUCCESS);
    };
    let other = read(other, arguments.other_run.as_ref())?;
    let difference = difference::between(&one, &other);
    match arguments.format {
        Format::Text => print(&difference.text)?,
        Format::Json => {
            let both = json!({
                "digest_sha256": one.digest(), "other_digest_sha256": other.digest(),
                "equal": difference.is_same, "difference": difference.text,
            });
            print(&format!("{both:#}\n"))?;
        }
    }
    Ok(match difference.is_same {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(EXIT_DIFFERENT),
    })
}

/// A run of a store, or what `raidlab export` wrote of one.
fn read(path: &Path, run: Option<&RunChoice>) -> Result<Export, ExpectedError> {
    let failed = |error: &dyn std::fmt::Display| ExpectedError::NoExport {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    let mut start = Vec::new();
    let file = File::open(path).map_err(|error| failed(&error))?;
    file.take(SQLITE.len() as u64)
        .read_to_end(&mut start)
        .map_err(|error| failed(&error))?;
    let text = if start == SQLITE {
        let (store, run) = stored::open(path, run)?;
        store
            .export_json(run.id, &store::Judged::default())
            .map_err(|error| failed(&error))?
    } else {
        std::fs::read_to_string(path).map_err(|error| failed(&error))?
    };
    Export::parse(path, &text)
        .ok_or_else(|| failed(&"neither a raidlab store nor a run exported with `raidlab export --format json`"))
}
