//! The user's terminal while bars are drawn on it.

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use std::io::stderr;

/// Keeps the terminal from showing `^C`: it would move what the bars take for their place, and a line of them would
/// stay. Given back when dropped.
pub struct NoControlEcho {
    before: Termios,
}

impl NoControlEcho {
    /// None if standard error is no terminal, or another's at the moment.
    pub fn begin() -> Option<NoControlEcho> {
        let before = tcgetattr(stderr()).ok()?;
        let mut without = before.clone();
        without.local_modes.remove(LocalModes::ECHOCTL);
        set(&without).then_some(NoControlEcho { before })
    }
}

impl Drop for NoControlEcho {
    fn drop(&mut self) {
        set(&self.before);
    }
}

/// Who is in the background and sets the terminal is stopped.
fn set(modes: &Termios) -> bool {
    let is_ours = tcgetpgrp(stderr()).is_ok_and(|group| group == getpgrp());
    is_ours && tcsetattr(stderr(), OptionalActions::Now, modes).is_ok()
}
