//! What provisioning is done with, and under which circumstances.

use crate::access::Access;
use crate::ledger::Ledger;
use std::path::Path;
use std::time::Instant;
use study::event::{Event, Guard};

/// Whether what was made is taken down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Teardown {
    /// All of it, in reverse order, until the devices are as free as they were.
    Full,
    /// Nothing: the machine ends with the trial, as a lab guest does.
    None,
}

/// Everything that provisioning needs besides the spec and the devices.
pub struct Context<'a> {
    pub access: Access<'a>,
    pub ledger: &'a mut dyn Ledger,
    /// When the trial began: the zero of the events' times.
    pub began: Instant,
    pub setting: Setting<'a>,
}

/// What kind of a machine a stack is built on, and under which name.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// Where the mount point is made; nothing is created in any other folder.
    pub work_folder: &'a Path,
    /// The stack's own name, unlike that of any other on this machine: `raidlab-3f2c`. It becomes the array's name
    /// and that of the mount point: lower-case letters, digits and `-`, 32 at the most.
    pub name: &'a str,
    /// Every byte of the devices is zero, so that parity and copies agree already and inode tables are blank.
    pub zeroed: bool,
    /// The disks have the spec's queue depth and write cache already: simulated ones are made with them.
    pub disks_are_set: bool,
    pub teardown: Teardown,
}

impl Context<'_> {
    pub(crate) fn step(&mut self, name: &str) {
        let at_ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
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
