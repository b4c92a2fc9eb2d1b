//! One trial on this machine.

use super::heard::Heard;
use super::worker::Report;
use crate::expected::ExpectedError;
use crate::progress::say;
use host::{Disks, Ended, How, KernelLog, Limits, LoopDisks, TakenBack, TrialJob, Wanted};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use store::Ending;
use study::event::{Event, Failure};
use study::plan::Trial;
use tools::{Tool, Tools};

/// What all trials of a session on this machine share.
pub struct HostMachine {
    pub session: host::Session,
    pub ground: Ground,
    pub limits: Limits,
    /// Serial numbers are stored whole.
    pub full_serials: bool,
}

/// What the stacks are built on.
#[derive(Clone, Debug)]
pub enum Ground {
    /// Disks, by their nodes.
    Real(Vec<PathBuf>),
    /// Files behind loop devices, new ones for each trial.
    Loop { bytes_each: u64, folder: PathBuf },
}

impl HostMachine {
    /// Runs a trial in a process of its own, and has all that it left taken back.
    pub fn run(
        &self,
        trial: &Trial,
        stop: &AtomicBool,
        event: &mut dyn FnMut(Event),
        tick: &mut dyn FnMut(),
    ) -> Result<Report, ExpectedError> {
        let failed = |error: std::io::Error| ExpectedError::Failed(format!("cannot run a trial: {error}"));
        let job = TrialJob {
            trial: trial.clone(),
            disks: self.disks(trial)?,
            folder: self.session.folder().to_owned(),
            name: self.session.name().to_owned(),
            full_serials: self.full_serials,
        };
        let mut heard = Heard::default();
        let mut log = KernelLog::from_now();
        // Its end counts once nothing is left of it.
        let mut end = None;
        let mut line = |line: &[u8], watched: &mut Vec<String>| {
            heard.line(line, &mut |heard| {
                watched.extend(disk_of(&heard));
                match heard {
                    Event::Done { .. } => end = Some(heard),
                    other => event(other),
                }
            });
        };
        let ended = self
            .session
            .trial(job, &self.limits, stop, &mut log, &mut line, tick)
            .map_err(failed)?;
        let taken_back = self.session.take_back().map_err(failed)?;
        let ending = ending(heard, &ended, &log);
        if ending == Ending::Done {
            end.into_iter().for_each(&mut *event);
        }
        taken_back
            .failed
            .iter()
            .for_each(|words| say(&format!("raidlab: {words}")));
        Ok(Report {
            ending,
            wall: ended.wall,
            halt: hangs(&ended, &taken_back),
        })
    }

    /// The disks of a trial. Real ones are looked at again: hours may have passed since the last look.
    fn disks(&self, trial: &Trial) -> Result<Disks, ExpectedError> {
        let count = disks_of(trial);
        match &self.ground {
            Ground::Loop { bytes_each, folder } => Ok(Disks::Loop(LoopDisks {
                count,
                bytes_each: *bytes_each,
                folder: folder.clone(),
            })),
            Ground::Real(nodes) => {
                let nodes = &nodes[..count];
                let tools =
                    Tools::find(&[Tool::Wipefs]).map_err(|missing| ExpectedError::Machine(missing.to_string()))?;
                let wanted = Wanted {
                    devices: nodes,
                    destroy: &[],
                    count,
                    bytes_each: 0,
                };
                host::choose(&wanted, &tools).map_err(|refused| {
                    ExpectedError::Failed(format!(
                        "the run cannot go on: {refused}\nwhat was measured is kept; mend it, and the same command \
                         goes on"
                    ))
                })?;
                Ok(Disks::Real(nodes.to_owned()))
            }
        }
    }

    /// Takes back what there still is, and says what cannot be.
    pub fn end(self) {
        let words = match self.session.end() {
            Ok(taken_back) if taken_back.is_whole() => return,
            Ok(taken_back) => left_words(&taken_back),
            Err(error) => format!("it cannot be told whether all was undone: {error}"),
        };
        say(&format!("raidlab: {words}; `raidlab clean` tries again"));
    }
}

/// How many disks a trial wants, of all groups.
pub fn disks_of(trial: &Trial) -> usize {
    trial.cell.machine.disks.iter().map(|group| group.count as usize).sum()
}

/// What could not be undone, in a sentence.
pub fn left_words(taken_back: &TakenBack) -> String {
    let mut words = taken_back.failed.clone();
    if !taken_back.hung.is_empty() {
        words.push(format!("{} will not end", taken_back.hung.join(", ")));
    }
    words.join("; ")
}

/// A disk that the trial works on, by the kernel's name.
fn disk_of(event: &Event) -> Option<String> {
    let Event::Provenance { key, value } = event else {
        return None;
    };
    (key.starts_with("disk.") && key.ends_with(".node")).then(|| value.clone())
}

/// Why nothing more can be run after this trial, if so.
fn hangs(ended: &Ended, taken_back: &TakenBack) -> Option<String> {
    let hung: Vec<&str> = ended.hung.iter().chain(&taken_back.hung).map(String::as_str).collect();
    (!hung.is_empty()).then(|| {
        format!(
            "{} cannot be ended: it waits in the kernel, most likely for a disk that does not answer. What was \
             measured is kept. Once the disk answers again, or after a restart of the machine, `raidlab clean` undoes \
             what is left, and the same command goes on",
            hung.join(", ")
        )
    })
}

fn ending(heard: Heard, ended: &Ended, log: &KernelLog) -> Ending {
    if ended.how == How::Stopped {
        return Ending::Interrupted;
    }
    let step = match heard.last_step.is_empty() {
        true => "start".to_owned(),
        false => heard.last_step,
    };
    let message = match (&ended.how, heard.failure, heard.nonsense) {
        (How::DiskFailed(words), failure, _) => {
            let after = failure
                .map(|failure| format!("; {}", failure.message))
                .unwrap_or_default();
            format!("a disk failed: the kernel says `{words}`{after}")
        }
        (_, Some(failure), _) => {
            return Ending::Failed(Failure {
                message: with_log(failure.message, log),
                ..failure
            });
        }
        (_, None, Some(nonsense)) => nonsense,
        (How::ByItself, None, None) if heard.done => return Ending::Done,
        (How::ByItself, None, None) => "the trial's process ended without a word".to_owned(),
        (How::Died(how), ..) => format!("the trial's process died: {how} {}", ended.errors.trim()),
        (How::Stalled, ..) => "neither its processes nor its disks did anything for too long".to_owned(),
        (How::TimeOut, ..) => format!(
            "not done after {} s; --trial-limit allows for more",
            ended.wall.as_secs()
        ),
        (How::Stopped, ..) => return Ending::Interrupted,
    };
    Ending::Failed(Failure {
        step,
        message: with_log(message, log),
    })
}

/// What the kernel logged as errors meanwhile belongs to a failure.
fn with_log(message: String, log: &KernelLog) -> String {
    let new: Vec<&str> = log
        .errors()
        .iter()
        .map(String::as_str)
        .filter(|line| !message.contains(line))
        .collect();
    match new.is_empty() {
        true => message,
        false => format!("{message} (kernel: {})", new.join("; ")),
    }
}
