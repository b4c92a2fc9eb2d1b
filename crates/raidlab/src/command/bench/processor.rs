//! The model of a processor against the processor: `studies/processor.toml` on this machine's loop devices over a
//! tmpfs, and in the lab, by the program itself as a user starts it.
//!
//! What else this machine does makes its trials slower and never faster: of a cell's trials the fastest counts.

use super::Measured;
use super::figures::Figure;
use super::jobs::failed;
use crate::expected::ExpectedError;
use crate::interrupt::Signals;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use store::Store;
use study::metric::Metric;

const NAME: &str = "processor.toml";
const STUDY: &str = include_str!("../../../../../studies/processor.toml");

/// Where the files behind the loop devices are: in memory, as the lab's disks are.
const IN_MEMORY: &str = "/dev/shm";

pub const FIGURES: [Figure; 3] = [Figure::ModelError, Figure::ModelWorst, Figure::ModelRanks];

/// Operations a second of each test, by cell and test.
type Rates = BTreeMap<String, f64>;

pub fn measure(stop: &Signals) -> Result<Vec<Measured>, ExpectedError> {
    if !rustix::process::geteuid().is_root() || !Path::new("/dev/loop-control").exists() {
        super::super::print("skipped: cpu_model_error needs root and loop devices\n")?;
        return Ok(Vec::new());
    }
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    std::fs::write(folder.path().join(NAME), STUDY).map_err(|error| failed(&error))?;
    let lab = run(folder.path(), "lab.db", &[], stop)?;
    let on_host = ["--on", "host", "--loop", "1x4G", "--loop-folder", IN_MEMORY];
    let here = run(folder.path(), "host.db", &on_host, stop)?;
    let both = |(test, &lab): (&String, &f64)| Some((test.clone(), (lab, *here.get(test)?)));
    let (tests, pairs): (Vec<String>, Vec<(f64, f64)>) = lab.iter().filter_map(both).unzip();
    let width = tests.iter().map(|test| test.len()).max().unwrap_or_default();
    for (test, (lab, here)) in tests.iter().zip(&pairs) {
        let line = format!(
            "{test:<width$} {lab:>10.0}/s lab {here:>10.0}/s here  {:>6.2}\n",
            lab / here
        );
        super::super::print(&line)?;
    }
    let measured = |figure| Measured {
        figure,
        pairs: pairs.clone(),
        of: tests.clone(),
    };
    Ok(FIGURES.map(measured).into())
}

fn run(folder: &Path, store: &str, options: &[&str], stop: &Signals) -> Result<Rates, ExpectedError> {
    if stop.is_wanted() {
        return Err(ExpectedError::Interrupted);
    }
    let output = Command::new(std::env::current_exe().map_err(ExpectedError::Machine)?)
        .args(["run", NAME, "--store", store])
        .args(options)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output()
        .map_err(ExpectedError::Machine)?;
    if !output.status.success() {
        return Err(failed(&String::from_utf8_lossy(&output.stderr)));
    }
    rates(&folder.join(store)).map_err(|error| failed(&error))
}

fn rates(store: &Path) -> store::Result<Rates> {
    let store = Store::open_existing(store)?;
    let Some(run) = store.latest_run()? else {
        return Ok(Rates::new());
    };
    let plan = store.plan(run.id)?;
    let keys: BTreeMap<_, _> = plan.cells.iter().map(|cell| (cell.id, cell.key.as_str())).collect();
    let mut rates = Rates::new();
    for sample in store.samples(run.id)? {
        if matches!(sample.entry.metric, Metric::Iops | Metric::FilesPerSecond) {
            let test = format!("{}: {}", keys[&sample.trial.cell], sample.entry.test);
            let rate = rates.entry(test).or_insert(sample.entry.value);
            *rate = rate.max(sample.entry.value);
        }
    }
    Ok(rates)
}

/// How far the lab is off, as a share of what was measured here.
pub fn errors(pairs: &[(f64, f64)]) -> Vec<f64> {
    pairs.iter().map(|(lab, here)| (lab / here - 1.0).abs()).collect()
}

/// Spearman's coefficient: 1 if the lab puts all tests in this machine's order.
pub fn rank_correlation(pairs: &[(f64, f64)]) -> f64 {
    let ranks = |values: Vec<f64>| -> Vec<f64> {
        // Of equal values each has the mean of their ranks.
        let rank = |value: f64| {
            let below = values.iter().filter(|other| **other < value).count();
            let equal = values.iter().filter(|other| **other == value).count();
            below as f64 + (equal - 1) as f64 / 2.0
        };
        values.iter().copied().map(rank).collect()
    };
    let (lab, here) = (
        ranks(pairs.iter().map(|pair| pair.0).collect()),
        ranks(pairs.iter().map(|pair| pair.1).collect()),
    );
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum() };
    product(&lab, &here) / (product(&lab, &lab) * product(&here, &here)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_order_is_one_and_the_opposite_minus_one() {
        let same = [(1.0, 10.0), (5.0, 11.0), (7.0, 900.0)];
        assert!((rank_correlation(&same) - 1.0).abs() < 1e-9);
        let opposite = [(1.0, 900.0), (5.0, 11.0), (7.0, 10.0)];
        assert!((rank_correlation(&opposite) + 1.0).abs() < 1e-9);
        // One pair of four changed places: 1 - 6 * 2 / (4 * 15).
        let nearly = [(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 4.0)];
        assert!((rank_correlation(&nearly) - 0.8).abs() < 1e-9);
    }

    #[test]
    fn an_error_is_a_share_of_what_was_measured() {
        assert_eq!(errors(&[(150.0, 100.0), (50.0, 100.0)]), [0.5, 0.5]);
    }
}
