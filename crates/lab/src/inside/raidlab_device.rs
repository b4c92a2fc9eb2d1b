//! `/dev/raidlab` from the guest's side: reads the job, writes events, and returns the counters and digests of the
//! simulated disks. None of this takes virtual time.

use crate::protocol::carried;
use crate::protocol::job::{self, GuestJob};
use crate::protocol::setting::{devices, setting_on};
use disksim::disk_set::Counters;
use rustix::ioctl::{self, Opcode, opcode};
use serde::Serialize;
use std::ffi::c_void;
use std::fs::File;
use std::io::{self, Read, Write};
use study::event::Event;
use study::stack::MachineSpec;
use trial::{Disks, TrialSetting};

/// Counters of the driver for each disk (`RL_COUNTERS`).
const COUNTERS: usize = Counters::NAMES.len();
const DIGEST_BYTES: usize = 16;

const IOC_COUNTERS: Opcode = opcode::read_write::<[u64; COUNTERS]>(b'r', 1);
const IOC_DIGEST: Opcode = opcode::read_write::<[u8; DIGEST_BYTES]>(b'r', 2);
const IOC_DISKS: Opcode = opcode::none(b'r', 3);
const IOC_POWER_OFF: Opcode = opcode::none(b'r', 4);
const IOC_STATE: Opcode = opcode::write::<u64>(b'r', 5);

/// The guest's end of the channel to the program outside.
pub struct Channel {
    device: File,
}

impl Channel {
    pub fn open() -> io::Result<Channel> {
        Ok(Channel {
            device: File::options().read(true).write(true).open("/dev/raidlab")?,
        })
    }

    /// The guest's job and the files that come with it.
    pub fn job(&mut self) -> io::Result<(GuestJob, Vec<carried::CarriedFile>)> {
        let mut text = Vec::new();
        self.device.read_to_end(&mut text)?;
        job::decode(&text)
    }

    /// Writes an event as one line of JSON, in one write.
    pub fn say(&mut self, event: &Event) -> io::Result<()> {
        self.write_line(event)
    }

    /// Writes any other value in the same way.
    pub fn write_line(&mut self, what: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(what).map_err(io::Error::other)?;
        line.push(b'\n');
        self.device.write_all(&line)
    }

    pub fn disks(&self) -> io::Result<u32> {
        // SAFETY: the driver's own ioctl, without an argument.
        let count = unsafe { ioctl::ioctl(&self.device, NoArgument::<IOC_DISKS>) }?;
        Ok(count as u32)
    }

    /// The setting of a stack on this guest's disks, which are those of `machine`.
    pub fn setting(&self, machine: &MachineSpec) -> io::Result<TrialSetting> {
        let disks = Disks::of(&machine.disks, &devices(self.disks()?));
        Ok(setting_on(disks.map_err(io::Error::other)?))
    }

    /// The model's counters of one disk, in the order of `disksim`'s counters.
    pub fn counters(&self, disk: u32) -> io::Result<[u64; COUNTERS]> {
        let mut counters = [0; COUNTERS];
        counters[0] = u64::from(disk);
        // SAFETY: the driver reads a disk's number and writes an array of this size.
        unsafe { ioctl::ioctl(&self.device, ioctl::Updater::<IOC_COUNTERS, _>::new(&mut counters)) }?;
        Ok(counters)
    }

    /// Digest of the contents of a disk.
    pub fn digest(&self, disk: u32) -> io::Result<[u8; DIGEST_BYTES]> {
        let mut digest = [0; DIGEST_BYTES];
        digest[..4].copy_from_slice(&disk.to_le_bytes());
        // SAFETY: the driver reads a disk's number and writes an array of this size.
        unsafe { ioctl::ioctl(&self.device, ioctl::Updater::<IOC_DIGEST, _>::new(&mut digest)) }?;
        Ok(digest)
    }

    /// Makes the disks start again from a state of [`crate::guest::States`].
    ///
    /// # Errors
    /// `EBUSY` while requests are in flight, `ENOENT` if there is no such state.
    pub fn take_state(&self, index: u64) -> io::Result<()> {
        // SAFETY: the driver reads a number of this size.
        unsafe { ioctl::ioctl(&self.device, ioctl::Setter::<IOC_STATE, u64>::new(index)) }?;
        Ok(())
    }

    /// Ends the guest like a power cut.
    pub fn power_off(&self) -> ! {
        // SAFETY: the driver's own ioctl, without an argument; it does not return.
        let _ = unsafe { ioctl::ioctl(&self.device, NoArgument::<IOC_POWER_OFF>) };
        std::process::exit(1)
    }
}

/// An ioctl without an argument, whose result is a number.
struct NoArgument<const OPCODE: Opcode>;

// SAFETY: no memory is passed.
unsafe impl<const OPCODE: Opcode> ioctl::Ioctl for NoArgument<OPCODE> {
    type Output = i32;
    const IS_MUTATING: bool = false;

    fn opcode(&self) -> Opcode {
        OPCODE
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::null_mut()
    }

    unsafe fn output_from_ptr(out: ioctl::IoctlOutput, _: *mut c_void) -> rustix::io::Result<i32> {
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use study::DiskCounter;

    #[test]
    fn the_driver_has_the_counters_of_events() {
        assert_eq!(Counters::NAMES, DiskCounter::ALL.map(DiskCounter::name));
    }
}
