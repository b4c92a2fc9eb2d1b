//! ZFS: through zpool.

use super::calls::{Calls, Job};
use super::redundancy::{Doing, Redundancy, Status, Written, needs_disk, next_spare, pause, refused};
use crate::array::partition_table::partition_of;
use crate::array::zfs::{ZPOOL, distributed_spare, is_distributed, scan};
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::sysfs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use study::act::{Act, ActKind};
use study::stack::StackSpec;
use tools::Invocation;

/// Polling interval of zpool while it resilvers or scrubs.
const ASK_INTERVAL: Duration = Duration::from_secs(1);
const SECTOR_BYTES: u64 = 512;

pub(super) struct Zfs {
    pool: String,
    /// The file with the pool's state in the kernel: `ONLINE`, `DEGRADED`.
    state: PathBuf,
    members: Vec<BlockDevice>,
    spares: Vec<BlockDevice>,
    /// Distributed spares of dRAID, which are space on all disks.
    distributed: Vec<String>,
    written: Option<Written>,
    /// zpool runs until the requested operation has ended.
    job: Option<Job>,
    /// The last scrub was requested by `repair`; it is the same as for `check`.
    is_repair: bool,
    seen: Option<Seen>,
}

/// Output of `zpool status`.
struct Seen {
    said: String,
    at: Instant,
    /// The pool's state in the kernel at that time.
    state: String,
    status: Status,
}

impl Zfs {
    pub(super) fn new(pool: String, spec: &StackSpec, members: &[BlockDevice], spares: &[BlockDevice]) -> Self {
        let (all, spares) = match is_distributed(&spec.filesystem.zfs) {
            true => ([members, spares].concat(), Vec::new()),
            false => (members.to_vec(), spares.to_vec()),
        };
        let distributed =
            (0..spec.array.spares).filter_map(|number| distributed_spare(&spec.filesystem.zfs, number));
        Self {
            state: PathBuf::from(format!("/proc/spl/kstat/zfs/{pool}/state")),
            pool,
            members: all,
            spares,
            distributed: distributed.collect(),
            written: None,
            job: None,
            is_repair: false,
            seen: None,
        }
    }

    fn replace(&mut self, act: &Act, disk: &BlockDevice, calls: &mut Calls<'_>) -> Result<(), Cause> {
        let mut call = Invocation::new(ZPOOL)
            .args(["replace", "-w"])
            .arg(&self.pool)
            .arg(partition_of(disk));
        let written = if self.distributed.is_empty() {
            let spare = next_spare(&mut self.spares, act)?;
            call = call.arg(partition_of(&spare));
            vec![spare]
        } else {
            call = call.arg(self.distributed.remove(0));
            self.members.clone()
        };
        let devices: Vec<PathBuf> = written.iter().map(|disk| disk.path.clone()).collect();
        self.written = Some(Written::begin(written)?);
        self.job = Some(calls.start(call, &devices)?);
        Ok(())
    }

    fn devices(&self) -> Vec<&Path> {
        self.members.iter().map(|disk| disk.path.as_path()).collect()
    }

    /// Whether the pool's status may have changed.
    fn must_ask(&self, state: &str, job_ended: bool) -> bool {
        self.seen.as_ref().is_none_or(|seen| {
            let is_busy = self.job.is_some() || seen.status.doing != Doing::Nothing;
            job_ended || seen.state != state || is_busy && seen.at.elapsed() >= ASK_INTERVAL
        })
    }
}

impl Redundancy for Zfs {
    fn name(&self) -> &'static str {
        "ZFS"
    }

    fn status(&mut self, calls: &mut Calls<'_>) -> Result<Status, Cause> {
        let ended = self.job.take_if(|job| job.has_ended());
        let job_ended = ended.is_some();
        ended.map(|job| calls.end(job)).transpose()?;
        let state = sysfs::read(&self.state)?;
        if self.must_ask(&state, job_ended) {
            let said = calls.ask(&Invocation::new(ZPOOL).arg("status").arg(&self.pool))?;
            let at = Instant::now();
            let status = status(&said);
            self.seen = Some(Seen {
                said,
                at,
                state,
                status,
            });
        }
        let mut status = self.seen.as_ref().map(|seen| seen.status.clone()).unwrap_or_default();
        if status.doing == Doing::Checks && self.is_repair {
            status.doing = Doing::Repairs;
        }
        Ok(status)
    }

    fn wait(&self, at_most: Duration) -> Result<(), Cause> {
        pause(at_most, self.job.is_some());
        Ok(())
    }

    fn finds_failures(&self) -> bool {
        true
    }

    fn checks_repair(&self) -> bool {
        true
    }

    fn act(&mut self, act: &Act, member: Option<&BlockDevice>, calls: &mut Calls<'_>) -> Result<(), Cause> {
        match act.kind {
            ActKind::Check | ActKind::Repair => {
                self.is_repair = act.kind == ActKind::Repair;
                let call = Invocation::new(ZPOOL).args(["scrub", "-w"]).arg(&self.pool);
                self.job = Some(calls.start(call, &self.devices())?);
                Ok(())
            }
            ActKind::Fail => {
                let disk = needs_disk(act, member)?;
                // ZFS's daemon does this when it is notified of errors; a guest has no such daemon.
                let call = Invocation::new(ZPOOL).args(["offline", "-f"]).arg(&self.pool);
                calls.run(&call.arg(partition_of(disk)), &self.devices()).map(drop)
            }
            ActKind::Replace => self.replace(act, needs_disk(act, member)?, calls),
            _ => Err(refused(act, self.name())),
        }
    }

    fn progress(&self) -> Result<String, Cause> {
        Ok(self.seen.as_ref().map(|seen| seen.said.clone()).unwrap_or_default())
    }

    fn written(&self) -> Option<&Written> {
        self.written.as_ref()
    }

    fn disagreeing(&self) -> Result<u64, Cause> {
        let said = self.seen.as_ref().map_or("", |seen| seen.said.as_str());
        disagreeing(said).ok_or_else(|| Cause::State(format!("zpool status shows no finished scrub: {said}")))
    }
}

fn status(said: &str) -> Status {
    let doing = match scan(said) {
        Some(scan) if scan.starts_with("resilver") => Doing::Rebuilds,
        Some(_) => Doing::Checks,
        None => Doing::Nothing,
    };
    Status {
        doing,
        missing: missing(said, doing == Doing::Rebuilds),
    }
}

/// A line of the pool's tree.
struct Vdev<'a> {
    depth: usize,
    name: &'a str,
    is_online: bool,
}

impl Vdev<'_> {
    /// An old device and its replacement.
    fn is_pair(&self) -> bool {
        self.name.starts_with("replacing-") || self.name.starts_with("spare-")
    }
}

/// The pool's devices; not its spares and logs.
fn vdevs(said: &str) -> Vec<Vdev<'_>> {
    let lines = said.lines().skip_while(|line| line.trim() != "config:").skip(1);
    let mut tree = lines.filter_map(|line| {
        let line = line.strip_prefix('\t')?;
        let depth = line.len() - line.trim_start().len();
        let mut words = line.split_whitespace();
        let (name, state) = (words.next()?, words.next().unwrap_or_default());
        // ZFS still reads from a device with too many wrong blocks.
        let is_online = matches!(state, "ONLINE" | "DEGRADED");
        (name != "NAME").then_some(Vdev { depth, name, is_online })
    });
    let pool = tree.next();
    pool.into_iter().chain(tree.take_while(|vdev| vdev.depth > 0)).collect()
}

/// Devices that lack a part of their data.
fn missing(said: &str, resilvers: bool) -> u64 {
    let tree = vdevs(said);
    let (mut missing, mut at) = (0, 0);
    while let Some(vdev) = tree.get(at) {
        let inside = tree[at + 1..]
            .iter()
            .take_while(|other| other.depth > vdev.depth)
            .count();
        if vdev.is_pair() {
            let pair = &tree[at + 1..=at + inside];
            let old = pair.first().is_some_and(|old| old.is_online);
            let new = pair.iter().skip(1).any(|new| new.is_online) && !resilvers;
            missing += u64::from(!old && !new);
            at += inside;
        } else if inside == 0 && !vdev.is_online {
            missing += 1;
        }
        at += 1;
    }
    missing
}

/// Repaired and unrepairable data of the last scrub, in sectors.
fn disagreeing(said: &str) -> Option<u64> {
    let scrub = said
        .lines()
        .find_map(|line| line.trim().strip_prefix("scan: scrub repaired "))?;
    let mut words = scrub.split_whitespace();
    let repaired = bytes(words.next()?)?.div_ceil(SECTOR_BYTES);
    let errors: u64 = words.skip_while(|word| *word != "with").nth(1)?.parse().ok()?;
    Some(repaired + errors)
}

/// A size in zpool's format: `0B`, `4K`, `1.50M`.
fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(text.len().checked_sub(1)?);
    let power = "BKMGTP".find(unit)?;
    Some((number.parse::<f64>().ok()? * 1024f64.powi(i32::try_from(power).ok()?)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(scan: &str, tree: &str) -> String {
        format!(
            "  pool: lab\n state: DEGRADED\n  scan: {scan}\nconfig:\n\n\
             \tNAME  STATE READ WRITE CKSUM\n\tlab  DEGRADED 0 0 0\n\t  raidz2-0  DEGRADED 0 0 0\n\
             \t    vda1  ONLINE 0 0 0\n{tree}\t    vdc1  ONLINE 0 0 0\n\tspares\n\t  draid2-0-0  INUSE  currently\n\n\
             errors: No known data errors\n"
        )
    }

    fn of(scan: &str, tree: &str) -> (Doing, u64) {
        let status = status(&said(scan, tree));
        (status.doing, status.missing)
    }

    #[test]
    fn the_state_of_a_pool_is_read() {
        let ended = "resilvered 1.21G in 00:00:10 with 0 errors on Sun Oct 11 00:24:03 2026";
        let under_way = "resilver in progress since Sun Oct 11 00:24:03 2026";
        let (online, faulted) = (
            "\t    vdb1  ONLINE 0 0 0\n",
            "\t    vdb1  FAULTED 0 0 0  external device fault\n",
        );
        assert_eq!(of(ended, online), (Doing::Nothing, 0));
        assert_eq!(of(ended, faulted), (Doing::Nothing, 1));
        let pair = "\t    replacing-1  DEGRADED 0 0 0\n\t      vdb1  FAULTED 0 0 0\n\t      vde1  ONLINE 0 0 0\n";
        assert_eq!(of(under_way, pair), (Doing::Rebuilds, 1));
        let spare = pair.replace("replacing-1", "spare-1").replace("vde1", "draid2-0-0");
        assert_eq!(of(ended, &spare), (Doing::Nothing, 0));
        // From a working disk.
        assert_eq!(of(under_way, &pair.replace("FAULTED", "ONLINE")), (Doing::Rebuilds, 0));
        assert_eq!(of("scrub in progress since Sun", online), (Doing::Checks, 0));
    }

    #[test]
    fn what_a_scrub_repaired_is_read() {
        let of = |scan: &str| disagreeing(&said(scan, ""));
        assert_eq!(of("scrub repaired 0B in 00:00:01 with 0 errors on Sun"), Some(0));
        assert_eq!(
            of("scrub repaired 1.50M in 0 days 00:00:01 with 2 errors on Sun"),
            Some(3072 + 2)
        );
        assert_eq!(of("resilvered 1.21G in 00:00:10 with 0 errors on Sun"), None);
    }
}
