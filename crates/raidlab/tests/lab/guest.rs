//! A guest that is started without raidlab's command line: with a job, an init or a kernel of the test's own.

use crate::laboratory::{kernel, kernel_named};
use disksim::catalogue;
use disksim::description::Description;
use lab::guest::{Config, DiskContents, EndedGuest, Init, PowerCut, SpareMemory};
use lab::job::GuestJob;
use lab::kernel::KernelName;
use lab::processor::Processors;
use requirements::one_processor;
use rustix::thread::UnshareFlags;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};
use study::event::Event;
use study::plan::Trial;
use study_file::Known;
use tempfile::TempDir;
use trial::Limits;

/// Parameters of a guest; all others are raidlab's own.
pub struct Guest {
    pub kernel: PathBuf,
    /// The processor.
    pub kernel_arguments: &'static [String],
    /// A program instead of raidlab.
    pub init: Option<PathBuf>,
    /// Another build of raidlab.
    pub program: Option<PathBuf>,
    pub job: Vec<u8>,
    pub disks: Description,
    pub ram_bytes: u64,
    pub seed: u64,
    pub memory_budget_bytes: u64,
    /// Contents of the disks, kept from one guest to the next.
    pub contents: Option<Arc<DiskContents>>,
    pub power_cut: Option<PowerCut>,
    pub limits: Limits,
    /// The trial's folder; by default a temporary one for this guest.
    pub folder: Option<PathBuf>,
}

/// The outcome.
pub struct Seen {
    pub ended: EndedGuest,
    pub lines: Vec<Vec<u8>>,
    /// Processor time of its processes, to 10 ms.
    pub processor_time: Duration,
}

impl Guest {
    /// Two disks, and raidlab as its init. `None` if a test has to be skipped.
    pub fn new() -> Option<Guest> {
        Some(Guest {
            kernel: kernel()?.path.clone(),
            kernel_arguments: &[],
            init: None,
            program: None,
            job: Vec::new(),
            disks: disks("wd-500gb-2007", 2),
            ram_bytes: 64 << 20,
            seed: 1,
            memory_budget_bytes: 1 << 30,
            contents: None,
            power_cut: None,
            limits: Limits {
                stall: Duration::from_secs(20),
                wall: Duration::from_secs(150),
                output_bytes: 100 << 20,
            },
            folder: None,
        })
    }

    /// A guest for a job with a trial in it.
    pub fn for_job(job: &GuestJob, trial: &Trial) -> Option<Guest> {
        let machine = &trial.cell.machine;
        let mut guest = Guest::new()?;
        if machine.processor.is_some() {
            let kernel = kernel_named(&KernelName::parse("6.12+cpu"))?;
            let arguments = kernel.arguments_on(machine, &Processors::default(), trial.seed);
            guest.kernel_arguments = arguments.expect("a processor of the catalogue").leak();
            guest.kernel = kernel.path;
        }
        Some(Guest {
            job: lab::job::encode(job, &[]),
            disks: disks(&machine.disks[0].model, machine.disks[0].count),
            ram_bytes: machine.ram_bytes,
            seed: trial.seed,
            ..guest
        })
    }

    fn init(&self) -> Init {
        let init = match &self.init {
            None => {
                let raidlab = Path::new(env!("CARGO_BIN_EXE_raidlab"));
                Init::in_own_memory(self.program.as_deref().unwrap_or(raidlab))
            }
            Some(program) => Init::from_file(program),
        };
        init.expect("it can be loaded")
    }

    /// Runs it to its end, after which nothing of it may be left.
    pub fn run(&self) -> Seen {
        let _slot = one_processor();
        // A thread with open files of its own: other tests open and close files meanwhile.
        let run = || {
            unshare_files();
            self.run_in_this_thread()
        };
        thread::scope(|scope| scope.spawn(run).join()).unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn run_in_this_thread(&self) -> Seen {
        let own = tempfile::tempdir().expect("a folder");
        let folder = self.folder.as_deref().unwrap_or(own.path());
        let spare = SpareMemory::default();
        let config = Config {
            kernel: &self.kernel,
            init: &self.init(),
            root: None,
            ram_bytes: self.ram_bytes,
            seed: self.seed,
            disks: &postcard::to_allocvec(&self.disks).expect("a description is plain data"),
            job: &self.job,
            memory_budget_bytes: self.memory_budget_bytes,
            contents: self.contents.as_deref(),
            power_cut: self.power_cut,
            states: None,
            spare: &spare,
            folder,
            trace: None,
            processor: lab::guest::processors().first().copied(),
            kernel_arguments: self.kernel_arguments,
            limits: self.limits,
        };
        let mut lines = Vec::new();
        let (files, before) = (open_files(), childrens_processor_time());
        let ended = lab::guest::run(
            &config,
            &AtomicBool::new(false),
            &mut |line| lines.push(line.to_vec()),
            &mut |_| {},
        )
        .expect("the guest starts");
        drop(spare);
        assert_eq!(open_files(), files, "files that the guest was given are still open");
        assert_none_at_work_in(folder);
        Seen {
            ended,
            lines,
            processor_time: childrens_processor_time() - before,
        }
    }
}

impl Seen {
    pub fn events(&self) -> Vec<Event> {
        let parse = |line: &Vec<u8>| serde_json::from_slice(line).expect("the guest's init speaks in events");
        self.lines.iter().map(parse).collect()
    }

    /// The words of the guest's script.
    pub fn words(&self) -> Vec<String> {
        self.lines
            .iter()
            .map(|line| String::from_utf8_lossy(line).into_owned())
            .collect()
    }
}

/// Disks of a model.
pub fn disks(model: &str, count: u32) -> Description {
    let model = catalogue::find(model).expect("the catalogue has it");
    Description {
        links: Vec::new(),
        disks: (0..count).map(|disk| model.description(u64::from(disk))).collect(),
    }
}

/// The first trials of a study's cells.
pub fn trials(study: &str) -> Vec<Trial> {
    let plan = study_file::read(study, "test.toml", &Known::default()).expect("a study");
    plan.rounds(1).next().expect("a round")
}

/// A shell script as a program.
pub fn script(folder: &TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("script");
    fs::write(
        &path,
        format!("#!/bin/bash\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\n{text}\n"),
    )
    .expect("a script is written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("and made a program");
    path
}

/// An example program of a crate, made of the sources in `folders` of crates/. It is built with all tests of the
/// workspace, and not with a single one of them.
///
/// # Errors
/// Why there is none.
pub fn example(name: &str, folders: &[&str]) -> Result<PathBuf, String> {
    let tests = std::env::current_exe().expect("a test has a file");
    let debug = tests.ancestors().nth(2).expect("it is in `deps`");
    let program = debug.join("examples").join(name);
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources: Vec<PathBuf> = folders.iter().map(|folder| crates.join(folder)).collect();
    // `scripts/test` compiles examples while the tests in guests run.
    while let Some(compiled) = std::env::var_os("RAIDLAB_TEST_COMPILED") {
        if built_after(&program, sources.clone()) || Path::new(&compiled).exists() {
            break;
        }
        thread::sleep(Duration::from_millis(200));
    }
    match built_after(&program, sources) {
        true => Ok(program),
        false => Err(format!(
            "{} is not there or not up to date: `cargo build --examples`",
            program.display()
        )),
    }
}

/// Whether a program is newer than every file below the folders.
fn built_after(program: &Path, mut folders: Vec<PathBuf>) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    let Ok(built) = changed(program) else { return false };
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("sources can be read") {
            let path = entry.expect("sources can be read").path();
            if path.ends_with("tests") {
                continue;
            } else if path.is_dir() {
                folders.push(path);
            } else if changed(&path).is_ok_and(|time| time > built) {
                return false;
            }
        }
    }
    true
}

/// Whether a guest sees this file of the host; skips the test if not.
pub fn guests_see(path: &Path) -> bool {
    let hidden = path.starts_with("/tmp");
    if hidden {
        requirements::skip(format!(
            "a guest has a /tmp of its own, and does not see {}",
            path.display()
        ));
    }
    !hidden
}

/// Processes whose working folder it is or lies below it: all of a guest's, which may need a moment to go.
pub fn at_work_in(folder: &Path) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("there is /proc").flatten();
    let pid = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let works_there = |pid: &u32| {
        let place = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        *pid != std::process::id() && place.starts_with(folder)
    };
    processes.filter_map(pid).filter(works_there).collect()
}

/// They are killed, but may take a while to go.
pub fn assert_none_at_work_in(folder: &Path) {
    const PATIENCE: Duration = Duration::from_secs(300);
    let began = Instant::now();
    while !at_work_in(folder).is_empty() {
        assert!(
            began.elapsed() < PATIENCE,
            "processes are left: {:?}",
            at_work_in(folder)
        );
        thread::sleep(Duration::from_millis(10));
    }
}

/// From now on this thread has its own file descriptor table. It closes its copies of other tests' pipes: their readers
/// wait until the last copy is closed.
fn unshare_files() {
    // SAFETY: what is closed below is not used by this thread, and stays open for all others.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FILES) }.expect("any process may");
    for (file, target) in files() {
        if file > 2 && ["pipe:", "socket:"].iter().any(|kind| target.starts_with(kind)) {
            // SAFETY: as above. The pipe does not belong to this thread.
            unsafe { libc::close(file) };
        }
    }
}

/// Open files of this thread and their targets.
fn files() -> Vec<(i32, String)> {
    let entries = fs::read_dir("/proc/thread-self/fd").expect("there is /proc").flatten();
    let file = |entry: fs::DirEntry| {
        let target = fs::read_link(entry.path()).ok()?;
        Some((
            entry.file_name().to_str()?.parse().ok()?,
            target.to_string_lossy().into_owned(),
        ))
    };
    entries.filter_map(file).collect()
}

/// Number of memory files, pipes and the like, which a guest is given.
fn open_files() -> usize {
    let kinds = ["/memfd:", "pipe:", "anon_inode:", "socket:"];
    let is_given = |target: &str| kinds.iter().any(|kind| target.starts_with(kind));
    files().iter().filter(|(_, target)| is_given(target)).count()
}

/// For all children that have ended: exact only while the test holds all processors.
fn childrens_processor_time() -> Duration {
    const TICK: Duration = Duration::from_millis(10);
    let stat = fs::read_to_string("/proc/self/stat").expect("there is /proc");
    // The name, in parentheses, may contain anything.
    let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
    let ticks = fields.split_whitespace().skip(13).take(2);
    TICK * ticks.map(|field| field.parse::<u32>().expect("a number")).sum::<u32>()
}
