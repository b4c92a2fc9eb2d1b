//! A study as jobs of Slurm.
//!
//! raidlab schedules nothing itself: it writes plain sbatch scripts, and submits them. Every task runs one shard into a
//! store of its own, so that a task that was preempted or killed continues where it stopped when Slurm starts it again.

mod error;
mod scripts;
mod slurm;

pub use error::SubmitError;

use crate::Error;
use prepare::inventory;
use runner::Partition;
use scripts::{Job, Script};
use slurm::Slurm;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use study::Shard;
use study::plan::Plan;
use study::stack::MachineKind;
use tools::shell_word;

/// Parameters from the command line.
pub struct SubmitOptions {
    pub study: PathBuf,
    pub partition: Option<String>,
    pub nodes: Option<u64>,
    pub tasks: Option<u64>,
    pub time: Option<String>,
    pub mem: Option<String>,
    /// Further options of sbatch.
    pub options: Vec<String>,
    pub folder: Option<PathBuf>,
    pub seed: u64,
    pub only: Vec<String>,
    pub on: Option<MachineKind>,
    pub inventory: Option<PathBuf>,
    pub dry_run: bool,
}

impl SubmitOptions {
    /// Before the study is read: options that go into a line of a script.
    pub fn check(&self) -> Result<(), Error> {
        let words = [&self.partition, &self.time, &self.mem];
        let words = words.into_iter().flatten().chain(&self.options);
        for word in words {
            if word.is_empty() || word.chars().any(char::is_control) {
                return Err(SubmitError::Word { word: word.clone() }.into());
            }
        }
        match self.options.iter().find(|option| !option.starts_with('-')) {
            Some(option) => Err(SubmitError::Word { word: option.clone() }.into()),
            None => Ok(()),
        }
    }
}

/// Writes the scripts and submits them, or shows them for a dry run. Returns what the user wants to know.
pub fn submit(arguments: &SubmitOptions, plan: &Plan) -> Result<String, Error> {
    let slurm = Slurm::find();
    let nodes = nodes(arguments, plan)?;
    let (tasks, at_a_time) = match nodes.is_empty() {
        true => tasks(arguments, plan, slurm.as_ref())?,
        false => (1, None),
    };
    let job = Job {
        arguments,
        program: std::env::current_exe().map_err(|source| prepare::Error::OwnFile { doing: "find", source })?,
        study: absolute(&arguments.study)?,
        inventory: arguments.inventory.as_deref().map(absolute).transpose()?,
        folder: absolute(&folder(arguments))?,
        tasks,
        at_a_time,
    };
    let mut scripts: Vec<Script> = nodes.iter().map(|node| job.node_script(node)).collect();
    if scripts.is_empty() {
        scripts.push(job.tasks_script());
    }
    let merge = job.merge_script(&nodes);
    if arguments.dry_run {
        return Ok(shown(&job.folder, scripts.iter().chain([&merge])));
    }
    let slurm = slurm.ok_or(SubmitError::NoSlurm)?;
    write(&job.folder, scripts.iter().chain([&merge]))?;
    let submitted = submit_held(&slurm, &job.folder, &scripts, &merge);
    let (jobs, merge) = submitted.inspect_err(|_| drop(fs::remove_dir_all(&job.folder)))?;
    let folder = shell_word(&folder(arguments).display().to_string());
    let what = match nodes.len() {
        0 => format!("job {}: {tasks} tasks", jobs[0]),
        _ => format!(
            "jobs {}: one for each of {}",
            jobs.join(", "),
            report::count(nodes.len(), "node")
        ),
    };
    Ok(format!(
        "{what}, merged by job {merge} into {folder}/all.db\n\
         `raidlab status {folder}` shows the progress, `sbatch {folder}/{}` continues what was cancelled\n",
        scripts[0].name
    ))
}

/// If trials run on the nodes themselves, each node runs the whole study on its own disks: figures of different
/// machines are not figures of one cell. Empty in the lab.
fn nodes(arguments: &SubmitOptions, plan: &Plan) -> Result<Vec<String>, Error> {
    let of_study = plan
        .cells
        .first()
        .is_some_and(|cell| cell.machine.kind == MachineKind::Host);
    if arguments.on == Some(MachineKind::Lab) || (arguments.on.is_none() && !of_study) {
        return match arguments.inventory {
            Some(_) => Err(SubmitError::InventoryOfLab.into()),
            None => Ok(Vec::new()),
        };
    }
    if arguments.tasks.is_some() || arguments.nodes.is_some() {
        return Err(SubmitError::TasksOfHost.into());
    }
    let path = arguments.inventory.as_ref().ok_or(SubmitError::NoInventory)?;
    let inventory = inventory::read(path)?;
    Ok(inventory.nodes.into_iter().map(|node| node.name).collect())
}

/// Number of tasks, and the limit of tasks at the same time, if any.
fn tasks(arguments: &SubmitOptions, plan: &Plan, slurm: Option<&Slurm>) -> Result<(u32, Option<u32>), SubmitError> {
    let cores = match (arguments.tasks, arguments.nodes) {
        (Some(_), None) => None,
        _ => {
            let slurm = slurm.ok_or(if arguments.dry_run {
                SubmitError::NoCores
            } else {
                SubmitError::NoSlurm
            })?;
            Some(slurm.cores(arguments.partition.as_deref(), arguments.nodes)?)
        }
    };
    let wanted = arguments.tasks.and_then(|tasks| u32::try_from(tasks).ok());
    let wanted = wanted.or(cores).unwrap_or(1).clamp(1, Shard::COUNT_MAX);
    // If there were more tasks than parts of the study, some would have nothing to do.
    let tasks = Partition::of(plan, wanted).used();
    if tasks < wanted {
        log::warn!("the study has only {tasks} parts: {tasks} tasks instead of {wanted}");
    }
    let at_a_time = cores.filter(|cores| arguments.nodes.is_some() && *cores < tasks);
    Ok((tasks.max(1), at_a_time))
}

/// `mine-seed1.job`
fn folder(arguments: &SubmitOptions) -> PathBuf {
    arguments.folder.clone().unwrap_or_else(|| {
        let stem = arguments
            .study
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        PathBuf::from(format!("{}-seed{}.job", stem.unwrap_or_default(), arguments.seed))
    })
}

/// The nodes have another working directory.
fn absolute(path: &Path) -> Result<PathBuf, SubmitError> {
    let failed = |source| SubmitError::Folder {
        folder: path.to_owned(),
        source,
    };
    let absolute = std::path::absolute(path).map_err(failed)?;
    match absolute.to_str() {
        Some(text) if !text.chars().any(char::is_control) => Ok(absolute),
        _ => Err(failed(io::Error::new(
            ErrorKind::InvalidInput,
            "its name cannot be written into a script",
        ))),
    }
}

fn shown<'a>(folder: &Path, scripts: impl Iterator<Item = &'a Script>) -> String {
    let texts: Vec<String> = scripts
        .map(|script| format!("### {}\n{}", folder.join(&script.name).display(), script.text))
        .collect();
    texts.join("\n")
}

fn write<'a>(folder: &Path, scripts: impl Iterator<Item = &'a Script>) -> Result<(), SubmitError> {
    let failed = |source: io::Error| match source.kind() {
        ErrorKind::AlreadyExists => SubmitError::FolderExists {
            folder: folder.to_owned(),
        },
        _ => SubmitError::Folder {
            folder: folder.to_owned(),
            source,
        },
    };
    fs::create_dir(folder).map_err(failed)?;
    for script in scripts {
        let written = fs::write(folder.join(&script.name), &script.text);
        written
            .map_err(failed)
            .inspect_err(|_| drop(fs::remove_dir_all(folder)))?;
    }
    Ok(())
}

/// Submits the tasks on hold until the merge job has been accepted: either all are submitted or none. Returns the
/// job numbers, and that of the merge job.
fn submit_held(
    slurm: &Slurm,
    folder: &Path,
    scripts: &[Script],
    merge: &Script,
) -> Result<(Vec<String>, String), SubmitError> {
    let mut jobs = Vec::new();
    let mut submit = || -> Result<String, SubmitError> {
        for script in scripts {
            jobs.push(slurm.submit(&["--hold".to_owned()], &folder.join(&script.name))?);
        }
        let after = format!("--dependency=afterany:{}", jobs.join(":"));
        let merge = slurm.submit(&[after], &folder.join(&merge.name))?;
        let released = jobs.iter().try_for_each(|job| slurm.release(job));
        released.inspect_err(|_| slurm.cancel(&merge)).map(|()| merge)
    };
    match submit() {
        Ok(merge) => Ok((jobs, merge)),
        Err(error) => {
            jobs.iter().for_each(|job| slurm.cancel(job));
            Err(error)
        }
    }
}
