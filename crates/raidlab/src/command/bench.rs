//! `raidlab bench`: what the lab costs, as ratios. Hidden from the help: it is for those who work on raidlab.
//!
//! The floor is Linux's own null_blk, a disk in memory whose requests end by a timer: in the same guest, with the
//! same kernel, under the same work, in turn. Wall time is taken out here, when the guest says that a piece of work
//! begins and ends. Only ratios of one run mean anything.

mod figures;
mod guest;
mod jobs;
mod processor;

use super::output::Output;
use crate::cli::BenchArguments;
use crate::expected::{EXIT_INTERRUPTED, ExpectedError};
use crate::interrupt::Signals;
use figures::Figure;
use serde_json::{Map, Value, json};
use stats::Summary;
use std::process::ExitCode;

/// What was measured: what was compared with what, pair by pair, in this order of the quotient.
pub struct Measured {
    pub figure: Figure,
    pub pairs: Vec<(f64, f64)>,
    /// What each pair is of; nothing if all are of the same.
    pub of: Vec<String>,
}

impl Measured {
    fn of_pairs(figure: Figure, pairs: Vec<(f64, f64)>) -> Self {
        let of = Vec::new();
        Self { figure, pairs, of }
    }

    /// The median of the pairs' quotients, unless the figure is another.
    fn ratio(&self) -> f64 {
        match self.figure {
            Figure::ModelError => median(&processor::errors(&self.pairs)),
            Figure::ModelWorst => processor::errors(&self.pairs).into_iter().fold(f64::NAN, f64::max),
            Figure::ModelRanks => processor::rank_correlation(&self.pairs),
            _ => median(&self.pairs.iter().map(|(a, b)| a / b).collect::<Vec<_>>()),
        }
    }
}

fn median(values: &[f64]) -> f64 {
    Summary::of(values, 0.05).map_or(f64::NAN, |summary| summary.median)
}

pub fn bench(arguments: &BenchArguments) -> Result<ExitCode, ExpectedError> {
    let stop = Signals::watch("raidlab: interrupted".to_owned())?;
    match measure_all(arguments, &stop) {
        Err(_) if stop.is_wanted() => Ok(ExitCode::from(EXIT_INTERRUPTED)),
        outcome => outcome.map(|()| ExitCode::SUCCESS),
    }
}

fn measure_all(arguments: &BenchArguments, stop: &Signals) -> Result<(), ExpectedError> {
    let only = arguments.only.as_deref().unwrap_or_default();
    let wanted = |figure: &Figure| figure.name().contains(only);
    let output = arguments
        .output
        .as_deref()
        .map(|path| Output::check(path, None))
        .transpose()?;
    let bench = guest::Laboratory::new(stop, arguments.pairs)?;
    stop.begin_session();
    let mut all = Vec::new();
    for machine in figures::machines() {
        let figures: Vec<Figure> = machine.figures.iter().copied().filter(wanted).collect();
        for measured in bench.measure(&machine, &figures)? {
            keep(measured, &mut all, output.as_ref())?;
        }
    }
    if wanted(&Figure::Jobs) || wanted(&Figure::Apart) {
        for measured in jobs::measure(arguments.pairs, stop)? {
            keep(measured, &mut all, output.as_ref())?;
        }
    }
    if processor::FIGURES.iter().any(wanted) {
        for measured in processor::measure(stop)? {
            keep(measured, &mut all, output.as_ref())?;
        }
    }
    Ok(())
}

/// Shows a figure, and writes the file with all that there are so far.
fn keep(measured: Measured, all: &mut Vec<Measured>, output: Option<&Output>) -> Result<(), ExpectedError> {
    super::print(&line(&measured))?;
    all.push(measured);
    let Some(path) = output else { return Ok(()) };
    path.write(&format!("{:#}\n", as_json(all)))
}

fn line(measured: &Measured) -> String {
    let (ratio, goal) = (measured.ratio(), measured.figure.goal());
    let verdict = if goal.is_met(ratio) { "" } else { "  misses its goal" };
    format!("{:<44} {ratio:>8.3}  {goal}{verdict}\n", measured.figure.name())
}

fn as_json(all: &[Measured]) -> Value {
    let entry = |m: &Measured| {
        let mut entry = json!({ "ratio": m.ratio(), "pairs": m.pairs });
        if !m.of.is_empty() {
            entry["of"] = json!(m.of);
        }
        (m.figure.name(), entry)
    };
    Value::Object(all.iter().map(entry).collect::<Map<_, _>>())
}
