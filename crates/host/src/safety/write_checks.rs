//! Checks immediately before each act that writes, in the process that writes: a trial writes only to the disks of its run,
//! an undo only to the devices that the run made.

use crate::device::device_number::DeviceNumber;
use crate::ledger::ledger_file::ClaimedDisk;
use crate::ledger::run_devices::RunDevices;
use crate::safety::claim::{self, HeldDisk};
use crate::safety::judgement::JUDGING;
use crate::safety::signature::{self, Signature};
use rustix::fs::OFlags;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tools::Tools;

/// Allows a trial to write only to its own disks. The first write to a disk is allowed only if its contents are as
/// last judged and nobody else uses it.
#[derive(Debug)]
pub struct TrialCheck {
    pub(crate) disks: Vec<HeldDisk>,
    pub(crate) devices: RunDevices,
    pub(crate) tools: Tools,
    /// The processes of the run.
    pub(crate) ours: Vec<u32>,
    /// No device known to the kernel is built on the disks: they stay open exclusively.
    pub(crate) keeps_claim: bool,
    /// Disks to which the trial has written.
    pub(crate) written: BTreeSet<DeviceNumber>,
    /// Members that their array has released, open exclusively until they are written to again.
    pub(crate) let_go: Arc<Mutex<BTreeMap<PathBuf, File>>>,
}

/// The kernel may have a removed member open for a moment.
const RELEASED: Duration = Duration::from_secs(2);
const RELEASED_INTERVAL: Duration = Duration::from_millis(20);

impl stack::DiskCheck for TrialCheck {
    fn before_write(&mut self, devices: &[&Path]) -> Result<(), String> {
        for device in devices {
            self.judge(device)?;
        }
        // The program that writes to them opens them itself.
        let mut let_go = locked(&self.let_go);
        devices.iter().for_each(|device| drop(let_go.remove(*device)));
        Ok(())
    }

    fn hold(&mut self, device: &Path, array_uuid: Option<&str>) -> Result<(), String> {
        self.judge(device)?;
        let began = Instant::now();
        let file = loop {
            match claim::open(device, OFlags::EXCL) {
                Err(_) if began.elapsed() < RELEASED => std::thread::sleep(RELEASED_INTERVAL),
                opened => break opened?,
            }
        };
        let found = signature::listed(device, &self.tools)?;
        let is_ours = match (array_uuid, found.as_slice()) {
            (None, []) => true,
            (Some(uuid), [one]) => is_member(one, uuid),
            _ => false,
        };
        if !is_ours {
            let kinds: Vec<&str> = found.iter().filter_map(|one| one.r#type.as_deref()).collect();
            let has = if kinds.is_empty() {
                "no superblock any more".to_owned()
            } else {
                kinds.join(", ")
            };
            let shown = device.display();
            return Err(format!(
                "{shown} was taken over by another program after its array released it: it has {has}"
            ));
        }
        locked(&self.let_go).insert(device.to_owned(), file);
        Ok(())
    }

    fn for_acts(&self) -> Result<Box<dyn stack::DiskCheck + Send>, String> {
        let disks = self.disks.iter().map(HeldDisk::shared).collect::<io::Result<Vec<_>>>();
        Ok(Box::new(Self {
            disks: disks.map_err(|error| format!("cannot hold a disk a second time: {error}"))?,
            devices: self.devices.clone(),
            tools: Tools::find(&JUDGING).map_err(|missing| missing.to_string())?,
            ours: self.ours.clone(),
            keeps_claim: self.keeps_claim,
            written: self.written.clone(),
            let_go: Arc::clone(&self.let_go),
        }))
    }
}

impl TrialCheck {
    /// A check for these disks; no others may be written to.
    pub(crate) fn of(disks: Vec<HeldDisk>, ours: &[u32]) -> io::Result<TrialCheck> {
        let claims = disks.iter().map(HeldDisk::check).collect::<Result<Vec<_>, _>>();
        let claims = claims.map_err(io::Error::other)?;
        Ok(TrialCheck {
            devices: RunDevices {
                claims: claims.iter().map(ClaimedDisk::of).collect(),
                same_boot: true,
                files: Vec::new(),
            },
            disks,
            tools: Tools::find(&JUDGING).map_err(io::Error::other)?,
            ours: ours.to_vec(),
            keeps_claim: true,
            written: BTreeSet::new(),
            let_go: Arc::default(),
        })
    }

    fn judge(&mut self, device: &Path) -> Result<(), String> {
        // Whatever is built on them: first check that they are still the same.
        for disk in &self.disks {
            disk.check()?;
        }
        if !self.devices.own(device) {
            return Err(format!("{} is not a device of the run", device.display()));
        }
        let number = DeviceNumber::of_node(device);
        let disk = self
            .disks
            .iter_mut()
            .find(|disk| Some(disk.identity().number) == number);
        let Some(disk) = disk.filter(|disk| !self.written.contains(&disk.identity().number)) else {
            return Ok(());
        };
        if self.keeps_claim {
            disk.claim()?;
        }
        disk.judge(&self.tools, &self.ours, &[])?;
        self.written.insert(disk.identity().number);
        Ok(())
    }
}

/// Whether it is the superblock of a member of the array with this UUID, which md and libblkid punctuate differently.
fn is_member(signature: &Signature, array_uuid: &str) -> bool {
    let digits = |uuid: &str| -> String { uuid.to_lowercase().chars().filter(char::is_ascii_hexdigit).collect() };
    let is_same = |uuid: &str| digits(uuid) == digits(array_uuid);
    signature.r#type.as_deref() == Some("linux_raid_member") && signature.uuid.as_deref().is_some_and(is_same)
}

/// Allows an undo to write only to devices of the run.
#[derive(Debug)]
pub(crate) struct UndoCheck<'a> {
    pub(crate) devices: &'a RunDevices,
}

impl stack::DiskCheck for UndoCheck<'_> {
    fn before_write(&mut self, devices: &[&Path]) -> Result<(), String> {
        match devices.iter().find(|device| !self.devices.own(device)) {
            Some(other) => Err(format!("{} is not a device of the run", other.display())),
            None => Ok(()),
        }
    }
}

/// The data behind these mutexes stays consistent if another thread panics.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
