//! Ctrl-C.

use crate::expected::ExpectedError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user wants to stop.
#[derive(Clone, Default)]
pub struct Stop {
    wanted: Arc<AtomicBool>,
}

impl Stop {
    /// From now on Ctrl-C, SIGTERM and SIGHUP do not end the program but are seen here; the second one ends it.
    pub fn on_signals() -> Result<Stop, ExpectedError> {
        let stop = Stop::default();
        let wanted = Arc::clone(&stop.wanted);
        ctrlc::set_handler(move || {
            if wanted.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(crate::expected::EXIT_INTERRUPTED));
            }
        })
        .map_err(|error| ExpectedError::Machine(format!("cannot watch for Ctrl-C: {error}")))?;
        Ok(stop)
    }

    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    pub fn flag(&self) -> &AtomicBool {
        &self.wanted
    }
}
