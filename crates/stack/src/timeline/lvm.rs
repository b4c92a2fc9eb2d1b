//! LVM: through its own programs; the state of dm-raid is shown by dmsetup, which reads no disk.

use super::calls::Calls;
use super::redundancy::{
    Doing, Redundancy, Status, needs_disk, next_spare, refused, replaced_after_failure, share,
};
use crate::array::lvm::call;
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::sysfs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use study::act::{Act, ActKind};
use study::stack::{ArraySpec, Members};
use tools::{Invocation, Tool};

/// Polling interval of dmsetup.
const INTERVAL: Duration = Duration::from_millis(250);
const SECTOR_BYTES: u64 = 512;

pub(super) struct Lvm {
    /// `GROUP/VOLUME`
    volume: String,
    /// Its device-mapper name.
    mapped: String,
    devices: Vec<PathBuf>,
    /// Members that hold data, without copies and parity.
    data_members: u64,
    spares: Vec<BlockDevice>,
    /// Disks that an act replaces after they have failed.
    failed: Vec<u32>,
    seen: Seen,
    /// Time of the last dmsetup call; `None` if there was none since the last act.
    asked_at: Option<Instant>,
}

/// A line of `dmsetup status` for a target `raid`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    sectors: u64,
    /// One letter per member: `A` is in sync, `a` is not yet, `D` has failed.
    health: String,
    /// Sectors in sync / all sectors.
    ratio: String,
    action: String,
    mismatches: u64,
}

impl Seen {
    fn is_starting(&self) -> bool {
        self.action == "idle" && !self.health.contains('A')
    }
}

impl Lvm {
    pub(super) fn new(
        device: &Path,
        spec: &ArraySpec,
        members: &[BlockDevice],
        spares: &[BlockDevice],
        acts: &[Act],
    ) -> Result<Self, Cause> {
        let mapped = sysfs::read(&BlockDevice::at(device)?.sysfs.join("dm/name"))?;
        let volume = device.strip_prefix("/dev").unwrap_or(device).display().to_string();
        let count = members.len() as u64;
        let data_members = match spec.level.facts().data {
            Members::One => 1,
            Members::All => count,
            Members::AllBut(parity) => count.saturating_sub(u64::from(parity)),
            Members::Halves | Members::Copies => count / 2,
        };
        Ok(Self {
            volume,
            mapped,
            devices: members.iter().chain(spares).map(|disk| disk.path.clone()).collect(),
            data_members: data_members.max(1),
            spares: spares.to_vec(),
            failed: replaced_after_failure(acts),
            seen: Seen::default(),
            asked_at: None,
        })
    }

    fn call(&self, command: &str) -> Invocation {
        call(command, &self.devices, Path::new("/run/udev/control").exists()).arg("--yes")
    }

    fn replace(&mut self, act: &Act, disk: &BlockDevice, calls: &mut Calls<'_>) -> Result<(), Cause> {
        let spare = next_spare(&mut self.spares, act)?;
        let convert = self.call("lvconvert");
        let has_failed = act.disk.is_some_and(|number| self.failed.contains(&number));
        let convert = match has_failed {
            true => convert.arg("--repair"),
            false => convert.arg("--replace").arg(&disk.path),
        };
        calls.run(&convert.arg(&self.volume).arg(&spare.path), &self.devices)?;
        if has_failed {
            // LVM changes nothing in a group with a missing disk, and does not even check a volume.
            let group = self.volume.split('/').next().unwrap_or_default();
            calls.run(&self.call("vgreduce").arg("--removemissing").arg(group), &self.devices)?;
        }
        Ok(())
    }
}

impl Redundancy for Lvm {
    fn name(&self) -> &'static str {
        "LVM"
    }

    fn status(&mut self, calls: &mut Calls<'_>) -> Result<Status, Cause> {
        if self.asked_at.is_some_and(|at| at.elapsed() < INTERVAL) {
            return Ok(status(&self.seen));
        }
        let ask = Invocation::new(Tool::Dmsetup)
            .args(["status", "--target", "raid"])
            .arg(&self.mapped);
        let line = calls.ask(&ask)?;
        let unknown = || Cause::State(format!("dmsetup shows no RAID of {}: `{}`", self.volume, line.trim()));
        self.asked_at = Some(Instant::now());
        let seen = parse(&line).ok_or_else(unknown)?;
        // Right after LVM has reloaded a volume, no member is in sync yet and nothing has started.
        if seen.is_starting() {
            return Ok(status(&self.seen));
        }
        self.seen = seen;
        Ok(status(&self.seen))
    }

    fn wait(&self, at_most: Duration) -> Result<(), Cause> {
        std::thread::sleep(at_most);
        Ok(())
    }

    fn finds_failures(&self) -> bool {
        true
    }

    fn act(&mut self, act: &Act, member: Option<&BlockDevice>, calls: &mut Calls<'_>) -> Result<(), Cause> {
        self.asked_at = None;
        match act.kind {
            ActKind::Check | ActKind::Repair => {
                let change = self.call("lvchange").args(["--syncaction", act.kind.word()]);
                calls.run(&change.arg(&self.volume), &self.devices).map(drop)
            }
            // The disk has died.
            ActKind::Fail => Ok(()),
            ActKind::Replace => self.replace(act, needs_disk(act, member)?, calls),
            _ => Err(refused(act, self.name())),
        }
    }

    fn progress(&self) -> Result<String, Cause> {
        Ok(self.seen.ratio.clone())
    }

    fn share_done(&self) -> Result<Option<f64>, Cause> {
        Ok(share(&self.seen.ratio))
    }

    /// The used size of a member.
    fn rebuilt_bytes(&self) -> Result<u64, Cause> {
        Ok(self.seen.sectors / self.data_members * SECTOR_BYTES)
    }

    fn disagreeing(&self) -> Result<u64, Cause> {
        Ok(self.seen.mismatches)
    }
}

fn parse(line: &str) -> Option<Seen> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["0", sectors, "raid", _, _, health, ratio, action, mismatches, ..] = words.as_slice() else {
        return None;
    };
    Some(Seen {
        sectors: sectors.parse().ok()?,
        health: (*health).to_owned(),
        ratio: (*ratio).to_owned(),
        action: (*action).to_owned(),
        mismatches: mismatches.parse().ok()?,
    })
}

fn status(seen: &Seen) -> Status {
    let doing = match seen.action.as_str() {
        "recover" => Doing::Rebuilds,
        "reshape" => Doing::Reshapes,
        "check" => Doing::Checks,
        "repair" => Doing::Repairs,
        "resync" => Doing::Resyncs,
        _ => Doing::Nothing,
    };
    Status {
        doing,
        missing: seen.health.chars().filter(|letter| *letter != 'A').count() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dm_raids_status_is_read() {
        let of = |line: &str| parse(line).map(|seen| status(&seen));
        let status = |doing, missing| Some(Status { doing, missing });
        let line = "0 6291456 raid raid5_ls 4 AAAA 2097152/2097152 idle 0 0 -\n";
        assert_eq!(of(line), status(Doing::Nothing, 0));
        let rebuilt = line.replace("AAAA", "AaAA").replace("idle", "recover");
        assert_eq!(of(&rebuilt), status(Doing::Rebuilds, 1));
        assert_eq!(of(&line.replace("AAAA", "ADAA")), status(Doing::Nothing, 1));
        assert_eq!(of("0 6291456 linear 254:0 2048"), None);
        // Seen in a guest on 6.12 just after `lvconvert --repair`.
        let starting = "0 786432 raid raid5_ls 4 aaaa 0/262144 idle 0 0 -\n";
        assert_eq!(parse(starting).map(|seen| seen.is_starting()), Some(true));
        assert_eq!(parse(line).map(|seen| seen.is_starting()), Some(false));
        let checked = line.replace("idle 0", "check 128");
        assert_eq!(parse(&checked).map(|seen| seen.mismatches), Some(128));
    }
}
