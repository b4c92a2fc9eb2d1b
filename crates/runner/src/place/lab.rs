//! Guests of the lab as a place for trials.

use super::created_stacks::CreatedStack;
use super::trace_file::TraceFile;
use super::{Admission, CreatedStacks, Place, Seen, TrialReport};
use crate::error::PlaceError;
use crate::trial_outcome::OutcomeReader;
use lab::carried::Programs;
use lab::disks::Models;
use lab::guest::{self, Config, DiskContents, EndedGuest, Heartbeat, Init, LIMITS, Root, SpareMemory};
use lab::job::GuestJob;
use lab::kernel::{Cache, Kernel, KernelName};
use lab::power_cut::Exploration;
use lab::processor::Processors;
use lab::programs::GuestPrograms;
use lab::rebuild_time::WholeDisk;
use lab::throughput_ceiling::DiskBound;
use lab::trial_folder::TrialFolder;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use store::Ending;
use study::GuestFile;
use study::event::Event;
use study::plan::Trial;
use study::workload::Work;
use trial::ProcessEnd;

/// Console lines in a message.
const CONSOLE_LINES: usize = 12;

const NO_ROOM: &str = "no space left for the contents of the simulated disks: half of the free memory and the disk of \
    raidlab's cache folder are full; with fewer `--jobs` each guest gets more";

/// The kernels that a plan needs, ready to run.
pub type Kernels = BTreeMap<KernelName, Kernel>;

/// State common to all guests of a run.
pub struct LabPlace {
    pub kernels: Kernels,
    /// State shared by all guests of a run.
    pub models: Models,
    /// Models of the plan's processors.
    pub processor_models: Processors,
    pub programs: GuestPrograms,
    pub cache: Cache,
    /// This program as the guests' init.
    pub init: Init,
    /// Memory of ended guests.
    pub spare: SpareMemory,
    /// Stacks that are created once.
    pub created: CreatedStacks,
    /// Number of guests that run at the same time.
    pub slots: usize,
    /// The CPUs for guests; the guest of each slot runs on one of them.
    pub processors: Vec<usize>,
    /// Memory of each guest for the contents of its disks.
    pub memory_budget_bytes: u64,
    /// The memory for all guests together.
    pub memory: Admission,
    pub trace_folder: Option<PathBuf>,
    /// Identifies this build of raidlab, which contains the workload engines and disk models.
    pub build: String,
}

impl Place for LabPlace {
    fn is_simulated(&self) -> bool {
        true
    }

    fn slots(&self) -> usize {
        self.slots
    }

    fn origin(&self, trial: &Trial) -> String {
        let kernel = &self.kernels[&KernelName::of(&trial.cell.machine, &trial.cell.stack)];
        let packages = self
            .programs
            .of(trial)
            .map_or_else(String::new, |programs| format!(", {}", programs.packages.join(", ")));
        let (key, sha256) = (&kernel.key, &kernel.sha256);
        format!("lab, raidlab {}, kernel {key} SHA-256 {sha256}{packages}", self.build)
    }

    fn run(
        &self,
        trial: &Trial,
        slot: usize,
        stop: &AtomicBool,
        see: &mut dyn FnMut(Seen),
    ) -> Result<TrialReport, PlaceError> {
        let bytes = trial.cell.machine.ram_bytes.saturating_add(self.memory_budget_bytes);
        let Some(_memory) = self.memory.enter(bytes, stop) else {
            return Ok(TrialReport::not_begun());
        };
        let folder = TrialFolder::new(self.cache.folder()).map_err(PlaceError::Folder)?;
        let kernel = &self.kernels[&KernelName::of(&trial.cell.machine, &trial.cell.stack)];
        let programs = self.programs.of(trial);
        let job = GuestJob::Trial(Box::new(trial.clone()));
        let disks = lab::disks::encoded(trial, &self.models)?;
        let job = lab::job::encode(&job, &[]);
        let root = self.programs.root(trial, kernel)?;
        let trace = self
            .trace_folder
            .as_ref()
            .map(|folder| TraceFile::create(folder, trial));
        let trace = trace.transpose()?;
        let config = Config {
            kernel: kernel.image()?,
            init: &self.init,
            root: Some(&root),
            ram_bytes: trial.cell.machine.ram_bytes,
            seed: trial.seed,
            disks: &disks,
            job: &job,
            memory_budget_bytes: self.memory_budget_bytes,
            contents: None,
            power_cut: None,
            states: None,
            spare: &self.spare,
            folder: folder.path(),
            trace: trace.as_ref().map(|trace| &trace.file),
            processor: self.processors.get(slot % self.processors.len().max(1)).copied(),
            kernel_arguments: &kernel.arguments_on(&trial.cell.machine, &self.processor_models, trial.seed)?,
            limits: LIMITS,
        };
        let copy = match trial.cell.machine.create_once {
            true => match self.copy_of_created(trial, &config, kernel, stop, see) {
                Ok(copy) => Some(copy),
                Err(why) => return why.report(),
            },
            false => None,
        };
        for (key, value) in provenance(trial, kernel, programs).into_iter().chain(self.drawn(trial)) {
            see(Seen::Event(Event::Provenance { key, value }));
        }
        let image = GuestFile {
            path: GuestFile::KERNEL.to_owned(),
            sha256: kernel.sha256.clone(),
        };
        let files = std::iter::once(&image).chain(root.files()).cloned().collect();
        see(Seen::Event(Event::GuestFiles { files }));
        let config = Config {
            contents: copy.as_ref(),
            ..config
        };
        if let Work::PowerCut(spec) = trial.cell.workload.work.clone() {
            let exploration = Exploration { trial, spec, config };
            return Ok(super::power_cuts::run(&exploration, stop, see));
        }
        self.in_guest(trial, &config, trace.as_ref(), stop, see)
    }
}

/// Why there is no stack for a trial.
enum NotCreated {
    Place(PlaceError),
    /// It could not be created: the trial's report.
    Trial(Box<TrialReport>),
}

impl NotCreated {
    fn report(self) -> Result<TrialReport, PlaceError> {
        match self {
            Self::Place(error) => Err(error),
            Self::Trial(report) => Ok(*report),
        }
    }
}

impl LabPlace {
    /// A trial in a guest, with what is seen of it from outside.
    fn in_guest(
        &self,
        trial: &Trial,
        config: &Config<'_>,
        trace: Option<&TraceFile>,
        stop: &AtomicBool,
        see: &mut dyn FnMut(Seen),
    ) -> Result<TrialReport, PlaceError> {
        let mut outcome = OutcomeReader::default();
        let bound = DiskBound::of(trial, &self.models);
        let whole_disk = WholeDisk::of(trial, &self.models);
        let work = &trial.cell.workload.work;
        let see = std::cell::RefCell::new(see);
        let counters = std::cell::RefCell::new(Vec::new());
        let see_event = |event: Event| {
            if let Event::DiskCounters(disk) = &event
                && trace.is_some()
            {
                counters.borrow_mut().push(disk.clone());
            }
            let (guard, whole) = match &event {
                Event::Sample(sample) => (
                    bound.as_ref().and_then(|bound| bound.judge(work, sample)),
                    whole_disk.as_ref().and_then(|disk| disk.rebuild_time(sample)),
                ),
                _ => (None, None),
            };
            let mut see = see.borrow_mut();
            see(Seen::Event(event));
            let added = guard.map(Event::Guard).into_iter().chain(whole.map(Event::Sample));
            added.for_each(|event| see(Seen::Event(event)));
        };
        let ended = guest::run(
            config,
            stop,
            &mut |line| outcome.line(line, &mut |event| see_event(event)),
            &mut |heartbeat| {
                let virtual_time = Duration::from_nanos(heartbeat.virtual_ns);
                (see.borrow_mut())(Seen::Heartbeat { virtual_time });
            },
        )?;
        let whole = trace.map_or(Ok(()), |trace| trace.check(&counters.borrow()));
        Ok(TrialReport {
            wall: ended.wall,
            ending: outcome.ending(&ended.end, "boot", |end| message(end, &ended)),
            halt: whole.err().map(PlaceError::Trace),
        })
    }

    /// The disks of a trial with its stack, which is created if no trial has needed it before. `see` gets the calls that created it.
    fn copy_of_created(
        &self,
        trial: &Trial,
        config: &Config<'_>,
        kernel: &Kernel,
        stop: &AtomicBool,
        see: &mut dyn FnMut(Seen),
    ) -> Result<DiskContents, NotCreated> {
        let created = self.created.of(trial, || {
            let creation = &trial::creation_of(trial);
            let failed = |error: PlaceError| NotCreated::Place(error);
            let disks = lab::disks::encoded(creation, &self.models).map_err(|error| failed(error.into()))?;
            let root = self
                .programs
                .root(creation, kernel)
                .map_err(|error| failed(error.into()))?;
            let arguments = kernel.arguments_on(&creation.cell.machine, &self.processor_models, creation.seed);
            let config = &Config {
                root: Some(&root),
                seed: creation.seed,
                disks: &disks,
                kernel_arguments: &arguments.map_err(|error| failed(error.into()))?,
                ..*config
            };
            let key = self.creation_key(creation, config, &root);
            let kept = &self.created.kept;
            if let Some((contents, calls)) = kept.load(&key, self.memory_budget_bytes, config.folder) {
                return Ok(CreatedStack { contents, calls });
            }
            let created = self.create(creation, config, stop, see)?;
            let label = &trial.cell.stack_label;
            // Without it the next run creates the stack again.
            let _ = kept.keep(&key, label, &created.contents, &created.calls, config.folder);
            Ok(created)
        })?;
        created.calls.iter().cloned().for_each(|call| see(Seen::Event(call)));
        let copy = created.contents.copy(&self.spare, config.folder);
        copy.map_err(|error| NotCreated::Place(error.into()))
    }

    /// What was drawn for the models of its disks and processor: `drawn.wd-wd40efrx.disk.seek`, a factor.
    fn drawn(&self, trial: &Trial) -> Vec<(String, String)> {
        let of_disks = self.models.drawn(&trial.cell.machine, trial.seed);
        let of_processor = self.processor_models.drawn(&trial.cell.machine, trial.seed);
        of_disks
            .into_iter()
            .chain(of_processor)
            .map(|(figure, factor)| (format!("drawn.{figure}"), format!("{factor:.4}")))
            .collect()
    }

    /// Everything that the contents of a created stack depend on, this build of raidlab and the programs of the guest included.
    fn creation_key(&self, trial: &Trial, config: &Config<'_>, root: &Root) -> String {
        let programs: Vec<_> = root
            .files()
            .iter()
            .map(|file| (file.path.as_str(), file.sha256.as_str()))
            .collect();
        let machine = (config.disks, config.kernel_arguments, programs);
        let machine = serde_json::to_string(&machine).expect("plain data");
        format!("{}\n{}\n{machine}", self.origin(trial), trial::creation_key(trial))
    }

    /// Creates the stack of a trial in a guest of its own, which is otherwise like that of the trial.
    fn create(
        &self,
        trial: &Trial,
        config: &Config<'_>,
        stop: &AtomicBool,
        see: &mut dyn FnMut(Seen),
    ) -> Result<CreatedStack, NotCreated> {
        let failed = |error| NotCreated::Place(PlaceError::from(error));
        let contents = DiskContents::new(self.memory_budget_bytes, self.cache.folder()).map_err(failed)?;
        let job = lab::job::encode(&GuestJob::Create(Box::new(trial.clone())), &[]);
        let config = Config {
            job: &job,
            contents: Some(&contents),
            trace: None,
            ..*config
        };
        let mut outcome = OutcomeReader::default();
        let mut calls = Vec::new();
        let mut keep = |event: Event| {
            if matches!(event, Event::Call(_)) || is_about_age(&event) {
                calls.push(event);
            }
        };
        let mut beat = |heartbeat: Heartbeat| {
            let virtual_time = Duration::from_nanos(heartbeat.virtual_ns);
            see(Seen::Heartbeat { virtual_time });
        };
        let ended = guest::run(&config, stop, &mut |line| outcome.line(line, &mut keep), &mut beat)
            .map_err(|error| NotCreated::Place(error.into()))?;
        match outcome.ending(&ended.end, "boot", |end| message(end, &ended)) {
            Ending::Done => Ok(CreatedStack { contents, calls }),
            ending => {
                calls.into_iter().for_each(|call| see(Seen::Event(call)));
                Err(NotCreated::Trial(Box::new(TrialReport {
                    wall: ended.wall,
                    ending,
                    halt: None,
                })))
            }
        }
    }
}

/// Whether it says what an aged filesystem is like, which each trial on it says as well.
fn is_about_age(event: &Event) -> bool {
    matches!(event, Event::Provenance { key, .. } if key.starts_with("age."))
}

/// What a trial ran with, for a reader.
fn provenance(trial: &Trial, kernel: &Kernel, programs: Option<&Programs>) -> Vec<(String, String)> {
    let mut facts = vec![
        ("kernel".to_owned(), kernel.release.clone()),
        ("kernel.name".to_owned(), kernel.name.clone()),
        ("kernel.source".to_owned(), kernel.source.clone()),
    ];
    facts.extend(trial.cell.machine.processor.iter().map(|processor| {
        let value = format!("{}, {} cores, simulated", processor.model, processor.cores);
        ("processor".to_owned(), value)
    }));
    facts.extend(programs.map(|programs| (format!("{}.packages", programs.name), programs.packages.join(", "))));
    facts
}

/// The failure of a guest whose trial reported none.
fn message(end: &ProcessEnd, ended: &EndedGuest) -> String {
    let virtual_s = ended.heartbeat.virtual_ns as f64 / 1e9;
    let console = last_lines(&ended.console);
    match end {
        ProcessEnd::NoSpace => NO_ROOM.to_owned(),
        ProcessEnd::Exited => format!("the guest exited without a result; its console: {console}"),
        ProcessEnd::Killed(signal) => {
            let who = if *signal == 9 {
                "sent by a user or by the OOM killer"
            } else {
                "sent by another process"
            };
            format!("the guest was killed by signal {signal}, {who}; its console: {console}")
        }
        ProcessEnd::Died(status) => format!("the guest died ({status}); its console: {console}"),
        ProcessEnd::Stalled => {
            format!(
                "virtual time did not advance from {virtual_s:.3} s for too long; the guest's console: {console}"
            )
        }
        ProcessEnd::TimedOut => format!(
            "not finished after {} s of wall time, {virtual_s:.0} s virtual; the guest's console: {console}",
            ended.wall.as_secs()
        ),
        ProcessEnd::OutputLimit => "the guest exceeded its output limit".to_owned(),
        ProcessEnd::DiskFailed(words) => format!("a disk failed: {words}"),
        ProcessEnd::Stopped => "it was stopped".to_owned(),
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

    /// The outcome of a trial whose guest printed only this line and ended like this.
    fn words(line: &[u8], end: ProcessEnd) -> String {
        let ended = EndedGuest {
            end,
            console: "one\n\nlast words\n".to_owned(),
            wall: Duration::ZERO,
            heartbeat: Heartbeat::default(),
        };
        let mut outcome = OutcomeReader::default();
        outcome.line(line, &mut |_| {});
        match outcome.ending(&ended.end, "boot", |end| message(end, &ended)) {
            Ending::Failed(failure) => format!("{}: {}", failure.step, failure.message),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_guest_that_ends_badly_shows_the_end_of_its_console() {
        let mkfs: &[u8] = b"{\"event\":\"step\",\"name\":\"mkfs\",\"at_ns\":1}";
        assert_eq!(
            words(mkfs, ProcessEnd::Exited),
            "mkfs: the guest exited without a result; its console: one\n    last words"
        );
        assert_eq!(
            words(DONE, ProcessEnd::Died("signal: 9".to_owned())),
            "boot: the guest died (signal: 9); its console: one\n    last words"
        );
        assert!(words(DONE, ProcessEnd::Stalled).contains("did not advance"));
    }

    #[test]
    fn disks_without_room_fail_a_trial_that_did_not_notice() {
        assert!(words(DONE, ProcessEnd::NoSpace).contains("no space left"));
    }
}
