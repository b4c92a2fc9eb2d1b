//! `fstrim`: the filesystem discards its free space while the workload runs.
//!
//! What of it reaches the disks is counted there. md passes discards on for RAID 4, 5 and 6 only with
//! `raid456.devices_handle_discard_safely`, dm-crypt only with `--allow-discards`, and hard disks have none.

use super::calls::{Calls, Job};
use super::redundancy::INTERVAL;
use crate::machine::counters::DiskStats;
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::sysfs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::event::ToolCall;
use study::metric::MEBIBYTE;
use tools::{Invocation, Tool};

/// What can be trimmed: the filesystem of a stack.
#[derive(Clone, Debug)]
pub(super) struct Ground {
    pub(super) folder: PathBuf,
    /// The device of the filesystem.
    pub(super) device: PathBuf,
    pub(super) members: Vec<BlockDevice>,
}

/// An fstrim under way.
pub(super) struct Trim {
    job: Job,
    members: Vec<BlockDevice>,
    discarded_before: u64,
}

/// What an fstrim did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trimmed {
    pub(super) took: Duration,
    /// As fstrim says.
    pub(super) bytes: u64,
    /// At all member disks together.
    pub(super) discarded_bytes: u64,
}

/// Polling interval for its end.
const UNDER_WAY: Duration = Duration::from_millis(5);

impl Ground {
    /// Why nothing would reach a disk; `None` if the device takes discards.
    pub(super) fn takes_none(&self) -> Result<Option<String>, Cause> {
        let attribute = BlockDevice::at(&self.device)?.queue().join("discard_max_bytes");
        let most = sysfs::read(&attribute)?;
        Ok((most == "0").then(|| {
            format!(
                "{} takes no discards ({} is 0), so fstrim would trim nothing: a layer or the disks have none",
                self.device.display(),
                attribute.display()
            )
        }))
    }

    pub(super) fn begin(&self, calls: &mut Calls<'_>) -> Result<Trim, Cause> {
        let members: Vec<&Path> = self.members.iter().map(|disk| disk.path.as_path()).collect();
        let call = Invocation::new(Tool::Fstrim).arg("-v").arg(&self.folder);
        Ok(Trim {
            discarded_before: discarded(&self.members)?,
            job: calls.start(call, &members)?,
            members: self.members.clone(),
        })
    }
}

impl Trim {
    pub(super) fn has_ended(&self) -> bool {
        self.job.has_ended()
    }

    pub(super) fn end(self, calls: &mut Calls<'_>) -> Result<Trimmed, Cause> {
        let call = calls.end(self.job)?;
        let discarded = discarded(&self.members)?;
        Ok(Trimmed {
            took: Duration::from_nanos(call.duration_ns),
            bytes: bytes_said(&call)?,
            discarded_bytes: discarded.saturating_sub(self.discarded_before),
        })
    }
}

impl Trimmed {
    /// Whether anything reached a disk, in words.
    pub(super) fn words(&self) -> (bool, String) {
        let mebibytes = |bytes: u64| format!("{:.1} MiB", bytes as f64 / MEBIBYTE);
        let said = mebibytes(self.bytes);
        match (self.bytes, self.discarded_bytes) {
            (1.., 0) => {
                let detail = format!(
                    "fstrim says that it trimmed {said}, but no discard reached a disk: a layer passes none on"
                );
                (false, detail)
            }
            (_, discarded) => {
                let detail = format!(
                    "fstrim trimmed {said}; {} of discards reached the disks",
                    mebibytes(discarded)
                );
                (true, detail)
            }
        }
    }
}

/// How long to sleep at most while an fstrim is under way.
pub(super) fn at_most(wanted: Duration, trim: Option<&Trim>) -> Duration {
    match trim {
        Some(_) => wanted.min(UNDER_WAY).min(INTERVAL),
        None => wanted,
    }
}

fn discarded(members: &[BlockDevice]) -> Result<u64, Cause> {
    members
        .iter()
        .map(|disk| Ok(DiskStats::of(disk)?.sectors_discarded * 512))
        .sum()
}

/// `/mnt: 1.2 GiB (1288490188 bytes) trimmed`
fn bytes_said(call: &ToolCall) -> Result<u64, Cause> {
    let unknown = || {
        Cause::State(format!(
            "fstrim did not say how much it trimmed: `{}`",
            call.stdout.trim()
        ))
    };
    said(&call.stdout).ok_or_else(unknown)
}

fn said(line: &str) -> Option<u64> {
    let (_, rest) = line.rsplit_once('(')?;
    rest.split_once(" bytes)")?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fstrim_says() {
        assert_eq!(said("/mnt: 1.2 GiB (1288490188 bytes) trimmed\n"), Some(1_288_490_188));
        assert_eq!(said("/mnt (old): 0 B (0 bytes) trimmed\n"), Some(0));
        assert_eq!(said("/mnt: trimmed"), None);
    }

    #[test]
    fn discards_that_no_layer_passes_on_are_seen() {
        let trimmed = |bytes, discarded_bytes| Trimmed {
            took: Duration::from_millis(3),
            bytes,
            discarded_bytes,
        };
        assert_eq!(
            trimmed(1 << 20, 2 << 20).words(),
            (
                true,
                "fstrim trimmed 1.0 MiB; 2.0 MiB of discards reached the disks".to_owned()
            )
        );
        assert!(!trimmed(1 << 20, 0).words().0);
        assert!(trimmed(0, 0).words().0, "nothing was free");
    }
}
