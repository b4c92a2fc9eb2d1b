//! raidlab in a temporary folder.

use crate::commands::comparable;
use lab::kernel::{Cache, DEFAULT_VERSION, Kernel, KernelName};
use lab::trace::Record;
use requirements::{Slot, one_processor, own_mounts};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};
use store::Store;
use tempfile::TempDir;
use tools::shell_word;

/// No command of a test takes nearly as long, whatever else the machine does.
const PATIENCE: Duration = Duration::from_secs(1200);

/// The lab's kernel. Without it a test is skipped.
pub fn kernel() -> Option<&'static Kernel> {
    static KERNEL: OnceLock<Result<Kernel, String>> = OnceLock::new();
    let kernel = KERNEL.get_or_init(|| built(&KernelName::parse(DEFAULT_VERSION)));
    requirements::met(kernel.as_ref())
}

/// A kernel from the cache. No test builds one: that takes minutes, which belong to no test.
fn built(name: &KernelName) -> Result<Kernel, String> {
    let found = Cache::of_user().find(name);
    let missing = || format!("no kernel {name}: `raidlab kernel build {name}`");
    found.map_err(|error| error.to_string())?.map_err(|_| missing())
}

/// A kernel of another name. Without it a test is skipped.
pub fn kernel_named(name: &KernelName) -> Option<Kernel> {
    requirements::met(built(name))
}

/// A folder with a study and its results.
pub struct Laboratory {
    folder: TempDir,
    program: PathBuf,
    /// The wrapper that starts raidlab.
    wrapper: Vec<String>,
    _slot: Slot,
}

impl Laboratory {
    /// `None` if a test has to be skipped.
    pub fn open() -> Option<Laboratory> {
        kernel()?;
        Some(Self::new())
    }

    /// With another kernel than most studies need.
    pub fn open_with(name: &KernelName) -> Option<Laboratory> {
        kernel()?;
        kernel_named(name)?;
        Some(Self::new())
    }

    fn new() -> Laboratory {
        Laboratory {
            _slot: one_processor(),
            folder: tempfile::tempdir().expect("a folder"),
            program: PathBuf::from(env!("CARGO_BIN_EXE_raidlab")),
            wrapper: Vec::new(),
        }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// From now on raidlab sees other contents in a file of this machine; false without the required permissions.
    pub fn with_file(&mut self, path: &str, contents: &[u8]) -> bool {
        let other = self.folder().join("other");
        fs::write(&other, contents).expect("a file is written");
        let other = other.to_str().expect("in UTF-8");
        let script = "mount --bind \"$0\" \"$1\" && shift && exec \"$@\"";
        self.wrapper = vec!["unshare".to_owned()];
        self.wrapper.extend(own_mounts(script));
        self.wrapper.extend([other, path].map(str::to_owned));
        let tried = Command::new(&self.wrapper[0])
            .args(&self.wrapper[1..])
            .arg("true")
            .output();
        tried.is_ok_and(|tried| tried.status.success())
    }

    /// From now on with this variable of the environment, `NAME=VALUE`.
    pub fn with_variable(&mut self, variable: &str) {
        self.wrapper = ["env", variable].map(str::to_owned).to_vec();
    }

    /// A raidlab command, to be run in the folder.
    pub fn raidlab(&self, arguments: &[&str]) -> Command {
        let mut words = self.wrapper.iter().map(OsStr::new).chain([self.program.as_os_str()]);
        let mut command = Command::new(words.next().expect("raidlab at least"));
        command.args(words).args(arguments).current_dir(self.folder());
        command
    }

    /// Writes a study file.
    pub fn study(&self, text: &str) {
        fs::write(self.folder().join("study.toml"), text).expect("a study is written");
    }

    /// Runs a study, every trial of which must be done and honest.
    pub fn run(&self, study: &str) -> Results {
        self.study(study);
        self.run_with(&[])
    }

    /// Runs the existing study; requests are traced.
    pub fn run_with(&self, options: &[&str]) -> Results {
        self.run_as_told(&[&["--trace", "traces"], options].concat())
    }

    /// Runs the existing study with only these options.
    pub fn run_as_told(&self, options: &[&str]) -> Results {
        let results = self.results_of(options);
        results.must_be_honest();
        results
    }

    /// Runs a study some guards of which fail.
    pub fn run_with_failed_guards(&self, study: &str) -> Results {
        self.study(study);
        self.results_of(&[])
    }

    /// The same of the existing study, with only these options.
    pub fn results_of(&self, options: &[&str]) -> Results {
        succeeded(&mut self.raidlab(&[&["run", "study.toml"], options].concat()));
        let store = options
            .windows(2)
            .find(|pair| pair[0] == "--store")
            .map_or("raidlab.db", |pair| pair[1]);
        let exported = succeeded(&mut self.raidlab(&["export", "--format", "json", "--store", store]));
        let json = serde_json::from_str(&exported).expect("an export is JSON");
        Results { json }
    }

    /// The programs in the dry run of the study, by cell.
    pub fn dry_run(&self, options: &[&str]) -> BTreeMap<String, Vec<String>> {
        let arguments = [&["run", "study.toml", "--dry-run"], options].concat();
        let text = succeeded(&mut self.raidlab(&arguments));
        let mut cells: BTreeMap<String, String> = BTreeMap::new();
        let mut cell = String::new();
        let by_system_call = ["mkdir ", "mount ", "echo ", "# "];
        for line in text.lines().filter(|line| !line.is_empty()) {
            match line.strip_prefix("# ") {
                Some(heading) if heading.contains(" | ") => cell = heading.to_owned(),
                _ if by_system_call.iter().any(|word| line.starts_with(word)) => {}
                _ => {
                    let program = line.rsplit_once(" | ").map_or(line, |(_, program)| program);
                    *cells.entry(cell.clone()).or_default() += &format!("{program}\n");
                }
            }
        }
        cells
            .into_iter()
            .map(|(cell, lines)| (cell, comparable(&lines)))
            .collect()
    }

    /// The programs that the study's trials called for their stacks, by cell, without read-only ones.
    pub fn programs_called(&self) -> BTreeMap<String, Vec<String>> {
        let store = Store::open_existing(&self.folder().join("raidlab.db")).expect("there is a store");
        let run = store.latest_run().expect("readable").expect("there is a run");
        let plan = store.plan(run.id).expect("readable");
        let keys: BTreeMap<_, _> = plan.cells.into_iter().map(|cell| (cell.id, cell.key)).collect();
        let mut cells: BTreeMap<String, String> = BTreeMap::new();
        for row in store.calls(run.id).expect("readable") {
            let mut argv = row.entry.argv;
            argv[0] = argv[0].rsplit('/').next().unwrap_or_default().to_owned();
            let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
            let only_looks = match argv.as_slice() {
                [_, argument] => ["-V", "--version", "version", "--help"].contains(argument),
                ["lvm", command, ..] => *command == "lvs",
                ["df", ..] | ["losetup", "--list", ..] | ["zfs", "get", ..] => true,
                // Called between the tests of a workload.
                ["zpool", command, ..] => ["export", "import"].contains(command),
                ["dmsetup", command, ..] => ["suspend", "resume", "table"].contains(command),
                _ => false,
            };
            if !only_looks {
                let words: Vec<String> = argv.iter().map(|word| shell_word(word)).collect();
                *cells.entry(keys[&row.trial.cell].clone()).or_default() += &format!("{}\n", words.join(" "));
            }
        }
        cells
            .into_iter()
            .map(|(cell, lines)| (cell, comparable(&lines)))
            .collect()
    }

    /// The same program and the same study, in another folder and with another environment.
    pub fn move_elsewhere(&mut self) {
        let folder = tempfile::Builder::new()
            .prefix("a-rather-long-name-")
            .tempdir()
            .expect("a folder");
        let program = folder.path().join("raidlab-by-another-name");
        fs::copy(&self.program, &program).expect("the program is copied");
        fs::copy(self.folder().join("study.toml"), folder.path().join("study.toml")).expect("and the study");
        (self.folder, self.program) = (folder, program);
    }

    /// All requests of the only trial of a workload.
    pub fn trace(&self, workload: &str) -> Vec<Record> {
        let entries = fs::read_dir(self.folder().join("traces")).expect("there are traces");
        let mut files = entries.map(|entry| entry.expect("an entry").path());
        let part = format!("_{workload}.");
        let file = files
            .find(|path| path.to_string_lossy().contains(&part))
            .expect("the workload was traced");
        let bytes = fs::read(file).expect("the trace can be read");
        lab::trace::read(&bytes).expect("a trace")
    }
}

/// Standard output of a command, which must succeed, and soon.
pub fn succeeded(command: &mut Command) -> String {
    let file = || tempfile::tempfile().expect("a file");
    let (out, err) = (file(), file());
    let twin = |file: &File| file.try_clone().expect("a file's twin");
    command.stdin(Stdio::null()).stdout(twin(&out)).stderr(twin(&err));
    let mut child = command.spawn().expect("raidlab can be run");
    let until = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait().expect("it is ours") {
            None if Instant::now() < until => thread::sleep(Duration::from_millis(5)),
            None => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            status => break status,
        }
    };
    let [out, err] = [out, err].map(|mut file| {
        let mut text = String::new();
        file.rewind()
            .and_then(|()| file.read_to_string(&mut text))
            .expect("raidlab speaks UTF-8");
        text
    });
    let how = status.map_or_else(|| format!("not done after {PATIENCE:?}"), |status| status.to_string());
    assert!(
        status.is_some_and(|status| status.success()),
        "{command:?}: {how}\n{out}{err}"
    );
    out
}

/// An export.
pub struct Results {
    json: Value,
}

impl Results {
    fn rows(&self, table: &str) -> impl Iterator<Item = &Value> {
        self.json[table].as_array().expect("an export has its tables").iter()
    }

    /// A sample of the first trial of the only cell of a workload.
    pub fn sample(&self, workload: &str, test: &str, metric: &str) -> f64 {
        self.sample_of(&format!("| {workload}"), test, metric)
    }

    /// A sample of the first trial of the only cell whose key ends like this.
    pub fn sample_of(&self, ending: &str, test: &str, metric: &str) -> f64 {
        let wanted = |row: &&Value| {
            row["cell"].as_str().is_some_and(|cell| cell.ends_with(ending))
                && (&row["test"], &row["metric"], &row["trial"]) == (&test.into(), &metric.into(), &0.into())
        };
        let mut found = self.rows("samples").filter(wanted);
        let value = found.next().and_then(|row| row["value"].as_f64());
        assert!(found.next().is_none(), "more than one cell ends in `{ending}`");
        value.unwrap_or_else(|| panic!("no sample {test} {metric} of {ending}"))
    }

    /// Whether the first trial of the only cell with this workload has such a sample.
    pub fn has_sample(&self, workload: &str, test: &str, metric: &str) -> bool {
        let ending = format!("| {workload}");
        self.rows("samples").any(|row| {
            let of_cell = row["cell"].as_str().is_some_and(|cell| cell.ends_with(&ending));
            of_cell && (&row["test"], &row["metric"]) == (&test.into(), &metric.into())
        })
    }

    /// Whether samples of a test are excluded because a guard failed.
    pub fn is_excluded(&self, workload: &str, test: &str) -> bool {
        let ending = format!("| {workload}");
        self.rows("samples").any(|row| {
            let of_cell = row["cell"].as_str().is_some_and(|cell| cell.ends_with(&ending));
            let failed = row["failed_guards"].as_array().is_some_and(|guards| !guards.is_empty());
            of_cell && row["test"] == test && failed
        })
    }

    /// Whether a guard of the only cell with this workload passed, and its detail.
    pub fn guard(&self, workload: &str, name: &str, test: Option<&str>) -> (bool, String) {
        let ending = format!("| {workload}");
        let wanted = |row: &&Value| {
            let of_cell = row["cell"].as_str().is_some_and(|cell| cell.ends_with(&ending));
            of_cell && row["guard"] == name && row["test"].as_str() == test
        };
        let row = self.rows("guards").find(wanted);
        let row = row.unwrap_or_else(|| panic!("no guard {name} of {test:?} in {workload}"));
        let detail = row["detail"].as_str().expect("a guard has a detail");
        (row["passed"] == true, detail.to_owned())
    }

    /// Everything except wall-clock facts.
    pub fn body(&self) -> String {
        let mut json = self.json.clone();
        json.as_object_mut()
            .expect("an export is an object")
            .remove("header")
            .expect("with a header");
        format!("{json:#}")
    }

    pub fn digest(&self) -> &str {
        self.json["run"]["digest_sha256"]
            .as_str()
            .expect("an export has a digest")
    }

    /// The values of all trials for this key.
    pub fn provenance(&self, key: &str) -> Vec<&str> {
        let of_key = self.rows("provenance").filter(|row| row["key"] == key);
        of_key.filter_map(|row| row["value"].as_str()).collect()
    }

    /// SHA-256 of the files that guests read, by path, in order.
    pub fn guest_files(&self) -> Vec<(String, String)> {
        let of_row = |row: &Value| {
            let path = row["key"].as_str()?.strip_prefix("file.")?;
            Some((path.to_owned(), row["value"].as_str()?.to_owned()))
        };
        let mut files: Vec<(String, String)> = self.rows("provenance").filter_map(of_row).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// Cells with a completed trial.
    pub fn cells(&self) -> Vec<&str> {
        let mut cells: Vec<&str> = self.rows("trials").filter_map(|row| row["cell"].as_str()).collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// Every trial completed, and every guard passed.
    fn must_be_honest(&self) {
        for trial in self.rows("trials") {
            assert_eq!(trial["status"], "done", "{trial:#}");
        }
        for guard in self.rows("guards") {
            assert_eq!(guard["passed"], true, "{guard:#}");
        }
        assert!(self.rows("samples").next().is_some(), "nothing was measured");
    }
}
