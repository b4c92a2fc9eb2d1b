//! A logical volume with all of a volume group on one device, and its snapshots: how LVM is called.

use super::lvm::{self, LayerGroup, VOLUME};
use crate::machine::access::Access;
use crate::machine::error::Cause;
use crate::machine::executor::Executor;
use std::path::Path;
use study::stack::{Volume, VolumeKind};
use tools::Invocation;

/// Name of the volume's thin pool in its group.
const POOL: &str = "pool";
/// A volume that leaves space for snapshots.
const SPACE: &str = "space";

/// LVM reserves `snapshot`.
const SNAPSHOT: &str = "before-";

/// A volume on a device.
#[derive(Clone, Debug)]
pub(crate) struct LogicalVolume {
    pub(crate) volume: Volume,
    /// Snapshots for which a linear LV leaves space.
    pub(crate) snapshots: u32,
    pub(crate) group: LayerGroup,
}

/// Name of a stack's volume group.
pub(crate) fn group_of(stack: &str) -> String {
    format!("{}-volume", lvm::group_of(stack))
}

impl LogicalVolume {
    /// That of a stack, on a device.
    pub(crate) fn of(volume: Volume, snapshots: u32, stack: &str, on: &Path, executor: &mut dyn Executor) -> Self {
        Self {
            volume,
            snapshots,
            group: LayerGroup::of(group_of(stack), &[on], executor),
        }
    }

    /// The group and its volumes.
    pub(crate) fn create(&self, access: &mut Access<'_>) -> Result<(), Cause> {
        access.run(&self.group.creation(), &self.group.devices)?;
        let calls = match self.volume.kind {
            VolumeKind::Linear => self.linear(),
            VolumeKind::Thin => vec![self.thin_pool()],
        };
        for call in calls {
            access.run(&call, &self.group.devices)?;
        }
        if self.volume.kind == VolumeKind::Thin {
            let size = self.size_of_pool(access)?;
            access.run(&self.thin(&size), &self.group.devices)?;
        }
        Ok(())
    }

    /// What its snapshots need is left over: another volume has it while the volume takes the rest.
    fn linear(&self) -> Vec<Invocation> {
        let create = |name: &str| {
            let call = self
                .group
                .call("lvcreate")
                .args(["--yes", "--wipesignatures", "n", "--zero", "n"]);
            call.args(["--name", name])
        };
        let volume = create(VOLUME).args(["--extents", "100%FREE"]).arg(&self.group.name);
        let left_over = self.volume.snapshot_bytes.unwrap_or(0) * u64::from(self.snapshots);
        if left_over == 0 {
            return vec![volume];
        }
        let size = ["--size".to_owned(), format!("{left_over}b")];
        let remove = self
            .group
            .call("lvremove")
            .arg("--yes")
            .arg(format!("{}/{SPACE}", self.group.name));
        vec![create(SPACE).args(size).arg(&self.group.name), volume, remove]
    }

    fn thin_pool(&self) -> Invocation {
        let call = self
            .group
            .call("lvcreate")
            .args(["--yes", "--type", "thin-pool"])
            .args(["--poolmetadataspare", "n"])
            .args(["--extents", "100%FREE", "--name", POOL]);
        let chunk = self.volume.chunk_bytes.map(|bytes| format!("{bytes}b"));
        let call = match chunk {
            Some(chunk) => call.arg("--chunksize").arg(chunk),
            None => call,
        };
        call.arg(&self.group.name)
    }

    /// The thin LV, of this size.
    fn thin(&self, size: &str) -> Invocation {
        self.group
            .call("lvcreate")
            .args(["--yes", "--type", "thin"])
            .args(["--thinpool", POOL, "--name", VOLUME])
            .args(["--virtualsize", size])
            .arg(&self.group.name)
    }

    /// As LVM reports it: `8254390272B`. It is known only when the pool is there, so that a dry run has a word in its place.
    fn size_of_pool(&self, access: &mut Access<'_>) -> Result<String, Cause> {
        let ask = self
            .group
            .call("lvs")
            .args(["--noheadings", "--units", "b", "--options", "lv_size"]);
        let answer = access.ask(&ask.arg(format!("{}/{POOL}", self.group.name)))?.stdout;
        match answer.trim() {
            "" => Err(Cause::State(format!(
                "lvs does not say how large {POOL} of {} is",
                self.group.name
            ))),
            size => Ok(size.to_owned()),
        }
    }

    /// Takes a snapshot; LVM freezes the filesystem on the volume meanwhile.
    pub(crate) fn snapshot(&self, number: u32) -> Invocation {
        let call = self.group.call("lvcreate").args(["--yes", "--snapshot"]);
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
        call.arg(format!("{}/{VOLUME}", self.group.name))
    }

    /// Names of snapshots that are lost, because the space for their copies was full; and how full the fullest of them is, or the
    /// thin pool, in percent.
    pub(crate) fn filled(&self, access: &mut Access<'_>) -> Result<(Vec<String>, f64), Cause> {
        let ask = self.group.call("lvs").args([
            "--noheadings",
            "--separator",
            "|",
            "--options",
            "lv_name,lv_snapshot_invalid,data_percent",
        ]);
        Ok(filled(&access.ask(&ask.arg(&self.group.name))?.stdout))
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
