//! `raidlab import`: stores results that other programs measured elsewhere as a run of their own.

use super::store_option;
use crate::cli::ImportArguments;
use crate::error::ExpectedError;
use crate::progress::note;
use results::ImportOptions;
use std::process::ExitCode;

pub fn import(arguments: &ImportArguments) -> Result<ExitCode, ExpectedError> {
    let options = ImportOptions {
        files: arguments.files.clone(),
        stack: arguments.stack.clone(),
        workload: arguments.workload.clone(),
        test: arguments.test.clone(),
        store: arguments.store.clone(),
    };
    let imported = results::import(&options)?;
    for words in &imported.notes {
        note(&format!("note: {words}"));
    }
    let run = imported.run.0;
    note(&match imported.results {
        None => format!("raidlab: these results are already in the store, as run {run}"),
        Some(results) => format!(
            "raidlab: imported {} of {} as run {run} of {}: `raidlab show{} --run {run}` shows them{}",
            report::count(results, "result"),
            report::count(options.files.len(), "file"),
            options.store.display(),
            store_option(&options.store),
            next_to_a_run(arguments, run)
        ),
    });
    Ok(ExitCode::SUCCESS)
}

/// How to see the results with those of an earlier run in the same store.
fn next_to_a_run(arguments: &ImportArguments, run: i64) -> String {
    let names = match (&arguments.stack, &arguments.workload) {
        (Some(_), Some(_)) => "",
        _ => ", if `--stack` and `--workload` name what they are of in that run",
    };
    match run {
        ..2 => String::new(),
        _ => format!(
            "; `raidlab show{} --with {run}` shows them next to the last run of a study{names}",
            store_option(&arguments.store)
        ),
    }
}
