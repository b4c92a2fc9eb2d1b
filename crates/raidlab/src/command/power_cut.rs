//! `raidlab power-cut`: one state of a study's power cuts again, from a run that ends in the cut.

mod shrink;

use super::explored::Guests;
use super::studied;
use crate::cli::PowerCutArguments;
use crate::expected::ExpectedError;
use lab::guest::PowerCut;
use lab::kernel::Cache;
use lab::power_cut::Judged;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use study::plan::{Cell, Trial};
use study::workload::{PowerCutSpec, Work};
use trial::power_cut::Operations;

/// Operations before the cut that are listed.
const LISTED: usize = 12;

pub fn power_cut(arguments: &PowerCutArguments) -> Result<ExitCode, ExpectedError> {
    let cache = Cache::of_user();
    let (plan, _) = studied::read(&arguments.study, &[], &cache)?;
    let (cell, spec) = cell_with_cuts(&plan.cells, arguments.cell)?;
    let mut trial = Trial {
        cell: cell.clone(),
        index: 0,
        seed: study::trial_seed(arguments.seed, arguments.trial as u32 - 1),
    };
    let spec = match &arguments.leave_out {
        Some(numbers) => shrink::without(&mut trial, &spec, &numbers.0),
        None => spec,
    };
    let cut = PowerCut {
        at_ns: arguments.at,
        seed: arguments.cut_seed,
    };
    if arguments.shrink {
        return shrink::shrink(arguments, &plan, trial, spec, cut, &cache);
    }
    let judged =
        Guests::new(&cache)?.explore((&plan, &trial), spec.clone(), None, |exploration| {
            match arguments.lose.is_empty() {
                true => exploration.state(cut, &AtomicBool::new(false)),
                false => shrink::with_lost(exploration, cut, &arguments.lose),
            }
        })?;
    let operations = Operations::draw(trial.seed, &spec);
    // Who does not read what is printed does not change it.
    let _ = io::stdout().write_all(text(cell, &operations, &judged, LISTED).as_bytes());
    Ok(ExitCode::SUCCESS)
}

fn cell_with_cuts(cells: &[Cell], number: u64) -> Result<(&Cell, PowerCutSpec), ExpectedError> {
    let Some(cell) = cells.get(number as usize - 1) else {
        return Err(ExpectedError::NoSuchCell {
            cell: number,
            cells: cells.len(),
        });
    };
    match &cell.workload.work {
        Work::PowerCut(spec) => Ok((cell, spec.clone())),
        _ => Err(ExpectedError::NoPowerCuts { cell: number }),
    }
}

/// The state, with its last operations.
fn text(cell: &Cell, operations: &Operations, judged: &Judged, listed: usize) -> String {
    let log = judged.log;
    let mut lines = vec![
        format!("{} (simulated)", cell.stack_label),
        format!(
            "{} of {} operations had begun, {} had returned",
            log.begun,
            operations.all.len(),
            log.returned
        ),
    ];
    let first = log.begun.saturating_sub(listed);
    for (number, operation) in operations.all.iter().enumerate().take(log.begun).skip(first) {
        let open = if number < log.returned { "" } else { ", under way" };
        lines.push(format!("  {number}: {operation}{open}"));
    }
    let findings = judged.findings();
    match findings.is_empty() {
        true => lines.push("everything acknowledged is there, and nothing else".to_owned()),
        false => lines.extend(findings),
    }
    lines.join("\n") + "\n"
}
