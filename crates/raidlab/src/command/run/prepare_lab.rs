//! A run in the lab: what it needs, checked before anything is done.

use crate::cli::RunArguments;
use crate::command::kernel;
use crate::expected::ExpectedError;
use crate::progress::note;
use lab::disks::Models;
use lab::guest::Init;
use lab::kernel::{Cache, KernelName};
use lab::processor::Processors;
use lab::programs::GuestPrograms;
use runner::{Kernels, LabPlace};
use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::Path;
use study::plan::Plan;

/// Of the memory that is free, the share that the contents of simulated disks may take before they go to a file.
const MEMORY_SHARE: u64 = 2;

/// Says what is missing or wrong before the store is opened.
pub fn check(arguments: &RunArguments, plan: &Plan, cache: &Cache) -> Result<(), ExpectedError> {
    let misplaced = [
        (!arguments.devices.is_empty(), "--devices"),
        (!arguments.destroy.is_empty(), "--destroy"),
        (arguments.loops.is_some(), "--loop"),
        (arguments.loop_folder.is_some(), "--loop-folder"),
    ];
    if let Some((_, option)) = misplaced.into_iter().find(|(given, _)| *given) {
        return Err(ExpectedError::OptionOfHost { option });
    }
    let mut tools = super::tools_needed(plan, trial::Teardown::None);
    tools.retain(|tool| !tool.is_carried());
    super::check_tools(tools)?;
    check_kernels(plan, cache)?;
    GuestPrograms::check(cache, &plan.cells)?;
    check_trace_folder(arguments.trace.as_deref())
}

fn check_kernels(plan: &Plan, cache: &Cache) -> Result<(), ExpectedError> {
    Ok(kernels_of(plan).iter().try_for_each(|name| cache.check(name))?)
}

/// For each cell the smallest that its stack can be built with.
fn kernels_of(plan: &Plan) -> BTreeSet<KernelName> {
    plan.cells
        .iter()
        .map(|cell| KernelName::of(&cell.machine, &cell.stack))
        .collect()
}

fn check_trace_folder(folder: Option<&Path>) -> Result<(), ExpectedError> {
    let Some(folder) = folder else { return Ok(()) };
    if folder.is_file() {
        return Err(ExpectedError::TraceIsFile {
            path: folder.to_owned(),
        });
    }
    std::fs::create_dir_all(folder)
        .and_then(|()| tempfile::tempfile_in(folder))
        .map(drop)
        .map_err(|source| ExpectedError::TraceFolder {
            folder: folder.to_owned(),
            source,
        })
}

/// The lab with its kernels built.
pub fn place(arguments: &RunArguments, plan: &Plan, cache: Cache, jobs: usize) -> Result<LabPlace, ExpectedError> {
    // First what is quick to be had, or not to be had.
    let programs = GuestPrograms::ready(&cache, &plan.cells, &mut |words| note(&format!("raidlab: {words}")))?;
    let mut kernels = Kernels::new();
    for name in kernels_of(plan) {
        let kernel = kernel::ready(&cache, &name)?;
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
        trace_folder: arguments.trace.clone(),
        build: super::version()?,
    })
}

/// This program as the first process of guests.
pub fn own_init() -> Result<Init, ExpectedError> {
    let program = std::env::current_exe().map_err(|source| ExpectedError::OwnFile { doing: "find", source })?;
    Ok(Init::in_own_memory(&program)?)
}

pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

fn free_memory_bytes() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = available.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.map_or(1 << 30, |kib| kib << 10)
}
