//! Where a long step is: bars on a terminal, plain lines elsewhere. All of it on standard error.

mod kernel_bar;
mod run_bar;
mod terminal;
mod time_left;

pub use kernel_bar::KernelBar;
pub use run_bar::RunDisplay;

use crate::console;
use crate::plain::{Colours, plain};
use indicatif::ProgressStyle;
use std::io::IsTerminal;
use std::time::Duration;

/// Whether standard error is a terminal on which bars can be drawn. One that can only print lines (`TERM=dumb`, or none
/// said) gets lines, as a file does.
fn can_draw() -> bool {
    !console::is_quiet()
        && std::io::stderr().is_terminal()
        && std::env::var("TERM").is_ok_and(|kind| kind != "dumb")
}

/// A line on standard error. Whoever read it may have gone away (`2>&1 | head`): the work goes on.
pub fn say(line: &str) {
    say_with(line, Colours::Shown);
}

/// The same of what is neither a result nor a warning: it is not printed with `--quiet`.
pub fn note(line: &str) {
    if !console::is_quiet() {
        say(line);
    }
}

/// A line on standard error that may have colours.
pub fn say_with(line: &str, colours: Colours) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{}", plain(line, colours));
}

/// Without a terminal, a step that lasts prints at most one line of progress in this time.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

fn template(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("a template of ours")
        .progress_chars("━╸─")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_the_unit_that_fits() {
        let said = |seconds| clock(Duration::from_secs_f64(seconds));
        assert_eq!(said(0.44), "0.4 s");
        assert_eq!(said(59.9), "59 s");
        assert_eq!(said(185.0), "3 min 5 s");
        assert_eq!(said(7800.0), "2 h 10 min");
    }
}
