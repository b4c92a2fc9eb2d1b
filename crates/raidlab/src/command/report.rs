//! `raidlab report`: one HTML file.

use super::{reason, stored};
use crate::cli::ReportArguments;
use crate::expected::ExpectedError;
use crate::progress::say;
use std::path::Path;
use std::process::ExitCode;

pub fn report(arguments: &ReportArguments) -> Result<ExitCode, ExpectedError> {
    let output = &arguments.output;
    if output.is_dir() {
        return Err(ExpectedError::Input(format!(
            "`{}` is a folder: -o names a file in it",
            output.display()
        )));
    }
    let folder = output
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    if folder.exists() && !folder.is_dir() {
        let (file, folder) = (output.display(), folder.display());
        return Err(ExpectedError::Input(format!(
            "cannot write `{file}`: `{folder}` is no folder"
        )));
    }
    let (store, run) = stored::open(&arguments.store, arguments.run)?;
    let page = report::html(&stored::input(&store, &run)?);
    // Whole or not at all: a report that is half written would be looked at.
    std::fs::create_dir_all(folder)
        .and_then(|()| tempfile::NamedTempFile::new_in(folder))
        .and_then(|mut file| {
            std::io::Write::write_all(&mut file, page.as_bytes())?;
            std::fs::set_permissions(file.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
            file.persist(output).map_err(|error| error.error)
        })
        .map_err(|error| {
            let (file, reason) = (output.display(), reason(&error));
            ExpectedError::Input(format!(
                "cannot write the report to `{file}`: {reason}; -o names another place"
            ))
        })?;
    say(&format!("raidlab: the report is in {}", output.display()));
    Ok(ExitCode::SUCCESS)
}
