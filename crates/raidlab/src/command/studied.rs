//! Reading a study, for the commands that take one.

use super::text;
use crate::expected::ExpectedError;
use lab::kernel::Cache;
use std::io::IsTerminal;
use std::path::Path;
use study::plan::Plan;
use study_file::Only;

/// A larger file is something else: the longest study is some kB.
const BYTES_MAX: u64 = 1 << 20;

/// The plan of a study file, or of the part of it that `only` leaves.
pub fn read(
    path: &Path,
    only: Option<&str>,
    cache: &Cache,
) -> Result<(Plan, Vec<(String, String)>), ExpectedError> {
    let name = path.display().to_string();
    let source = text::read(path, BYTES_MAX).map_err(|words| {
        ExpectedError::Input(format!(
            "`{name}` {words}; name a study, as in `raidlab run studies/first-look.toml`"
        ))
    })?;
    let known = study_file::Known {
        folder: path.parent().map(Path::to_owned),
        ..crate::run::known(cache)
    };
    let mut plan = study_file::read(&source, &name, &known).map_err(|mistakes| {
        let coloured = std::io::stderr().is_terminal();
        ExpectedError::Study(if coloured {
            mistakes.to_string_in_colour()
        } else {
            mistakes.to_string()
        })
    })?;
    let Some(only) = only else {
        return Ok((plan, Vec::new()));
    };
    let only = Only::parse(only, &plan).map_err(|error| ExpectedError::Input(format!("--only: {error}")))?;
    only.keep_in(&mut plan);
    Ok((plan, only.pairs().to_vec()))
}
