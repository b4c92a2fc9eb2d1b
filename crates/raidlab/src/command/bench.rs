//! `raidlab bench`: the lab's overhead, as ratios. Hidden from the help: it is for developers of raidlab.

use super::print;
use crate::cli::BenchArguments;
use crate::error::{EXIT_INTERRUPTED, ExpectedError};
use crate::progress::KernelBar;
use crate::signals::Signals;
use files::{Colours, Output, output};
use lab_bench::{Bench, MeasuredFigure, as_json};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

pub fn bench(arguments: &BenchArguments) -> Result<ExitCode, ExpectedError> {
    if let Some(store) = &arguments.steps_of {
        return print(&steps(store)?).map(|()| ExitCode::SUCCESS);
    }
    let stop = Signals::watch("raidlab: interrupted".to_owned())?;
    match measure(arguments, &stop) {
        Err(_) if stop.is_wanted() => Ok(ExitCode::from(EXIT_INTERRUPTED)),
        outcome => outcome.map(|()| ExitCode::SUCCESS),
    }
}

fn measure(arguments: &BenchArguments, stop: &Signals) -> Result<(), ExpectedError> {
    let output = arguments.output.as_deref();
    let output = output.map(|path| Output::check(path, None)).transpose()?;
    if let Some(only) = &arguments.only {
        let names = Bench::names();
        if !names.iter().any(|name| name.contains(only)) {
            return Err(ExpectedError::NoFigure {
                only: only.clone(),
                names,
            });
        }
    }
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

/// Wall time of the last run by step, the longest first.
fn steps(path: &Path) -> Result<String, ExpectedError> {
    let (store, run) = results::open(path, None)?;
    let steps = store.wall_by_step(run.id)?;
    let all: Duration = steps.iter().map(|step| step.wall).sum();
    if all.is_zero() {
        return Ok(format!("run {} has no wall times of steps\n", run.id.0));
    }
    let mut text = format!(
        "run {}, {}\n   wall s  share    virtual s  count  step\n",
        run.id.0, run.title
    );
    for step in steps {
        let name = if step.name.is_empty() { "boot" } else { &step.name };
        let _ = writeln!(
            text,
            "{:>9.1} {:>5.1}% {:>12.1} {:>6}  {name}",
            step.wall.as_secs_f64(),
            100.0 * step.wall.as_secs_f64() / all.as_secs_f64(),
            step.machine.as_secs_f64(),
            step.steps
        );
    }
    let _ = writeln!(text, "{:>9.1}  all completed trials together", all.as_secs_f64());
    Ok(text)
}
