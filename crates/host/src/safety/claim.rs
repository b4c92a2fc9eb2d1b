//! A disk that is held from its judgement to the end of the run. An open file description keeps the kernel from giving
//! its number and name to another disk. While the run has nothing on it, a second, exclusive one keeps the kernel from
//! mounting it, building on it, or opening it exclusively for others.

use crate::device::blank_check::Fingerprint;
use crate::device::device_number::DeviceNumber;
use crate::device::disk::Disk;
use crate::device::identity::Identity;
use crate::ledger::leftovers;
use crate::safety::judgement::{self, Circumstances, JUDGING};
use crate::safety::obstacle::Obstacle;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::path::Path;
use tools::Tools;

/// `BLKRRPART` of <linux/fs.h>.
const BLKRRPART: libc::Ioctl = 0x125F;

/// A disk of the run.
#[derive(Debug)]
pub struct HeldDisk {
    identity: Identity,
    /// While it is open, the kernel gives the number and name to no other disk.
    pin: File,
    claim: Option<File>,
    /// Its fingerprint when it was last judged.
    left: Fingerprint,
}

/// A disk that is passed to a child process: its identity and the numbers of its open files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Handed {
    identity: Identity,
    left: Fingerprint,
    pin: RawFd,
    claim: RawFd,
}

impl HeldDisk {
    /// Holds a disk that was judged, if it is still the same, still attached, and not in use.
    pub(crate) fn take(identity: &Identity, left: &Fingerprint) -> Result<HeldDisk, String> {
        let pin = open(&identity.node, OFlags::empty())?;
        let held = HeldDisk {
            claim: None,
            identity: identity.clone(),
            left: left.clone(),
            pin,
        };
        let mut held = held;
        held.check()?;
        held.claim()?;
        Ok(held)
    }

    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(crate) fn left(&self) -> &Fingerprint {
        &self.left
    }

    /// Opens it exclusively; the run must have nothing on it.
    pub(crate) fn claim(&mut self) -> Result<(), String> {
        if self.claim.is_none() {
            self.claim = Some(open(&self.identity.node, OFlags::EXCL)?);
        }
        Ok(())
    }

    /// Closes the exclusive description, for a program that opens the disk exclusively itself.
    pub fn release(&mut self) {
        self.claim = None;
    }

    /// Whether its node still refers to the disk that was judged.
    pub fn check(&self) -> Result<Disk, String> {
        let shown = self.identity.node.display();
        let now = DeviceNumber::of_file(&self.pin);
        if now != Some(self.identity.number) {
            return Err(format!("{shown} is not the disk that was checked: another one is open"));
        }
        let disk = Disk::at(&self.identity.node).map_err(|error| error.to_string())?;
        match self.identity.check(&Identity::of(&disk)) {
            Ok(()) => Ok(disk),
            Err(differs) => Err(format!("{shown} is not the disk that was checked: {differs}")),
        }
    }

    /// Judges it again: it must be the same disk, not in use, with the same contents as when last judged. All
    /// signatures must be among `given_up`.
    pub(crate) fn judge(&self, tools: &Tools, ours: &[u32], given_up: &[Obstacle]) -> Result<(), String> {
        self.judged(tools, ours, given_up, true).map(drop)
    }

    /// Judges it after the run removed what it had on it: the present contents are recorded as left by the run.
    pub(crate) fn judge_what_is_left(&mut self, tools: &Tools, ours: &[u32]) -> Result<(), String> {
        self.claim()?;
        self.left = self.judged(tools, ours, &[], false)?;
        Ok(())
    }

    fn judged(
        &self,
        tools: &Tools,
        ours: &[u32],
        given_up: &[Obstacle],
        as_left: bool,
    ) -> Result<Fingerprint, String> {
        let disk = self.check()?;
        let circumstances = Circumstances {
            tools,
            ours,
            is_claimed: self.claim.is_some(),
            left: Some(&self.left),
        };
        let judgement = judgement::judge(&disk, &circumstances);
        let is_against = |obstacle: &&Obstacle| match obstacle {
            Obstacle::Changed { .. } => as_left,
            other => !given_up.contains(other),
        };
        let against: Vec<String> = judgement
            .obstacles
            .iter()
            .filter(is_against)
            .map(|obstacle| format!("{disk}: {obstacle}"))
            .collect();
        match judgement.fingerprint.filter(|_| against.is_empty()) {
            Some(fingerprint) => Ok(fingerprint),
            None => Err(against.join("; ")),
        }
    }

    /// Makes the kernel reread the partition table after it was erased, while the disk is open exclusively.
    pub(crate) fn forget_partitions(&self) {
        if let Some(claim) = &self.claim {
            // SAFETY: takes no argument and writes no memory of this process.
            unsafe { libc::ioctl(claim.as_raw_fd(), BLKRRPART, 0) };
        }
    }

    /// The same disk for another thread, not held exclusively.
    pub(crate) fn shared(&self) -> io::Result<HeldDisk> {
        Ok(HeldDisk {
            identity: self.identity.clone(),
            pin: self.pin.try_clone()?,
            claim: None,
            left: self.left.clone(),
        })
    }

    /// The identity and files for a child process.
    pub(crate) fn handed(&self) -> Option<Handed> {
        Some(Handed {
            identity: self.identity.clone(),
            left: self.left.clone(),
            pin: self.pin.as_raw_fd(),
            claim: self.claim.as_ref()?.as_raw_fd(),
        })
    }
}

impl Handed {
    /// The file descriptors that the process must have open.
    pub(crate) fn files(&self) -> [RawFd; 2] {
        [self.pin, self.claim]
    }

    /// Called in the child process.
    pub(crate) fn held(self) -> Result<HeldDisk, String> {
        let mut files = self.files().into_iter().map(|number| {
            // SAFETY: only queries a file descriptor.
            if number <= 2 || unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
                return Err("the descriptor of a disk is not open".to_owned());
            }
            // SAFETY: the session passed this file, and nothing else in this process knows its number.
            Ok(unsafe { File::from_raw_fd(number) })
        });
        let mut next = || {
            files
                .next()
                .unwrap_or_else(|| Err("a descriptor of a disk is missing".to_owned()))
        };
        let (pin, claim) = (next()?, next()?);
        Ok(HeldDisk {
            identity: self.identity,
            pin,
            claim: Some(claim),
            left: self.left,
        })
    }
}

/// Records the contents of a disk that the kernel held for a run until now.
pub(crate) fn note_what_is_left(identity: &Identity) -> Result<(), String> {
    let none = Fingerprint::new();
    let mut held = HeldDisk::take(identity, &none)?;
    let tools = Tools::find(&JUDGING).map_err(|missing| missing.to_string())?;
    held.judge_what_is_left(&tools, &[std::process::id()])?;
    leftovers::note(identity, held.left()).map_err(|error| error.to_string())
}

pub(crate) fn open(node: &Path, flags: OFlags) -> Result<File, String> {
    match rustix::fs::open(node, OFlags::RDONLY | OFlags::CLOEXEC | flags, Mode::empty()) {
        Ok(file) => Ok(File::from(file)),
        Err(rustix::io::Errno::BUSY) => Err(format!(
            "{} is held exclusively by the kernel or a program",
            node.display()
        )),
        Err(errno) => Err(format!(
            "{} cannot be opened: {}",
            node.display(),
            io::Error::from(errno)
        )),
    }
}
