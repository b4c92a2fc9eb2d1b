//! Request to stop a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once, by a signal or by a failure after which nothing can be stored; seen by all threads of a run.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    wanted: Arc<AtomicBool>,
}

impl Interrupt {
    /// Requests the end. Returns whether it was requested before.
    pub fn request(&self) -> bool {
        self.wanted.swap(true, Ordering::Relaxed)
    }

    pub fn is_requested(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// For threads that watch a process.
    pub fn flag(&self) -> &AtomicBool {
        &self.wanted
    }
}
