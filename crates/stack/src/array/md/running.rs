//! A running array, as the kernel shows it.

use crate::machine::context::Context;
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::executor::{Executor, read_number};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Maximum time without progress of a resync.
const STALLED: Duration = Duration::from_secs(600);

/// A running md array that this run created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    pub device: BlockDevice,
    /// Its UUID, which identifies the array.
    pub uuid: String,
    /// Members have copies or parity that can be checked.
    pub redundant: bool,
    /// md's `sync_speed_max`, KiB/s, if the study sets it.
    pub(crate) sync_speed_max: Option<u32>,
    /// Its initial resync runs during the tests, and is held between them.
    pub(crate) resyncs: bool,
}

impl Array {
    pub(crate) fn attribute(&self, name: &str) -> PathBuf {
        self.device.sysfs.join("md").join(name)
    }

    /// Whether all members are in sync and no resync is running.
    pub(crate) fn is_idle(&self, executor: &mut dyn Executor) -> Result<bool, Cause> {
        if !self.redundant {
            return Ok(true);
        }
        // Right after a start the action is still `idle` although a resync is due; the other two attributes show
        // it.
        Ok(executor.read(&self.attribute("sync_action"))? == "idle"
            && executor.read(&self.attribute("resync_start"))? == "none"
            && read_number(executor, &self.attribute("degraded"))? == 0)
    }

    /// Stops the initial resync where it is, until [`release_resync`](Self::release_resync).
    pub(crate) fn hold_resync(&self, executor: &mut dyn Executor) -> Result<(), Cause> {
        executor.write(&self.attribute("sync_action"), "frozen")
    }

    pub(crate) fn release_resync(&self, executor: &mut dyn Executor) -> Result<(), Cause> {
        executor.write(&self.attribute("sync_action"), "idle")
    }

    /// Whether the superblocks are marked clean; md does that 200 ms after the last write.
    pub(crate) fn is_marked_clean(&self, executor: &mut dyn Executor) -> Result<bool, Cause> {
        let state = executor.read(&self.attribute("array_state"))?;
        Ok(!self.redundant || !matches!(state.as_str(), "active" | "write-pending"))
    }

    /// Waits for resync, recovery or check to end, at the disks' full speed.
    pub(crate) fn wait_until_idle(&self, executor: &mut dyn Executor) -> Result<(), Cause> {
        if self.is_idle(executor)? {
            return Ok(());
        }
        executor.write(&self.attribute("sync_speed_max"), "100000000")?;
        let waited = self.wait_for_the_end(executor);
        let of_study = self.sync_speed_max.map(|speed| speed.to_string());
        executor.write(
            &self.attribute("sync_speed_max"),
            of_study.as_deref().unwrap_or("system"),
        )?;
        waited
    }

    fn wait_for_the_end(&self, executor: &mut dyn Executor) -> Result<(), Cause> {
        let mut progress = String::new();
        let mut moved_at = Instant::now();
        loop {
            executor.read_or_wait(&self.attribute("sync_action"), "idle", Duration::from_secs(1))?;
            if self.is_idle(executor)? {
                return Ok(());
            }
            let completed = executor.read(&self.attribute("sync_completed"))?;
            if completed != progress {
                (progress, moved_at) = (completed, Instant::now());
            } else if moved_at.elapsed() > STALLED {
                let name = &self.device.kernel_name;
                return Err(Cause::State(format!("the resync of {name} is stuck at {progress}")));
            } else {
                // The state `idle` without being clean is very short; then this is the polling interval.
                executor.sleep(Duration::from_millis(20));
            }
        }
    }

    /// Waits until md neither resyncs, rebuilds nor reshapes, nor is about to; returns the number of missing
    /// members.
    pub(crate) fn wait_until_at_rest(&self, executor: &mut dyn Executor) -> Result<u64, Cause> {
        let action = self.attribute("sync_action");
        // md's thread starts pending work within this time after a start.
        const TO_BEGIN: Duration = Duration::from_secs(6);
        let (mut progress, mut moved_at, mut idle_since) = (String::new(), Instant::now(), Instant::now());
        loop {
            let is_idle = executor.read(&action)? == "idle";
            if is_idle && idle_since.elapsed() > TO_BEGIN {
                return read_number(executor, &self.attribute("degraded"));
            }
            let completed = executor.read(&self.attribute("sync_completed"))?;
            if is_idle || completed != progress {
                (progress, moved_at) = (completed, Instant::now());
            } else if moved_at.elapsed() > STALLED {
                let name = &self.device.kernel_name;
                return Err(Cause::State(format!("the resync of {name} is stuck at {progress}")));
            }
            executor.sleep(Duration::from_millis(100));
            if !is_idle {
                idle_since = Instant::now();
            }
        }
    }

    /// Makes md check copies and parity of the whole array; returns the number of mismatched sectors.
    pub(crate) fn check(&self, executor: &mut dyn Executor) -> Result<u64, Cause> {
        if !self.redundant {
            return Ok(0);
        }
        self.wait_until_idle(executor)?;
        executor.write(&self.attribute("sync_action"), "check")?;
        self.wait_until_idle(executor)?;
        let last = executor.read(&self.attribute("last_sync_action"))?;
        if last != "check" {
            let name = &self.device.kernel_name;
            return Err(Cause::State(format!(
                "a check of {name} was requested, but md ran `{last}`"
            )));
        }
        read_number(executor, &self.attribute("mismatch_cnt"))
    }

    /// The array as the kernel reports it.
    pub(crate) fn record(&self, context: &mut Context<'_>) {
        let attributes = [
            "level",
            "raid_disks",
            "chunk_size",
            "layout",
            "metadata_version",
            "component_size",
            "consistency_policy",
            "stripe_cache_size",
        ];
        for attribute in attributes {
            if let Ok(value) = context.access.executor.read(&self.attribute(attribute)) {
                context.provenance(&format!("array.{attribute}"), value);
            }
        }
        if let Ok(value) = context.access.executor.read(&self.attribute("bitmap/location")) {
            context.provenance("array.bitmap", value);
        }
    }
}
