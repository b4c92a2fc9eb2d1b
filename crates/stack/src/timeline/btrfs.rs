//! btrfs: through its program and /sys/fs/btrfs.

use super::calls::{Calls, Job};
use super::redundancy::{Doing, Redundancy, Status, Written, next_spare, pause, refused};
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::sysfs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::act::{Act, ActKind};
use study::event::ToolCall;
use tools::{Invocation, Tool, ToolError};

pub(crate) const BTRFS: Tool = Tool::Filesystem(&filesystems::btrfs::BTRFS);

const SECTOR_BYTES: u64 = 512;
const BLOCK_BYTES: u64 = 4096;

pub(super) struct Btrfs {
    folder: PathBuf,
    /// The filesystem's folder in /sys.
    sysfs: PathBuf,
    members: Vec<PathBuf>,
    spares: Vec<BlockDevice>,
    written: Option<Written>,
    /// A running program and its purpose.
    job: Option<(Doing, Job)>,
    disagreeing: u64,
    /// btrfs's message about a scrub that the kernel aborted.
    aborted: Option<String>,
}

impl Btrfs {
    pub(super) fn new(folder: PathBuf, members: &[BlockDevice], spares: &[BlockDevice]) -> Result<Self, Cause> {
        let first = members.first().map(|disk| disk.kernel_name.as_str());
        Ok(Self {
            sysfs: of_disk(first.unwrap_or_default())?,
            folder,
            members: members.iter().map(|disk| disk.path.clone()).collect(),
            spares: spares.to_vec(),
            written: None,
            job: None,
            disagreeing: 0,
            aborted: None,
        })
    }

    /// Devices that are missing, or that had read, write or flush errors. btrfs keeps a failing device and counts
    /// its errors; a new device takes its number.
    fn missing(&self) -> Result<u64, Cause> {
        let folder = self.sysfs.join("devinfo");
        let mut missing = 0;
        for device in sysfs::list(&folder)? {
            // The target of a replacement is device 0.
            if device.file_name().is_some_and(|name| name == "0") {
                continue;
            }
            let is_missing = sysfs::read(&device.join("missing"))? == "1";
            let errors = sysfs::read(&device.join("error_stats"))?;
            missing += u64::from(is_missing || has_failed(&errors));
        }
        Ok(missing)
    }

    fn replace(&mut self, act: &Act, calls: &mut Calls<'_>) -> Result<(), Cause> {
        let spare = next_spare(&mut self.spares, act)?;
        self.written = Some(Written::begin(vec![spare.clone()])?);
        let number = act.disk.unwrap_or_default();
        // mkfs numbers the devices in order. btrfs reads from a failing disk only what no other disk has.
        let call = Invocation::new(BTRFS)
            .args(["replace", "start", "-B", "-f", "-r"])
            .arg(number.to_string())
            .arg(&spare.path)
            .arg(&self.folder);
        self.job = Some((Doing::Rebuilds, calls.start(call, &[&spare.path])?));
        Ok(())
    }

    fn scrub(&mut self, doing: Doing, calls: &mut Calls<'_>) -> Result<(), Cause> {
        let mut call = Invocation::new(BTRFS).args(["scrub", "start", "-B", "-R"]);
        if doing == Doing::Checks {
            call = call.arg("-r");
        }
        self.job = Some((doing, calls.start(call.arg(&self.folder), &self.members)?));
        Ok(())
    }
}

impl Redundancy for Btrfs {
    fn name(&self) -> &'static str {
        "btrfs"
    }

    fn status(&mut self, calls: &mut Calls<'_>) -> Result<Status, Cause> {
        if let Some((doing, job)) = self.job.take_if(|(_, job)| job.has_ended()) {
            let ended = match calls.end(job) {
                Err(Cause::Tool(ToolError::Exit { call, status })) if has_ended(doing, &call, status) => {
                    self.aborted = is_aborted(&call.stdout).then(|| call.stderr.trim().replace('\n', "; "));
                    *call
                }
                ended => ended?,
            };
            if doing != Doing::Rebuilds {
                self.disagreeing = disagreeing(&ended.stdout)?;
            }
        }
        let exclusive = sysfs::read(&self.sysfs.join("exclusive_operation"))?;
        let doing = match &self.job {
            _ if exclusive == "device replace" => Doing::Rebuilds,
            Some((doing @ (Doing::Checks | Doing::Repairs), _)) => *doing,
            _ => Doing::Nothing,
        };
        Ok(Status {
            doing,
            missing: self.missing()?,
        })
    }

    fn wait(&self, at_most: Duration) -> Result<(), Cause> {
        pause(at_most, self.job.is_some());
        Ok(())
    }

    fn finds_failures(&self) -> bool {
        true
    }

    fn act(&mut self, act: &Act, _: Option<&BlockDevice>, calls: &mut Calls<'_>) -> Result<(), Cause> {
        match act.kind {
            ActKind::Check => self.scrub(Doing::Checks, calls),
            ActKind::Repair => self.scrub(Doing::Repairs, calls),
            // The disk has died.
            ActKind::Fail => Ok(()),
            ActKind::Replace => self.replace(act, calls),
            _ => Err(refused(act, self.name())),
        }
    }

    /// The new disk; a scrub ends with its program.
    fn written(&self) -> Option<&Written> {
        self.written.as_ref()
    }

    fn disagreeing(&self) -> Result<u64, Cause> {
        Ok(self.disagreeing)
    }

    fn take_abortion(&mut self) -> Option<String> {
        self.aborted.take()
    }
}

/// Whether a scrub that did not exit with 0 nevertheless has results: it exits with 3 if it found errors that it
/// did not repair, as with `-r`, and with 1 if the kernel aborted it on some device.
fn has_ended(doing: Doing, call: &ToolCall, status: i32) -> bool {
    let is_scrub = matches!(doing, Doing::Checks | Doing::Repairs);
    is_scrub && (status == 3 || status == 1 && is_aborted(&call.stdout))
}

fn is_aborted(printed: &str) -> bool {
    let status = printed.lines().find_map(|line| line.strip_prefix("Status:"));
    status.is_some_and(|status| status.trim() == "aborted")
}

/// The folder of the mounted filesystem on this disk.
fn of_disk(kernel_name: &str) -> Result<PathBuf, Cause> {
    let all = sysfs::list(Path::new("/sys/fs/btrfs"))?;
    let found = all
        .into_iter()
        .find(|folder| folder.join("devices").join(kernel_name).exists());
    found.ok_or_else(|| Cause::State(format!("/sys/fs/btrfs shows no filesystem on {kernel_name}")))
}

/// Whether a device's statistics count read, write or flush errors.
fn has_failed(error_stats: &str) -> bool {
    error_stats.lines().any(|line| {
        let mut words = line.split_whitespace();
        let of_disk = matches!(words.next(), Some("write_errs" | "read_errs" | "flush_errs"));
        of_disk && words.next() != Some("0")
    })
}

/// Wrong blocks counted by `btrfs scrub start -R`, in sectors.
fn disagreeing(printed: &str) -> Result<u64, Cause> {
    let count = |name: &str| {
        let of = |line: &str| line.trim().strip_prefix(name)?.trim().parse::<u64>().ok();
        printed.lines().find_map(of)
    };
    let kinds = ["verify_errors:", "csum_errors:", "super_errors:"];
    let counts: Option<Vec<u64>> = kinds.into_iter().map(count).collect();
    let counts = counts.ok_or_else(|| Cause::State(format!("a scrub of btrfs printed no errors: {printed}")))?;
    Ok(counts.iter().sum::<u64>() * (BLOCK_BYTES / SECTOR_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_fails_is_seen_in_its_statistics() {
        let of = |write, read, flush| {
            format!(
                "write_errs {write}\nread_errs {read}\nflush_errs {flush}\ncorruption_errs 7\ngeneration_errs 0\n"
            )
        };
        assert!(!has_failed(&of(0, 0, 0)));
        assert!(has_failed(&of(0, 3, 0)));
        assert!(has_failed(&of(0, 0, 1)));
    }

    #[test]
    fn wrong_blocks_of_a_scrub_count_in_sectors() {
        let printed = "scrub done for 1\n\tdata_extents_scrubbed: 8\n\tread_errors: 0\n\tcsum_errors: 2\n\
                       \tverify_errors: 1\n\tno_csum: 0\n\tsuper_errors: 0\n";
        assert_eq!(disagreeing(printed).expect("a scrub's figures"), 24);
        assert!(disagreeing("scrub aborted").is_err());
    }

    #[test]
    fn a_scrub_that_the_kernel_aborted_is_known() {
        assert!(is_aborted(
            "scrub done for 1\nStatus:           aborted\n\tcsum_errors: 15\n"
        ));
        assert!(!is_aborted(
            "scrub done for 1\nStatus:           finished\n\tcsum_errors: 15\n"
        ));
    }
}
