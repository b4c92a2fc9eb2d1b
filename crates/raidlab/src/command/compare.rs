//! `raidlab compare`: comparison of two runs.

use super::{print_with, show};
use crate::cli::{CompareArguments, ComparisonFormat, run_choice};
use crate::error::ExpectedError;
use crate::progress::note;
use files::{Output, escape_json};
use report::ComparedSide;
use results::{ComparedRun, comparison_json};
use stats::run_comparison::compare_runs;
use std::process::ExitCode;

pub fn compare(arguments: &CompareArguments) -> Result<ExitCode, ExpectedError> {
    let (first, second) = (
        ComparedRun::read(&arguments.a, &arguments.store, run_choice)?,
        ComparedRun::read(&arguments.b, &arguments.store, run_choice)?,
    );
    Output::check(&arguments.output, Some(&first.path))?;
    let output = Output::check(&arguments.output, Some(&second.path))?;
    let between = compare_runs(first.of_run(), second.of_run());
    let sides = [&first, &second].map(|side| ComparedSide {
        name: &side.name,
        is_simulated: side.is_simulated,
    });
    match (arguments.format, &output) {
        (ComparisonFormat::Text, Output::Standard) => {
            let options = show::options();
            print_with(&report::comparison(&between, sides, options), show::colours(options))?;
        }
        (ComparisonFormat::Text, _) => {
            output.write(&report::comparison(&between, sides, show::options_of_files()))?;
        }
        (ComparisonFormat::Json, _) => {
            let json = format!("{:#}\n", comparison_json(&first, &second, &between));
            output.write(&escape_json(&json))?;
        }
        (ComparisonFormat::Html, _) => output.write(&report::comparison_html(&between, sides))?,
    }
    if output.file().is_some() {
        note(&format!("raidlab: the comparison is in {}", arguments.output.display()));
    }
    Ok(ExitCode::SUCCESS)
}
