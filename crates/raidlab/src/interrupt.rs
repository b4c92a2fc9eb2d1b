//! Ctrl-C.

use crate::expected::{EXIT_INTERRUPTED, ExpectedError};
use crate::progress::say;
use runner::Interrupt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user wants to stop, by a signal.
pub struct Signals {
    interrupt: Interrupt,
    session_began: Arc<AtomicBool>,
}

impl Signals {
    /// From now on Ctrl-C, SIGTERM and SIGHUP are seen here. Until the session begins they end the program, with
    /// these words; then the first one ends the session, and the second one the program.
    pub fn watch(words: String) -> Result<Signals, ExpectedError> {
        let signals = Signals {
            interrupt: Interrupt::default(),
            session_began: Arc::default(),
        };
        let (interrupt, session_began) = (signals.interrupt.clone(), signals.session_began.clone());
        ctrlc::set_handler(move || {
            let is_second = interrupt.request();
            let session_began = session_began.load(Ordering::Relaxed);
            if !session_began {
                say(&words);
            }
            if is_second || !session_began {
                std::process::exit(i32::from(EXIT_INTERRUPTED));
            }
        })
        .map_err(|error| ExpectedError::Machine(format!("cannot watch for Ctrl-C: {error}")))?;
        Ok(signals)
    }

    /// There is something now that must be brought to an end in good order.
    pub fn begin_session(&self) {
        self.session_began.store(true, Ordering::Relaxed);
    }

    pub const fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    pub fn is_wanted(&self) -> bool {
        self.interrupt.is_requested()
    }
}
