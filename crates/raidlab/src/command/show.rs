//! `raidlab show`: the result table in the terminal.

use super::{print_with, stored};
use crate::cli::ShowArguments;
use crate::expected::ExpectedError;
use crate::plain::Colours;
use report::TableOptions;
use std::io::IsTerminal;
use std::process::ExitCode;
use store::{RunSummary, Store};

/// Where there is no terminal to ask.
const WIDTH: usize = 120;

pub fn show(arguments: &ShowArguments) -> Result<ExitCode, ExpectedError> {
    let (store, run) = stored::open(&arguments.store, arguments.run)?;
    print_table(&store, &run)?;
    Ok(ExitCode::SUCCESS)
}

/// A run's table, as wide and as colourful as standard output can be.
pub fn print_table(store: &Store, run: &RunSummary) -> Result<(), ExpectedError> {
    let stdout = std::io::stdout();
    let size = rustix::termios::tcgetwinsize(&stdout).map(|size| usize::from(size.ws_col));
    let width = size.ok().filter(|columns| *columns > 0).unwrap_or(WIDTH);
    let colour = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let table = report::table(&stored::input(store, run)?, TableOptions { width, colour });
    print_with(&table, if colour { Colours::Kept } else { Colours::Shown })
}
