//! Two cells side by side against one after the other, by the program itself as a user starts it.

use super::Measured;
use super::figures::Figure;
use crate::expected::ExpectedError;
use crate::run::Stop;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const STUDY: &str = include_str!("two-cells.toml");

pub fn measure(pairs: u32, stop: &Stop) -> Result<Measured, ExpectedError> {
    let failed = |error: std::io::Error| ExpectedError::Failed(format!("cannot run the two cells: {error}"));
    let folder = tempfile::tempdir().map_err(failed)?;
    std::fs::write(folder.path().join("two-cells.toml"), STUDY).map_err(failed)?;
    let mut measured = Vec::new();
    for pair in 0..pairs {
        let mut wall_s = [0.0; 2];
        for jobs in 1..=2_u32 {
            if stop.is_wanted() {
                return Err(ExpectedError::Failed("interrupted".to_owned()));
            }
            wall_s[jobs as usize - 1] = run(folder.path(), pair, jobs)?;
        }
        measured.push((wall_s[0], wall_s[1]));
    }
    Ok(Measured {
        figure: Figure::Jobs,
        pairs: measured,
    })
}

fn run(folder: &Path, pair: u32, jobs: u32) -> Result<f64, ExpectedError> {
    let program = std::env::current_exe().map_err(|error| ExpectedError::Machine(error.to_string()))?;
    let began = Instant::now();
    let output = Command::new(program)
        .args([
            "run",
            "two-cells.toml",
            "--store",
            &format!("{pair}-{jobs}.db"),
            "--jobs",
            &jobs.to_string(),
        ])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| ExpectedError::Machine(error.to_string()))?;
    if output.status.success() {
        Ok(began.elapsed().as_secs_f64())
    } else {
        Err(ExpectedError::Failed(
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ))
    }
}
