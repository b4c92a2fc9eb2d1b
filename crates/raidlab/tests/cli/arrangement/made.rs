//! What an arrangement is made of, and how it is taken apart.

use super::system::{detach, end_child, run, text};
use std::path::{Path, PathBuf};

/// What must be undone of an arrangement.
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
                // SAFETY: a string that ends.
                unsafe { libc::umount2(text(&folder).as_ptr(), libc::MNT_DETACH) };
            }
            Made::Mapped(name) => drop(run("dmsetup", &["remove", "--retry", &name])),
            Made::Array(node) => drop(run("mdadm", &["--stop", &node.to_string_lossy()])),
            Made::Swap(node) => {
                // SAFETY: a string that ends.
                unsafe { libc::swapoff(text(&node).as_ptr()) };
            }
            Made::Loop(node) => {
                detach(&node);
            }
        }
    }
}

/// What was held a moment too long would be taken for the next arrangement's.
pub fn detach_all() {
    for number in 0..64 {
        let backing = PathBuf::from(format!("/sys/block/loop{number}/loop/backing_file"));
        if backing.exists() {
            detach(Path::new(&format!("/dev/loop{number}")));
        }
    }
}
