//! One cell's power cuts on this machine: what `raidlab power-cut` and `raidlab soak` start guests with.

use super::kernel;
use super::run::own_init;
use crate::expected::ExpectedError;
use crate::progress::note;
use lab::disks::Models;
use lab::guest::{Config, Init, LIMITS};
use lab::job::GuestJob;
use lab::kernel::{Cache, KernelName};
use lab::power_cut::Exploration;
use lab::processor::Processors;
use lab::programs::GuestPrograms;
use lab::trial_folder::TrialFolder;
use study::plan::{Plan, Trial};
use study::workload::PowerCutSpec;

/// Contents of the disks beyond this size go to a file.
const MEMORY_BUDGET_BYTES: u64 = 1 << 30;

/// What all guests have in common.
pub struct Guests<'a> {
    pub cache: &'a Cache,
    init: Init,
}

impl<'a> Guests<'a> {
    pub fn new(cache: &'a Cache) -> Result<Self, ExpectedError> {
        let init = own_init()?;
        Ok(Self { cache, init })
    }

    /// Calls `explore` with the exploration of a trial of this plan, whose guests run on that processor.
    pub fn explore<T, E>(
        &self,
        (plan, trial): (&Plan, &Trial),
        spec: PowerCutSpec,
        processor: Option<usize>,
        explore: impl FnOnce(&Exploration<'_>) -> Result<T, E>,
    ) -> Result<T, ExpectedError>
    where
        ExpectedError: From<E>,
    {
        let cell = &trial.cell;
        let programs = GuestPrograms::ready(self.cache, std::slice::from_ref(cell), &mut |words| {
            note(&format!("raidlab: {words}"));
        })?;
        let kernel = kernel::ready(self.cache, &KernelName::of(&cell.machine, &cell.stack))?;
        let folder = TrialFolder::new(self.cache.folder()).map_err(ExpectedError::Machine)?;
        let disks = lab::disks::encoded(trial, &Models::of(plan))?;
        let job = GuestJob::Trial(Box::new(trial.clone()));
        let job = lab::job::encoded(&job, &kernel, programs.of(trial))?;
        let exploration = Exploration {
            trial,
            spec,
            kernel: &kernel,
            programs: programs.of(trial),
            config: Config {
                kernel: &kernel.path,
                init: &self.init,
                ram_bytes: cell.machine.ram_bytes,
                seed: trial.seed,
                disks: &disks,
                job: &job,
                memory_budget_bytes: MEMORY_BUDGET_BYTES,
                contents: None,
                power_cut: None,
                states: None,
                folder: folder.path(),
                trace: None,
                processor,
                kernel_arguments: &kernel.arguments_on(&cell.machine, &Processors::of(plan))?,
                limits: LIMITS,
            },
        };
        Ok(explore(&exploration)?)
    }
}
