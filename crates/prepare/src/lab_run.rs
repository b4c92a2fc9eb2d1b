//! A run in the lab: its requirements, checked before anything is done.

use crate::cells_without_tools::{check_tools, tools_needed};
use crate::kernels::{self, ShowBuild};
use crate::{Error, Options, own_init, version};
use lab::disks::Models;
use lab::guest::SpareMemory;
use lab::kept_stacks::KeptStacks;
use lab::kernel::{Cache, KernelName};
use lab::processor::Processors;
use lab::programs::GuestPrograms;
use runner::{Admission, CreatedStacks, Kernels, LabPlace};
use std::collections::BTreeSet;
use std::path::Path;
use study::plan::Plan;
use study::stack::MachineKind;

/// Fraction of the free memory that the contents of simulated disks may use before they go to a file: 1/2.
pub(crate) const MEMORY_SHARE: u64 = 2;

/// Fraction of the free memory that guests do not get: 1/8.
const RESERVE_SHARE: u64 = 8;

/// Contents have at least this much memory.
const CONTENTS_BYTES_MIN: u64 = 64 << 20;

/// Reports what is missing or wrong before the store is opened.
pub fn check(options: &Options, plan: &Plan, cache: &Cache) -> Result<(), Error> {
    let misplaced = [
        (!options.devices.is_empty(), "--devices"),
        (!options.destroy.is_empty(), "--destroy"),
        (options.loops.is_some(), "--loop"),
        (options.loop_folder.is_some(), "--loop-folder"),
        (options.trial_limit.is_some(), "--trial-limit"),
        (options.serials, "--serials"),
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

/// Refuses kernels that can be built nowhere, for `plan`: what a machine lacks is no error there.
pub fn refuse_impossible_kernels(plan: &Plan) -> Result<(), Error> {
    let is_lab = plan.cells.iter().any(|cell| cell.machine.kind == MachineKind::Lab);
    let mut names = kernels_of(plan);
    names.retain(|_| is_lab);
    Ok(names.iter().try_for_each(Cache::check_name)?)
}

/// For each cell the smallest kernel that supports its stack.
pub(crate) fn kernels_of(plan: &Plan) -> BTreeSet<KernelName> {
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
    let share = MemoryShare::of(plan, jobs, free_memory_bytes());
    if share.guests < jobs {
        log::info!(
            "{} of {jobs} guests (--jobs) run at the same time: they have up to {} MiB of memory, and {} MiB are free \
             for all",
            share.guests,
            share.ram_bytes_max >> 20,
            share.all_bytes >> 20
        );
    }
    let build = version()?;
    Ok(LabPlace {
        kernels,
        models: Models::of(plan),
        processor_models: Processors::of(plan),
        programs,
        init: own_init()?,
        spare: SpareMemory::default(),
        created: CreatedStacks::new(share.contents_bytes, KeptStacks::of(cache.folder(), &build)),
        cache,
        slots: jobs,
        processors: lab::guest::processors(),
        memory_budget_bytes: share.contents_bytes,
        memory: Admission::new(share.all_bytes),
        trace_folder: options.trace.clone(),
        build,
    })
}

/// How the free memory is divided among guests.
#[derive(Debug, PartialEq, Eq)]
struct MemoryShare {
    /// For all guests together.
    all_bytes: u64,
    ram_bytes_max: u64,
    /// Memory of each guest for the contents of its disks. Results do not depend on it.
    contents_bytes: u64,
    /// The largest guests that run at the same time.
    guests: usize,
}

impl MemoryShare {
    fn of(plan: &Plan, jobs: usize, free_bytes: u64) -> Self {
        let cells = plan.cells.iter().map(|cell| cell.machine.ram_bytes);
        let (ram_bytes_max, jobs) = (cells.max().unwrap_or(0), jobs as u64);
        let all_bytes = free_bytes - free_bytes / RESERVE_SHARE;
        // Those of stacks that are created once are kept.
        let shares = jobs + u64::from(plan.cells.iter().any(|cell| cell.machine.create_once));
        let left_bytes = all_bytes.saturating_sub(ram_bytes_max.saturating_mul(jobs)) / shares;
        let most = (free_bytes / MEMORY_SHARE / shares).max(CONTENTS_BYTES_MIN);
        let contents_bytes = left_bytes.clamp(CONTENTS_BYTES_MIN, most);
        let kept_bytes = (shares - jobs) * contents_bytes;
        let all_bytes = all_bytes.saturating_sub(kept_bytes);
        let guests = all_bytes / ram_bytes_max.saturating_add(contents_bytes);
        Self {
            all_bytes,
            ram_bytes_max,
            contents_bytes,
            guests: guests.clamp(1, jobs) as usize,
        }
    }
}

/// What programs can get without swapping, on this machine and in this process's control group.
pub(crate) fn free_memory_bytes() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = available.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    let of_machine = kib.map_or(1 << 30, |kib| kib << 10);
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    let folder = own.map(|own| Path::new("/sys/fs/cgroup").join(own));
    let limits = folder
        .iter()
        .flat_map(|folder| folder.ancestors())
        .filter_map(free_in_group);
    limits.fold(of_machine, u64::min)
}

/// None without a limit.
fn free_in_group(folder: &Path) -> Option<u64> {
    let number = |file: &str| -> Option<u64> {
        let text = std::fs::read_to_string(folder.join(file)).ok()?;
        text.trim().parse().ok()
    };
    Some(number("memory.max")?.saturating_sub(number("memory.current")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(ram: &str, jobs: usize, free_bytes: u64) -> MemoryShare {
        let study = format!(
            "ram = \"{ram}\"\n[disks]\ncount = 2\n[[stack]]\narray = {{ level = 0 }}\n\
             [[workload]]\nname = \"w\"\nio = {{ rw = \"read\" }}\n"
        );
        let plan = study_file::read(&study, "s.toml", &study_file::Known::default()).expect("a study");
        MemoryShare::of(&plan, jobs, free_bytes)
    }

    #[test]
    fn guests_together_get_no_more_memory_than_is_free() {
        for (ram, jobs, free_gib) in [
            ("256M", 1, 1),
            ("256M", 8, 16),
            ("4G", 8, 16),
            ("4G", 64, 8),
            ("2G", 2, 6),
        ] {
            let free = free_gib << 30;
            let share = share(ram, jobs, free);
            let all = (share.ram_bytes_max + share.contents_bytes) * share.guests as u64;
            assert!(share.guests == 1 || all <= share.all_bytes, "{ram} {jobs}: {share:?}");
            assert!(share.all_bytes < free && share.guests >= 1 && share.guests <= jobs);
        }
        assert_eq!(share("4G", 8, 16 << 30).guests, 3);
        assert_eq!(share("256M", 8, 16 << 30).guests, 8);
        assert_eq!(share("16G", 8, 4 << 30).guests, 1, "it is tried alone");
    }
}
