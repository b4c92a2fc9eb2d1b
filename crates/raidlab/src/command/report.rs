//! `raidlab report`: one HTML file.

use super::stored;
use crate::cli::ReportArguments;
use crate::expected::ExpectedError;
use std::path::Path;
use std::process::ExitCode;

pub fn report(arguments: &ReportArguments) -> Result<ExitCode, ExpectedError> {
    let (store, run) = stored::open(&arguments.store, arguments.run)?;
    let page = report::html(&stored::input(&store, &run)?);
    let output = &arguments.output;
    // Whole or not at all: a report that is half written would be looked at.
    let folder = output
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .and_then(|()| tempfile::NamedTempFile::new_in(folder))
        .and_then(|mut file| {
            std::io::Write::write_all(&mut file, page.as_bytes())?;
            std::fs::set_permissions(file.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
            file.persist(output).map_err(|error| error.error)
        })
        .map_err(|error| {
            ExpectedError::Input(format!("cannot write the report to {}: {error}", output.display()))
        })?;
    eprintln!("raidlab: the report is in {}", output.display());
    Ok(ExitCode::SUCCESS)
}
