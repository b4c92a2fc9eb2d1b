//! `raidlab shell`: a shell in a guest, with a study's stack up.

use crate::cli::ShellArguments;
use crate::error::ExpectedError;
use crate::progress::{KernelBar, note};
use files::OutputError;
use lab::disks::Models;
use lab::guest::{Config, EndedGuest, LIMITS, SpareMemory};
use lab::job::{GuestJob, Shell, ShellInput, ShellLine};
use lab::kernel::{Cache, KernelName};
use lab::processor::Processors;
use lab::programs::GuestPrograms;
use lab::trial_folder::TrialFolder;
use prepare::{kernels, load_study, own_init};
use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use study::plan::Trial;
use trial::{Limits, ProcessEnd};

/// Reject longer scripts.
const SCRIPT_BYTES_MAX: u64 = 16 << 20;

pub fn shell(arguments: &ShellArguments) -> Result<ExitCode, ExpectedError> {
    let cache = Cache::of_user();
    let (plan, _) = load_study::read(&arguments.study, &[], &cache)?;
    let cell = load_study::cell(&plan, arguments.cell)?;
    let trial = Trial {
        cell: cell.clone(),
        index: 0,
        seed: study::trial_seed(arguments.seed, 0),
    };
    let input = input(arguments)?;
    let programs = GuestPrograms::ready(&cache, std::slice::from_ref(cell), &mut |words| {
        note(&format!("raidlab: {words}"));
    })?;
    let kernel = kernels::ready(
        &cache,
        &KernelName::of(&cell.machine, &cell.stack),
        KernelBar::show_build,
    )?;
    let folder = TrialFolder::new(cache.folder()).map_err(ExpectedError::Machine)?;
    let disks = lab::disks::encoded(&trial, &Models::of(&plan))?;
    let is_terminal = matches!(input, ShellInput::Terminal);
    let shell = Shell {
        trial: trial.clone(),
        input,
    };
    let job = lab::programs::encoded(&GuestJob::Shell(Box::new(shell)), &kernel, programs.of(&trial))?;
    let init = own_init()?;
    let config = Config {
        kernel: kernel.image()?,
        init: &init,
        root: None,
        ram_bytes: cell.machine.ram_bytes,
        seed: trial.seed,
        disks: &disks,
        job: &job,
        memory_budget_bytes: 1 << 30,
        contents: None,
        power_cut: None,
        states: None,
        spare: &SpareMemory::default(),
        folder: folder.path(),
        trace: None,
        processor: None,
        kernel_arguments: &kernel.arguments_on(&cell.machine, &Processors::of(&plan), trial.seed)?,
        // A command may compute for long, which takes no virtual time.
        limits: Limits {
            stall: LIMITS.wall,
            ..LIMITS
        },
    };
    let mut end = End::default();
    if is_terminal {
        note(&format!(
            "raidlab: {}; `exit` or Ctrl-D ends the guest, and the contents of its disks are lost",
            cell.stack_label
        ));
        lab::guest::interact(&config, &mut |line| end.line(line))?;
        return end.code(None);
    }
    let ended = lab::guest::run(
        &config,
        &AtomicBool::new(false),
        &mut |line| end.line(line),
        &mut |_| {},
    )?;
    end.code(Some(&ended))
}

/// A command, or what is on standard input, unless that is a terminal.
fn input(arguments: &ShellArguments) -> Result<ShellInput, ExpectedError> {
    if !arguments.command.is_empty() {
        return Ok(ShellInput::Command(arguments.command.clone()));
    }
    if io::stdin().is_terminal() {
        return Ok(ShellInput::Terminal);
    }
    let mut script = Vec::new();
    let read = io::stdin().take(SCRIPT_BYTES_MAX + 1).read_to_end(&mut script);
    read.map_err(ExpectedError::Machine)?;
    if script.len() as u64 > SCRIPT_BYTES_MAX {
        return Err(ExpectedError::LongScript {
            mib_max: SCRIPT_BYTES_MAX >> 20,
        });
    }
    Ok(ShellInput::Script(script))
}

/// How the shell ended, as far as it is known.
#[derive(Default)]
struct End {
    status: Option<u8>,
    failure: Option<String>,
    /// Why its output was lost. A closed pipe (`| head`) is not an error.
    lost: Option<OutputError>,
}

impl End {
    /// A line from the guest: output is passed on at once.
    fn line(&mut self, line: &[u8]) {
        // The shell continues if nobody reads its output.
        match serde_json::from_slice(line) {
            Ok(ShellLine::Stdout(bytes)) => {
                let mut out = io::stdout();
                match out.write_all(&bytes).and_then(|()| out.flush()) {
                    Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                        self.lost.get_or_insert(OutputError::Standard(error));
                    }
                    _ => {}
                }
            }
            Ok(ShellLine::Stderr(bytes)) => drop(io::stderr().write_all(&bytes)),
            Ok(ShellLine::Exited(status)) => self.status = Some(status),
            Ok(ShellLine::Failed(why)) => self.failure = Some(why),
            Err(_) => {
                let line = String::from_utf8_lossy(line);
                self.failure.get_or_insert_with(|| line.into_owned());
            }
        }
    }

    fn code(self, ended: Option<&EndedGuest>) -> Result<ExitCode, ExpectedError> {
        match (self.status, self.failure) {
            (Some(_), None) if let Some(lost) = self.lost => Err(lost.into()),
            (Some(status), None) => Ok(ExitCode::from(status)),
            (_, Some(why)) => Err(ExpectedError::NoShell { why }),
            (None, None) => {
                let why = ended.map(|ended| match ended.end {
                    ProcessEnd::OutputLimit => {
                        "it wrote more than a guest may: write to a file, or less".to_owned()
                    }
                    _ => format!("the guest ended before its shell did: {}", ended.console.trim()),
                });
                Err(ExpectedError::NoShell {
                    why: why.unwrap_or_else(|| "the guest ended before its shell did".to_owned()),
                })
            }
        }
    }
}
