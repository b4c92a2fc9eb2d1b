//! The parts of an arrangement, and how they are removed.

use super::system::{detach, end_child, run, text};
use std::path::{Path, PathBuf};

/// An object that must be removed after the test.
pub enum Made {
    Loop(PathBuf),
    Mount(PathBuf),
    Child(libc::pid_t),
    Mapped(String),
    Array(PathBuf),
    Swap(PathBuf),
}

impl Made {
    pub fn undo(self) {
        match self {
            Made::Child(pid) => end_child(pid),
            Made::Mount(folder) => {
                // SAFETY: a NUL-terminated string.
                unsafe { libc::umount2(text(&folder).as_ptr(), libc::MNT_DETACH) };
            }
            Made::Mapped(name) => drop(run("dmsetup", &["remove", "--retry", &name])),
            Made::Array(node) => drop(run("mdadm", &["--stop", &node.to_string_lossy()])),
            Made::Swap(node) => {
                // SAFETY: a NUL-terminated string.
                unsafe { libc::swapoff(text(&node).as_ptr()) };
            }
            Made::Loop(node) => {
                detach(&node);
            }
        }
    }
}

/// A device that is detached too late would be mistaken for one of the next arrangement.
pub fn detach_all() {
    for number in 0..64 {
        let backing = PathBuf::from(format!("/sys/block/loop{number}/loop/backing_file"));
        if backing.exists() {
            detach(Path::new(&format!("/dev/loop{number}")));
        }
    }
}
