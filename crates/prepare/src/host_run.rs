//! A run on this machine: whether it is permitted, on which disks, and what an earlier run left.

use crate::cells_without_tools::{check_tools, tools_needed};
use crate::dry_run_text::{self, Around};
use crate::{Error, LoopFiles, Options, TRIAL_LIMIT};
use host::{Chosen, JUDGING, LedgerFolder, Lock, Session, short_serial};
use runner::{DiskSource, HostPlace, disks_of};
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::plan::{Plan, Trial};
use study::stack::{DiskGroup, Layer, MachineKind};
use tools::{Invocation, Tool, Tools};
use trial::{DiskKind, DryRunOn, Limits, OUTPUT_BYTES_MAX, Teardown, TrialSetting};

/// Size of the files if no disks are given.
const LOOP_BYTES: u64 = 20 << 30;

/// No filesystem fits on less.
const DISK_BYTES_MIN: u64 = 16 << 20;

/// Longer than any disk should take for one request, including its own retries.
const STALL: Duration = Duration::from_secs(600);

/// Resources of a run on this machine.
pub struct PreparedHost {
    state: LedgerFolder,
    disks: FoundDisks,
}

enum FoundDisks {
    Disks(Vec<Chosen>),
    Files { files: LoopFiles, folder: PathBuf },
}

impl PreparedHost {
    /// Checks everything, and changes nothing except what a killed run left.
    pub fn of(options: &Options, plan: &mut Plan) -> Result<PreparedHost, Error> {
        on_host(options, plan)?;
        let count = disks_wanted(plan);
        let mut tools = tools_needed(plan, Teardown::Full);
        tools.extend(JUDGING);
        tools.extend(options.devices.is_empty().then_some(Tool::Losetup));
        check_tools(tools)?;
        check_kernel(plan, options.dry_run)?;
        let state = LedgerFolder::of_machine();
        if !options.dry_run {
            roll_back_left_over(&state)?;
        }
        let disks = match options.devices.is_empty() {
            true => FoundDisks::files(options, count, bytes_each(plan))?,
            false => FoundDisks::disks(options, count, bytes_each(plan))?,
        };
        disks.tell(plan);
        plan.identify();
        Ok(PreparedHost { state, disks })
    }

    /// For `--dry-run`: commands that are run once.
    pub fn before_all(&self) -> String {
        let FoundDisks::Disks(chosen) = &self.disks else {
            return "# each trial on new files\n".to_owned();
        };
        let given_up = chosen.iter().filter(|chosen| !chosen.given_up.is_empty());
        let parts = given_up.flat_map(|chosen| {
            let mut parts = chosen.disk.partitions();
            parts.push(chosen.disk.node.clone());
            parts
        });
        parts
            .map(|part| format!("{}\n", clearing(&part).shell_line()))
            .collect()
    }

    /// For `--dry-run`: the setting of a trial's stack, and the commands before and after it.
    pub fn around(&self, trial: &Trial) -> Result<Around, Error> {
        let count = disks_of(trial);
        let name = "raidlab-dry-run";
        let (mut before, mut after) = (String::new(), String::new());
        let (devices, on): (Vec<PathBuf>, DryRunOn) = match &self.disks {
            FoundDisks::Disks(chosen) => (
                chosen[..count].iter().map(|chosen| chosen.disk.node.clone()).collect(),
                DryRunOn::ThisMachine,
            ),
            FoundDisks::Files { files, folder } => {
                let folder = folder.join(name);
                let folder_word = tools::shell_word(&folder.to_string_lossy());
                before.push_str(&format!("mkdir {folder_word}\n"));
                for index in 0..count {
                    let file = folder.join(format!("disk{index}"));
                    let word = tools::shell_word(&file.to_string_lossy());
                    let attach = host::attaching(&file).shell_line();
                    before.push_str(&format!(
                        "truncate --size {} {word}\n{attach}  # /dev/loop{index}, or what is free\n",
                        files.bytes_each
                    ));
                    after.push_str(&format!("losetup --detach /dev/loop{index}\nrm {word}\n"));
                }
                after.push_str(&format!("rmdir {folder_word}\n"));
                (
                    (0..count)
                        .map(|index| PathBuf::from(format!("/dev/loop{index}")))
                        .collect(),
                    DryRunOn::LoopFiles,
                )
            }
        };
        let setting = TrialSetting {
            disks: dry_run_text::dealt(trial, &devices)?,
            folder: self.state.folder().to_owned(),
            name: name.to_owned(),
            zeroed: on == DryRunOn::LoopFiles,
            created: false,
            disk_kind: DiskKind::Real,
            teardown: Teardown::Full,
        };
        Ok(Around {
            setting,
            on,
            before,
            after,
        })
    }

    /// Distinguishes this run from one on other disks, without identifying their owner.
    pub fn identity(&self) -> Vec<String> {
        match &self.disks {
            FoundDisks::Disks(chosen) => chosen
                .iter()
                .map(|chosen| {
                    let disk = &chosen.disk;
                    let model = disk.model.as_deref().unwrap_or("disk");
                    let handle = short_serial(disk.handle());
                    format!("{model} {handle} {} bytes", disk.size_bytes)
                })
                .collect(),
            FoundDisks::Files { files, .. } => vec![format!("loop {files}")],
        }
    }

    /// The paths of the disks, with shortened serial numbers.
    pub fn without_serials(&self) -> Vec<String> {
        let FoundDisks::Disks(chosen) = &self.disks else {
            return Vec::new();
        };
        chosen
            .iter()
            .map(|chosen| {
                let (given, disk) = (chosen.disk.given.display().to_string(), &chosen.disk);
                match &disk.serial {
                    Some(serial) if given.contains(serial) => given.replace(serial, &short_serial(serial)),
                    _ if disk.given == disk.node => given,
                    // A world-wide name identifies a disk like a serial number.
                    _ => format!("{}", disk.node.display()),
                }
            })
            .collect()
    }

    /// Claims the disks, and clears those that the user released. `begun` is called once there is something that
    /// must be cleaned up.
    pub fn begin(self, options: &Options, resume: String, begun: &mut dyn FnMut()) -> Result<HostPlace, Error> {
        let identity = format!(
            "raidlab {}, {}, on {}",
            env!("CARGO_PKG_VERSION"),
            host::identity(),
            self.identity().join(", ")
        );
        let (chosen, disks) = match self.disks {
            FoundDisks::Files { files, folder } => {
                let source = DiskSource::Loop {
                    bytes_each: files.bytes_each,
                    folder,
                };
                (Vec::new(), source)
            }
            FoundDisks::Disks(chosen) => (chosen, DiskSource::Real),
        };
        let mut is_reported = false;
        let mut lock = |lock| match lock {
            Lock::Taken => begun(),
            Lock::Waiting(owner) if !is_reported => {
                is_reported = true;
                let owner = owner.map(|pid| format!(" (process {pid})")).unwrap_or_default();
                log::warn!(
                    "waiting for another raidlab{owner}, which holds the lock in {}",
                    self.state.folder().display()
                );
            }
            Lock::Waiting(_) => {}
        };
        let session = Session::begin(&self.state, &chosen, resume, &mut lock)?;
        Ok(HostPlace {
            session,
            disks,
            limits: Limits {
                stall: STALL,
                wall: options.trial_limit.unwrap_or(TRIAL_LIMIT),
                output_bytes: OUTPUT_BYTES_MAX,
            },
            full_serials: options.serials,
            identity,
        })
    }
}

impl FoundDisks {
    /// Describes the disks in the plan: the study's model is one of the lab's.
    fn tell(&self, plan: &mut Plan) {
        let words = match self {
            Self::Files { files, .. } => DiskGroup::loop_file_model(files.bytes_each),
            Self::Disks(chosen) => {
                let mut models: Vec<&str> = chosen
                    .iter()
                    .map(|chosen| chosen.disk.model.as_deref().unwrap_or("disk of unknown model"))
                    .collect();
                models.dedup();
                models.join(", ")
            }
        };
        plan.models.clear();
        for cell in &mut plan.cells {
            for group in &mut cell.machine_mut().disks {
                group.model.clone_from(&words);
                group.model_sha256 = None;
            }
            for (_, value) in cell.axes.iter_mut().filter(|(axis, _)| axis == "model") {
                value.clone_from(&words);
            }
        }
    }

    fn files(options: &Options, count: usize, bytes_used: u64) -> Result<FoundDisks, Error> {
        let files = options.loops.unwrap_or(LoopFiles {
            count,
            bytes_each: LOOP_BYTES,
        });
        if files.count < count {
            return Err(Error::FewLoopFiles { wanted: count, files });
        }
        let store_folder = || options.store.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        let folder = options.loop_folder.clone().unwrap_or_else(store_folder);
        let folder = if folder.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            folder
        };
        if folder.to_str().is_none() {
            return Err(Error::LoopFolderName { folder });
        }
        let folder = folder
            .canonicalize()
            .map_err(|source| Error::LoopFolder { folder, source })?;
        let used = bytes_used.saturating_mul(count as u64);
        let free = host::free_bytes(&folder).unwrap_or(u64::MAX);
        if free < used {
            return Err(Error::LoopFolderFull {
                used_mib: used >> 20,
                free_mib: free >> 20,
                folder,
            });
        }
        if free < files.bytes_each.saturating_mul(count as u64) {
            log::warn!(
                "`{}` has {} MiB free, and the files behind loop devices may grow to {} MiB: a trial \
                 fails if the space runs out",
                folder.display(),
                free >> 20,
                files.bytes_each.saturating_mul(count as u64) >> 20
            );
        }
        if options.loops.is_none() {
            log::info!(
                "no --devices given: using sparse files behind loop devices ({files}) in {}",
                folder.display()
            );
        }
        Ok(FoundDisks::Files { files, folder })
    }

    fn disks(options: &Options, count: usize, bytes_each: u64) -> Result<FoundDisks, Error> {
        let tools = Tools::find(&JUDGING)?;
        let wanted = host::WantedDisks {
            devices: &options.devices,
            destroy: &options.destroy,
            count,
            bytes_each,
        };
        let chosen = host::choose(&wanted, &tools)?;
        let lines = chosen.iter().map(|Chosen { disk, given_up, .. }| {
            let stable = disk.by_id.as_ref().filter(|by_id| **by_id != disk.given);
            let stable = stable.map(|path| format!(", {}", path.display())).unwrap_or_default();
            let lost: Vec<String> = given_up.iter().map(ToString::to_string).collect();
            let lost = match lost.is_empty() {
                true => "nothing is lost: it is blank, or holds only data of an earlier run".to_owned(),
                false => format!("released by --destroy: {}", lost.join(", ")),
            };
            format!("\n  {disk}{stable}: {lost}")
        });
        log::warn!("these disks will be overwritten:{}", lines.collect::<String>());
        if chosen.len() > count {
            log::info!("the study needs {count} of them and uses the first");
        }
        Ok(FoundDisks::Disks(chosen))
    }
}

/// Converts a plan for this machine, or reports why that is impossible.
fn on_host(options: &Options, plan: &mut Plan) -> Result<(), Error> {
    let input = |reason| Err(Error::NotOnHost { reason });
    if options.trace.is_some() {
        return input("--trace records simulated disks: for real disks use blktrace(8)");
    }
    if options.jobs.is_some_and(|jobs| jobs > 1) {
        return input("--jobs: on this machine trials run one at a time, so that they do not disturb each other");
    }
    let mut kernels: Vec<&str> = plan.cells.iter().map(|cell| cell.machine.kernel.as_str()).collect();
    kernels.sort_unstable();
    kernels.dedup();
    if kernels.len() > 1 {
        return input(
            "the study compares kernels, but this machine runs only its own: select a part with `--only kernel=…`",
        );
    }
    let models = |plan: &Plan| {
        let mut models: Vec<Vec<String>> = Vec::new();
        for cell in &plan.cells {
            models.push(cell.machine.disks.iter().map(|group| group.model.clone()).collect());
        }
        models.sort_unstable();
        models.dedup();
        models.len()
    };
    if models(plan) > 1 {
        return input(
            "the study compares disk models, which only the lab has: select a part with `--only model=…`",
        );
    }
    for cell in &mut plan.cells {
        cell.machine_mut().kind = MachineKind::Host;
        "host".clone_into(&mut cell.machine_mut().kernel);
    }
    let looks_only = options.dry_run && options.devices.is_empty();
    if !looks_only && !rustix::process::geteuid().is_root() {
        return Err(Error::NeedsRoot);
    }
    Ok(())
}

/// The kernel must have every array level, and every filesystem that is part of Linux and mounted by the kernel.
fn check_kernel(plan: &Plan, is_dry_run: bool) -> Result<(), Error> {
    let kinds = plan.cells.iter().flat_map(|cell| cell.stack.filesystem_kinds());
    let in_linux = kinds.filter(|kind| kind.kernel.is_in_linux);
    let mut missing: Vec<&'static str> = in_linux.map(|kind| kind.word()).collect();
    missing.sort_unstable();
    missing.dedup();
    missing.retain(|word| !host::kernel_has(word));
    let mut missing: Vec<String> = missing.into_iter().map(str::to_owned).collect();
    let levels = plan.cells.iter().flat_map(|cell| {
        let array = &cell.stack.array;
        std::iter::once(array.level).chain(array.of.map(|inner| inner.level))
    });
    // A dry run may be for another machine.
    for level in levels.filter(|level| !is_dry_run && !host::kernel_has_level(*level)) {
        let words = match level.is_md() {
            true => format!("md level {}", level.word()),
            false => format!("device mapper for {}", level.word()),
        };
        if !missing.contains(&words) {
            missing.push(words);
        }
    }
    for stack in plan.cells.iter().map(|cell| &cell.stack).filter(|_| !is_dry_run) {
        let integrity = stack.array.integrity.map(|_| "dm-integrity");
        for module in integrity
            .into_iter()
            .chain(stack.all_layers().filter_map(Layer::module))
        {
            if !missing.iter().any(|other| other == module) && !host::kernel_has_target(module) {
                missing.push(module.to_owned());
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::KernelLacks { missing })
}

/// Undoes what killed runs left, before anything is checked: it may be on the same disks.
fn roll_back_left_over(state: &LedgerFolder) -> Result<(), Error> {
    for leftover in state.leftovers().map_err(Error::Ledger)? {
        let rolled_back = leftover.roll_back().map_err(Error::Ledger)?;
        if !rolled_back.undone.is_empty() {
            log::warn!("undid what a killed run had left: {}", rolled_back.undone.join("; "));
        }
        if !rolled_back.is_whole() {
            log::warn!(
                "could not undo everything that a killed run left: {}; `raidlab clean` tries again",
                rolled_back.left()
            );
        }
    }
    Ok(())
}

/// As one would do it by hand: without --force wipefs rejects a disk that is in use, and raidlab holds it itself by
/// then.
fn clearing(part: &Path) -> Invocation {
    Invocation::new(Tool::Wipefs).args(["--all", "--quiet"]).arg(part)
}

fn first_trial(cell: &study::plan::Cell) -> Trial {
    Trial {
        cell: cell.clone(),
        index: 0,
        seed: 0,
    }
}

fn disks_wanted(plan: &Plan) -> usize {
    plan.cells
        .iter()
        .map(|cell| disks_of(&first_trial(cell)))
        .max()
        .unwrap_or(0)
}

/// Minimum size of each disk, as far as the study determines it: the used size of a member, and the workload's
/// share.
fn bytes_each(plan: &Plan) -> u64 {
    let of_cell = |cell: &study::plan::Cell| {
        let disks = disks_of(&first_trial(cell)).max(1) as u64;
        let work = cell.workload.work.spec().bytes_min() / disks;
        work.max(cell.stack.array.member_size_bytes.unwrap_or(0))
    };
    plan.cells.iter().map(of_cell).max().unwrap_or(0).max(DISK_BYTES_MIN)
}
