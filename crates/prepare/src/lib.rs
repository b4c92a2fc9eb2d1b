//! Prepares a run: reads its study with all models, and provides kernels, programs and the disks of this machine.
//!
//! Reads, builds kernels and rolls back what a killed run left; touches no disk before [`host_run::PreparedHost::begin`].
//! Progress is logged.

pub mod aa_control;
pub mod advice;
pub mod cells_without_tools;
pub mod dry_run_text;
mod error;
mod fio_options;
pub mod host_run;
pub mod inventory;
pub mod kernels;
pub mod lab_run;
pub mod load_study;
mod loop_files;
pub mod needs;
pub mod own_models;
pub mod refusals;
pub mod run_cost;
pub mod sensitivity;

pub use error::Error;
pub use host_run::PreparedHost;
pub use loop_files::LoopFiles;

use lab::guest::Init;
use lab::kernel::Cache;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use study::stack::MachineKind;

/// Time limit of a trial on this machine.
const TRIAL_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Parameters of a run from the command line.
pub struct Options {
    pub devices: Vec<PathBuf>,
    /// Serial numbers of disks that may be overwritten.
    pub destroy: Vec<String>,
    pub loops: Option<LoopFiles>,
    pub loop_folder: Option<PathBuf>,
    pub store: PathBuf,
    /// Time limit of a trial on this machine; [`TRIAL_LIMIT`] if absent.
    pub trial_limit: Option<Duration>,
    /// Whether serial numbers are stored in full.
    pub serials: bool,
    pub jobs: Option<u64>,
    pub trace: Option<PathBuf>,
    pub dry_run: bool,
}

/// The place of the run, and the findings of its preparation.
pub enum Prepared {
    Lab(Cache),
    Host(PreparedHost),
}

impl Prepared {
    pub fn kind(&self) -> MachineKind {
        match self {
            Self::Lab(_) => MachineKind::Lab,
            Self::Host(_) => MachineKind::Host,
        }
    }

    /// Distinguishes this run from one on other disks.
    pub fn devices(&self) -> Vec<String> {
        match self {
            Self::Lab(_) => Vec::new(),
            Self::Host(prepared) => prepared.identity(),
        }
    }

    /// The devices of the command line, as they are stored: without serial numbers, unless they are wanted.
    pub fn stored_devices(&self, options: &Options) -> Vec<String> {
        match self {
            Self::Host(prepared) if !options.serials => prepared.without_serials(),
            _ => options.devices.iter().map(|path| path.display().to_string()).collect(),
        }
    }
}

/// This program as the first process of guests.
pub fn own_init() -> Result<Init, Error> {
    let program = std::env::current_exe().map_err(|source| Error::OwnFile { doing: "find", source })?;
    Ok(Init::in_own_memory(&program)?)
}

pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Identifies this build: a run is never resumed by another one.
pub fn version() -> Result<String, Error> {
    let build = lab::own_build().map_err(|source| Error::OwnFile { doing: "read", source })?;
    Ok(format!("{}+{build}", env!("CARGO_PKG_VERSION")))
}

pub fn now_unix_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs())
}
