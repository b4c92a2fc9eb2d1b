//! The last check of a disk before it is written to.

use std::path::Path;

/// Checks disks in the process that writes, immediately before each act that writes to them.
pub trait DiskCheck {
    /// `devices` are what a program will write to: disks, arrays, volumes or partitions, by the paths in its
    /// arguments. `Err` is the reason why one of them must not be written to; then nothing is written.
    fn before_write(&mut self, devices: &[&Path]) -> Result<(), String>;
}

/// For machines that have only disks under test: lab guests, and tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDiskCheck;

impl DiskCheck for NoDiskCheck {
    fn before_write(&mut self, _: &[&Path]) -> Result<(), String> {
        Ok(())
    }
}
