//! The processes that a session starts: each runs one trial or a rollback.

use crate::device::disk::Disk;
use crate::ledger::ledger_file::{ClaimedDisk, DiskLedger};
use crate::ledger::run_devices::RunDevices;
use crate::ledger::undo::HostUndo;
use crate::observe::load::Load;
use crate::observe::provenance;
use crate::process::cgroup;
use crate::process::loop_devices;
use crate::process::roll_back::{self, Outcome};
use crate::process::trial_ledger::TrialLedger;
use crate::safety::claim::{Handed, HeldDisk};
use crate::safety::judgement::JUDGING;
use crate::safety::write_checks::TrialCheck;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{FromRawFd, RawFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use study::event::{Event, Failure, Guard};
use study::plan::Trial;
use study::stack::Level;
use tools::{Tool, Tools};
use trial::{DiskKind, Safety, Teardown, TrialSetting};

/// The job, passed as JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum HostJob {
    Trial {
        job: Box<TrialJob>,
        /// The disks of the session, which are open here.
        handed: Vec<Handed>,
    },
    /// Undo the open acts of the ledger.
    RollBack,
}

/// A trial and its environment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialJob {
    pub trial: Trial,
    pub disks: TestDisks,
    /// Folder of mount points.
    pub folder: PathBuf,
    /// Name of the stack.
    pub name: String,
    /// Serial numbers are complete.
    pub full_serials: bool,
}

/// The disks under test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum TestDisks {
    /// The first disks of the session, this many.
    Real(usize),
    Loop(LoopDisks),
}

/// Sparse files behind loop devices, new for each trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopDisks {
    pub count: usize,
    pub bytes_each: u64,
    /// Parent folder of the files.
    pub folder: PathBuf,
}

impl LoopDisks {
    /// The folder of a session of this name.
    fn folder_of(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn files(&self, name: &str) -> Vec<PathBuf> {
        let file = |index| self.folder_of(name).join(format!("disk{index}"));
        (0..self.count).map(file).collect()
    }
}

/// A message of the rollback, one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum RollBackLine {
    Undone(String),
    /// Not made by the run, so it is left.
    Left(String),
    Failed(String),
}

/// Runs the job that standard input describes, with the ledger that is open under this number.
pub fn main(ledger: RawFd) -> ExitCode {
    match work(ledger) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn work(ledger: RawFd) -> io::Result<()> {
    let mut text = Vec::new();
    io::stdin().read_to_end(&mut text)?;
    let job: HostJob = serde_json::from_slice(&text).map_err(io::Error::other)?;
    let file = inherited(ledger, &job)?;
    let (mut ledger, contents) = DiskLedger::open(file)?;
    match job {
        HostJob::Trial { job, handed } => {
            let claims = contents.header.map(|header| header.claims).unwrap_or_default();
            run_trial(&job, handed, claims, &mut ledger);
            Ok(())
        }
        HostJob::RollBack => roll_back::roll_back(&mut ledger, contents, &mut |words, outcome| {
            say(&match outcome {
                Ok(Outcome::Undone) => RollBackLine::Undone(words),
                Ok(Outcome::Left(why)) => RollBackLine::Left(why),
                Err(why) => RollBackLine::Failed(format!("could not {words}: {why}")),
            });
        }),
    }
}

/// The ledger, which this process got with its lock.
///
/// A program of a rollback keeps the lock: the kernel may still stop an array for an mdadm that was killed with
/// raidlab, and the next rollback must wait for it. Programs of a trial are ended by their control group, and daemons
/// among them would keep the lock for ever.
fn inherited(ledger: RawFd, job: &HostJob) -> io::Result<File> {
    let flags = match job {
        HostJob::RollBack => 0,
        HostJob::Trial { .. } => libc::FD_CLOEXEC,
    };
    // SAFETY: only changes the flags of a file descriptor.
    if ledger <= 2 || unsafe { libc::fcntl(ledger, libc::F_SETFD, flags) } < 0 {
        return Err(io::Error::other(
            "there is no ledger: this command is for raidlab's own use",
        ));
    }
    // SAFETY: the session passed this file, and nothing else in this process knows its number.
    Ok(unsafe { File::from_raw_fd(ledger) })
}

/// Writes one line at once. If nobody reads it any more, the process exits.
fn say(line: &impl Serialize) {
    let mut bytes = serde_json::to_vec(line).expect("messages are plain data");
    bytes.push(b'\n');
    if io::stdout()
        .write_all(&bytes)
        .and_then(|()| io::stdout().flush())
        .is_err()
    {
        std::process::exit(1);
    }
}

fn provenance((key, value): (String, String)) {
    say(&Event::Provenance { key, value });
}

fn run_trial(job: &TrialJob, handed: Vec<Handed>, claims: Vec<ClaimedDisk>, ledger: &mut DiskLedger) {
    let failed = |step: &str, message: String| {
        say(&Event::Failed(Failure {
            step: step.to_owned(),
            message,
        }));
    };
    provenance::of_machine().into_iter().for_each(provenance);
    // Without control groups, the session itself searches for remaining processes.
    let _ = cgroup::enter(&job.name, ledger);
    limit_memory(job, ledger);
    let found = || Tools::find(&JUDGING);
    let (tools, identifying) = match (found(), found()) {
        (Ok(tools), Ok(identifying)) => (tools, identifying),
        (Err(missing), _) | (_, Err(missing)) => return failed("find programs", missing.to_string()),
    };
    let mut held = match handed.into_iter().map(Handed::held).collect::<Result<Vec<_>, _>>() {
        Ok(held) => held,
        Err(message) => return failed("look at disks", message),
    };
    let files = match &job.disks {
        TestDisks::Real(_) => Vec::new(),
        TestDisks::Loop(disks) => disks.files(&job.name),
    };
    if let TestDisks::Loop(disks) = &job.disks {
        say(&Event::Guard(in_memory(&disks.folder)));
    }
    let (nodes, zeroed) = match &job.disks {
        TestDisks::Real(count) => match judged(&mut held, *count, &tools) {
            Ok(nodes) => (nodes, false),
            Err(message) => return failed("judge disks", message),
        },
        TestDisks::Loop(disks) => match attach(disks, &job.name, ledger) {
            Ok(nodes) => (nodes, true),
            Err(message) => return failed("attach loop devices", message),
        },
    };
    let disks: Result<Vec<Disk>, _> = nodes.iter().map(|node| Disk::at(node)).collect();
    match disks {
        Ok(disks) => {
            for (place, disk) in disks.iter().enumerate() {
                say(&Event::TestDisk(provenance::test_disk(place, disk, job.full_serials)));
            }
        }
        Err(error) => return failed("look at disks", error.to_string()),
    }
    let disks = match trial::Disks::of(&job.trial.cell.machine.disks, &nodes) {
        Ok(disks) => disks,
        Err(error) => return failed("look at disks", error.to_string()),
    };
    let setting = TrialSetting {
        disks,
        folder: job.folder.clone(),
        name: job.name.clone(),
        zeroed,
        created: false,
        disk_kind: DiskKind::Real,
        teardown: Teardown::Full,
    };
    let load = Load::begin(&nodes);
    let mut check = TrialCheck {
        disks: held,
        devices: RunDevices {
            claims,
            same_boot: true,
            files,
        },
        tools,
        ours: ours(),
        keeps_claim: is_raw(&job.trial),
        written: BTreeSet::new(),
        let_go: Arc::default(),
    };
    let mut ledger = TrialLedger {
        ledger,
        tools: identifying,
    };
    let safety = Safety {
        ledger: &mut ledger,
        check: &mut check,
    };
    trial::run(&job.trial, &setting, safety, &mut |event| {
        if matches!(event, Event::Done { .. }) {
            say(&Event::Load(load.since()));
            provenance::temperatures(&nodes).into_iter().for_each(provenance);
        }
        say(&event);
    });
}

/// Whether the workload uses the disks directly: then only raidlab has them open.
fn is_raw(trial: &Trial) -> bool {
    let stack = &trial.cell.stack;
    stack.filesystem.kind.is_raw() && stack.array.level == Level::Single
}

/// The processes of the run, which have its disks open.
fn ours() -> Vec<u32> {
    let session = rustix::process::getppid().and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok());
    session.into_iter().chain([std::process::id()]).collect()
}

/// The nodes of the trial's disks, after each was judged again. Then the programs that build the stack can open them;
/// [`TrialCheck`] judges each for the last time before it is written to.
fn judged(held: &mut [HeldDisk], count: usize, tools: &Tools) -> Result<Vec<PathBuf>, String> {
    let disks = held
        .get_mut(..count)
        .ok_or("there are fewer disks than the trial needs")?;
    let ours = ours();
    for disk in &*disks {
        disk.judge(tools, &ours, &[])?;
    }
    disks.iter_mut().for_each(HeldDisk::release);
    Ok(disks.iter().map(|disk| disk.identity().node.clone()).collect())
}

/// Limits this process to the study's RAM. If that is not possible, a guard fails, unless the machine has no more RAM.
fn limit_memory(job: &TrialJob, ledger: &mut DiskLedger) {
    let bytes = job.trial.cell.machine.ram_bytes;
    let has = provenance::ram_bytes();
    let mib = bytes >> 20;
    let (passed, detail) = if has <= bytes {
        (
            true,
            format!("the machine has {} MiB, no more than the study's {mib} MiB", has >> 20),
        )
    } else {
        match cgroup::limit_memory(&job.name, bytes, ledger) {
            Ok(()) => (true, format!("limited to {mib} MiB by a control group")),
            Err(why) => (
                false,
                format!(
                    "the study needs {mib} MiB of memory, the machine has {} MiB: {why}",
                    has >> 20
                ),
            ),
        }
    };
    say(&Event::Guard(Guard {
        name: "memory".to_owned(),
        test: None,
        passed,
        detail,
    }));
}

/// Files in memory do not behave like disks.
fn in_memory(folder: &Path) -> Guard {
    let kind = provenance::filesystem_of(&folder.to_string_lossy()).unwrap_or_else(|| "unknown".to_owned());
    let passed = !matches!(kind.as_str(), "tmpfs" | "ramfs" | "hugetlbfs" | "devtmpfs" | "zram");
    let detail = match passed {
        true => format!("files behind loop devices are on {kind}"),
        false => format!("files behind loop devices are on {kind}, in memory: figures are not those of a disk"),
    };
    Guard {
        name: "loop-files".to_owned(),
        test: None,
        passed,
        detail,
    }
}

fn attach(disks: &LoopDisks, name: &str, ledger: &mut DiskLedger) -> Result<Vec<PathBuf>, String> {
    let tools = Tools::find(&[Tool::Losetup]).map_err(|missing| missing.to_string())?;
    let folder = disks.folder_of(name);
    ledger
        .intend(&HostUndo::Folder { path: folder.clone() })
        .map_err(|error| format!("could not write the ledger: {error}"))?;
    fs::DirBuilder::new()
        .mode(0o700)
        .create(&folder)
        .map_err(|error| format!("could not make {}: {error}", folder.display()))?;
    let mut recorder = |event: Event| say(&event);
    let mut attach = |file: &PathBuf| loop_devices::attach(file, disks.bytes_each, ledger, &tools, &mut recorder);
    disks.files(name).iter().map(&mut attach).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::FlockOperation;
    use std::os::fd::IntoRawFd;

    /// mdadm(8) was still in the kernel when the next `clean` began, and that failed.
    #[test]
    fn a_rollback_waits_for_a_program_of_a_killed_rollback() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let locked = file.reopen().expect("the file");
        rustix::fs::flock(&locked, FlockOperation::NonBlockingLockExclusive).expect("free");
        let ledger = inherited(locked.into_raw_fd(), &HostJob::RollBack).expect("a ledger");
        let mut program = std::process::Command::new("sleep").arg("60").spawn().expect("started");
        drop(ledger);
        let next = file.reopen().expect("the file");
        let taken = rustix::fs::flock(&next, FlockOperation::NonBlockingLockExclusive);
        program.kill().and_then(|()| program.wait()).expect("it ends");
        taken.expect_err("the program had the lock");
    }
}
