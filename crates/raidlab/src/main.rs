//! raidlab: a laboratory for Linux filesystems on software RAID.

mod cli;
mod command;
mod expected;
mod interrupt;
mod manual;
mod output_preferences;
mod progress;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    // In a guest this program is the first process and has no user.
    if std::process::id() == 1 && std::env::args().nth(1).as_deref() == Some("guest-init") {
        lab::init::main();
    }
    let arguments = cli::Arguments::parse();
    output_preferences::set(arguments.output_preferences());
    progress::show_library_log();
    match command::dispatch(arguments) {
        Ok(code) => code,
        Err(error) => error.report(),
    }
}
