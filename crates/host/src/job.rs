//! What runs inside the processes that a session starts: one trial, or the undoing of what is open.

use crate::disk::Disk;
use crate::environment;
use crate::ledger::{ClaimedDisk, Contents, DiskLedger, Header, Open};
use crate::load::Load;
use crate::session::boot_id;
use crate::undo::{self, Undo};
use crate::{cgroup, loops, sysfs};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{FromRawFd, RawFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use study::event::{Event, Failure, Guard};
use study::plan::Trial;
use tools::{Tool, Tools};
use trial::{NoDiskCheck, Safety, Setting, Teardown};

/// Handed over as JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum HostJob {
    Trial(Box<TrialJob>),
    /// Undo what is open in the ledger.
    TakeBack,
}

/// A trial and its circumstances.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialJob {
    pub trial: Trial,
    pub disks: TestDisks,
    /// Where mount points are made.
    pub folder: PathBuf,
    /// What the stack is called.
    pub name: String,
    /// Serial numbers are told whole.
    pub full_serials: bool,
}

/// The disks under test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum TestDisks {
    /// Disks of this machine, by their nodes, in their order.
    Real(Vec<PathBuf>),
    Loop(LoopDisks),
}

/// Sparse files behind loop devices, new for each trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopDisks {
    pub count: usize,
    pub bytes_each: u64,
    /// Where a folder for the files is made.
    pub folder: PathBuf,
}

/// What the undoing says, a line of JSON each.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum TakeBackLine {
    Undone(String),
    Failed(String),
}

/// Does the job that standard input describes, with the ledger that is open under this number.
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
    // SAFETY: asks about a number, no more.
    if ledger <= 2 || unsafe { libc::fcntl(ledger, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
        return Err(io::Error::other(
            "there is no ledger: this command is for raidlab's own use",
        ));
    }
    // SAFETY: the session gave us this file, and nothing else here knows its number.
    let file = unsafe { File::from_raw_fd(ledger) };
    let (mut ledger, contents) = DiskLedger::open(file)?;
    match job {
        HostJob::Trial(job) => {
            run_trial(&job, &mut ledger);
            Ok(())
        }
        HostJob::TakeBack => take_back(&mut ledger, contents),
    }
}

/// One line, at once. When nobody listens any more there is nothing to go on for.
fn say(line: &impl Serialize) {
    let mut bytes = serde_json::to_vec(line).expect("what is said is plain data");
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

fn run_trial(job: &TrialJob, ledger: &mut DiskLedger) {
    let failed = |step: &str, message: String| {
        say(&Event::Failed(Failure {
            step: step.to_owned(),
            message,
        }));
    };
    environment::of_machine().into_iter().for_each(provenance);
    limit_memory(job, ledger);
    let (nodes, zeroed) = match &job.disks {
        TestDisks::Real(nodes) => (nodes.clone(), false),
        TestDisks::Loop(disks) => match attach(disks, &job.name, ledger) {
            Ok(nodes) => (nodes, true),
            Err(message) => return failed("attach loop devices", message),
        },
    };
    let disks: Result<Vec<Disk>, _> = nodes.iter().map(|node| Disk::at(node)).collect();
    match disks {
        Ok(disks) => environment::of_disks(&disks, job.full_serials)
            .into_iter()
            .for_each(provenance),
        Err(error) => return failed("look at disks", error.to_string()),
    }
    let disks = match trial::Disks::of(&job.trial.cell.machine.disks, &nodes) {
        Ok(disks) => disks,
        Err(error) => return failed("look at disks", error.to_string()),
    };
    let setting = Setting {
        disks,
        folder: job.folder.clone(),
        name: job.name.clone(),
        zeroed,
        disks_are_set: false,
        teardown: Teardown::Full,
        check_array: false,
    };
    let load = Load::begin(&nodes);
    let safety = Safety {
        ledger,
        check: &mut NoDiskCheck,
    };
    trial::run(&job.trial, &setting, safety, &mut |event| {
        if matches!(event, Event::Done { .. }) {
            load.since().into_iter().for_each(provenance);
            environment::temperatures(&nodes).into_iter().for_each(provenance);
        }
        say(&event);
    });
}

/// The study's RAM, for all that this process does; where that cannot be had, a guard says so unless the machine has
/// no more anyway.
fn limit_memory(job: &TrialJob, ledger: &mut DiskLedger) {
    let bytes = job.trial.cell.machine.ram_bytes;
    let has = environment::ram_bytes();
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
                    "the study wants {mib} MiB of memory, the machine has {} MiB: {why}",
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

fn attach(disks: &LoopDisks, name: &str, ledger: &mut DiskLedger) -> Result<Vec<PathBuf>, String> {
    let tools = Tools::find(&[Tool::Losetup]).map_err(|missing| missing.to_string())?;
    let folder = disks.folder.join(name);
    ledger
        .intend(&Undo::Folder { path: folder.clone() })
        .map_err(|error| format!("could not write the ledger: {error}"))?;
    fs::DirBuilder::new()
        .mode(0o700)
        .create(&folder)
        .map_err(|error| format!("could not make {}: {error}", folder.display()))?;
    let mut recorder = |event: Event| say(&event);
    (0..disks.count)
        .map(|index| {
            let file = folder.join(format!("disk{index}"));
            loops::attach(&file, disks.bytes_each, ledger, &tools, &mut recorder)
        })
        .collect()
}

fn take_back(ledger: &mut DiskLedger, contents: Contents) -> io::Result<()> {
    let present: Vec<Tool> = Tool::all()
        .into_iter()
        .filter(|&tool| Tools::find(&[tool]).is_ok())
        .collect();
    let mut tools = Tools::find(&present).map_err(io::Error::other)?;
    let disks = Known::of(contents.header.as_ref(), &contents.open);
    for open in contents.open.into_iter().rev() {
        let words = open.undo.to_string();
        let outcome = disks
            .as_they_are_now(open.undo)
            .and_then(|act| act.map_or(Ok(()), |act| undo::undo(&act, &mut tools, &mut |_| ())));
        match outcome {
            Ok(()) => {
                // On a full disk it stays in the ledger, and is found undone the next time.
                let _ = ledger.undone(open.entry);
                say(&TakeBackLine::Undone(words));
            }
            Err(why) => say(&TakeBackLine::Failed(format!("could not {words}: {why}"))),
        }
    }
    Ok(())
}

/// Where the disks of a ledger are by now: after a restart a node can be another disk's.
struct Known {
    same_boot: bool,
    /// A claimed disk, and its node now, if it is there.
    disks: Vec<(ClaimedDisk, Option<PathBuf>)>,
    /// An array's node as it was made, and as it was assembled since.
    arrays: Vec<(PathBuf, PathBuf)>,
}

/// The node of the array that runs under this UUID (`md/uuid`, since Linux 5.10), if it is another one.
fn assembled_elsewhere(open: &Open) -> Option<(PathBuf, PathBuf)> {
    let Undo::Stack(stack::Undo::Array { node, uuid, .. }) = &open.undo else {
        return None;
    };
    let digits = |text: &str| text.chars().filter(char::is_ascii_hexdigit).collect::<String>();
    let is_it =
        |device: &&PathBuf| sysfs::text(&device.join("md/uuid")).is_some_and(|text| digits(&text) == digits(uuid));
    let device = sysfs::entries(Path::new("/sys/block"))
        .iter()
        .find(is_it)
        .map(|device| sysfs::name(device))?;
    let now = Path::new("/dev").join(device);
    (now != *node).then(|| (node.clone(), now))
}

impl Known {
    fn of(header: Option<&Header>, open: &[Open]) -> Known {
        let claims = header.map(|header| header.claims.clone()).unwrap_or_default();
        let present: Vec<Disk> = sysfs::entries(Path::new("/sys/class/block"))
            .iter()
            .filter_map(|device| Disk::at(&Path::new("/dev").join(sysfs::name(device))).ok())
            .collect();
        let place = |claim: ClaimedDisk| {
            let node = present.iter().find(|disk| claim.is(disk)).map(|disk| disk.node.clone());
            (claim, node)
        };
        Known {
            same_boot: header.is_some_and(|header| header.boot_id == boot_id()),
            disks: claims.into_iter().map(place).collect(),
            arrays: open.iter().filter_map(assembled_elsewhere).collect(),
        }
    }

    /// The act with the names that its disks have now; none if what it would undo did not outlive a restart.
    fn as_they_are_now(&self, act: Undo) -> Result<Option<Undo>, String> {
        let Undo::Stack(of_stack) = &act else {
            return Ok(Some(act));
        };
        if !self.same_boot && self.disks.is_empty() && !matches!(of_stack, stack::Undo::Folder { .. }) {
            return Ok(None);
        }
        let mut value = serde_json::to_value(&act).map_err(|error| error.to_string())?;
        self.rename(&mut value)?;
        serde_json::from_value(value)
            .map(Some)
            .map_err(|error| error.to_string())
    }

    fn rename(&self, value: &mut serde_json::Value) -> Result<(), String> {
        match value {
            serde_json::Value::String(text) => {
                if let Some((_, now)) = self.arrays.iter().find(|(node, _)| node == Path::new(text)) {
                    *text = now.display().to_string();
                    return Ok(());
                }
                let Some((claim, now)) = self.disks.iter().find(|(claim, _)| claim.node == Path::new(text)) else {
                    return Ok(());
                };
                let now = now.as_ref().ok_or_else(|| {
                    let serial = claim.serial.as_deref().unwrap_or("none");
                    format!(
                        "the disk that was {} (serial {serial}) is not there",
                        claim.node.display()
                    )
                })?;
                *text = now.display().to_string();
                Ok(())
            }
            serde_json::Value::Array(all) => all.iter_mut().try_for_each(|value| self.rename(value)),
            serde_json::Value::Object(all) => all.values_mut().try_for_each(|value| self.rename(value)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(node: &str) -> ClaimedDisk {
        ClaimedDisk {
            node: node.into(),
            serial: Some("S1".to_owned()),
            wwid: None,
            size_bytes: 1,
        }
    }

    fn array(members: &[&str]) -> Undo {
        Undo::Stack(stack::Undo::Array {
            node: "/dev/md100".into(),
            uuid: "u".into(),
            members: members.iter().map(PathBuf::from).collect(),
        })
    }

    #[test]
    fn disks_are_followed_to_their_new_names() {
        let known = Known {
            same_boot: false,
            disks: vec![(claim("/dev/sdb"), Some("/dev/sdd".into())), (claim("/dev/sdc"), None)],
            arrays: Vec::new(),
        };
        let renamed = known.as_they_are_now(array(&["/dev/sdb"])).expect("it is there");
        assert_eq!(renamed, Some(array(&["/dev/sdd"])));
        let error = known
            .as_they_are_now(array(&["/dev/sdb", "/dev/sdc"]))
            .expect_err("one is gone");
        assert_eq!(error, "the disk that was /dev/sdc (serial S1) is not there");
    }

    /// /dev/loop3 is somebody else's after a restart.
    #[test]
    fn what_was_on_loop_devices_did_not_outlive_a_restart() {
        let known = |same_boot| Known {
            same_boot,
            disks: Vec::new(),
            arrays: Vec::new(),
        };
        assert_eq!(known(false).as_they_are_now(array(&["/dev/loop3"])), Ok(None));
        assert_eq!(
            known(true).as_they_are_now(array(&["/dev/loop3"])),
            Ok(Some(array(&["/dev/loop3"])))
        );
        let file = Undo::File { path: "/x".into() };
        assert_eq!(known(false).as_they_are_now(file.clone()), Ok(Some(file)));
    }
}
