//! The guests of one cell's power cuts.

use crate::Error;
use lab::disks::Models;
use lab::guest::{Config, Init, LIMITS, SpareMemory};
use lab::job::GuestJob;
use lab::kernel::{Cache, Kernel, KernelName};
use lab::power_cut::Exploration;
use lab::processor::Processors;
use lab::programs::GuestPrograms;
use lab::trial_folder::TrialFolder;
use prepare::kernels::{self, ShowBuild};
use prepare::own_init;
use std::sync::atomic::AtomicBool;
use study::plan::{Cell, Plan, Trial};
use study::workload::PowerCutSpec;

/// It can only be stopped by ending the program.
pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

/// Contents of the disks beyond this size go to a file.
const MEMORY_BUDGET_BYTES: u64 = 1 << 30;

/// Parameters common to all guests.
pub struct Guests<'a> {
    pub cache: &'a Cache,
    init: Init,
    /// Memory of ended guests.
    spare: SpareMemory,
    show: ShowBuild,
}

impl<'a> Guests<'a> {
    pub fn new(cache: &'a Cache, show: ShowBuild) -> Result<Self, Error> {
        let init = own_init()?;
        let spare = SpareMemory::default();
        Ok(Self {
            cache,
            init,
            spare,
            show,
        })
    }

    /// The kernel of a cell, built now if it was not.
    pub fn kernel(&self, cell: &Cell) -> Result<Kernel, Error> {
        let name = KernelName::of(&cell.machine, &cell.stack);
        Ok(kernels::ready(self.cache, &name, self.show).map_err(prepare::Error::from)?)
    }

    /// Calls `explore` with the exploration of a trial of this plan, whose guests run on that processor.
    pub fn explore<T, E>(
        &self,
        (plan, trial): (&Plan, &Trial),
        spec: PowerCutSpec,
        processor: Option<usize>,
        explore: impl FnOnce(&Exploration<'_>) -> Result<T, E>,
    ) -> Result<T, Error>
    where
        Error: From<E>,
    {
        let cell = &trial.cell;
        let failed = prepare::Error::from;
        let programs = GuestPrograms::ready(self.cache, std::slice::from_ref(cell), &mut |words| {
            log::info!("{words}");
        });
        let programs = programs.map_err(failed)?;
        let kernel = self.kernel(cell)?;
        let folder = TrialFolder::new(self.cache.folder()).map_err(prepare::Error::Machine)?;
        let disks = lab::disks::encoded(trial, &Models::of(plan)).map_err(prepare::Error::from)?;
        let job = GuestJob::Trial(Box::new(trial.clone()));
        let job = lab::job::encode(&job, &[]);
        let root = programs.root(trial, &kernel).map_err(prepare::Error::from)?;
        let kernel_arguments = kernel.arguments_on(&cell.machine, &Processors::of(plan), trial.seed);
        let kernel_arguments = kernel_arguments.map_err(prepare::Error::from)?;
        let exploration = Exploration {
            trial,
            spec,
            config: Config {
                kernel: kernel.image().map_err(prepare::Error::from)?,
                init: &self.init,
                root: Some(&root),
                ram_bytes: cell.machine.ram_bytes,
                seed: trial.seed,
                disks: &disks,
                job: &job,
                memory_budget_bytes: MEMORY_BUDGET_BYTES,
                contents: None,
                power_cut: None,
                states: None,
                spare: &self.spare,
                folder: folder.path(),
                trace: None,
                processor,
                kernel_arguments: &kernel_arguments,
                limits: LIMITS,
            },
        };
        Ok(explore(&exploration)?)
    }
}
