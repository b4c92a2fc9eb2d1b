//! A guest of the lab as the host: a machine with disks of its own, in which raidlab and other programs run as root.

use crate::desk::PROGRAM;
use crate::lab;
use ::lab::carried::Programs;
use ::lab::guest::{Config, Init, LIMITS, SpareMemory};
use ::lab::job::{GuestJob, ProgramJob};
use ::lab::kernel::{Cache, DEFAULT_VERSION, KernelName};
use disksim::catalogue;
use disksim::description::Description;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use study::event::Event;
use trial::{Limits, ProcessEnd};

/// A guest that is not started yet.
pub struct Machine<'a> {
    /// Name of its kernel.
    pub kernel: &'a str,
    /// Programs that the host need not have.
    pub programs: Option<&'a Programs>,
    pub disks: Description,
    pub ram_bytes: u64,
    /// Real time that it may take.
    pub wall: Duration,
}

impl Default for Machine<'_> {
    /// With the kernel of most studies, and no disk.
    fn default() -> Self {
        Machine {
            kernel: DEFAULT_VERSION,
            programs: None,
            disks: Description {
                links: Vec::new(),
                disks: Vec::new(),
            },
            ram_bytes: 512 << 20,
            wall: Duration::from_secs(600),
        }
    }
}

/// Whether the output contains all of these words.
pub fn must_say(said: &str, all: &[&str]) {
    for words in all {
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// Disks of one model, of 500 GB each.
pub fn disks(count: u64) -> Description {
    let model = catalogue::find("wd-500gb-2007").expect("it is in the catalogue");
    Description {
        links: Vec::new(),
        disks: (1..=count).map(|seed| model.description(seed)).collect(),
    }
}

impl Machine<'_> {
    /// The output of a bash script, each command of which must succeed. `$R` is raidlab, `study.toml` this study.
    /// `None`, with a message, if there is no such kernel.
    pub fn script(&self, study: &str, lines: &str) -> Option<String> {
        let text = format!(
            "export RAIDLAB_STATE=/tmp/state R={PROGRAM}; exec 2>&1; cd /tmp\ncat > study.toml <<'END'\n{study}\nEND\n{lines}"
        );
        self.run("/bin/bash", &["-e", "-c", &text])
    }

    /// The output of a program, which must succeed. `None`, with a message, if there is no such kernel.
    pub fn run(&self, program: &str, arguments: &[&str]) -> Option<String> {
        if Path::new(PROGRAM).starts_with("/tmp") {
            requirements::skip(format!(
                "a guest has a /tmp of its own, and does not see the program in {PROGRAM}"
            ));
            return None;
        }
        let (_desk, _turn) = lab::desk()?;
        // The packages that another kernel carries may be missing, too.
        let Ok(Ok(kernel)) = Cache::of_user().find(&KernelName::parse(self.kernel)) else {
            requirements::skip(format!(
                "there is no kernel {}: `raidlab kernel build {}`",
                self.kernel, self.kernel
            ));
            return None;
        };
        let job = GuestJob::Program(ProgramJob {
            path: PathBuf::from(program),
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
        });
        let (disks, job) = (
            postcard::to_allocvec(&self.disks).expect("plain data"),
            ::lab::programs::encoded(&job, &kernel, self.programs).expect("its files are there"),
        );
        let folder = tempfile::tempdir().expect("a folder");
        let config = Config {
            kernel: &kernel.path,
            init: &Init::in_own_memory(Path::new(PROGRAM)).expect("it is loaded"),
            root: None,
            ram_bytes: self.ram_bytes,
            seed: 1,
            disks: &disks,
            job: &job,
            memory_budget_bytes: 256 << 20,
            contents: None,
            power_cut: None,
            states: None,
            spare: &SpareMemory::default(),
            folder: folder.path(),
            trace: None,
            processor: None,
            kernel_arguments: &kernel.arguments(),
            limits: Limits {
                wall: self.wall,
                ..LIMITS
            },
        };
        let mut last = None;
        let mut line = |line: &[u8]| last = serde_json::from_slice::<Event>(line).ok();
        let ended = ::lab::guest::run(&config, &AtomicBool::new(false), &mut line, &mut |_| ()).expect("it starts");
        let console = ended.console;
        assert_eq!(ended.end, ProcessEnd::Exited, "{console}");
        assert!(matches!(last, Some(Event::Done { .. })), "{last:?}\n{console}");
        Some(console)
    }
}
