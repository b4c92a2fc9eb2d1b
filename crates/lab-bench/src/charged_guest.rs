//! A guest that charges processor time.

use crate::Error;
use lab::guest::{Config, EndedGuest, LIMITS, SpareMemory};
use lab::job::GuestJob;
use lab::kernel::{Cache, DEFAULT_VERSION, Flavour, KernelName};
use lab::trial_folder::TrialFolder;
use prepare::kernels::{self, ShowBuild};
use prepare::own_init;
use std::sync::atomic::AtomicBool;

/// A guest without disks, whose kernel charges CPU time.
pub struct ChargedGuest<'a> {
    pub ram_bytes: u64,
    pub job: GuestJob,
    /// Kernel argument with the costs.
    pub costs: String,
    pub interrupted: &'a AtomicBool,
    pub show: ShowBuild,
}

impl ChargedGuest<'_> {
    pub fn run(&self, line: &mut dyn FnMut(&[u8])) -> Result<EndedGuest, Error> {
        let cache = Cache::of_user();
        let kernel = KernelName {
            source: DEFAULT_VERSION.to_owned(),
            flavour: Flavour::Base,
            processor: true,
        };
        let kernel = kernels::ready(&cache, &kernel, self.show).map_err(prepare::Error::from)?;
        let folder = TrialFolder::new(cache.folder()).map_err(prepare::Error::Machine)?;
        let no_disks = disksim::description::Description {
            links: Vec::new(),
            disks: Vec::new(),
        };
        let config = Config {
            kernel: kernel.image().map_err(prepare::Error::from)?,
            init: &own_init()?,
            root: None,
            ram_bytes: self.ram_bytes,
            seed: 1,
            disks: &postcard::to_allocvec(&no_disks).expect("a description is plain data"),
            job: &lab::job::encode(&self.job, &[]),
            memory_budget_bytes: 1 << 20,
            contents: None,
            power_cut: None,
            states: None,
            spare: &SpareMemory::default(),
            folder: folder.path(),
            trace: None,
            processor: lab::guest::processors().last().copied(),
            kernel_arguments: std::slice::from_ref(&self.costs),
            limits: LIMITS,
        };
        let ended = lab::guest::run(&config, self.interrupted, line, &mut |_| {});
        Ok(ended.map_err(prepare::Error::from)?)
    }
}
