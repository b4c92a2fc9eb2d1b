//! Why a run cannot start. Nothing was touched, unless a message says otherwise.

use crate::LoopFiles;
use disksim::catalogue;
use files::FileError;
use lab::disks::DisksError;
use lab::guest::StartError;
use lab::kernel::KernelError;
use lab::processor::ProcessorError;
use lab::programs::RootError;
use std::io;
use std::path::PathBuf;
use tools::MissingTools;

/// Bad input, or something that the machine lacks.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Study(#[from] study_file::Diagnostics),
    #[error(transparent)]
    Model(#[from] catalogue::Error),
    #[error(
        "a host's disks have no model whose figures could be moved: write `machine = \"lab\"`, or leave `machine` out; the lab has models"
    )]
    SensitivityOfHost,
    /// A file of the user's own models.
    #[error("{0}")]
    OwnModel(String),
    #[error(transparent)]
    Processor(#[from] ProcessorError),
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
    #[error("--cell {cell}: the study has cells 1 to {cells}; `raidlab plan` lists them")]
    NoSuchCell { cell: u64, cells: usize },
    #[error("{0}; nothing was run")]
    Fio(String),
    #[error("--only: {0}")]
    Only(#[from] study_file::OnlyError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{option} is for trials on this machine: add `--on host`; nothing was touched")]
    OptionOfHost { option: &'static str },
    #[error("{reason}; nothing was touched")]
    NotOnHost { reason: &'static str },
    #[error("the study needs {wanted} disks, but --loop {files} creates {}; nothing was touched", files.count)]
    FewLoopFiles { wanted: usize, files: LoopFiles },
    #[error(
        "cannot use `{}` for the files behind loop devices: {}; choose another folder with --loop-folder",
        folder.display(), files::reason(source)
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
    #[error("`{}` is a file: --trace needs a folder", path.display())]
    TraceIsFile { path: PathBuf },
    #[error(
        "cannot write traces into `{}`: {}; choose another folder with --trace",
        folder.display(), files::reason(source)
    )]
    TraceFolder { folder: PathBuf, source: io::Error },
    #[error("{cell}: {message}; nothing was touched")]
    DryRun { cell: String, message: String },
    #[error("{0}")]
    TooFewDisks(String),
    #[error("{0}; nothing was touched")]
    Inventory(String),
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error(transparent)]
    Tools(#[from] MissingTools),
    #[error(transparent)]
    Root(#[from] RootError),
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
    #[error("cannot {doing} this program's own file: {source}")]
    OwnFile { doing: &'static str, source: io::Error },
    #[error("`apt-get {command}` failed ({how}); as root: `apt-get install {packages}`")]
    Install {
        command: &'static str,
        how: String,
        packages: String,
    },
    #[error(transparent)]
    Session(#[from] host::SessionError),
    #[error("{0}")]
    Machine(#[source] io::Error),
}
