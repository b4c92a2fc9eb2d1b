//! A temporary folder with raidlab in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_raidlab");

/// A study of six short trials.
pub const SMALL: &str = include_str!("small.toml");

/// A folder for one test, with a cache folder next to it that contains no kernel.
pub struct Desk {
    root: TempDir,
}

/// How a call of raidlab ended.
pub struct Ran {
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Desk {
    pub fn new() -> Desk {
        let root = tempfile::tempdir().expect("a temporary folder");
        // Readable by others: some tests run raidlab as another user.
        fs::set_permissions(root.path(), PermissionsExt::from_mode(0o755)).expect("our own folder");
        fs::create_dir(root.path().join("work")).expect("a folder");
        fs::create_dir_all(root.path().join("cache/raidlab")).expect("a folder");
        Desk { root }
    }

    /// The working directory.
    pub fn folder(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// raidlab's own folder in the cache.
    pub fn cache(&self) -> PathBuf {
        self.root.path().join("cache/raidlab")
    }

    /// The user's part of the disk catalogue.
    pub fn own_disks(&self) -> PathBuf {
        self.root.path().join("config/raidlab/disks")
    }

    /// The user's own processor models.
    pub fn own_cpus(&self) -> PathBuf {
        self.root.path().join("config/raidlab/cpus")
    }

    /// The folder of ledgers.
    pub fn state(&self) -> PathBuf {
        self.root.path().join("state")
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.folder().join(name), contents).expect("a file is written");
    }

    /// A command that runs here: raidlab, or a program that calls it.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.folder())
            .env("XDG_CACHE_HOME", self.root.path().join("cache"))
            .env("XDG_CONFIG_HOME", self.root.path().join("config"))
            .env("RAIDLAB_STATE", self.state());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn raidlab(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(PROGRAM);
        command.args(arguments);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.raidlab(arguments).output().expect("raidlab is run"))
    }

    /// Like [`Desk::run`], but nothing in the folder may change, including contents of files.
    pub fn run_without_touching(&self, arguments: &[&str]) -> Ran {
        let before = self.files();
        let ran = self.run(arguments);
        let after = self.files();
        let touched = |path: &&PathBuf| before.get(*path) != after.get(*path);
        let touched: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).filter(touched).collect();
        assert!(touched.is_empty(), "{arguments:?} touched {touched:?}");
        let cached: Vec<_> = fs::read_dir(self.cache())
            .expect("our folder")
            .flatten()
            .map(|e| e.file_name())
            .collect();
        assert!(
            cached.iter().all(|name| name == "kernels"),
            "{arguments:?} left {cached:?} in the cache"
        );
        ran
    }

    /// Calls of raidlab and their output, for a snapshot. Each must leave everything unchanged.
    pub fn transcript(&self, calls: &[&[&str]]) -> String {
        let mut text = String::new();
        for call in calls {
            let ran = self.run_without_touching(call);
            let _ = writeln!(text, "$ raidlab {}\n{}", call.join(" "), self.shown(&ran));
        }
        text
    }

    /// Output and exit code of a call, without what differs between machines.
    pub fn shown(&self, ran: &Ran) -> String {
        let folder = self.root.path().display().to_string();
        let lines: Vec<String> = [&ran.stdout, &ran.stderr]
            .iter()
            .flat_map(|text| text.lines())
            .map(|line| line.replace(&folder, "…"))
            .map(|line| {
                if line.chars().count() > 400 {
                    line.chars().take(400).collect()
                } else {
                    line
                }
            })
            .collect();
        format!(
            "{}\n=> {}\n",
            lines.join("\n"),
            ran.exit.map_or("a signal".to_owned(), |exit| exit.to_string())
        )
    }

    fn files(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut files = BTreeMap::new();
        collect(&self.folder(), &mut files);
        files
    }
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
    for entry in fs::read_dir(folder).expect("a folder can be listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        }
        files.insert(path.clone(), fs::read(&path).ok());
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).expect("raidlab says text");
        Ran {
            exit: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// A run's JSON export without the header, which contains date and command.
pub fn export_body(export: &str) -> serde_json::Value {
    let mut export: serde_json::Value = serde_json::from_str(export).expect("an export is JSON");
    export
        .as_object_mut()
        .expect("an object")
        .remove("header")
        .expect("with a header");
    export
}
