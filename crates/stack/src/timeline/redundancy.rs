//! The interface of acts to the manager of an array: md, LVM, btrfs, ZFS, bcachefs.

use super::calls::Calls;
use crate::machine::counters::DiskStats;
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use std::time::Duration;
use study::act::{Act, ActKind, Corrupted};

/// Polling interval of the array's state, in addition to notifications.
pub(super) const INTERVAL: Duration = Duration::from_millis(100);
/// Maximum time until a manager starts an operation that an act requested: md's thread checks at least every 5 s.
pub(super) const TO_BEGIN: Duration = Duration::from_secs(10);

/// The operation that the manager runs on the whole array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Doing {
    #[default]
    Nothing,
    /// It writes the missing data to a member.
    Rebuilds,
    /// It makes copies or parity consistent; no member is missing.
    Resyncs,
    /// It distributes the data over more members.
    Reshapes,
    /// It compares copies or parity.
    Checks,
    /// The same, and it rewrites what is wrong.
    Repairs,
}

impl Doing {
    /// The test of its samples.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Nothing => "idle",
            Self::Rebuilds => "rebuild",
            Self::Resyncs => "resync",
            Self::Reshapes => "reshape",
            Self::Checks => "check",
            Self::Repairs => "repair",
        }
    }
}

/// An array as its manager shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) doing: Doing,
    /// Members missing or not rebuilt.
    pub(super) missing: u64,
}

/// Errors of all members of an array since it was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MemberErrors {
    /// Requests that failed because of a checksum.
    pub(super) checksums: u64,
    /// Sectors that the manager reports as rewritten after a member could not read them.
    pub(super) corrected: u64,
}

/// The manager of an array.
pub(super) trait Redundancy: Send {
    /// Its name in messages.
    fn name(&self) -> &'static str;

    fn status(&mut self, calls: &mut Calls<'_>) -> Result<Status, Cause>;

    /// Sleeps until the array's state may have changed since it was last read, or the time is over.
    fn wait(&self, at_most: Duration) -> Result<(), Cause>;

    /// Whether the manager itself detects that a disk failed: `fail` then lets the disk die.
    fn finds_failures(&self) -> bool;

    /// Whether `check` repairs what it finds, because the manager has no read-only check.
    fn checks_repair(&self) -> bool {
        false
    }

    /// Does an act that affects more than a disk. `member` is the disk of the act.
    fn act(&mut self, act: &Act, member: Option<&BlockDevice>, calls: &mut Calls<'_>) -> Result<(), Cause>;

    /// The disks to which the last rebuild wrote, if it writes only data in use.
    fn written(&self) -> Option<&Written> {
        None
    }

    /// A value that changes while a rebuild or check makes progress.
    fn progress(&self) -> Result<String, Cause> {
        match self.written() {
            Some(written) => Ok(written.bytes()?.to_string()),
            None => Ok(String::new()),
        }
    }

    /// The part of a rebuild that is done, 0 to 1; `None` if the manager does not tell.
    fn share_done(&self) -> Result<Option<f64>, Cause> {
        Ok(None)
    }

    /// Whether the rebuild of a re-added member writes only what has changed meanwhile.
    fn has_bitmap(&self) -> Result<bool, Cause> {
        Ok(false)
    }

    /// Data written to the new member by the rebuild that has just ended.
    fn rebuilt_bytes(&self) -> Result<u64, Cause> {
        self.written().map_or(Ok(0), Written::bytes)
    }

    /// Sectors in which the last check or repair found copies or parity that disagree.
    fn disagreeing(&self) -> Result<u64, Cause>;

    /// Read errors so far of members with checksums; `None` if they have no checksums.
    fn errors(&self, _: &mut Calls<'_>) -> Result<Option<MemberErrors>, Cause> {
        Ok(None)
    }

    /// The reason why the last check or repair did not finish, if any.
    fn take_abortion(&mut self) -> Option<String> {
        None
    }
}

/// `1234 / 8192`: sectors that are done, of all.
pub(super) fn share(progress: &str) -> Option<f64> {
    let (done, all) = progress.split_once('/')?;
    let (done, all): (f64, f64) = (done.trim().parse().ok()?, all.trim().parse().ok()?);
    Some(done / all).filter(|share| (0.0..=1.0).contains(share))
}

/// The disks that a rebuild writes to, and what had been written to them before.
#[derive(Clone, Debug)]
pub(super) struct Written {
    disks: Vec<BlockDevice>,
    sectors_before: u64,
}

impl Written {
    /// From now on data written to the disks counts.
    pub(super) fn begin(disks: Vec<BlockDevice>) -> Result<Self, Cause> {
        let sectors_before = sectors_written(&disks)?;
        Ok(Self { disks, sectors_before })
    }

    pub(super) fn bytes(&self) -> Result<u64, Cause> {
        Ok((sectors_written(&self.disks)? - self.sectors_before) * 512)
    }
}

fn sectors_written(disks: &[BlockDevice]) -> Result<u64, Cause> {
    disks.iter().map(|disk| Ok(DiskStats::of(disk)?.sectors_written)).sum()
}

/// Polling interval for the end of a program that was started.
const JOB_INTERVAL: Duration = Duration::from_millis(20);

/// Sleeps for this time, or, while a program runs, for the polling interval.
pub(super) fn pause(at_most: Duration, is_at_work: bool) {
    std::thread::sleep(if is_at_work { at_most.min(JOB_INTERVAL) } else { at_most });
}

/// The next unused disk.
pub(super) fn next_spare(spares: &mut Vec<BlockDevice>, act: &Act) -> Result<BlockDevice, Cause> {
    match spares.is_empty() {
        true => Err(Cause::Impossible(format!("no spare is left for `{act}`"))),
        false => Ok(spares.remove(0)),
    }
}

pub(super) fn needs_disk<'a>(act: &Act, member: Option<&'a BlockDevice>) -> Result<&'a BlockDevice, Cause> {
    member.ok_or_else(|| Cause::Impossible(format!("the array has no disk for the act `{act}`")))
}

/// The sectors that an act changes.
pub(super) fn corrupted(act: &Act) -> Result<Corrupted, Cause> {
    act.corrupted
        .ok_or_else(|| Cause::Impossible(format!("`{act}` does not say which sectors")))
}

/// The plan refuses acts that a manager does not have.
pub(super) fn refused(act: &Act, name: &str) -> Cause {
    Cause::Impossible(format!("{name} has no act `{act}`"))
}

/// Disks that an act replaces after another act made them fail.
pub(super) fn replaced_after_failure(acts: &[Act]) -> Vec<u32> {
    let failed_before = |number: usize, act: &Act| {
        let mut earlier = acts[..number].iter().filter(|earlier| earlier.disk == act.disk);
        earlier.any(Act::takes_a_member)
    };
    let replaced = acts.iter().enumerate().filter(|(_, act)| act.kind == ActKind::Replace);
    let after_failure = replaced.filter(|(number, act)| failed_before(*number, act));
    after_failure.filter_map(|(_, act)| act.disk).collect()
}

/// The disk of an act.
pub(super) fn member<'a>(members: &'a [BlockDevice], act: &Act) -> Result<&'a BlockDevice, Cause> {
    let number = act.disk.and_then(|disk| disk.checked_sub(1));
    let member = number.and_then(|number| members.get(number as usize));
    member.ok_or_else(|| Cause::Impossible(format!("the array has no disk for the act `{act}`")))
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn the_part_of_a_rebuild_that_is_done() {
        assert_eq!(share("2097152 / 8388608"), Some(0.25));
        assert_eq!(share("512/1024"), Some(0.5));
        for nothing in ["none", "delayed", "", "0 / 0", "9 / 8"] {
            assert_eq!(share(nothing), None, "{nothing}");
        }
    }
}
