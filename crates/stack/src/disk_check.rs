//! The last look at a disk before it is written to.

use std::path::Path;

/// Judges disks again, in the process that writes, immediately before each act that writes to them.
pub trait DiskCheck {
    /// `devices` are what a program is about to write to: disks, arrays, volumes or partitions, by the paths that it
    /// is given. `Err` says why one of them must not be written to; then nothing is.
    fn before_write(&mut self, devices: &[&Path]) -> Result<(), String>;
}

/// For machines on which there are no disks but those under test: lab guests, and tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDiskCheck;

impl DiskCheck for NoDiskCheck {
    fn before_write(&mut self, _: &[&Path]) -> Result<(), String> {
        Ok(())
    }
}
