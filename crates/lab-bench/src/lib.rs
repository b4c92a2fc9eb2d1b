//! The lab's overhead, as ratios, and a model of this machine's processor.
//!
//! The floor is Linux's own null_blk, a disk in memory whose requests end by a timer: in the same guest, with the
//! same kernel, under the same work, in turn. Wall time is taken out here, when the guest says that a piece of work
//! begins and ends. Only ratios of one run mean anything.

mod charged_guest;
mod error;
mod figures;
mod measured_processor;
mod model_error;
mod parallel_scaling;
mod versus_null_blk;

pub use error::Error;
pub use measured_processor::MeasuredProcessor;

use figures::Figure;
use files::OutputError;
use prepare::kernels::ShowBuild;
use serde_json::{Map, Value, json};
use std::sync::atomic::AtomicBool;

/// Results: the two compared values of each pair, numerator first.
pub struct MeasuredFigure {
    pub figure: Figure,
    pub pairs: Vec<(f64, f64)>,
    /// The subject of each pair; empty if all have the same.
    pub of: Vec<String>,
}

impl MeasuredFigure {
    fn of_pairs(figure: Figure, pairs: Vec<(f64, f64)>) -> Self {
        let of = Vec::new();
        Self { figure, pairs, of }
    }

    /// The median of the pairs' ratios, unless the figure is defined otherwise.
    fn ratio(&self) -> f64 {
        match self.figure {
            Figure::ModelError => study::median(model_error::errors(&self.pairs)).unwrap_or(f64::NAN),
            Figure::ModelWorst => model_error::errors(&self.pairs).into_iter().fold(f64::NAN, f64::max),
            Figure::ModelRanks => model_error::rank_correlation(&self.pairs),
            _ => study::median(self.pairs.iter().map(|(a, b)| a / b)).unwrap_or(f64::NAN),
        }
    }

    /// The figure with its goal.
    pub fn line(&self) -> String {
        let (ratio, goal) = (self.ratio(), self.figure.goal());
        let verdict = if goal.is_met(ratio) { "" } else { "  misses its goal" };
        format!("{:<44} {ratio:>8.3}  {goal}{verdict}\n", self.figure.name())
    }
}

/// The figures, as a file has them.
pub fn as_json(all: &[MeasuredFigure]) -> Value {
    let entry = |m: &MeasuredFigure| {
        let mut entry = json!({ "ratio": m.ratio(), "pairs": m.pairs });
        if !m.of.is_empty() {
            entry["of"] = json!(m.of);
        }
        (m.figure.name(), entry)
    };
    Value::Object(all.iter().map(entry).collect::<Map<_, _>>())
}

/// The figures to measure, and the end of the measurement.
pub struct Bench<'a> {
    laboratory: versus_null_blk::Laboratory<'a>,
    pairs: u32,
    stop: &'a AtomicBool,
    show: ShowBuild,
}

impl<'a> Bench<'a> {
    /// Builds the lab's kernel, if it is missing.
    pub fn new(pairs: u32, stop: &'a AtomicBool, show: ShowBuild) -> Result<Self, Error> {
        Ok(Self {
            laboratory: versus_null_blk::Laboratory::new(stop, pairs, show)?,
            pairs,
            stop,
            show,
        })
    }

    /// The names of all figures.
    pub fn names() -> Vec<String> {
        let of_guests = figures::machines()
            .into_iter()
            .flat_map(|machine| machine.figures.to_vec());
        let others = [Figure::Jobs, Figure::Apart].into_iter().chain(model_error::FIGURES);
        of_guests.chain(others).map(Figure::name).collect()
    }

    /// All figures whose name contains `only`. `keep` gets each as soon as it is measured, `print` gets progress
    /// messages.
    pub fn measure(
        &self,
        only: &str,
        print: &dyn Fn(&str) -> Result<(), OutputError>,
        keep: &mut dyn FnMut(MeasuredFigure) -> Result<(), OutputError>,
    ) -> Result<(), Error> {
        let wanted = |figure: &Figure| figure.name().contains(only);
        for machine in figures::machines() {
            let figures: Vec<Figure> = machine.figures.iter().copied().filter(wanted).collect();
            let measured = self.laboratory.measure(&machine, &figures)?;
            measured.into_iter().try_for_each(&mut *keep)?;
        }
        if wanted(&Figure::Jobs) || wanted(&Figure::Apart) {
            let measured = parallel_scaling::measure(self.pairs, self.stop)?;
            measured.into_iter().try_for_each(&mut *keep)?;
        }
        if model_error::FIGURES.iter().any(wanted) {
            let measured = model_error::measure(self.stop, self.show, print)?;
            measured.into_iter().try_for_each(&mut *keep)?;
        }
        Ok(())
    }
}
