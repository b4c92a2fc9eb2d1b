//! One trial in a guest of the lab.

use super::disks;
use super::folder::TrialFolder;
use super::heard::Heard;
use super::programs::GuestPrograms;
use crate::expected::ExpectedError;
use lab::carried::{self, Programs};
use lab::guest::{self, Config, Ended, How, Limits, Pulse};
use lab::job::Job;
use lab::kernel::{Cache, Kernel, KernelName};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use store::Ending;
use study::event::{Event, Failure};
use study::plan::Trial;

/// Lines of a console that a message shows.
const CONSOLE_LINES: usize = 12;

const NO_ROOM: &str = "there is no room for what the simulated disks hold: half of the free memory is full, and the \
    disk of raidlab's cache folder as well; with fewer `--jobs` each guest has more";

/// The kernels that a plan needs, ready to run.
pub type Kernels = BTreeMap<KernelName, Kernel>;

/// What all trials of a session share.
pub struct Laboratory {
    pub kernels: Kernels,
    pub programs: GuestPrograms,
    pub cache: Cache,
    /// This program, as the guest's init.
    pub init: PathBuf,
    pub memory_budget_bytes: u64,
    pub trace_folder: Option<PathBuf>,
}

/// How a trial went.
pub struct Report {
    pub ending: Ending,
    pub wall: Duration,
    /// Why nothing more can be run after it, if so.
    pub halt: Option<String>,
}

/// Runs a trial to its end; `event` sees what happens in it.
pub fn run(
    laboratory: &Laboratory,
    trial: &Trial,
    processor: Option<usize>,
    stop: &AtomicBool,
    event: &mut dyn FnMut(Event),
    tick: &mut dyn FnMut(Pulse),
) -> Result<Report, ExpectedError> {
    let failed = |what: &str, error: &dyn std::fmt::Display| ExpectedError::Failed(format!("{what}: {error}"));
    let folder = TrialFolder::new(laboratory.cache.folder())
        .map_err(|error| failed("cannot make a folder for the trial", &error))?;
    let kernel = &laboratory.kernels[&KernelName::of(&trial.cell.machine, &trial.cell.stack)];
    let programs = laboratory.programs.of(trial);
    let (disks, job) = guest_config_parts(trial, Job::Trial(Box::new(trial.clone())), kernel, programs)?;
    let trace = match &laboratory.trace_folder {
        Some(folder) => Some(trace_file(folder, trial).map_err(|error| failed("cannot write the trace", &error))?),
        None => None,
    };
    let config = Config {
        kernel: &kernel.path,
        init: &laboratory.init,
        ram_bytes: trial.cell.machine.ram_bytes,
        seed: trial.seed,
        disks: &disks,
        job: &job,
        memory_budget_bytes: laboratory.memory_budget_bytes,
        folder: folder.path(),
        trace: trace.as_ref(),
        processor,
        kernel_arguments: &kernel.arguments(),
        limits: Limits::default(),
    };
    let mut heard = Heard::default();
    event(Event::Provenance {
        key: "kernel".to_owned(),
        value: kernel.release.clone(),
    });
    event(Event::Provenance {
        key: "kernel.name".to_owned(),
        value: kernel.name.clone(),
    });
    event(Event::Provenance {
        key: "kernel.source".to_owned(),
        value: kernel.source.clone(),
    });
    if let Some(programs) = programs {
        event(Event::Provenance {
            key: format!("{}.packages", programs.name),
            value: programs.packages.join(", "),
        });
    }
    let ended = guest::run(&config, stop, &mut |line| heard.line(line, event), tick)
        .map_err(|error| ExpectedError::Machine(error.to_string()))?;
    Ok(Report {
        wall: ended.wall,
        ending: ending(heard, &ended),
        halt: None,
    })
}

/// What a guest is told: its disks and its job, encoded, with what its kernel carries and what it gets besides.
pub fn guest_config_parts(
    trial: &Trial,
    job: Job,
    kernel: &Kernel,
    programs: Option<&Programs>,
) -> Result<(Vec<u8>, Vec<u8>), ExpectedError> {
    let description = disks::description(&trial.cell.machine, &trial.cell.stack, trial.seed)?;
    let disks = postcard::to_allocvec(&description).expect("a description is plain data");
    let mut files = kernel.carried()?;
    files.extend(programs.into_iter().flat_map(|programs| programs.files.iter().cloned()));
    Ok((disks, carried::encode(&job, &files)))
}

fn trace_file(folder: &Path, trial: &Trial) -> std::io::Result<File> {
    std::fs::create_dir_all(folder)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let name: String = trial
        .cell
        .key
        .chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect();
    File::create(folder.join(format!("{name}.{}.trace", trial.index)))
}

/// How a guest's trial came out, by what its init said and how it ended.
fn ending(heard: Heard, ended: &Ended) -> Ending {
    if ended.how == How::Stopped {
        return Ending::Interrupted;
    }
    let step = if heard.last_step.is_empty() {
        "boot".to_owned()
    } else {
        heard.last_step
    };
    let failed = |message: String| {
        Ending::Failed(Failure {
            step: step.clone(),
            message,
        })
    };
    let virtual_s = ended.pulse.virtual_ns as f64 / 1e9;
    let console = || last_lines(&ended.console);
    match (&ended.how, heard.failure, heard.nonsense) {
        // What it saw of it was but an I/O error.
        (How::NoRoom, ..) => failed(NO_ROOM.to_owned()),
        (_, Some(failure), _) => Ending::Failed(failure),
        (_, None, Some(nonsense)) => failed(nonsense),
        (How::ByItself, None, None) if heard.done => Ending::Done,
        (How::ByItself, None, None) => {
            failed(format!("the guest ended without a word; its console: {}", console()))
        }
        (How::Killed(signal), ..) => {
            let who = if *signal == 9 {
                "by somebody or for lack of memory"
            } else {
                "by somebody"
            };
            let console = console();
            failed(format!(
                "the guest was killed from outside (signal {signal}), {who}; its console: {console}"
            ))
        }
        (How::Died(status), ..) => failed(format!("the guest died ({status}); its console: {}", console())),
        (How::Stalled, ..) => failed(format!(
            "virtual time stood still at {virtual_s:.3} s for too long; the guest's console: {}",
            console()
        )),
        (How::TimeOut, ..) => failed(format!(
            "not done after {} s of wall time, {virtual_s:.0} s virtual; the guest's console: {}",
            ended.wall.as_secs(),
            console()
        )),
        (How::SaidTooMuch, ..) => failed("the guest did not stop talking".to_owned()),
        (How::Stopped, ..) => Ending::Interrupted,
    }
}

fn last_lines(console: &str) -> String {
    let lines: Vec<&str> = console.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return "silent".to_owned();
    }
    lines[lines.len().saturating_sub(CONSOLE_LINES)..].join("\n    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DONE: &[u8] = b"{\"event\":\"done\",\"at_ns\":1}";

    fn ended(how: How) -> Ended {
        let console = "one\n\nlast words\n".to_owned();
        Ended {
            how,
            console,
            wall: Duration::ZERO,
            pulse: Pulse::default(),
        }
    }

    /// What a trial comes to whose guest says these lines, and how many of them are events.
    fn message(lines: &[&[u8]], ended: &Ended) -> (Option<String>, usize) {
        let (mut heard, mut events) = (Heard::default(), 0);
        for line in lines {
            heard.line(line, &mut |_| events += 1);
        }
        match ending(heard, ended) {
            Ending::Failed(failure) => (Some(format!("{}: {}", failure.step, failure.message)), events),
            Ending::Done | Ending::Interrupted => (None, events),
        }
    }

    #[test]
    fn only_who_says_so_and_ends_is_done() {
        let mkfs: &[u8] = b"{\"event\":\"step\",\"name\":\"mkfs\",\"at_ns\":1}";
        assert_eq!(message(&[mkfs, DONE], &ended(How::ByItself)), (None, 2));
        let (words, _) = message(&[mkfs], &ended(How::ByItself));
        assert_eq!(
            words.as_deref(),
            Some("mkfs: the guest ended without a word; its console: one\n    last words")
        );
        let (words, _) = message(&[DONE], &ended(How::Died("signal: 9".to_owned())));
        assert_eq!(
            words.as_deref(),
            Some("boot: the guest died (signal: 9); its console: one\n    last words")
        );
        assert!(
            message(&[DONE], &ended(How::Stalled))
                .0
                .is_some_and(|words| words.contains("stood still"))
        );
        assert!(message(&[DONE], &ended(How::SaidTooMuch)).0.is_some());
    }

    #[test]
    fn nonsense_is_no_event_and_fails_the_trial() {
        let deep = b"[".repeat(1 << 20);
        let lines = [&b"\xff\xfe\0"[..], b"{}", b"{\"event\":\"sample\"}", &deep, b"", DONE];
        let (words, events) = message(&lines, &ended(How::ByItself));
        assert_eq!(events, 1);
        assert!(words.is_some_and(|words| words.len() < 1000 && words.contains("makes no sense")));
    }

    #[test]
    fn disks_without_room_fail_a_trial_that_did_not_notice() {
        let (words, _) = message(&[DONE], &ended(How::NoRoom));
        assert!(words.is_some_and(|words| words.contains("no room")));
    }
}
