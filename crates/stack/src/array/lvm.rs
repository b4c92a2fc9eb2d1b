//! LVM: a volume group on the disks with one logical volume.

use crate::machine::access::Access;
use crate::machine::error::Cause;
use crate::machine::executor::Executor;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use study::stack::{ArraySpec, Level, Members};
use tools::{Invocation, Tool};

/// Name of the volume in its group.
pub(crate) const VOLUME: &str = "data";

/// Maximum time without progress of the synchronisation.
const STALLED: Duration = Duration::from_secs(600);

/// A volume group to create.
#[derive(Debug)]
pub(crate) struct Volume<'a> {
    pub(crate) spec: &'a ArraySpec,
    pub(crate) group: &'a str,
    pub(crate) devices: &'a [PathBuf],
    pub(crate) zeroed: bool,
    /// udev creates the device nodes.
    pub(crate) udev: bool,
}

pub(crate) fn udev_runs(executor: &mut dyn Executor) -> bool {
    executor.exists(Path::new("/run/udev/control"))
}

/// A call of LVM that sees only these devices, including the lab's (by their name in /proc/devices), writes nothing
/// outside them, and waits for udev only if it is running.
pub(crate) fn call(command: &str, devices: &[PathBuf], udev: bool) -> Invocation {
    call_with(command, devices, udev, "")
}

/// For groups on other layers: volumes may be physical volumes, a full thin pool fails writes at once instead of after a minute, and
/// LVM runs no program of thin-provisioning-tools when a pool or a cache is activated that was not closed.
pub(crate) const ON_ANY_DEVICE: &str = " devices/scan_lvs=1 activation/error_when_full=1 global/thin_check_executable=\"\" global/cache_check_executable=\"\"";

/// The same with more settings of LVM.
pub(crate) fn call_with(command: &str, devices: &[PathBuf], udev: bool, settings: &str) -> Invocation {
    let accepted: String = devices
        .iter()
        .map(|device| format!("\"a|^{}$|\",", device.display()))
        .collect();
    let udev = u8::from(udev);
    let config = format!(
        "devices {{ filter=[{accepted}\"r|.*|\"] use_devicesfile=0 types=[\"raidlab\",16] }} \
         activation {{ udev_sync={udev} udev_rules={udev} monitoring=0 }} \
         backup {{ backup=0 archive=0 }} global {{ use_lvmpolld=0 }}{settings}"
    );
    Invocation::new(Tool::Lvm).arg(command).arg("--config").arg(config)
}

/// A volume group on other layers, with one volume that is used.
#[derive(Clone, Debug)]
pub(crate) struct LayerGroup {
    pub(crate) name: String,
    pub(crate) devices: Vec<PathBuf>,
    /// udev creates the device nodes.
    udev: bool,
}

impl LayerGroup {
    pub(crate) fn of(name: String, devices: &[&Path], executor: &mut dyn Executor) -> Self {
        Self {
            name,
            devices: devices.iter().map(|device| device.to_path_buf()).collect(),
            udev: udev_runs(executor),
        }
    }

    /// The node of its volume.
    pub(crate) fn node(&self) -> PathBuf {
        Path::new("/dev").join(&self.name).join(VOLUME)
    }

    pub(crate) fn call(&self, command: &str) -> Invocation {
        call_with(command, &self.devices, self.udev, ON_ANY_DEVICE)
    }

    pub(crate) fn creation(&self) -> Invocation {
        self.call("vgcreate").arg("--yes").arg(&self.name).args(&self.devices)
    }

    /// Makes the volume available.
    pub(crate) fn activation(&self) -> Invocation {
        self.call("vgchange").args(["--yes", "--activate", "y"]).arg(&self.name)
    }
}

/// How the names of a group's devices begin in device mapper, which LVM writes with double hyphens.
pub(crate) fn mapper_prefix(group: &str) -> String {
    format!("{}-", group.replace('-', "--"))
}

/// Name of a stack's volume group. Its folder in /dev has the same name, which must not be /dev/raidlab, the lab's
/// own device.
pub(crate) fn group_of(stack: &str) -> String {
    format!("vg-{stack}")
}

impl Volume<'_> {
    pub(crate) fn device(&self) -> PathBuf {
        Path::new("/dev").join(self.group).join(VOLUME)
    }

    /// Rejects an existing group with this name.
    pub(crate) fn must_be_free(&self, executor: &mut dyn Executor) -> Result<(), Cause> {
        let folder = Path::new("/dev").join(self.group);
        match executor.exists(&folder) {
            true => Err(Cause::State(format!("{} already exists", folder.display()))),
            false => Ok(()),
        }
    }

    pub(crate) fn create_group(&self) -> Invocation {
        let mut call = call("vgcreate", self.devices, self.udev).arg("--yes");
        if let Some(bytes) = self.spec.extent_bytes {
            call = call.arg("--physicalextentsize").arg(format!("{bytes}b"));
        }
        call.arg(self.group).args(self.devices)
    }

    pub(crate) fn create_volume(&self) -> Invocation {
        let level = self.spec.level;
        let spares = (self.spec.spares as usize).min(self.devices.len());
        let members = &self.devices[..self.devices.len() - spares];
        let disks = members.len();
        let stripes = match level.facts().data {
            Members::One => 1,
            Members::All if level.facts().has_chunk => disks,
            Members::All => 1,
            Members::AllBut(parity) => disks - parity as usize,
            Members::Halves | Members::Copies => disks / 2,
        };
        let mut call = call("lvcreate", self.devices, self.udev)
            .args([
                "--yes",
                "--wipesignatures",
                "n",
                "--zero",
                "n",
                "--name",
                VOLUME,
                "--type",
            ])
            .arg(level.facts().type_word);
        if level.facts().has_chunk {
            call = call.arg("--stripes").arg(stripes.to_string());
            if let Some(bytes) = self.spec.chunk_bytes {
                call = call.arg("--stripesize").arg(format!("{bytes}b"));
            }
        }
        match level {
            Level::LvmRaid1 => call = call.arg("--mirrors").arg((disks - 1).to_string()),
            Level::LvmRaid10 => call = call.args(["--mirrors", "1"]),
            _ => {}
        }
        // LVM always computes the parity of RAID 6.
        if self.zeroed && level.is_redundant() && level != Level::LvmRaid6 {
            call = call.arg("--nosync");
        }
        call = match self.spec.member_size_bytes {
            Some(bytes) => call.arg("--size").arg(format!("{}b", bytes * stripes as u64)),
            None if spares > 0 => call.args(["--extents", "100%PVS"]),
            None => call.args(["--extents", "100%FREE"]),
        };
        let call = call.arg(self.group);
        match spares {
            0 => call,
            _ => call.args(members),
        }
    }

    /// Waits until copies and parity are in sync.
    pub(crate) fn wait_until_in_sync(&self, access: &mut Access<'_>) -> Result<(), Cause> {
        if !self.spec.level.is_redundant() {
            return Ok(());
        }
        let ask = call("lvs", self.devices, self.udev)
            .args(["--noheadings", "--options", "raid_sync_action,sync_percent"])
            .arg(format!("{}/{VOLUME}", self.group));
        let mut last = String::new();
        let mut moved_at = Instant::now();
        loop {
            let answer = access.ask(&ask)?.stdout.trim().to_owned();
            if answer.starts_with("idle") && answer.ends_with("100.00") {
                return Ok(());
            }
            if answer != last {
                (last, moved_at) = (answer, Instant::now());
            } else if moved_at.elapsed() > STALLED {
                return Err(Cause::State(format!(
                    "the synchronisation of {} is stuck at {last}",
                    self.device().display()
                )));
            }
            access.executor.sleep(Duration::from_secs(1));
        }
    }
}
