//! What a test needs of the machine that runs it, and how much of it the test takes. Tests only.
//!
//! A test that needs what the machine lacks is skipped, with a reason, by [`skip`] or [`met`]. A test that starts a guest
//! holds [`one_processor`]; a test that measures wall time holds [`all_processors`]. A test that only `make test-all`
//! runs has the attribute `#[ignore = "test-all"]`.

mod mounts;
mod skips;
mod slots;

pub use mounts::own_mounts;
pub use skips::{FILE, met, skip, skip_part};
pub use slots::{Slot, all_processors, one_processor};

use std::path::Path;

/// Whether the tests run as root.
pub fn root() -> Result<(), String> {
    let is_root = rustix::process::geteuid().is_root();
    is_root.then_some(()).ok_or("needs root".to_owned())
}

/// Whether a program is installed, as Debian's package has it.
pub fn program(name: &str, package: &str) -> Result<(), String> {
    let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];
    let is_there = folders.iter().any(|folder| Path::new(folder).join(name).exists());
    is_there
        .then_some(())
        .ok_or_else(|| format!("no {name} (Debian package {package})"))
}
