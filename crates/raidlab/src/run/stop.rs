//! Ctrl-C.

use crate::expected::{EXIT_INTERRUPTED, ExpectedError};
use crate::progress::say;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user wants to stop.
#[derive(Clone, Default)]
pub struct Stop {
    wanted: Arc<AtomicBool>,
    session_began: Arc<AtomicBool>,
}

impl Stop {
    /// From now on Ctrl-C, SIGTERM and SIGHUP are seen here. Until the session begins they end the program, with
    /// these words; then the first one ends the session, and the second one the program.
    pub fn on_signals(words: String) -> Result<Stop, ExpectedError> {
        let stop = Stop::default();
        let seen = stop.clone();
        ctrlc::set_handler(move || {
            let is_second = seen.wanted.swap(true, Ordering::Relaxed);
            let session_began = seen.session_began.load(Ordering::Relaxed);
            if !session_began {
                say(&words);
            }
            if is_second || !session_began {
                std::process::exit(i32::from(EXIT_INTERRUPTED));
            }
        })
        .map_err(|error| ExpectedError::Machine(format!("cannot watch for Ctrl-C: {error}")))?;
        Ok(stop)
    }

    /// There is something now that must be brought to an end in good order.
    pub fn begin_session(&self) {
        self.session_began.store(true, Ordering::Relaxed);
    }

    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    pub fn flag(&self) -> &AtomicBool {
        &self.wanted
    }
}
