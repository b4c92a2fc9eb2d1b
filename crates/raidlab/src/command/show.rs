//! `raidlab show`: the result table in the terminal, or its figures as JSON.

use super::{print_json, print_with};
use crate::cli::{Format, ShowArguments, ShownRun};
use crate::error::ExpectedError;
use crate::output_preferences;
use files::Colours;
use report::{Input, RateUnit, TableOptions};
use std::process::ExitCode;
use store::{RunSummary, Store};

/// Used without a terminal.
const WIDTH: usize = 120;

pub fn show(arguments: &ShowArguments) -> Result<ExitCode, ExpectedError> {
    let input = shown(&arguments.shown)?;
    match arguments.format {
        Format::Text => print_input(&input, arguments.unit.into())?,
        Format::Json => print_json(&results::as_json(&input))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The selection by the arguments.
pub(super) fn shown(arguments: &ShownRun) -> Result<Input, ExpectedError> {
    let stored = &arguments.stored;
    Ok(results::shown(
        &stored.store,
        stored.run.as_ref(),
        &arguments.with,
        &arguments.only,
    )?)
}

/// A run's table, with the width and colours that standard output supports.
pub fn print_table(store: &Store, run: &RunSummary) -> Result<(), ExpectedError> {
    print_input(&results::input(store, run)?, RateUnit::MiB)
}

fn print_input(input: &Input, rates: RateUnit) -> Result<(), ExpectedError> {
    let options = TableOptions { rates, ..options() };
    let table = report::sensitivity(input, options).unwrap_or_else(|| report::table(input, options));
    print_with(&table, colours(options))
}

/// Options for a table on standard output.
pub(super) fn options() -> TableOptions {
    let stdout = std::io::stdout();
    let size = rustix::termios::tcgetwinsize(&stdout).map(|size| usize::from(size.ws_col));
    let width = size.ok().filter(|columns| *columns > 0).unwrap_or(WIDTH);
    let colour = output_preferences::is_coloured(&stdout);
    TableOptions {
        colour,
        ..TableOptions::plain(width)
    }
}

/// Options for a table in a file.
pub(super) const fn options_of_files() -> TableOptions {
    TableOptions::plain(WIDTH)
}

/// How to treat the colours of a table with these options.
pub(super) fn colours(options: TableOptions) -> Colours {
    if options.colour { Colours::Kept } else { Colours::Shown }
}
