//! `raidlab shell`: a shell in a guest, with a study's stack up.

use super::run::own_init;
use super::studied;
use crate::cli::ShellArguments;
use crate::expected::ExpectedError;
use crate::progress::say;
use lab::guest::{Config, LIMITS};
use lab::job::GuestJob;
use lab::kernel::{Cache, KernelName};
use lab::programs::GuestPrograms;
use lab::trial_folder::TrialFolder;
use std::process::ExitCode;
use study::plan::Trial;

pub fn shell(arguments: &ShellArguments) -> Result<ExitCode, ExpectedError> {
    let cache = Cache::of_user();
    let (plan, _) = studied::read(&arguments.study, &[], &cache)?;
    let Some(cell) = plan.cells.get(arguments.cell as usize - 1) else {
        return Err(ExpectedError::NoSuchCell {
            cell: arguments.cell,
            cells: plan.cells.len(),
        });
    };
    let trial = Trial {
        cell: cell.clone(),
        index: 0,
        seed: study::trial_seed(arguments.seed, 0),
    };
    let programs = GuestPrograms::ready(&cache, std::slice::from_ref(cell), &mut |words| {
        say(&format!("raidlab: {words}"));
    })?;
    let kernel = super::kernel::ready(&cache, &KernelName::of(&cell.machine, &cell.stack))?;
    let folder = TrialFolder::new(cache.folder()).map_err(ExpectedError::Machine)?;
    let disks = lab::disks::encoded(&trial)?;
    let job = lab::job::encoded(&GuestJob::Shell(Box::new(trial.clone())), &kernel, programs.of(&trial))?;
    let init = own_init()?;
    say(&format!(
        "raidlab: {}; `exit` or Ctrl-D ends the guest, and what is on its disks is gone",
        cell.stack_label
    ));
    let config = Config {
        kernel: &kernel.path,
        init: &init,
        ram_bytes: cell.machine.ram_bytes,
        seed: trial.seed,
        disks: &disks,
        job: &job,
        memory_budget_bytes: 1 << 30,
        folder: folder.path(),
        trace: None,
        processor: None,
        kernel_arguments: &kernel.arguments(),
        limits: LIMITS,
    };
    lab::guest::interact(&config)?;
    Ok(ExitCode::SUCCESS)
}
