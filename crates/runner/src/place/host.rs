//! This machine itself as a place of trials.

use super::{Place, Seen, TrialReport};
use crate::error::PlaceError;
use crate::transcript::Transcript;
use host::{EndedProcess, KernelLog, LoopDisks, TestDisks, TrialJob};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use store::Ending;
use study::event::{Event, Failure};
use study::plan::Trial;
use trial::{Limits, ProcessEnd};

/// What all trials of a session on this machine share.
pub struct HostPlace {
    pub session: host::Session,
    pub disks: DiskSource,
    pub limits: Limits,
    /// Serial numbers are stored whole.
    pub full_serials: bool,
    /// What tells this machine, its kernel and the disks under test from others.
    pub identity: String,
}

/// What the stacks are built on.
#[derive(Clone, Debug)]
pub enum DiskSource {
    /// The disks of the session.
    Real,
    /// Files behind loop devices, new ones for each trial.
    Loop { bytes_each: u64, folder: PathBuf },
}

impl Place for HostPlace {
    fn is_simulated(&self) -> bool {
        false
    }

    /// Trials would disturb one another.
    fn slots(&self) -> usize {
        1
    }

    fn origin(&self, _trial: &Trial) -> String {
        format!("host, {}", self.identity)
    }

    /// In a process of its own; another then undoes all that it left.
    fn run(
        &self,
        trial: &Trial,
        _slot: usize,
        stop: &AtomicBool,
        see: &mut dyn FnMut(Seen),
    ) -> Result<TrialReport, PlaceError> {
        if let Some(why) = self.session.lost() {
            return Err(PlaceError::Refused(why));
        }
        let job = TrialJob {
            trial: trial.clone(),
            disks: self.disks(trial),
            folder: self.session.folder().to_owned(),
            name: self.session.name().to_owned(),
            full_serials: self.full_serials,
        };
        let mut transcript = Transcript::default();
        let mut log = KernelLog::from_now();
        // Its end counts once nothing is left of it.
        let mut end = None;
        let see = RefCell::new(see);
        let mut line = |line: &[u8], watched: &mut Vec<String>| {
            transcript.line(line, &mut |event| {
                watched.extend(disk_of(&event));
                if let Some(words) = others_at_work(&event) {
                    (see.borrow_mut())(Seen::Notice(format!("{}: {words}", trial.cell.key)));
                }
                match event {
                    Event::Done { .. } => end = Some(event),
                    other => (see.borrow_mut())(Seen::Event(other)),
                }
            });
        };
        let mut tick = || {
            (see.borrow_mut())(Seen::Heartbeat {
                virtual_time: Duration::ZERO,
            });
        };
        let ended = self
            .session
            .trial(job, &self.limits, stop, &mut log, &mut line, &mut tick)
            .map_err(PlaceError::Process)?;
        let undone = self.session.roll_back().map_err(PlaceError::Process)?;
        let see = see.into_inner();
        let ending = match transcript.ending(&ended.end, "start", |end| message(end, &ended)) {
            Ending::Failed(failure) => Ending::Failed(Failure {
                message: with_log(failure.message, &log),
                ..failure
            }),
            other => other,
        };
        if ending == Ending::Done {
            end.into_iter().for_each(|event| see(Seen::Event(event)));
        }
        for words in undone.failed.into_iter().chain(undone.not_ours) {
            see(Seen::Notice(words));
        }
        let hung: Vec<String> = ended.hung.into_iter().chain(undone.hung).collect();
        Ok(TrialReport {
            ending,
            wall: ended.wall,
            halt: (!hung.is_empty()).then_some(PlaceError::Hung(hung)),
        })
    }

    fn end(self: Box<Self>) -> Vec<String> {
        let words = match self.session.end() {
            Ok(undone) if undone.is_whole() => return Vec::new(),
            Ok(undone) => undone.left(),
            Err(error) => format!("it is unknown whether all was undone: {error}"),
        };
        vec![format!("{words}; `raidlab clean` tries again")]
    }
}

impl HostPlace {
    fn disks(&self, trial: &Trial) -> TestDisks {
        let count = disks_of(trial);
        match &self.disks {
            DiskSource::Loop { bytes_each, folder } => TestDisks::Loop(LoopDisks {
                count,
                bytes_each: *bytes_each,
                folder: folder.clone(),
            }),
            DiskSource::Real => TestDisks::Real(count),
        }
    }
}

/// How many disks a trial wants, of all groups.
pub fn disks_of(trial: &Trial) -> usize {
    trial.cell.machine.disks.iter().map(|group| group.count as usize).sum()
}

/// A disk that the trial works on, by the kernel's name.
fn disk_of(event: &Event) -> Option<String> {
    let Event::Provenance { key, value } = event else {
        return None;
    };
    (key.starts_with("disk.") && key.ends_with(".node")).then(|| value.clone())
}

/// What other programs may take of the processors before a person should know.
const OTHERS_PERCENT_MAX: f64 = 10.0;

/// A warning that others used the processors while a trial was at work.
fn others_at_work(event: &Event) -> Option<String> {
    let Event::Provenance { key, value } = event else {
        return None;
    };
    let percent: f64 = value.parse().ok().filter(|_| key == host::OTHERS_PROCESSOR_PERCENT)?;
    (percent > OTHERS_PERCENT_MAX).then(|| {
        format!(
            "warning: other programs used {percent:.0} % of this machine's processors meanwhile; its figures may be \
             worse than they were alone"
        )
    })
}

/// The end of a process for which its trial gave no reason.
fn message(end: &ProcessEnd, ended: &EndedProcess) -> String {
    match end {
        ProcessEnd::DiskFailed(words) => format!("a disk failed: the kernel says `{words}`"),
        ProcessEnd::Exited => "the trial's process ended without a word".to_owned(),
        ProcessEnd::Died(how) => format!("the trial's process died: {how} {}", ended.errors.trim()),
        ProcessEnd::Killed(signal) => format!("the trial's process was killed by signal {signal}"),
        ProcessEnd::Stalled => "neither its processes nor its disks did anything for too long".to_owned(),
        ProcessEnd::TimedOut => format!(
            "not done after {} s; --trial-limit allows for more",
            ended.wall.as_secs()
        ),
        ProcessEnd::OutputLimit => "the trial's process did not stop talking".to_owned(),
        ProcessEnd::NoSpace => "no space left".to_owned(),
        ProcessEnd::Stopped => "it was stopped".to_owned(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_12_14_others_on_the_processors_are_warned_of() {
        let fact = |key: &str, value: &str| Event::Provenance {
            key: key.to_owned(),
            value: value.to_owned(),
        };
        let words = others_at_work(&fact("load.others_processor_percent", "90.3"));
        assert!(words.is_some_and(|words| words.contains("other programs used 90 % of this machine's processors")));
        assert_eq!(others_at_work(&fact("load.others_processor_percent", "9.9")), None);
        assert_eq!(others_at_work(&fact("load.pressure_cpu_percent", "90.3")), None);
    }
}
