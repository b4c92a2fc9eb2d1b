//! The context of provisioning.

use crate::machine::access::Access;
use crate::machine::ledger::Ledger;
use std::path::Path;
use std::time::Instant;
use study::event::{Event, Guard};

/// Whether the stack is torn down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Teardown {
    /// Completely, in reverse order, until the devices are free again.
    Full,
    /// Not at all: the machine ends with the trial, like a lab guest.
    None,
}

/// What the disks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskKind {
    /// Disks and loop devices of a host.
    Real,
    /// Disks of the lab. They are created with the spec's queue depth and write cache, and are not faulty unless an act
    /// makes them so.
    Simulated,
}

/// Everything that provisioning needs besides the spec and the devices.
pub struct Context<'a> {
    pub access: Access<'a>,
    pub ledger: &'a mut dyn Ledger,
    /// Start of the trial: time zero of events.
    pub began: Instant,
    pub setting: StackSetting<'a>,
}

/// The machine that a stack is built on, and the stack's name.
#[derive(Clone, Copy, Debug)]
pub struct StackSetting<'a> {
    /// Folder of the mount point; nothing is created in any other folder.
    pub work_folder: &'a Path,
    /// The stack's unique name on this machine: `raidlab-3f2c`. It is also the name of the array and of the mount
    /// point: lower-case letters, digits and `-`, at most 32.
    pub name: &'a str,
    /// The devices are all zeros, so parity and copies are already in sync and inode tables are blank.
    pub zeroed: bool,
    /// The stack was created on these disks before: it is assembled and mounted.
    pub created: bool,
    pub disk_kind: DiskKind,
    pub teardown: Teardown,
}

impl Context<'_> {
    pub(crate) fn step(&mut self, name: &str) {
        self.step_at(name, Instant::now());
    }

    /// A step that began when the clock was read for another purpose: in a guest, reading it takes time.
    pub(crate) fn step_at(&mut self, name: &str, at: Instant) {
        let at_ns = u64::try_from((at - self.began).as_nanos()).unwrap_or(u64::MAX);
        self.access.recorder.record(Event::Step {
            name: name.to_owned(),
            at_ns,
        });
    }

    pub(crate) fn provenance(&mut self, key: &str, value: impl Into<String>) {
        self.access.recorder.record(Event::Provenance {
            key: key.to_owned(),
            value: value.into(),
        });
    }

    pub(crate) fn guard(&mut self, name: &str, passed: bool, detail: String) -> Guard {
        let guard = Guard {
            name: name.to_owned(),
            test: None,
            passed,
            detail,
        };
        self.access.recorder.record(Event::Guard(guard.clone()));
        guard
    }
}
