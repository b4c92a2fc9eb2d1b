//! Slurm's own programs: calls and their output.

use super::error::SubmitError;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The programs are on this machine.
pub struct Slurm(());

impl Slurm {
    /// `None` if sbatch is not in the search path.
    pub fn find() -> Option<Slurm> {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .any(|folder| folder.join("sbatch").is_file())
            .then_some(Slurm(()))
    }

    /// Cores of a partition, or of `nodes` of its nodes, the largest first.
    pub fn cores(&self, partition: Option<&str>, nodes: Option<u64>) -> Result<u32, SubmitError> {
        let mut arguments = vec!["--noheader", "--Node", "--format=%N %c"];
        if let Some(partition) = partition {
            arguments.extend(["--partition", partition]);
        }
        let text = answered("sinfo", &arguments)?;
        // A node in several partitions is listed several times.
        let of_nodes: BTreeMap<&str, u32> = text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .filter_map(|(node, cores)| Some((node, cores.trim().trim_end_matches('+').parse().ok()?)))
            .collect();
        let mut cores: Vec<u32> = of_nodes.into_values().collect();
        cores.sort_unstable_by(|a, b| b.cmp(a));
        let count = nodes.map_or(cores.len(), |nodes| usize::try_from(nodes).unwrap_or(usize::MAX));
        match cores.iter().take(count).sum() {
            0 => Err(SubmitError::NoNodes {
                partition: partition.unwrap_or("the default one").to_owned(),
            }),
            cores => Ok(cores),
        }
    }

    /// Submits a script; returns the job's number.
    pub fn submit(&self, options: &[String], script: &Path) -> Result<String, SubmitError> {
        let script = script.display().to_string();
        let mut arguments = vec!["--parsable"];
        arguments.extend(options.iter().map(String::as_str));
        arguments.push(&script);
        let text = answered("sbatch", &arguments)?;
        // `12` or `12;cluster`
        let job = text.trim().split(';').next().unwrap_or_default();
        match !job.is_empty() && job.bytes().all(|byte| byte.is_ascii_digit()) {
            true => Ok(job.to_owned()),
            false => Err(SubmitError::Refused {
                program: "sbatch",
                message: format!("it printed `{}` instead of a job number", text.trim()),
            }),
        }
    }

    /// Lets a held job start.
    pub fn release(&self, job: &str) -> Result<(), SubmitError> {
        answered("scontrol", &["release", job]).map(drop)
    }

    /// A job that cannot be cancelled stays on hold, and starts nothing.
    pub fn cancel(&self, job: &str) {
        let _ = answered("scancel", &[job]);
    }
}

/// The output of a program; if it failed, its message is the error.
fn answered(program: &'static str, arguments: &[&str]) -> Result<String, SubmitError> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let Output { status, stdout, stderr } = output.map_err(|source| SubmitError::Program { program, source })?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&stderr);
    let lines: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let message = match lines.is_empty() {
        true => format!("no message ({status})"),
        false => lines.join("; "),
    };
    Err(SubmitError::Refused { program, message })
}
