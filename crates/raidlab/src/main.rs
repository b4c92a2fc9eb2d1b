//! raidlab: a laboratory for Linux filesystems on software RAID.

mod cli;
mod command;
mod error;
mod manual;
mod output_preferences;
mod progress;
mod signals;

use clap::Parser;
use error::ExpectedError;
use files::{Colours, OutputError, sanitize};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    // In a guest this program is the first process and has no user.
    if std::process::id() == 1 && std::env::args().nth(1).as_deref() == Some("guest-init") {
        lab::init::main();
    }
    files::output::report_size_limit_as_error();
    tools::wait_for_programs();
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

/// Help, the version, or what is wrong with the arguments, which are untrusted text.
fn print_usage(message: &clap::Error) -> ExitCode {
    let printed = match message.use_stderr() {
        true => write_usage(message, &mut io::stderr()),
        false => write_usage(message, &mut io::stdout()),
    };
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            ExpectedError::from(OutputError::Standard(error)).report()
        }
        _ => ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(1)),
    }
}

fn write_usage(message: &clap::Error, out: &mut (impl Write + IsTerminal)) -> io::Result<()> {
    let message = message.render();
    let text = match output_preferences::is_coloured(out) {
        true => sanitize(&message.ansi().to_string(), Colours::Kept).into_owned(),
        false => sanitize(&message.to_string(), Colours::Shown).into_owned(),
    };
    out.write_all(text.as_bytes())?;
    out.flush()
}
