//! Ctrl-C.

use crate::error::{EXIT_INTERRUPTED, ExpectedError};
use crate::progress::say;
use runner::Interrupt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// This many signals end the program at once.
const SIGNALS_MAX: u32 = 3;

/// Whether a signal has asked to stop.
pub struct Signals {
    interrupt: Interrupt,
    session_began: Arc<AtomicBool>,
}

impl Signals {
    /// From now on Ctrl-C, SIGTERM and SIGHUP are handled here. Until the session starts they end the program with
    /// this message; then the first one ends the session. A second one may have the same origin, as with
    /// timeout(1): it is ignored. The third one ends the program, whatever it leaves.
    pub fn watch(words: String) -> Result<Signals, ExpectedError> {
        let signals = Signals {
            interrupt: Interrupt::default(),
            session_began: Arc::default(),
        };
        let (interrupt, session_began) = (signals.interrupt.clone(), signals.session_began.clone());
        let seen = AtomicU32::new(0);
        ctrlc::set_handler(move || {
            let count = seen.fetch_add(1, Ordering::Relaxed) + 1;
            interrupt.request();
            let session_began = session_began.load(Ordering::Relaxed);
            if !session_began {
                say(&words);
            }
            if count >= SIGNALS_MAX || !session_began {
                std::process::exit(i32::from(EXIT_INTERRUPTED));
            }
            if count == 1 {
                say(
                    "raidlab: interrupted: the running trials are being stopped and rolled back; those that have ended are \
                     stored",
                );
            }
            if count + 1 == SIGNALS_MAX {
                say(
                    "raidlab: rolling back the interrupted trial; one more signal stops this and leaves the \
                     rest to `raidlab clean`",
                );
            }
        })?;
        Ok(signals)
    }

    /// From now on there is something that must be cleaned up.
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
