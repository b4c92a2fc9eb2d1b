//! One option of a job file.

use super::Said;
use crate::schema::fio_files::{ignored, is_of_files, wrong_in_files};
use crate::schema::fio_options::{FIO_OPTIONS, canonical, refusal, wrong_value};
use crate::schema::key::Table;
use crate::syntax::diagnostic::{nearest, suggest};
use crate::syntax::named_file::FileError;
use study::workload::FILE_ENGINES;

/// What a study makes of an option.
pub(super) enum Taken<'a> {
    /// It is fio's, or says what a section does.
    Kept(Said<'a>),
    /// It decides nothing here, for this reason.
    Ignored(&'static str),
    /// It is not about measurements at all.
    Dropped,
}

/// Where a section's files are: read by raidlab, never passed to fio.
const PLACES: [&str; 2] = ["filename", "directory"];

/// Parses `NAME=VALUE`. `at` is where it is.
pub(super) fn option<'a>(text: &str, at: &'a str) -> Result<Taken<'a>, FileError> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let (name, value) = (canonical(name.trim()).to_lowercase(), value.trim().to_owned());
    if name == "description" {
        return Ok(Taken::Dropped);
    }
    if let Some(wrong) = wrong_in_files(&name, &value) {
        return Err(wrong);
    }
    if let Some(reason) = ignored(&name) {
        return Ok(Taken::Ignored(reason));
    }
    if !PLACES.contains(&name.as_str()) {
        permitted(&name)?;
        let is_of_files = name == "ioengine" && FILE_ENGINES.contains(&value.as_str());
        if let (false, Some(wrong)) = (is_of_files, wrong_value(&name, &value)) {
            return Err(wrong);
        }
    }
    Ok(Taken::Kept(Said { name, value, at }))
}

/// The name of an option, before its value is read.
pub(super) fn name_of(text: &str) -> String {
    let name = text.split('=').next().unwrap_or_default();
    canonical(name.trim()).to_lowercase()
}

/// Whether a study may use the option.
fn permitted(name: &str) -> Result<(), FileError> {
    // raidlab sums the jobs of a section, so that its figures can be compared.
    let typed = Table::Io.key(name).is_some() || name == "buffered";
    if typed || is_of_files(name) || FIO_OPTIONS.iter().any(|key| key.name == name) {
        return Ok(());
    }
    if let Some(reason) = refusal(name) {
        return Err((reason, "take the line out".to_owned()));
    }
    let known: Vec<&str> = Table::Fio.keys().map(|key| key.name).collect();
    let help = match nearest(name, known.iter().copied()) {
        Some(_) => suggest(name, &known),
        None => "take the line out; docs/study.md lists the fio options that a study may use".to_owned(),
    };
    Err((format!("a study must not use the fio option `{name}`"), help))
}
