//! What each command prints and returns: one module per command.

mod bench;
mod cache;
mod clean;
mod compare;
mod cpu;
mod digest;
mod disk;
mod doctor;
mod export;
mod import;
mod kernel;
mod merge;
mod package_files;
mod plan;
mod power_cut;
mod report;
mod risk;
mod run;
mod runs;
mod shell;
mod show;
mod soak;
mod status;
mod submit;
mod trace;

use crate::cli::{Arguments, Command, Format};
use crate::error::ExpectedError;
use files::{Colours, escape_json, output};
use serde_json::Value;
use std::path::Path;
use std::process::ExitCode;
use tools::shell_word;

/// Executes a command.
pub fn dispatch(arguments: Arguments) -> Result<ExitCode, ExpectedError> {
    match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Plan(arguments) => plan::plan(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Runs(arguments) => runs::runs(&arguments),
        Command::Show(arguments) => show::show(&arguments),
        Command::Digest(arguments) => digest::digest(&arguments),
        Command::Export(arguments) => export::export(&arguments),
        Command::Import(arguments) => import::import(&arguments),
        Command::Submit(arguments) => submit::submit(&arguments),
        Command::Merge(arguments) => merge::merge(&arguments),
        Command::Status(arguments) => status::status(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Disk(command) => disk::disk(&command),
        Command::Cpu(command) => cpu::cpu(&command),
        Command::Risk(arguments) => risk::risk(&arguments),
        Command::Kernel(command) => kernel::kernel(&command),
        Command::Cache(command) => cache::cache(&command),
        Command::Trace(command) => trace::trace(&command),
        Command::Doctor(arguments) => doctor::doctor(&arguments),
        Command::Shell(arguments) => shell::shell(&arguments),
        Command::PowerCut(arguments) => power_cut::power_cut(&arguments),
        Command::Soak(arguments) => soak::soak(&arguments),
        Command::Clean => clean::clean(),
        Command::HostJob { ledger } => Ok(host::child_process::main(ledger)),
        Command::PackageFiles { folder, kernel } => package_files::package_files(&folder, kernel),
        Command::Bench(arguments) => bench::bench(&arguments),
    }
}

/// Writes results to standard output. A closed pipe (`| head`) is not an error.
fn print(text: &str) -> Result<(), ExpectedError> {
    print_with(text, Colours::Shown)
}

/// For programs: a name with control characters is still JSON.
fn print_json(value: &Value) -> Result<(), ExpectedError> {
    print(&escape_json(&format!("{value:#}\n")))
}

/// Text for people, or JSON.
fn print_as(format: Format, text: &str) -> Result<(), ExpectedError> {
    match format {
        Format::Text => print(text),
        Format::Json => print(&escape_json(text)),
    }
}

/// Like [`print`], for text that may contain colours.
fn print_with(text: &str, colours: Colours) -> Result<(), ExpectedError> {
    Ok(output::print(text, colours)?)
}

/// ` --store FILE` for a hint; empty for the default.
fn store_option(store: &Path) -> String {
    match store == Path::new("raidlab.db") {
        true => String::new(),
        false => format!(" --store {}", shell_word(&store.display().to_string())),
    }
}
