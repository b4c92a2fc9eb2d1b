//! This machine as a place for trials.

use super::{Place, Seen, TrialReport};
use crate::error::PlaceError;
use crate::trial_outcome::OutcomeReader;
use host::{EndedProcess, KernelLog, LoopDisks, TestDisks, TrialJob};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use store::Ending;
use study::OTHERS_PROCESSOR_PERCENT_MAX;
use study::act::ActKind;
use study::event::{Event, Failure};
use study::plan::Trial;
use trial::{Limits, ProcessEnd};

/// The state shared by all trials of a session on this machine.
pub struct HostPlace {
    pub session: host::Session,
    pub disks: DiskSource,
    pub limits: Limits,
    /// Complete serial numbers are stored.
    pub full_serials: bool,
    /// Identifies this machine, its kernel and the disks under test.
    pub identity: String,
}

/// Disks under the stacks.
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

    /// Parallel trials would affect each other.
    fn slots(&self) -> usize {
        1
    }

    fn origin(&self, _trial: &Trial) -> String {
        format!("host, {}", self.identity)
    }

    /// In a separate process; another one then undoes what it left.
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
        let mut outcome = OutcomeReader::default();
        let mut log = KernelLog::from_now().expecting(failed_on_purpose(trial));
        // The end is reported only once everything is cleaned up.
        let mut end = None;
        let see = RefCell::new(see);
        let mut line = |line: &[u8], watched: &mut Vec<String>| {
            outcome.line(line, &mut |event| {
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
        let ending = match outcome.ending(&ended.end, "start", |end| message(end, &ended)) {
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
        let hung: Vec<_> = ended.hung.into_iter().chain(undone.hung).collect();
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
            Err(error) => format!("it is unknown whether everything was undone: {error}"),
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

/// Number of disks that a trial needs, in all groups.
pub fn disks_of(trial: &Trial) -> usize {
    trial.cell.machine.disks.iter().map(|group| group.count as usize).sum()
}

/// A disk of the trial, by the kernel's name.
fn disk_of(event: &Event) -> Option<String> {
    match event {
        Event::TestDisk(disk) => Some(disk.node.clone()),
        _ => None,
    }
}

/// Disks that the trial's acts make fail, by their index among all disks of the trial.
fn failed_on_purpose(trial: &Trial) -> Vec<usize> {
    let machine = &trial.cell.machine;
    let before = |name: &str| -> u32 {
        let groups = machine.disks.iter().take_while(|group| group.name != name);
        groups.map(|group| group.count).sum()
    };
    let members = machine.members(&trial.cell.stack.array);
    let failed = trial.cell.acts.iter().filter(|act| act.kind == ActKind::Fail);
    let disks = failed.filter_map(|act| members.get(act.disk?.checked_sub(1)? as usize));
    disks
        .map(|(group, number)| (before(&group.name) + number - 1) as usize)
        .collect()
}

/// A warning that other programs used the processors during a trial.
fn others_at_work(event: &Event) -> Option<String> {
    let Event::Load(load) = event else {
        return None;
    };
    let percent = load.others_processor_percent;
    (percent > OTHERS_PROCESSOR_PERCENT_MAX).then(|| {
        format!(
            "warning: other programs used {percent:.0} % of this machine's processors during the trial; its \
             figures may be affected"
        )
    })
}

/// The failure of a process whose trial reported none.
fn message(end: &ProcessEnd, ended: &EndedProcess) -> String {
    match end {
        ProcessEnd::DiskFailed(words) => format!("a disk failed: the kernel says `{words}`"),
        ProcessEnd::Exited => "the trial's process exited without a result".to_owned(),
        ProcessEnd::Died(how) => format!("the trial's process died: {how} {}", ended.errors.trim()),
        ProcessEnd::Killed(signal) => format!("the trial's process was killed by signal {signal}"),
        ProcessEnd::Stalled => "its processes and disks were idle for too long".to_owned(),
        ProcessEnd::TimedOut => format!(
            "not finished after {} s; --trial-limit sets another limit",
            ended.wall.as_secs()
        ),
        ProcessEnd::OutputLimit => "the trial's process exceeded its output limit".to_owned(),
        ProcessEnd::NoSpace => "no space left".to_owned(),
        ProcessEnd::Stopped => "it was stopped".to_owned(),
    }
}

/// Appends the kernel's error messages to a failure.
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
    use study::Load;

    #[test]
    fn issue_12_14_others_on_the_processors_are_warned_of() {
        let words = |others_processor_percent| {
            others_at_work(&Event::Load(Load {
                others_processor_percent,
                pressure_cpu_percent: Some(90.3),
                ..Load::default()
            }))
        };
        assert!(
            words(90.3)
                .is_some_and(|words| words.contains("other programs used 90 % of this machine's processors"))
        );
        assert_eq!(words(9.9), None);
    }
}
