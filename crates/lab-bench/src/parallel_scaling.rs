//! Two cells in parallel compared with one after the other, with the program itself as started by a user: in one
//! raidlab with two jobs and, to determine the machine's own scaling, in two independent raidlab processes.

use crate::Error;
use crate::MeasuredFigure;
use crate::figures::Figure;
use lab::guest::processors;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

const NAME: &str = "two-cells.toml";
const STUDY: &str = include_str!("two-cells.toml");

pub fn measure(pairs: u32, stop: &AtomicBool) -> Result<Vec<MeasuredFigure>, Error> {
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    std::fs::write(folder.path().join(NAME), STUDY).map_err(|error| failed(&error))?;
    let processors = processors();
    let bench = Bench {
        folder: folder.path(),
        stop,
    };
    let (mut jobs, mut apart) = (Vec::new(), Vec::new());
    for _ in 0..pairs {
        let one_s = bench.wall_s(&[Start::with_jobs("1")])?;
        jobs.push((one_s, bench.wall_s(&[Start::with_jobs("2")])?));
        if let &[first, second, ..] = &processors[..] {
            let both_s = bench.wall_s(&[first, second].map(Start::on))?;
            apart.push((2.0 * one_s, both_s));
        }
    }
    let figures = [(Figure::Jobs, jobs), (Figure::Apart, apart)];
    let with_pairs = figures.into_iter().filter(|(_, pairs)| !pairs.is_empty());
    Ok(with_pairs
        .map(|(figure, pairs)| MeasuredFigure::of_pairs(figure, pairs))
        .collect())
}

pub fn failed(error: &dyn std::fmt::Display) -> Error {
    Error::Cells(error.to_string())
}

/// How a raidlab is started.
#[derive(Clone, Copy)]
struct Start {
    jobs: &'static str,
    /// The only processor that it may use.
    processor: Option<usize>,
}

impl Start {
    const fn with_jobs(jobs: &'static str) -> Self {
        let processor = None;
        Self { jobs, processor }
    }

    const fn on(processor: usize) -> Self {
        Self {
            jobs: "1",
            processor: Some(processor),
        }
    }
}

struct Bench<'a> {
    folder: &'a Path,
    stop: &'a AtomicBool,
}

impl Bench<'_> {
    /// Seconds until all processes have exited that were started at the same time.
    fn wall_s(&self, starts: &[Start]) -> Result<f64, Error> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let stores = tempfile::tempdir().map_err(|error| failed(&error))?;
        let store = |number: usize| stores.path().join(format!("{number}.db"));
        let began = Instant::now();
        let running = starts
            .iter()
            .enumerate()
            .map(|(number, start)| self.spawn(*start, &store(number)));
        let running: Vec<Result<Child, _>> = running.collect();
        // All are waited for, even if one fails: none is left running.
        let ended = running
            .into_iter()
            .map(|child| child?.wait_with_output().map_err(|error| failed(&error)));
        for output in ended.collect::<Vec<_>>() {
            let output = output?;
            if !output.status.success() {
                return Err(failed(&String::from_utf8_lossy(&output.stderr)));
            }
        }
        Ok(began.elapsed().as_secs_f64())
    }

    fn spawn(&self, start: Start, store: &Path) -> Result<Child, Error> {
        let program = std::env::current_exe().map_err(prepare::Error::Machine)?;
        let mut command = match start.processor {
            None => Command::new(program),
            Some(processor) => {
                let mut command = Command::new("taskset");
                command.args(["-c", &processor.to_string()]).arg(program);
                command
            }
        };
        let child = command
            .args(["run", NAME, "--jobs", start.jobs, "--store"])
            .arg(store)
            .current_dir(self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        Ok(child.map_err(prepare::Error::Machine)?)
    }
}
