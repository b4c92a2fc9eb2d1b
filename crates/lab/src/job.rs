//! What the program outside tells the guest's init to do.

use serde::{Deserialize, Serialize};
use study::plan::Trial;

/// Handed to the guest as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Job {
    /// Run one trial and say its events.
    Trial(Box<Trial>),
    /// Bring the trial's stack up and leave a shell on the console.
    Shell(Box<Trial>),
}
