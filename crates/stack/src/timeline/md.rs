//! md: through mdadm and /sys.

use super::calls::Calls;
use super::redundancy::{
    Doing, INTERVAL, MemberErrors, Redundancy, Status, TO_BEGIN, needs_disk, refused, replaced_after_failure, share,
};
use crate::array::integrity::Checksummed;
use crate::array::md::Array;
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::sysfs;
use crate::setup::stack::Stack;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use study::act::{Act, ActKind};
use tools::{Invocation, Tool};

pub(super) struct Md {
    array: Array,
    /// Each disk with the topmost layer on it, or itself.
    on_disks: Vec<(PathBuf, BlockDevice)>,
    /// Set if its members are dm-integrity devices.
    checksummed: Vec<Checksummed>,
    /// Disks that a later act replaces after they have failed: md's spare would take over at once.
    replaced_later: Vec<u32>,
    /// Last value of `sync_action`.
    action: String,
}

impl Md {
    pub(super) fn new(array: Array, stack: &Stack, acts: &[Act]) -> Self {
        let on_disks = stack.members.iter().map(|disk| disk.path.clone());
        Self {
            array,
            on_disks: on_disks.zip(stack.below.iter().cloned()).collect(),
            checksummed: stack.checksummed.clone(),
            replaced_later: replaced_after_failure(acts),
            action: "idle".to_owned(),
        }
    }

    fn is_replaced_later(&self, act: &Act) -> bool {
        act.disk.is_some_and(|disk| self.replaced_later.contains(&disk))
    }

    fn number(&self, attribute: &str) -> Result<u64, Cause> {
        let path = self.array.attribute(attribute);
        sysfs::number(&path, &sysfs::read(&path)?)
    }

    /// The member on a disk.
    fn member_on(&self, disk: &BlockDevice) -> BlockDevice {
        let checksummed = self
            .checksummed
            .iter()
            .find(|checksummed| checksummed.disk.path == disk.path);
        let layer = self
            .on_disks
            .iter()
            .find(|(path, _)| *path == disk.path)
            .map(|(_, device)| device);
        let layer = layer.unwrap_or(disk);
        checksummed.map_or(layer, |checksummed| &checksummed.device).clone()
    }

    /// Stops md from starting work by itself (`frozen`), or lets it (`idle`).
    fn set_action(&self, word: &str, calls: &mut Calls<'_>) -> Result<(), Cause> {
        calls.before_write(&[&self.array.device.path])?;
        sysfs::write(&self.array.attribute("sync_action"), word)
    }

    fn manage(&self, how: &str, disk: &BlockDevice, calls: &mut Calls<'_>) -> Result<(), Cause> {
        let call = Invocation::new(Tool::Mdadm)
            .arg("--manage")
            .arg(&self.array.device.path)
            .arg(how)
            .arg(&disk.path);
        calls.run(&call, &[&self.array.device.path, &disk.path]).map(drop)
    }

    /// md rejects this for some milliseconds, while requests to the failed member are in flight.
    fn remove(&self, disk: &BlockDevice, calls: &mut Calls<'_>) -> Result<(), Cause> {
        let began = Instant::now();
        loop {
            match self.manage("--remove", disk, calls) {
                Err(cause) if !matches!(cause, Cause::Refused(_)) && began.elapsed() < TO_BEGIN => {
                    std::thread::sleep(INTERVAL);
                }
                other => {
                    other?;
                    return calls.hold(&disk.path, Some(&self.array.uuid));
                }
            }
        }
    }

    /// Adds a disk that was removed from the array. If that fails, the disk stays reserved.
    fn put_back(
        &self,
        how: &str,
        disk: &BlockDevice,
        uuid: Option<&str>,
        calls: &mut Calls<'_>,
    ) -> Result<(), Cause> {
        let added = self.manage(how, disk, calls);
        if added.is_err() {
            // The first error is the one to report.
            let _ = calls.hold(&disk.path, uuid);
        }
        added
    }

    fn grow(&self, act: &Act, calls: &mut Calls<'_>) -> Result<(), Cause> {
        let members = self.number("raid_disks")?;
        let call = Invocation::new(Tool::Mdadm)
            .arg("--grow")
            .arg(&self.array.device.path)
            .arg(format!("--raid-devices={}", members + 1));
        let level = act.level.map(|level| format!("--level={}", level.facts().type_word));
        calls.run(&call.args(level), &[&self.array.device.path]).map(drop)
    }
}

impl Redundancy for Md {
    fn name(&self) -> &'static str {
        "md"
    }

    fn status(&mut self, _: &mut Calls<'_>) -> Result<Status, Cause> {
        self.action = sysfs::read(&self.array.attribute("sync_action"))?;
        let doing = match self.action.as_str() {
            "idle" | "frozen" => Doing::Nothing,
            "reshape" => Doing::Reshapes,
            "check" => Doing::Checks,
            "repair" => Doing::Repairs,
            "recover" => Doing::Rebuilds,
            _ => Doing::Resyncs,
        };
        Ok(Status {
            doing,
            missing: self.number("degraded")?,
        })
    }

    fn wait(&self, at_most: Duration) -> Result<(), Cause> {
        sysfs::sleep_while(&self.array.attribute("sync_action"), &self.action, at_most)
    }

    fn finds_failures(&self) -> bool {
        false
    }

    fn act(&mut self, act: &Act, member: Option<&BlockDevice>, calls: &mut Calls<'_>) -> Result<(), Cause> {
        match act.kind {
            // md rejects this while it rebuilds.
            ActKind::Check | ActKind::Repair => return self.set_action(act.kind.word(), calls),
            ActKind::Grow => return self.grow(act, calls),
            _ => {}
        }
        let disk = self.member_on(needs_disk(act, member)?);
        let disk = &disk;
        match act.kind {
            ActKind::Fail => {
                if self.is_replaced_later(act) {
                    self.set_action("frozen", calls)?;
                }
                self.manage("--fail", disk, calls)
            }
            ActKind::Remove => self.remove(disk, calls),
            ActKind::Replace if self.is_replaced_later(act) => {
                self.replaced_later.retain(|other| Some(*other) != act.disk);
                self.set_action("idle", calls)
            }
            ActKind::Replace => self.manage("--replace", disk, calls),
            ActKind::ReAdd if self.has_bitmap()? => self.put_back("--re-add", disk, Some(&self.array.uuid), calls),
            ActKind::ReAdd => self.put_back("--add", disk, Some(&self.array.uuid), calls),
            ActKind::Add => {
                let wipe = Invocation::new(Tool::Mdadm).arg("--zero-superblock").arg(&disk.path);
                calls.run(&wipe, &[&disk.path])?;
                calls.hold(&disk.path, None)?;
                self.put_back("--add", disk, None, calls)
            }
            _ => Err(refused(act, self.name())),
        }
    }

    fn progress(&self) -> Result<String, Cause> {
        sysfs::read(&self.array.attribute("sync_completed"))
    }

    fn share_done(&self) -> Result<Option<f64>, Cause> {
        // `sync_completed` moves by a sixteenth at a time.
        let text = sysfs::read(Path::new("/proc/mdstat"))?;
        let name = self.array.device.path.file_name().and_then(|name| name.to_str());
        Ok(name.and_then(|name| share(recovered(&text, name)?)))
    }

    fn has_bitmap(&self) -> Result<bool, Cause> {
        let policy = sysfs::read(&self.array.attribute("consistency_policy"))?;
        Ok(policy == "bitmap")
    }

    /// The used size of a member.
    fn rebuilt_bytes(&self) -> Result<u64, Cause> {
        Ok(self.number("component_size")? * 1024)
    }

    fn disagreeing(&self) -> Result<u64, Cause> {
        self.number("mismatch_cnt")
    }

    fn errors(&self, calls: &mut Calls<'_>) -> Result<Option<MemberErrors>, Cause> {
        if self.checksummed.is_empty() {
            return Ok(None);
        }
        let mut errors = MemberErrors::default();
        for member in &self.checksummed {
            let ask = Invocation::new(Tool::Dmsetup).arg("status").arg(&member.name);
            let line = calls.ask(&ask)?;
            let unknown = || Cause::State(format!("dmsetup shows no dm-integrity: `{}`", line.trim()));
            errors.checksums += checksum_errors(&line).ok_or_else(unknown)?;
            // A member that was removed has none.
            let attribute = format!("dev-{}/errors", member.device.kernel_name);
            errors.corrected += self.number(&attribute).unwrap_or(0);
        }
        Ok(Some(errors))
    }
}

/// `0 524288 integrity 3 524288 -`: start, length, target, failed requests, and more.
fn checksum_errors(line: &str) -> Option<u64> {
    let mut words = line.split_whitespace().skip(2);
    (words.next()? == "integrity").then_some(())?;
    words.next()?.parse().ok()
}

/// The part of a recovery that is done, from /proc/mdstat: `37043392/292945152`.
fn recovered<'a>(mdstat: &'a str, array: &str) -> Option<&'a str> {
    let is_of_array = |line: &&str| line.split(' ').next() == Some(array);
    let mut lines = mdstat.lines().skip_while(|line| !is_of_array(line));
    let line = lines
        .by_ref()
        .take_while(|line| !line.trim().is_empty())
        .find(|line| line.contains("recovery ="))?;
    line.split_once('(')?.1.split_once(')').map(|(progress, _)| progress)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_checksums_are_read() {
        assert_eq!(checksum_errors("0 524288 integrity 3 524288 -\n"), Some(3));
        assert_eq!(checksum_errors("0 524288 linear 254:0 2048\n"), None);
    }

    #[test]
    fn the_part_of_a_recovery_is_read_from_mdstat() {
        let mdstat = "Personalities : [raid10] [raid6] [raid5] [raid4]\n\
            md1 : active raid5 vdh[3] vdg[1] vdf[0]\n      8384512 blocks level 5 [3/3] [UUU]\n\n\
            md0 : active raid10 vda[4] vdd[3] vdc[2] vdb[1]\n      8384512 blocks super 1.2 2 near-copies [4/3] [_UUU]\n      \
            [==>..................]  recovery = 12.5% (524288/4194304) finish=1.0min speed=10488K/sec\n\n\
            unused devices: <none>\n";
        assert_eq!(recovered(mdstat, "md0").and_then(share), Some(0.125));
        assert_eq!(recovered(mdstat, "md1"), None);
        assert_eq!(recovered(mdstat, "md"), None);
    }
}
