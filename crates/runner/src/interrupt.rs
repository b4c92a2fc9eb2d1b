//! Whether a run is to be stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once, by a signal or by a failure after which nothing more can be kept; seen by all threads of a run.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    wanted: Arc<AtomicBool>,
}

impl Interrupt {
    /// Asks for the end. Whether that was asked for before.
    pub fn request(&self) -> bool {
        self.wanted.swap(true, Ordering::Relaxed)
    }

    pub fn is_requested(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// For those who watch a process.
    pub fn flag(&self) -> &AtomicBool {
        &self.wanted
    }
}
