//! The user's terminal while bars are drawn on it.

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use std::io::stderr;

/// Prevents the terminal from echoing `^C`, which would shift the bars and leave a line of them behind. Restored
/// when dropped.
pub struct NoControlEcho {
    before: Termios,
}

impl NoControlEcho {
    /// `None` if standard error is not a terminal, or if it currently belongs to another process group.
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

/// A background process that sets terminal modes would be stopped.
fn set(modes: &Termios) -> bool {
    let is_ours = tcgetpgrp(stderr()).is_ok_and(|group| group == getpgrp());
    is_ours && tcsetattr(stderr(), OptionalActions::Now, modes).is_ok()
}
