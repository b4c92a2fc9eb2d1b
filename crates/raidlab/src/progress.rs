//! Progress of long steps: bars on a terminal, plain lines elsewhere; always on standard error.

mod kernel_bar;
mod library_log;
mod run_bar;
mod terminal;
mod time_left;

pub use kernel_bar::KernelBar;
pub use library_log::show_library_log;
pub use run_bar::RunDisplay;

use crate::output_preferences;
use files::{Colours, sanitize};
use indicatif::ProgressStyle;
use std::io::IsTerminal;
use std::time::Duration;

/// Whether standard error is a terminal on which bars can be drawn. A terminal that can only print lines
/// (`TERM=dumb`, or unset) gets lines, like a file.
fn can_draw() -> bool {
    !output_preferences::is_quiet()
        && std::io::stderr().is_terminal()
        && std::env::var("TERM").is_ok_and(|kind| kind != "dumb")
}

/// A line on standard error. A closed pipe (`2>&1 | head`) does not stop the command.
pub fn say(line: &str) {
    say_with(line, Colours::Shown);
}

/// The same for text that is neither a result nor a warning: not printed with `--quiet`.
pub fn note(line: &str) {
    if !output_preferences::is_quiet() {
        say(line);
    }
}

/// A line on standard error that may contain colours.
pub fn say_with(line: &str, colours: Colours) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{}", sanitize(line, colours));
}

/// Without a terminal, minimum interval between progress lines of a step.
const LINE_EVERY: Duration = Duration::from_secs(10);

fn template(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("a template of ours")
        .progress_chars("━╸─")
}
