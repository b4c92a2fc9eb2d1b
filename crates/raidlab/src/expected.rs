//! Errors of the user's and of the world's, apart from bugs: each has its words, its cause and its exit code.

use crate::command::{OutputError, PartsError, SubmitError, TextError};
use crate::console;
use crate::plain::Colours;
use crate::progress::{say, say_with};
use disksim::{catalogue, disksim_import};
use lab::disks::DisksError;
use lab::guest::StartError;
use lab::kernel::KernelError;
use lab::processor::ProcessorError;
use runner::{PlaceError, RunError};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use store::StoreError;
use tools::MissingTools;

/// The run came to its end, but a trial failed; or work that was begun could not be brought to its end.
pub const EXIT_TRIAL_FAILED: u8 = 1;
/// The user's input is wrong; nothing was touched.
pub const EXIT_INPUT: u8 = 2;
/// The machine lacks something.
pub const EXIT_MACHINE: u8 = 3;
/// Stopped by the user; what was measured is kept.
pub const EXIT_INTERRUPTED: u8 = 130;

/// What the user gets instead of a result.
#[derive(Debug, thiserror::Error)]
pub enum ExpectedError {
    // The input is wrong.
    #[error(transparent)]
    Study(#[from] study_file::Diagnostics),
    #[error(transparent)]
    DiskFile(#[from] disksim_import::Diagnostics),
    #[error(transparent)]
    DiskTrace(#[from] disksim_import::Diagnostic),
    #[error("`{}` {source}", path.display())]
    Trace {
        path: PathBuf,
        source: lab::trace::TraceError,
    },
    #[error("--disk {disk}: `{}` has requests of disks 0 to {}", path.display(), disks.saturating_sub(1))]
    NoSuchDisk { path: PathBuf, disk: u8, disks: u32 },
    #[error(transparent)]
    Model(#[from] catalogue::Error),
    /// A file of the user's part of the catalogue.
    #[error("{0}")]
    OwnModel(String),
    #[error(transparent)]
    Processor(#[from] ProcessorError),
    #[error("{model}: {message}")]
    Check { model: String, message: String },
    #[error(transparent)]
    Disks(#[from] DisksError),
    #[error(
        "workload `{0}`: only the lab can cut the power of its disks; use `--on lab`, or leave it out with `--only`"
    )]
    PowerCutOnHost(String),
    #[error(
        "the study cannot run on this machine: {0}; run it in the lab, or leave the act out; nothing was touched"
    )]
    ActOnHost(String),
    #[error(
        "--shard: the study's trials end when its claims are decided (`[precision] claims`), which no shard can see; \
         write `trials = 3`, or run it in one piece; nothing was run"
    )]
    ShardOfClaims,
    #[error("--only: {0}")]
    Only(#[from] study_file::OnlyError),
    /// A file that the user names; `advice` follows what is wrong with it.
    #[error("`{}` {source}{advice}", path.display())]
    File {
        path: PathBuf,
        source: TextError,
        advice: &'static str,
    },
    #[error("`{}` {reason}; nothing was stored", path.display())]
    ForeignResults { path: PathBuf, reason: String },
    #[error("`{}`: {reason}", path.display())]
    NoExport { path: PathBuf, reason: String },
    #[error("--cell {cell}: the study has cells 1 to {cells}; `raidlab plan` lists them")]
    NoSuchCell { cell: u64, cells: usize },
    #[error("--cell {cell}: its workload has no power cuts; `raidlab plan` lists the cells")]
    NoPowerCuts { cell: u64 },
    #[error(transparent)]
    PowerCut(#[from] lab::power_cut::Error),
    #[error("the script on standard input is longer than {mib_max} MiB")]
    LongScript { mib_max: u64 },
    #[error("`{}` has no runs yet: `raidlab run STUDY` creates one", store.display())]
    NoRun { store: PathBuf },
    #[error(
        "--with {run}: choose a run of imported results other than the run shown; `raidlab compare` \
         compares two other runs"
    )]
    NotImported { run: i64 },
    #[error("{0}; nothing was written")]
    NotMeasurable(String),
    #[error("`{}` {source}{written}", device.display())]
    NotMeasured {
        device: PathBuf,
        source: measure::Error,
        /// What was written, after a semicolon.
        written: &'static str,
    },
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("there is no folder `{path}`: give a kernel tree or a version")]
    NoKernelTree { path: String },
    #[error("--name {name} is only for kernel trees: a version such as {version} already is a name")]
    NameOfVersion { name: String, version: String },
    #[error("{option} is for trials on this machine: add `--on host`; nothing was touched")]
    OptionOfHost { option: &'static str },
    #[error("{reason}; nothing was touched")]
    NotOnHost { reason: &'static str },
    #[error("the study needs {wanted} disks, but --loop {files} creates {}; nothing was touched", files.count)]
    FewLoopFiles {
        wanted: usize,
        files: crate::cli::LoopFiles,
    },
    #[error(
        "cannot use `{}` for the files behind loop devices: {}; choose another folder with --loop-folder",
        folder.display(), crate::command::reason(source)
    )]
    LoopFolder { folder: PathBuf, source: io::Error },
    #[error(
        "the name of `{}`, the folder for files behind loop devices, is not UTF-8, which the ledger needs: choose \
         another folder with --loop-folder; nothing was touched",
        folder.display()
    )]
    LoopFolderName { folder: PathBuf },
    #[error(
        "the study writes at least {used_mib} MiB, but `{}` has {free_mib} MiB free: choose another folder with \
         --loop-folder; nothing was touched",
        folder.display()
    )]
    LoopFolderFull {
        folder: PathBuf,
        used_mib: u64,
        free_mib: u64,
    },
    #[error(transparent)]
    DisksRefused(#[from] host::Refused),
    #[error(transparent)]
    Session(#[from] host::SessionError),
    #[error("`{}` is a file: --trace needs a folder", path.display())]
    TraceIsFile { path: PathBuf },
    #[error(
        "cannot write traces into `{}`: {}; choose another folder with --trace",
        folder.display(), crate::command::reason(source)
    )]
    TraceFolder { folder: PathBuf, source: io::Error },
    #[error("{cell}: {message}; nothing was touched")]
    DryRun { cell: String, message: String },
    #[error("{0}")]
    TooFewDisks(String),
    #[error("{0}; nothing was touched")]
    Inventory(String),

    // Its kind decides.
    #[error(transparent)]
    Parts(#[from] PartsError),
    #[error(transparent)]
    Submit(#[from] SubmitError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error(transparent)]
    Run(#[from] RunError),
    /// A store that fails in the middle of the work.
    #[error(transparent)]
    StoreUnderWay(StoreError),

    // The machine lacks something.
    #[error(transparent)]
    Tools(#[from] MissingTools),
    #[error(transparent)]
    Guest(#[from] StartError),
    #[error(
        "with `--on host` raidlab creates arrays, filesystems and mounts, which requires root: `sudo raidlab run …`; the \
         lab (without `--on host`) needs no root"
    )]
    NeedsRoot,
    #[error(
        "this machine's kernel has no {}, neither built in nor as a module: use another kernel, or the lab \
         (without `--on host`); nothing was touched",
        missing.join(", ")
    )]
    KernelLacks { missing: Vec<String> },
    #[error("the ledger cannot be read: {0}")]
    Ledger(#[source] io::Error),
    #[error("the ledger in `{}` cannot be read: {source}{advice}", folder.display())]
    LedgerFolder {
        folder: PathBuf,
        source: io::Error,
        advice: &'static str,
    },
    #[error("cannot {doing} this program's own file: {source}")]
    OwnFile { doing: &'static str, source: io::Error },
    #[error("cannot install a handler for Ctrl-C: {0}")]
    Signals(#[from] ctrlc::Error),
    #[error("`apt-get {command}` failed ({how}); as root: `apt-get install {packages}`")]
    Install {
        command: &'static str,
        how: String,
        packages: String,
    },
    #[error("{0}")]
    Machine(#[source] io::Error),

    // Work that was begun could not be brought to its end.
    #[error("cannot write the result: {}", crate::command::reason(.0))]
    Standard(#[source] io::Error),
    #[error("{0}")]
    Simulation(String),
    #[error("cannot run the two cells: {0}")]
    BenchCells(String),
    #[error("the guest failed ({how}): {message}\n{console}")]
    BenchGuest {
        how: String,
        message: String,
        console: String,
    },
    #[error("no model of this processor: {0}")]
    NoProcessorModel(String),
    #[error("no shell in the guest: {why}")]
    NoShell { why: String },
    #[error("interrupted")]
    Interrupted,
}

impl ExpectedError {
    /// Says it on standard error and gives the exit code.
    pub fn report(&self) -> ExitCode {
        match self {
            // These have a form of their own.
            Self::Study(diagnostics) if console::is_coloured(&io::stderr()) => {
                say_with(&diagnostics.to_string_in_colour(), Colours::Kept);
            }
            Self::Study(_) | Self::DiskFile(_) | Self::DiskTrace(_) => say(&self.to_string()),
            other => say(&format!("raidlab: {other}")),
        }
        ExitCode::from(self.exit())
    }

    fn exit(&self) -> u8 {
        match self {
            Self::Study(_)
            | Self::DiskFile(_)
            | Self::DiskTrace(_)
            | Self::Trace { .. }
            | Self::NoSuchDisk { .. }
            | Self::Model(_)
            | Self::OwnModel(_)
            | Self::Processor(_)
            | Self::Check { .. }
            | Self::Disks(_)
            | Self::Only(_)
            | Self::PowerCutOnHost(_)
            | Self::ActOnHost(_)
            | Self::ShardOfClaims
            | Self::File { .. }
            | Self::ForeignResults { .. }
            | Self::NoExport { .. }
            | Self::NoSuchCell { .. }
            | Self::NoPowerCuts { .. }
            | Self::LongScript { .. }
            | Self::NoRun { .. }
            | Self::NotImported { .. }
            | Self::NotMeasurable(_)
            | Self::Output(_)
            | Self::NoKernelTree { .. }
            | Self::NameOfVersion { .. }
            | Self::OptionOfHost { .. }
            | Self::NotOnHost { .. }
            | Self::FewLoopFiles { .. }
            | Self::LoopFolder { .. }
            | Self::LoopFolderName { .. }
            | Self::LoopFolderFull { .. }
            | Self::DisksRefused(_)
            | Self::Session(host::SessionError::Taken { .. } | host::SessionError::Changed(_))
            | Self::TraceIsFile { .. }
            | Self::TraceFolder { .. }
            | Self::DryRun { .. }
            | Self::Inventory(_)
            | Self::TooFewDisks(_) => EXIT_INPUT,
            Self::Parts(error) => error.exit(),
            Self::Submit(error) => error.exit(),
            Self::Store(error) => store_exit(error),
            Self::Kernel(error) => kernel_exit(error),
            Self::Run(RunError::Store(error)) | Self::StoreUnderWay(error) => store_exit_under_way(error),
            Self::Run(RunError::Place(error)) => place_exit(error),
            Self::PowerCut(error) => match error {
                lab::power_cut::Error::Outside { .. } => EXIT_INPUT,
                lab::power_cut::Error::Start(_) | lab::power_cut::Error::States(_) => EXIT_MACHINE,
                _ => EXIT_TRIAL_FAILED,
            },
            Self::Tools(_)
            | Self::Guest(_)
            | Self::NeedsRoot
            | Self::KernelLacks { .. }
            | Self::Session(host::SessionError::State { .. })
            | Self::Ledger(_)
            | Self::LedgerFolder { .. }
            | Self::OwnFile { .. }
            | Self::Signals(_)
            | Self::Install { .. }
            | Self::Machine(_) => EXIT_MACHINE,
            Self::Standard(_)
            | Self::Session(host::SessionError::NotCleared(_))
            | Self::Simulation(_)
            | Self::NotMeasured { .. }
            | Self::BenchCells(_)
            | Self::BenchGuest { .. }
            | Self::NoProcessorModel(_)
            | Self::NoShell { .. }
            | Self::Interrupted => EXIT_TRIAL_FAILED,
        }
    }
}

/// A store that is opened or read, before anything was done.
const fn store_exit(error: &StoreError) -> u8 {
    match error {
        StoreError::Full { .. } => EXIT_MACHINE,
        StoreError::Damaged { .. } | StoreError::Sqlite { .. } | StoreError::TrialTaken { .. } => EXIT_TRIAL_FAILED,
        StoreError::MissingFolder { .. }
        | StoreError::Missing { .. }
        | StoreError::Empty { .. }
        | StoreError::Folder { .. }
        | StoreError::NotADatabase { .. }
        | StoreError::Foreign { .. }
        | StoreError::Newer { .. }
        | StoreError::Taken { .. }
        | StoreError::OtherShard { .. }
        | StoreError::Busy { .. }
        | StoreError::ReadOnly { .. }
        | StoreError::Unreadable { .. }
        | StoreError::NoSuchRun { .. }
        | StoreError::NoRunOfName { .. } => EXIT_INPUT,
    }
}

const fn store_exit_under_way(error: &StoreError) -> u8 {
    match error {
        StoreError::Full { .. } => EXIT_MACHINE,
        _ => EXIT_TRIAL_FAILED,
    }
}

fn kernel_exit(error: &KernelError) -> u8 {
    if error.is_users_error() {
        EXIT_INPUT
    } else {
        EXIT_MACHINE
    }
}

fn place_exit(error: &PlaceError) -> u8 {
    match error {
        PlaceError::Kernel(error) => kernel_exit(error),
        PlaceError::Disks(_) => EXIT_INPUT,
        PlaceError::Guest(_) | PlaceError::Tools(_) => EXIT_MACHINE,
        PlaceError::Folder(_)
        | PlaceError::Trace(_)
        | PlaceError::Refused(_)
        | PlaceError::Process(_)
        | PlaceError::Panic(_)
        | PlaceError::Hung(_) => EXIT_TRIAL_FAILED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error;

    #[test]
    fn each_kind_has_its_exit_code_and_its_source() {
        let file = ExpectedError::File {
            path: "x.toml".into(),
            source: TextError::Folder,
            advice: "; name a study",
        };
        assert_eq!(
            (file.exit(), file.to_string().as_str()),
            (2, "`x.toml` is a folder; name a study")
        );
        assert!(file.source().is_some());
        assert_eq!(ExpectedError::NeedsRoot.exit(), 3);
        let full = || StoreError::Full {
            path: "x.db".into(),
            trials_kept: 1,
        };
        assert_eq!(ExpectedError::from(full()).exit(), 3);
        let missing = StoreError::Missing { path: "x.db".into() };
        assert_eq!(ExpectedError::from(missing).exit(), 2);
        assert_eq!(
            ExpectedError::from(RunError::Place(PlaceError::Hung(Vec::new()))).exit(),
            1
        );
        assert_eq!(ExpectedError::from(RunError::Store(full())).exit(), 3);
    }
}
