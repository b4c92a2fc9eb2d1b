//! raidlab: a laboratory for Linux filesystems on software RAID.

mod cli;
mod command;
mod error;
mod interrupt;
mod manual;
mod output_preferences;
mod progress;

use clap::Parser;
use error::ExpectedError;
use files::OutputError;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    // In a guest this program is the first process and has no user.
    if std::process::id() == 1 && std::env::args().nth(1).as_deref() == Some("guest-init") {
        lab::init::main();
    }
    files::output::report_size_limit_as_error();
    let arguments = match cli::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(message) => return print_usage(&message),
    };
    output_preferences::set(arguments.output_preferences());
    progress::show_library_log();
    match command::dispatch(arguments) {
        Ok(code) => code,
        Err(error) => error.report(),
    }
}

/// Help, the version, or what is wrong with the arguments.
fn print_usage(message: &clap::Error) -> ExitCode {
    let printed = message.print().and_then(|()| io::stdout().flush());
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            ExpectedError::from(OutputError::Standard(error)).report()
        }
        _ => ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(1)),
    }
}
