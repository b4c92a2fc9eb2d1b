//! A run on this machine: its claim on the disks, its ledger, and the processes that use them.

use crate::device::identity::Identity;
use crate::ledger::ledger_file::{ClaimedDisk, DiskLedger, Header, VERSION, boot_id};
use crate::ledger::ledger_folder::{LedgerFolder, Leftover};
use crate::ledger::leftovers;
use crate::observe::kernel_log::KernelLog;
use crate::process::child_process::{HostJob, RollBackLine, TestDisks, TrialJob};
use crate::process::watched_process::{EndedProcess, HungProcess, Running};
use crate::safety::claim::{self, HeldDisk};
use crate::safety::in_use::is_held;
use crate::safety::judgement::JUDGING;
use crate::safety::select::Chosen;
use crate::safety::write_checks::{TrialCheck, locked};
use rustix::fs::FlockOperation;
use std::fs::{self, File};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use study::act::ActKind;
use tools::{Invocation, Tool, Tools};
use trial::{Limits, OUTPUT_BYTES_MAX, ProcessEnd};

/// Time limit of a rollback. Unmounting writes back the page cache, which takes long on a slow disk.
const ROLLING_BACK: Limits = Limits {
    stall: Duration::from_secs(300),
    wall: Duration::from_secs(3600),
    output_bytes: OUTPUT_BYTES_MAX,
};

/// Why a session cannot start.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(
        "cannot write `{folder}`, where raidlab keeps its ledger: {reason}; set RAIDLAB_STATE to another folder that \
         survives a reboot"
    )]
    State { folder: PathBuf, reason: String },
    #[error("{disk} is in use by another raidlab (process {pid}): wait for it or stop it; nothing was touched")]
    Taken { disk: String, pid: u32 },
    /// A disk came into use or was changed between its judgement and its claim.
    #[error("the disks changed since they were checked; nothing was touched:\n  {}", .0.join("\n  "))]
    Changed(Vec<String>),
    #[error("cannot erase what `--destroy` released: {0}")]
    NotCleared(String),
}

/// The lock for starting sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Another process has it; its PID, if known.
    Waiting(Option<u32>),
    Taken,
}

/// A running session on this machine.
#[derive(Debug)]
pub struct Session {
    name: String,
    folder: PathBuf,
    path: PathBuf,
    /// Locked as long as this process, or one that inherited it, runs.
    ledger: File,
    disks: Mutex<Vec<HeldDisk>>,
    /// Why the disks must not be written to any more.
    lost: Mutex<Option<String>>,
}

/// The result of a rollback.
#[derive(Debug, Default)]
pub struct RolledBack {
    /// Descriptions of what was undone.
    pub undone: Vec<String>,
    /// Objects that were left because the run did not make them, with the reason.
    pub not_ours: Vec<String>,
    /// What could not be undone, with the reason; it stays in the ledger.
    pub failed: Vec<String>,
    /// Processes that hang.
    pub hung: Vec<HungProcess>,
    /// Disks that hold data of a killed run or of others: their names for `--destroy`.
    pub remains: Vec<String>,
}

impl RolledBack {
    pub fn is_whole(&self) -> bool {
        self.failed.is_empty() && self.hung.is_empty()
    }

    /// What could not be undone, in a sentence.
    pub fn left(&self) -> String {
        let mut words = self.failed.clone();
        if !self.hung.is_empty() {
            let hung: Vec<String> = self.hung.iter().map(ToString::to_string).collect();
            words.push(format!("{} does not exit", hung.join(", ")));
        }
        words.join("; ")
    }
}

impl Session {
    /// Claims judged disks and starts a ledger, under the lock. `lock` is called repeatedly while it waits, and once it
    /// has the lock. Released signatures are erased, so that they do not reappear when the disks are free again.
    pub fn begin(
        state: &LedgerFolder,
        chosen: &[Chosen],
        command: String,
        lock: &mut dyn FnMut(Lock),
    ) -> Result<Session, SessionError> {
        let failed = |error: io::Error| SessionError::State {
            folder: state.folder().to_owned(),
            reason: error.to_string(),
        };
        state.prepare().map_err(failed)?;
        let _lock = state.lock(&mut |owner| lock(Lock::Waiting(owner))).map_err(failed)?;
        lock(Lock::Taken);
        let claims: Vec<ClaimedDisk> = chosen.iter().map(|chosen| ClaimedDisk::of(&chosen.disk)).collect();
        for other in state.alive().map_err(failed)? {
            let is_taken = |claim: &&ClaimedDisk| other.claims.iter().any(|theirs| theirs.collides(claim));
            if let Some(claim) = claims.iter().find(is_taken) {
                return Err(SessionError::Taken {
                    disk: claim.identity.node.display().to_string(),
                    pid: other.pid,
                });
            }
        }
        let mut disks = take(chosen).map_err(SessionError::Changed)?;
        let name = new_name().map_err(failed)?;
        let path = state.ledger_path(&name);
        let header = Header {
            version: VERSION,
            name: name.clone(),
            pid: std::process::id(),
            boot_id: boot_id(),
            command,
            claims,
        };
        let ledger = begin_ledger(&path, &header).map_err(failed)?;
        if let Err(why) = clear(chosen, &mut disks) {
            let _ = fs::remove_file(&path);
            return Err(SessionError::NotCleared(why));
        }
        Ok(Session {
            name,
            folder: state.folder().to_owned(),
            path,
            ledger,
            disks: Mutex::new(disks),
            lost: Mutex::new(None),
        })
    }

    /// Why the disks must not be written to any more, if their contents are not as recorded.
    pub fn lost(&self) -> Option<String> {
        locked(&self.lost).clone()
    }

    /// Name of its stacks.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Folder for mount points.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs a trial in a separate process, which gets the disks. What it leaves must be rolled back before the next
    /// trial.
    pub fn trial(
        &self,
        job: TrialJob,
        limits: &Limits,
        stop: &AtomicBool,
        log: &mut KernelLog,
        line: &mut dyn FnMut(&[u8], &mut Vec<String>),
        tick: &mut dyn FnMut(),
    ) -> io::Result<EndedProcess> {
        let mut disks = locked(&self.disks);
        let handed: Option<Vec<_>> = disks.iter().map(HeldDisk::handed).collect();
        let handed = handed.ok_or_else(|| io::Error::other("a disk is not claimed"))?;
        for disk in &*disks {
            // From now on the contents change.
            leftovers::forget(disk.identity())?;
        }
        let removes = job.trial.cell.acts.iter().any(|act| act.kind == ActKind::Remove);
        let used = match job.disks {
            TestDisks::Real(count) if removes => count,
            _ => 0,
        };
        let files: Vec<RawFd> = handed.iter().flat_map(|handed| handed.files()).collect();
        let job = serde_json::to_vec(&HostJob::Trial {
            job: Box::new(job),
            handed,
        })
        .map_err(io::Error::other)?;
        // From then on the process has the disks exclusively.
        let mut handed_over = || disks.iter_mut().for_each(HeldDisk::release);
        let running = Running::start(&self.ledger, &files, &job, &mut handed_over)?;
        let ended = running.watch(limits, Some(stop), log, line, tick);
        // The process that held a member removed by an act has exited.
        let is_free = |disk: &&HeldDisk| !is_held(&disk.identity().node);
        if ended.end != ProcessEnd::Exited
            && let Some(disk) = disks.iter().take(used).find(is_free)
        {
            locked(&self.lost).get_or_insert(format!(
                "{} may have been outside its array when the trial ended: its contents may now belong to another \
                    program",
                disk.identity().node.display()
            ));
        }
        Ok(ended)
    }

    /// Undoes the open acts of the ledger, in a separate process that Ctrl-C does not stop. Then the disks are claimed
    /// and judged again.
    pub fn roll_back(&self) -> io::Result<RolledBack> {
        let rolled_back = roll_back(&self.ledger)?;
        let why = match rolled_back.is_whole() {
            true => self.claim_again().err(),
            false => Some("what the last trial left is still on the disks".to_owned()),
        };
        if let Some(why) = why {
            locked(&self.lost).get_or_insert(why);
        }
        Ok(rolled_back)
    }

    fn claim_again(&self) -> Result<(), String> {
        let mut disks = locked(&self.disks);
        if disks.is_empty() {
            return Ok(());
        }
        let tools = Tools::find(&JUDGING).map_err(|missing| missing.to_string())?;
        disks
            .iter_mut()
            .try_for_each(|disk| disk.judge_what_is_left(&tools, &[std::process::id()]))
    }

    /// Converts the session to one in which this process writes to the disks: the check before each write.
    pub fn into_check(self) -> io::Result<TrialCheck> {
        fs::remove_file(&self.path)?;
        let mut disks = self.disks.into_inner().unwrap_or_else(PoisonError::into_inner);
        disks.iter_mut().for_each(HeldDisk::release);
        TrialCheck::of(disks, &[std::process::id()])
    }

    /// Rolls back what is left. The ledger is removed if no act is open.
    pub fn end(self) -> io::Result<RolledBack> {
        let rolled_back = self.roll_back()?;
        if rolled_back.is_whole() {
            fs::remove_file(&self.path)?;
        }
        if locked(&self.lost).is_none() {
            for disk in &*locked(&self.disks) {
                // If this fails, the user must release the disk for the next run.
                let _ = leftovers::note(disk.identity(), disk.left());
            }
        }
        Ok(rolled_back)
    }
}

/// Holds and judges all disks; or returns all reasons against it.
fn take(chosen: &[Chosen]) -> Result<Vec<HeldDisk>, Vec<String>> {
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let tools = Tools::find(&JUDGING).map_err(|missing| vec![missing.to_string()])?;
    let (mut held, mut against) = (Vec::new(), Vec::new());
    for one in chosen {
        let taken = HeldDisk::take(&one.identity, &one.fingerprint)
            .and_then(|disk| disk.judge(&tools, &[std::process::id()], &one.given_up).map(|()| disk));
        match taken {
            Ok(disk) => held.push(disk),
            Err(why) => against.push(why),
        }
    }
    match against.is_empty() {
        true => Ok(held),
        false => Err(against),
    }
}

/// Erases released signatures while the disk is open exclusively; wipefs must not try to open it exclusively.
fn clear(chosen: &[Chosen], disks: &mut [HeldDisk]) -> Result<(), String> {
    if chosen.iter().all(|chosen| chosen.given_up.is_empty()) {
        return Ok(());
    }
    let tools = Tools::find(&JUDGING).map_err(|missing| missing.to_string())?;
    for (Chosen { given_up, .. }, held) in chosen.iter().zip(disks) {
        if given_up.is_empty() {
            continue;
        }
        let disk = held.check()?;
        leftovers::forget(held.identity()).map_err(|error| error.to_string())?;
        for part in disk.partitions().iter().chain([&disk.node]) {
            let call = Invocation::new(Tool::Wipefs)
                .args(["--all", "--quiet", "--force"])
                .arg(part);
            tools
                .run(&call, &mut |_| ())
                .map_err(|error| format!("{disk}: {error}"))?;
        }
        held.forget_partitions();
        held.judge_what_is_left(&tools, &[std::process::id()])?;
    }
    Ok(())
}

impl Leftover {
    /// Undoes what a dead session left; removes its ledger if everything is undone.
    ///
    /// While the kernel held a disk for the run's stack, nobody else could write to it: its contents are the run's and
    /// need not be released.
    pub fn roll_back(&self) -> io::Result<RolledBack> {
        let claims = self.header.iter().flat_map(|header| &header.claims);
        let held: Vec<(&Identity, bool)> = claims
            .map(|claim| (&claim.identity, is_held(&claim.identity.node)))
            .collect();
        let mut rolled_back = roll_back(&self.file)?;
        if rolled_back.is_whole() {
            for (identity, was_held) in held {
                if !was_held || claim::note_what_is_left(identity).is_err() {
                    rolled_back.remains.push(identity.handle());
                }
            }
            fs::remove_file(&self.path)?;
        }
        Ok(rolled_back)
    }

    /// Path of its ledger.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn roll_back(ledger: &File) -> io::Result<RolledBack> {
    let mut rolled_back = RolledBack::default();
    if DiskLedger::read(ledger)?.open.is_empty() {
        return Ok(rolled_back);
    }
    let job = serde_json::to_vec(&HostJob::RollBack).map_err(io::Error::other)?;
    let running = Running::start(ledger, &[], &job, &mut || ())?;
    let mut line = |line: &[u8], _: &mut Vec<String>| match serde_json::from_slice(line) {
        Ok(RollBackLine::Undone(words)) => rolled_back.undone.push(words),
        Ok(RollBackLine::Left(words)) => rolled_back.not_ours.push(words),
        Ok(RollBackLine::Failed(words)) => rolled_back.failed.push(words),
        Err(error) => rolled_back.failed.push(error.to_string()),
    };
    let ended = running.watch(&ROLLING_BACK, None, &mut KernelLog::from_now(), &mut line, &mut || ());
    rolled_back.hung = ended.hung;
    if ended.end != ProcessEnd::Exited && rolled_back.failed.is_empty() {
        let how = match ended.end {
            ProcessEnd::Died(how) => how,
            _ => "it made no progress".to_owned(),
        };
        rolled_back.failed.push(format!(
            "the rollback process did not exit: {how} {}",
            ended.errors.trim()
        ));
    }
    Ok(rolled_back)
}

fn begin_ledger(path: &Path, header: &Header) -> io::Result<File> {
    let file = File::options()
        .create_new(true)
        .read(true)
        .write(true)
        .mode(0o600)
        .open(path)?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    let begun = DiskLedger::begin(file.try_clone()?, header).and_then(|_| {
        // The file's name must survive a power cut as well.
        File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()
    });
    if let Err(error) = begun {
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(file)
}

/// A unique name.
fn new_name() -> io::Result<String> {
    let mut bytes = [0_u8; 4];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(format!("raidlab-{:08x}", u32::from_le_bytes(bytes)))
}
