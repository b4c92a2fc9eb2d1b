//! `raidlab digest`: the digest of a run, or the first difference between two runs that should be equal.

use super::{print, print_json};
use crate::cli::{DigestArguments, Format};
use crate::error::ExpectedError;
use results::{ExportedRun, difference};
use serde_json::json;
use std::process::ExitCode;

/// The two runs differ.
const EXIT_DIFFERENT: u8 = 1;

pub fn digest(arguments: &DigestArguments) -> Result<ExitCode, ExpectedError> {
    let one = ExportedRun::read(&arguments.one, arguments.run.as_ref())?;
    let Some(other) = &arguments.other else {
        match arguments.format {
            Format::Text => print(&format!("{}{}\n", one.digest(), one.digest_remark()))?,
            Format::Json => {
                let digest = json!({
                    "digest_sha256": one.digest(), "digest_is_recorded": one.is_digest_recorded(),
                });
                print_json(&digest)?;
            }
        }
        return Ok(ExitCode::SUCCESS);
    };
    let other = ExportedRun::read(other, arguments.other_run.as_ref())?;
    let difference = difference(&one, &other);
    match arguments.format {
        Format::Text => print(&difference.text)?,
        Format::Json => {
            let both = json!({
                "digest_sha256": one.digest(), "other_digest_sha256": other.digest(),
                "equal": difference.is_same, "difference": difference.text, "inputs": difference.inputs,
            });
            print_json(&both)?;
        }
    }
    Ok(match difference.is_same {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(EXIT_DIFFERENT),
    })
}
