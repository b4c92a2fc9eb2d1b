//! The last check of a disk before it is written to.

use crate::machine::error::Cause;
use std::path::Path;

/// Checks disks in the process that writes, immediately before each act that writes to them.
pub trait DiskCheck {
    /// `devices` are the devices that a program will write to: disks, arrays, volumes or partitions, by the paths
    /// in its arguments. `Err` is the reason why one of them must not be written to; then nothing is written.
    fn before_write(&mut self, devices: &[&Path]) -> Result<(), String>;

    /// A member that was removed from its array: it is reserved until it is written to again. It must still have
    /// the superblock of the array with this UUID and no other signature, or no signature at all if there is no
    /// UUID: otherwise another program has taken it meanwhile.
    fn hold(&mut self, device: &Path, array_uuid: Option<&str>) -> Result<(), String> {
        let _ = (device, array_uuid);
        Ok(())
    }

    /// The same check, for the thread that does a study's acts. `Err` if this one cannot be used by two threads.
    fn for_acts(&self) -> Result<Box<dyn DiskCheck + Send>, String> {
        Err("these disks are checked by one thread only".to_owned())
    }
}

/// Checks devices before they are written to.
pub(crate) fn before_write<P: AsRef<Path>>(check: &mut dyn DiskCheck, devices: &[P]) -> Result<(), Cause> {
    let devices: Vec<&Path> = devices.iter().map(AsRef::as_ref).collect();
    let judged = check.before_write(&devices);
    judged.map_err(|why| Cause::Refused(format!("nothing was written: {why}")))
}

/// For machines that have only disks under test: lab guests, and tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDiskCheck;

impl DiskCheck for NoDiskCheck {
    fn before_write(&mut self, _: &[&Path]) -> Result<(), String> {
        Ok(())
    }

    fn for_acts(&self) -> Result<Box<dyn DiskCheck + Send>, String> {
        Ok(Box::new(Self))
    }
}
