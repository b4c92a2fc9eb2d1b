//! A run on this machine: its claim on the disks, its ledger, and the processes that work on both.

use crate::job::{HostJob, TakeBackLine, TrialJob};
use crate::kernel_log::KernelLog;
use crate::ledger::{ClaimedDisk, DiskLedger, Header};
use crate::process::{EndedProcess, Running};
use crate::state::{Leftover, State};
use crate::sysfs;
use rustix::fs::FlockOperation;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use trial::{Limits, OUTPUT_BYTES_MAX, ProcessEnd};

/// How long taking back may take. Unmounting writes out what the page cache holds, which a slow disk takes long for.
const TAKING_BACK: Limits = Limits {
    stall: Duration::from_secs(300),
    wall: Duration::from_secs(3600),
    output_bytes: OUTPUT_BYTES_MAX,
};

/// Why a session cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(
        "`{folder}`, where raidlab keeps its ledger, cannot be written: {reason}; RAIDLAB_STATE names another folder, \
         which should outlive a restart of the machine"
    )]
    State { folder: PathBuf, reason: String },
    #[error("{disk} is in use by another raidlab (process {pid}): wait for it or stop it; nothing was touched")]
    Taken { disk: String, pid: u32 },
}

/// A run under way on this machine.
#[derive(Debug)]
pub struct Session {
    name: String,
    folder: PathBuf,
    path: PathBuf,
    /// Locked, as long as this or a process that was given it lives.
    ledger: File,
}

/// What became of undoing.
#[derive(Debug, Default)]
pub struct TakenBack {
    /// What was undone, in words.
    pub undone: Vec<String>,
    /// What could not be, each with its reason; it stays in the ledger.
    pub failed: Vec<String>,
    /// Processes that hang over it.
    pub hung: Vec<String>,
}

impl TakenBack {
    pub fn is_whole(&self) -> bool {
        self.failed.is_empty() && self.hung.is_empty()
    }

    /// What could not be undone, in a sentence.
    pub fn left(&self) -> String {
        let mut words = self.failed.clone();
        if !self.hung.is_empty() {
            words.push(format!("{} will not end", self.hung.join(", ")));
        }
        words.join("; ")
    }
}

impl Session {
    /// Claims disks and begins a ledger.
    pub fn begin(state: &State, claims: Vec<ClaimedDisk>, command: String) -> Result<Session, SessionError> {
        let failed = |error: io::Error| SessionError::State {
            folder: state.folder().to_owned(),
            reason: error.to_string(),
        };
        state.prepare().map_err(failed)?;
        let _lock = state.lock().map_err(failed)?;
        for other in state.alive().map_err(failed)? {
            let taken = claims.iter().find(|claim| other.claims.contains(claim));
            if let Some(claim) = taken {
                return Err(SessionError::Taken {
                    disk: claim.node.display().to_string(),
                    pid: other.pid,
                });
            }
        }
        let name = new_name().map_err(failed)?;
        let path = state.ledger_path(&name);
        let header = Header {
            version: 1,
            name: name.clone(),
            pid: std::process::id(),
            boot_id: boot_id(),
            command,
            claims,
        };
        let ledger = begin_ledger(&path, &header).map_err(failed)?;
        Ok(Session {
            name,
            folder: state.folder().to_owned(),
            path,
            ledger,
        })
    }

    /// What its stacks are called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where mount points are made.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs a trial in a process of its own. What it leaves is to be taken back before the next.
    pub fn trial(
        &self,
        job: TrialJob,
        limits: &Limits,
        stop: &AtomicBool,
        log: &mut KernelLog,
        line: &mut dyn FnMut(&[u8], &mut Vec<String>),
        tick: &mut dyn FnMut(),
    ) -> io::Result<EndedProcess> {
        let job = serde_json::to_vec(&HostJob::Trial(Box::new(job))).expect("a job is plain data");
        let running = Running::start(&self.ledger, &job)?;
        Ok(running.watch(limits, Some(stop), log, line, tick))
    }

    /// Undoes what is open in the ledger, in a process of its own; Ctrl-C does not end that.
    pub fn take_back(&self) -> io::Result<TakenBack> {
        take_back(&self.ledger)
    }

    /// Takes back what there still is. A ledger with nothing open is removed, another stays.
    pub fn end(self) -> io::Result<TakenBack> {
        let taken_back = self.take_back()?;
        if taken_back.is_whole() {
            fs::remove_file(&self.path)?;
        }
        Ok(taken_back)
    }
}

impl Leftover {
    /// Undoes what a session left that is no more; removes its ledger if all is undone.
    pub fn take_back(&self) -> io::Result<TakenBack> {
        let taken_back = take_back(&self.file)?;
        if taken_back.is_whole() {
            fs::remove_file(&self.path)?;
        }
        Ok(taken_back)
    }

    /// Where its ledger is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn take_back(ledger: &File) -> io::Result<TakenBack> {
    let mut taken_back = TakenBack::default();
    if DiskLedger::read(ledger)?.open.is_empty() {
        return Ok(taken_back);
    }
    let job = serde_json::to_vec(&HostJob::TakeBack).expect("a job is plain data");
    let running = Running::start(ledger, &job)?;
    let mut line = |line: &[u8], _: &mut Vec<String>| match serde_json::from_slice(line) {
        Ok(TakeBackLine::Undone(words)) => taken_back.undone.push(words),
        Ok(TakeBackLine::Failed(words)) => taken_back.failed.push(words),
        Err(error) => taken_back.failed.push(error.to_string()),
    };
    let ended = running.watch(&TAKING_BACK, None, &mut KernelLog::from_now(), &mut line, &mut || ());
    taken_back.hung = ended.hung;
    if ended.end != ProcessEnd::Exited && taken_back.failed.is_empty() {
        let how = match ended.end {
            ProcessEnd::Died(how) => how,
            _ => "it stood still".to_owned(),
        };
        taken_back.failed.push(format!(
            "the process that undoes did not end: {how} {}",
            ended.errors.trim()
        ));
    }
    Ok(taken_back)
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
        // The name of the file too must outlive a power cut.
        File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()
    });
    if let Err(error) = begun {
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(file)
}

/// A name unlike any other.
fn new_name() -> io::Result<String> {
    let mut bytes = [0_u8; 4];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(format!("raidlab-{:08x}", u32::from_le_bytes(bytes)))
}

pub(crate) fn boot_id() -> String {
    sysfs::text(Path::new("/proc/sys/kernel/random/boot_id")).unwrap_or_default()
}
