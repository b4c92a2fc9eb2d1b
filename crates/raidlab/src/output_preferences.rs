//! The user's preferences for output: colours and progress. Decided once, from the command line and the
//! environment.

use clap::ValueEnum;
use std::io::IsTerminal;
use std::sync::OnceLock;

/// When output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    // On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`.
    #[default]
    Auto,
    Always,
    Never,
}

/// Preferences from the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct OutputPreferences {
    pub is_quiet: bool,
    pub color: Color,
}

static PREFERENCES: OnceLock<OutputPreferences> = OnceLock::new();

/// Valid from now on; the first call counts.
pub fn set(preferences: OutputPreferences) {
    let _ = PREFERENCES.set(preferences);
}

fn preferences() -> OutputPreferences {
    PREFERENCES.get().copied().unwrap_or_default()
}

/// Whether only results, warnings and errors are printed.
pub fn is_quiet() -> bool {
    preferences().is_quiet
}

/// Whether text on this stream is coloured.
pub fn is_coloured(stream: &impl IsTerminal) -> bool {
    let variable = |name| std::env::var_os(name).unwrap_or_default();
    match preferences().color {
        Color::Always => true,
        Color::Never => false,
        // An empty NO_COLOR counts as not set: https://no-color.org
        Color::Auto => stream.is_terminal() && variable("NO_COLOR").is_empty() && variable("TERM") != "dumb",
    }
}
