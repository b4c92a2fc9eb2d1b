//! A run in the lab: its requirements, checked before anything is done.

use crate::checks::{check_tools, tools_needed};
use crate::kernels::{self, ShowBuild};
use crate::{Error, Options, own_init, version};
use lab::disks::Models;
use lab::kernel::{Cache, KernelName};
use lab::processor::Processors;
use lab::programs::GuestPrograms;
use runner::{Kernels, LabPlace};
use std::collections::BTreeSet;
use std::path::Path;
use study::plan::Plan;

/// Fraction of the free memory that the contents of simulated disks may use before they go to a file: 1/2.
const MEMORY_SHARE: u64 = 2;

/// Reports what is missing or wrong before the store is opened.
pub fn check(options: &Options, plan: &Plan, cache: &Cache) -> Result<(), Error> {
    let misplaced = [
        (!options.devices.is_empty(), "--devices"),
        (!options.destroy.is_empty(), "--destroy"),
        (options.loops.is_some(), "--loop"),
        (options.loop_folder.is_some(), "--loop-folder"),
    ];
    if let Some((_, option)) = misplaced.into_iter().find(|(given, _)| *given) {
        return Err(Error::OptionOfHost { option });
    }
    let mut tools = tools_needed(plan, trial::Teardown::None);
    tools.retain(|tool| !tool.is_carried());
    check_tools(tools)?;
    check_kernels(plan, cache)?;
    GuestPrograms::check(cache, &plan.cells)?;
    check_trace_folder(options.trace.as_deref())
}

fn check_kernels(plan: &Plan, cache: &Cache) -> Result<(), Error> {
    Ok(kernels_of(plan).iter().try_for_each(|name| cache.check(name))?)
}

/// For each cell the smallest kernel that supports its stack.
fn kernels_of(plan: &Plan) -> BTreeSet<KernelName> {
    plan.cells
        .iter()
        .map(|cell| KernelName::of(&cell.machine, &cell.stack))
        .collect()
}

fn check_trace_folder(folder: Option<&Path>) -> Result<(), Error> {
    let Some(folder) = folder else { return Ok(()) };
    if folder.is_file() {
        return Err(Error::TraceIsFile {
            path: folder.to_owned(),
        });
    }
    std::fs::create_dir_all(folder)
        .and_then(|()| tempfile::tempfile_in(folder))
        .map(drop)
        .map_err(|source| Error::TraceFolder {
            folder: folder.to_owned(),
            source,
        })
}

/// The lab with its kernels built.
pub fn place(
    options: &Options,
    plan: &Plan,
    cache: Cache,
    jobs: usize,
    show: ShowBuild,
) -> Result<LabPlace, Error> {
    // First the quick checks and downloads.
    let programs = GuestPrograms::ready(&cache, &plan.cells, &mut |words| log::info!("{words}"))?;
    let mut kernels = Kernels::new();
    for name in kernels_of(plan) {
        let kernel = kernels::ready(&cache, &name, show)?;
        kernels.insert(name, kernel);
    }
    Ok(LabPlace {
        kernels,
        models: Models::of(plan),
        processor_models: Processors::of(plan),
        programs,
        cache,
        init: own_init()?,
        slots: jobs,
        processors: lab::guest::processors(),
        memory_budget_bytes: free_memory_bytes() / MEMORY_SHARE / jobs as u64,
        trace_folder: options.trace.clone(),
        build: version()?,
    })
}

fn free_memory_bytes() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = available.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.map_or(1 << 30, |kib| kib << 10)
}
