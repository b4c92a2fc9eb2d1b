//! A logical volume with all of a volume group on one device, and its snapshots: how LVM is called.

use super::lvm;
use crate::machine::access::Access;
use crate::machine::error::Cause;
use std::path::{Path, PathBuf};
use study::stack::{Volume, VolumeKind};
use tools::Invocation;

/// Names of the volume and of its thin pool in their group.
const VOLUME: &str = "data";
const POOL: &str = "pool";
/// LVM reserves `snapshot`.
const SNAPSHOT: &str = "before-";

/// A volume on a device.
#[derive(Clone, Debug)]
pub(crate) struct LogicalVolume {
    pub(crate) volume: Volume,
    /// Snapshots for which a linear LV leaves space.
    pub(crate) snapshots: u32,
    pub(crate) group: String,
    pub(crate) devices: [PathBuf; 1],
    /// udev creates the device nodes.
    pub(crate) udev: bool,
}

/// Name of a stack's volume group.
pub(crate) fn group_of(stack: &str) -> String {
    format!("{}-volume", lvm::group_of(stack))
}

impl LogicalVolume {
    /// That of a stack, on a device.
    pub(crate) fn of(volume: Volume, snapshots: u32, stack: &str, on: &Path, access: &mut Access<'_>) -> Self {
        Self {
            volume,
            snapshots,
            group: group_of(stack),
            devices: [on.to_owned()],
            udev: lvm::udev_runs(access.executor),
        }
    }

    pub(crate) fn node(&self) -> PathBuf {
        Path::new("/dev").join(&self.group).join(VOLUME)
    }

    /// The group and its volumes.
    pub(crate) fn create(&self, access: &mut Access<'_>) -> Result<(), Cause> {
        let group = self.call("vgcreate").arg("--yes").arg(&self.group).args(&self.devices);
        access.run(&group, &self.devices)?;
        for call in match self.volume.kind {
            VolumeKind::Linear => self.linear(access)?,
            VolumeKind::Thin => self.thin_pool(),
        } {
            access.run(&call, &self.devices)?;
        }
        if self.volume.kind == VolumeKind::Thin {
            let bytes = self.bytes("lvs", "lv_size", &format!("{}/{POOL}", self.group), access)?;
            let thin = self
                .call("lvcreate")
                .args(["--yes", "--type", "thin"])
                .args(["--thinpool", POOL, "--name", VOLUME])
                .args(["--virtualsize".to_owned(), format!("{bytes}b")])
                .arg(&self.group);
            access.run(&thin, &self.devices)?;
        }
        Ok(())
    }

    /// With what its snapshots need left over.
    fn linear(&self, access: &mut Access<'_>) -> Result<Vec<Invocation>, Cause> {
        let call = self
            .call("lvcreate")
            .args(["--yes", "--wipesignatures", "n", "--zero", "n", "--name", VOLUME]);
        let left_over = self.volume.snapshot_bytes.unwrap_or(0) * u64::from(self.snapshots);
        let size = match left_over {
            0 => ["--extents".to_owned(), "100%FREE".to_owned()],
            _ => {
                let free = self.bytes("vgs", "vg_free", &self.group, access)?;
                let bytes = free.saturating_sub(left_over) / EXTENT_BYTES * EXTENT_BYTES;
                ["--size".to_owned(), format!("{bytes}b")]
            }
        };
        Ok(vec![call.args(size).arg(&self.group)])
    }

    fn thin_pool(&self) -> Vec<Invocation> {
        let call = self
            .call("lvcreate")
            .args(["--yes", "--type", "thin-pool"])
            .args(["--poolmetadataspare", "n"])
            .args(["--extents", "100%FREE", "--name", POOL]);
        let chunk = self.volume.chunk_bytes.map(|bytes| format!("{bytes}b"));
        let call = match chunk {
            Some(chunk) => call.arg("--chunksize").arg(chunk),
            None => call,
        };
        vec![call.arg(&self.group)]
    }

    /// A number of bytes that LVM reports.
    fn bytes(&self, command: &str, field: &str, of: &str, access: &mut Access<'_>) -> Result<u64, Cause> {
        let ask = self
            .call(command)
            .args(["--noheadings", "--units", "b", "--nosuffix", "--options", field, of]);
        let answer = access.ask(&ask)?.stdout;
        let bytes = answer.trim().parse();
        bytes.map_err(|_| Cause::State(format!("{command} says that {field} of {of} is `{}`", answer.trim())))
    }

    /// Makes the volume available.
    pub(crate) fn activation(&self) -> Invocation {
        self.call("vgchange")
            .args(["--yes", "--activate", "y"])
            .arg(&self.group)
    }

    /// Takes a snapshot; LVM freezes the filesystem on the volume meanwhile.
    pub(crate) fn snapshot(&self, number: u32) -> Invocation {
        let call = self.call("lvcreate").args(["--yes", "--snapshot"]);
        let call = call.arg("--name").arg(format!("{SNAPSHOT}{number}"));
        let call = match (self.volume.kind, self.volume.chunk_bytes) {
            (VolumeKind::Linear, Some(bytes)) => call.arg("--chunksize").arg(format!("{bytes}b")),
            _ => call,
        };
        let space = self
            .volume
            .snapshot_bytes
            .filter(|_| self.volume.kind == VolumeKind::Linear);
        let call = match space {
            // In whole extents, as the volume has left it.
            Some(bytes) => call.args(["--size".to_owned(), format!("{}b", bytes / EXTENT_BYTES * EXTENT_BYTES)]),
            None => call,
        };
        call.arg(format!("{}/{VOLUME}", self.group))
    }

    /// Names of snapshots that are lost, because the space for their copies was full; and how full the fullest of them is, or the
    /// thin pool, in percent.
    pub(crate) fn filled(&self, access: &mut Access<'_>) -> Result<(Vec<String>, f64), Cause> {
        let ask = self.call("lvs").args([
            "--noheadings",
            "--separator",
            "|",
            "--options",
            "lv_name,lv_snapshot_invalid,data_percent",
        ]);
        Ok(filled(&access.ask(&ask.arg(&self.group))?.stdout))
    }

    fn call(&self, command: &str) -> Invocation {
        lvm::call_with(command, &self.devices, self.udev, lvm::ON_ANY_DEVICE)
    }
}

/// LVM's default.
const EXTENT_BYTES: u64 = 4 << 20;

/// `  before-1|snapshot invalid|100.00`, of a thin pool `  pool||12.50`
fn filled(report: &str) -> (Vec<String>, f64) {
    let mut lost = Vec::new();
    let mut fullest = 0.0;
    for line in report.lines() {
        let fields: Vec<&str> = line.trim().split('|').collect();
        let &[name, invalid, percent] = fields.as_slice() else {
            continue;
        };
        if name != POOL && !name.starts_with(SNAPSHOT) {
            continue;
        }
        if invalid.contains("invalid") {
            lost.push(name.to_owned());
        }
        fullest = percent.parse().unwrap_or(0.0_f64).max(fullest);
    }
    (lost, fullest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_whose_space_was_full_is_lost() {
        let report = "  data||\n  before-1|snapshot invalid|100.00\n  before-2||12.50\n";
        assert_eq!(filled(report), (vec!["before-1".to_owned()], 100.0));
        assert_eq!(filled("  data||7.10\n  pool||12.50\n"), (Vec::new(), 12.5));
    }
}
