//! Two cells side by side against one after the other, by the program itself as a user starts it: by one raidlab with
//! two jobs, and, so that it is known what the machine can do, by two raidlabs that know nothing of each other.

use super::Measured;
use super::figures::Figure;
use crate::expected::ExpectedError;
use crate::run::Stop;
use lab::guest::processors;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

const STUDY: &str = include_str!("two-cells.toml");

/// The same with one of its cells.
const ONE_CELL: [&str; 2] = ["chunk = [\"256K\", \"512K\"]", "chunk = \"256K\""];

pub fn measure(pairs: u32, stop: &Stop) -> Result<Vec<Measured>, ExpectedError> {
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
    write("two.toml", STUDY).map_err(|error| failed(&error))?;
    write("one.toml", &STUDY.replace(ONE_CELL[0], ONE_CELL[1])).map_err(|error| failed(&error))?;
    let processors = processors();
    let (mut jobs, mut apart) = (Vec::new(), Vec::new());
    let bench = Bench {
        folder: folder.path(),
        stop,
    };
    for _ in 0..pairs {
        let [one, two] = ["1", "2"].map(|jobs| bench.wall_s(&[Start::new("two.toml", jobs, None)]));
        jobs.push((one?, two?));
        if let &[first, second, ..] = &processors[..] {
            let [first, second] = [first, second].map(|number| Start::new("one.toml", "1", Some(number)));
            let in_turn = bench.wall_s(&[first])? + bench.wall_s(&[second])?;
            apart.push((in_turn, bench.wall_s(&[first, second])?));
        }
    }
    let figures = [(Figure::Jobs, jobs), (Figure::Apart, apart)];
    let with_pairs = figures.into_iter().filter(|(_, pairs)| !pairs.is_empty());
    Ok(with_pairs.map(|(figure, pairs)| Measured { figure, pairs }).collect())
}

fn failed(error: &dyn std::fmt::Display) -> ExpectedError {
    ExpectedError::Failed(format!("cannot run the two cells: {error}"))
}

/// How a raidlab is started.
#[derive(Clone, Copy)]
struct Start {
    study: &'static str,
    jobs: &'static str,
    /// The only one that it may use.
    processor: Option<usize>,
}

impl Start {
    const fn new(study: &'static str, jobs: &'static str, processor: Option<usize>) -> Self {
        Self { study, jobs, processor }
    }
}

struct Bench<'a> {
    folder: &'a Path,
    stop: &'a Stop,
}

impl Bench<'_> {
    /// Seconds until all have ended that were started at the same time.
    fn wall_s(&self, starts: &[Start]) -> Result<f64, ExpectedError> {
        if self.stop.is_wanted() {
            return Err(ExpectedError::Failed("interrupted".to_owned()));
        }
        let stores = tempfile::tempdir().map_err(|error| failed(&error))?;
        let store = |number: usize| stores.path().join(format!("{number}.db"));
        let began = Instant::now();
        let running = starts
            .iter()
            .enumerate()
            .map(|(number, start)| self.spawn(*start, &store(number)));
        let running: Result<Vec<Child>, _> = running.collect();
        for child in running? {
            let output = child.wait_with_output().map_err(|error| failed(&error))?;
            if !output.status.success() {
                return Err(failed(&String::from_utf8_lossy(&output.stderr)));
            }
        }
        Ok(began.elapsed().as_secs_f64())
    }

    fn spawn(&self, start: Start, store: &Path) -> Result<Child, ExpectedError> {
        let program = std::env::current_exe().map_err(|error| ExpectedError::Machine(error.to_string()))?;
        let mut command = match start.processor {
            None => Command::new(program),
            Some(processor) => {
                let mut command = Command::new("taskset");
                command.args(["-c", &processor.to_string()]).arg(program);
                command
            }
        };
        command
            .args(["run", start.study, "--jobs", start.jobs, "--store"])
            .arg(store)
            .current_dir(self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| ExpectedError::Machine(error.to_string()))
    }
}
