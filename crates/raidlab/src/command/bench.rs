//! `raidlab bench`: the lab's overhead, as ratios. Hidden from the help: it is for developers of raidlab.

use crate::cli::BenchArguments;
use crate::error::{EXIT_INTERRUPTED, ExpectedError};
use crate::progress::KernelBar;
use crate::signals::Signals;
use files::{Colours, Output, output};
use lab_bench::{Bench, MeasuredFigure, as_json};
use std::process::ExitCode;

pub fn bench(arguments: &BenchArguments) -> Result<ExitCode, ExpectedError> {
    let stop = Signals::watch("raidlab: interrupted".to_owned())?;
    match measure(arguments, &stop) {
        Err(_) if stop.is_wanted() => Ok(ExitCode::from(EXIT_INTERRUPTED)),
        outcome => outcome.map(|()| ExitCode::SUCCESS),
    }
}

fn measure(arguments: &BenchArguments, stop: &Signals) -> Result<(), ExpectedError> {
    let output = arguments.output.as_deref();
    let output = output.map(|path| Output::check(path, None)).transpose()?;
    let bench = Bench::new(arguments.pairs, stop.interrupt().flag(), KernelBar::show_build)?;
    stop.begin_session();
    let print = |text: &str| output::print(text, Colours::Shown);
    let mut all: Vec<MeasuredFigure> = Vec::new();
    // The file contains all figures measured so far.
    let mut keep = |measured: MeasuredFigure| {
        print(&measured.line())?;
        all.push(measured);
        output
            .as_ref()
            .map_or(Ok(()), |path| path.write(&format!("{:#}\n", as_json(&all))))
    };
    Ok(bench.measure(arguments.only.as_deref().unwrap_or_default(), &print, &mut keep)?)
}
