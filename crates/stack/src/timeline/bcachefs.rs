//! bcachefs: through its program and /sys/fs/bcachefs.

use super::calls::{Calls, Job};
use super::redundancy::{
    Doing, Redundancy, Status, Written, needs_disk, next_spare, pause, refused, replaced_after_failure,
};
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::sysfs;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::act::{Act, ActKind};
use tools::{Invocation, Tool};

pub(super) const BCACHEFS: Tool = Tool::Filesystem(&filesystems::bcachefs::BCACHEFS);

pub(super) struct Bcachefs {
    folder: PathBuf,
    /// The filesystem's folder in /sys.
    sysfs: PathBuf,
    /// Disks with data, now or later.
    members: Vec<BlockDevice>,
    spares: Vec<BlockDevice>,
    /// Numbers of disks that will have failed when they are replaced.
    fail_first: Vec<u32>,
    written: Option<Written>,
    replacement: Option<Replacement>,
}

/// Programs that replace a disk, one after another.
struct Replacement {
    job: Job,
    left: VecDeque<Invocation>,
    /// The devices that they write to.
    devices: Vec<PathBuf>,
}

impl Bcachefs {
    pub(super) fn new(
        folder: PathBuf,
        members: &[BlockDevice],
        spares: &[BlockDevice],
        acts: &[Act],
    ) -> Result<Self, Cause> {
        Ok(Self {
            sysfs: of_disks(members)?,
            folder,
            members: members.to_vec(),
            spares: spares.to_vec(),
            fail_first: replaced_after_failure(acts),
            written: None,
            replacement: None,
        })
    }

    /// Rewrites the copies of a failed disk to all others; a working disk is evacuated. Then it is removed, which
    /// bcachefs rejects while a copy is missing.
    fn replace(&mut self, act: &Act, disk: &BlockDevice, calls: &mut Calls<'_>) -> Result<(), Cause> {
        let spare = next_spare(&mut self.spares, act)?;
        let number = self.number_of(disk)?;
        let has_failed = act.disk.is_some_and(|disk| self.fail_first.contains(&disk));
        self.members.retain(|member| member.path != disk.path);
        self.members.push(spare.clone());
        self.written = Some(Written::begin(self.members.clone())?);
        let of_device = |words: &[&str]| Invocation::new(BCACHEFS).arg("device").args(words);
        let mut left = VecDeque::new();
        if has_failed {
            left.push_back(of_device(&["set-state", "--force", "failed", &number]).arg(&self.folder));
            left.push_back(
                Invocation::new(BCACHEFS)
                    .args(["data", "rereplicate"])
                    .arg(&self.folder),
            );
        } else {
            left.push_back(of_device(&["evacuate"]).arg(&disk.path));
        }
        left.push_back(of_device(&["remove", &number]).arg(&self.folder));
        let mut devices: Vec<PathBuf> = self.members.iter().map(|member| member.path.clone()).collect();
        devices.extend((!has_failed).then(|| disk.path.clone()));
        let add = of_device(&["add", "--force"]).arg(&self.folder).arg(&spare.path);
        self.replacement = Some(Replacement {
            job: calls.start(add, &devices)?,
            left,
            devices,
        });
        Ok(())
    }

    /// bcachefs gives the number of a removed device to another one.
    fn number_of(&self, disk: &BlockDevice) -> Result<String, Cause> {
        let all = devices(&self.sysfs)?;
        let own = all.iter().find(|device| is_on(device, disk));
        let number = own.and_then(|device| device.file_name()?.to_str()?.strip_prefix("dev-"));
        number
            .map(str::to_owned)
            .ok_or_else(|| Cause::State(format!("bcachefs shows no device {}", disk.path.display())))
    }

    /// Devices with read or write errors, or that an administrator gave up. bcachefs keeps a failing device and
    /// counts its errors.
    fn missing(&self) -> Result<u64, Cause> {
        let mut missing = 0;
        for device in devices(&self.sysfs)? {
            let (state, errors) = (read(&device, "state")?, read(&device, "io_errors")?);
            let is_missing = state.is_some_and(|state| state.contains("[failed]"));
            missing += u64::from(is_missing || errors.is_some_and(|errors| has_failed(&errors)));
        }
        Ok(missing)
    }

    /// Continues a replacement after a program has exited.
    fn go_on(&mut self, calls: &mut Calls<'_>) -> Result<(), Cause> {
        let Some(ended) = self.replacement.take_if(|replacement| replacement.job.has_ended()) else {
            return Ok(());
        };
        let Replacement { job, mut left, devices } = ended;
        calls.end(job)?;
        if let Some(next) = left.pop_front() {
            let job = calls.start(next, &devices)?;
            self.replacement = Some(Replacement { job, left, devices });
        }
        Ok(())
    }
}

impl Redundancy for Bcachefs {
    fn name(&self) -> &'static str {
        "bcachefs"
    }

    fn status(&mut self, calls: &mut Calls<'_>) -> Result<Status, Cause> {
        self.go_on(calls)?;
        let doing = match self.replacement {
            Some(_) => Doing::Rebuilds,
            None => Doing::Nothing,
        };
        Ok(Status {
            doing,
            missing: self.missing()?,
        })
    }

    fn wait(&self, at_most: Duration) -> Result<(), Cause> {
        pause(at_most, self.replacement.is_some());
        Ok(())
    }

    fn finds_failures(&self) -> bool {
        true
    }

    fn act(&mut self, act: &Act, member: Option<&BlockDevice>, calls: &mut Calls<'_>) -> Result<(), Cause> {
        match act.kind {
            // The disk has died.
            ActKind::Fail => Ok(()),
            ActKind::Replace => self.replace(act, needs_disk(act, member)?, calls),
            _ => Err(refused(act, self.name())),
        }
    }

    /// All disks: copies may go to any of them.
    fn written(&self) -> Option<&Written> {
        self.written.as_ref()
    }

    fn disagreeing(&self) -> Result<u64, Cause> {
        Err(Cause::Impossible("bcachefs compares no copies".to_owned()))
    }
}

/// The folder of the mounted filesystem on one of these disks.
fn of_disks(disks: &[BlockDevice]) -> Result<PathBuf, Cause> {
    for folder in sysfs::list(Path::new("/sys/fs/bcachefs"))? {
        let devices = devices(&folder)?;
        if devices
            .iter()
            .any(|device| disks.iter().any(|disk| is_on(device, disk)))
        {
            return Ok(folder);
        }
    }
    Err(Cause::State(
        "/sys/fs/bcachefs shows no filesystem on these disks".to_owned(),
    ))
}

fn devices(filesystem: &Path) -> Result<Vec<PathBuf>, Cause> {
    let mut all = sysfs::list(filesystem)?;
    all.retain(|path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("dev-"))
    });
    Ok(all)
}

fn is_on(device: &Path, disk: &BlockDevice) -> bool {
    let block = fs::canonicalize(device.join("block"));
    block.is_ok_and(|block| block.ends_with(&disk.kernel_name))
}

/// `None` if the device has been removed meanwhile.
fn read(device: &Path, attribute: &str) -> Result<Option<String>, Cause> {
    match sysfs::read(&device.join(attribute)) {
        Err(_) if !device.exists() => Ok(None),
        read => read.map(Some),
    }
}

/// Whether reads or writes failed since the filesystem was made. The counts that follow are those since an
/// administrator's reset.
fn has_failed(io_errors: &str) -> bool {
    let since_creation = io_errors.lines().skip(1).take_while(|line| line.starts_with(' '));
    let mut counts = since_creation.filter_map(|line| line.trim().split_once(':'));
    counts.any(|(of, count)| matches!(of, "read" | "write") && count.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_fails_is_seen_in_its_errors() {
        let of = |read, write, checksum, since_reset| {
            format!(
                "IO errors since filesystem creation\n  read:    {read}\n  write:   {write}\n  checksum:{checksum}\n\
                 IO errors since 7 y ago\n  read:    {since_reset}\n  write:   0\n  checksum:0\n"
            )
        };
        assert!(!has_failed(&of(0, 0, 0, 0)));
        assert!(has_failed(&of(3, 0, 0, 0)));
        assert!(has_failed(&of(0, 12, 0, 0)));
        // The device responds, but with wrong data.
        assert!(!has_failed(&of(0, 0, 1, 0)));
        assert!(!has_failed(&of(0, 0, 0, 1)));
    }
}
