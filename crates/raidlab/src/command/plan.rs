//! `raidlab plan`: what a study expands to, without running it.

use super::{print, print_json};
use crate::cli::{Format, PlanArguments};
use crate::error::ExpectedError;
use lab::kernel::Cache;
use prepare::{advice, lab_run, load_study, refusals, run_cost};
use runner::{Partition, is_fixed};
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;
use study::Shard;
use study::plan::{Cell, Plan};
use study::stack::MachineSpec;

pub fn plan(arguments: &PlanArguments) -> Result<ExitCode, ExpectedError> {
    let cache = Cache::of_user();
    let (plan, _) = load_study::read(&arguments.study, &arguments.only, &cache)?;
    refusals::refuse_shards_of_claims(&plan, arguments.shard)?;
    lab_run::refuse_impossible_kernels(&plan)?;
    match arguments.format {
        Format::Text => {
            let text = match arguments.shard {
                Some(shard) => shard_text(&plan, shard),
                None => {
                    print(&text(&plan))?;
                    let jobs = arguments.jobs.map_or_else(prepare::processors, |jobs| jobs as usize);
                    run_cost::paragraph(&plan, &cache, jobs)
                }
            };
            print(&text)?;
            print(&advice::paragraph(&plan))?;
        }
        Format::Json => {
            let mut json = serde_json::to_value(&plan).expect("a plan is plain data");
            if let Some(shard) = arguments.shard {
                json["shard"] = shard_json(&plan, shard);
            }
            print_json(&json)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn text(plan: &Plan) -> String {
    let mut text = format!("{}\n", plan.title);
    if !plan.description.is_empty() {
        let _ = writeln!(text, "{}", plan.description);
    }
    let _ = match plan.cells.len() {
        1 => writeln!(text, "\n1 cell:"),
        cells => writeln!(text, "\n{cells} cells:"),
    };
    for (number, cell) in plan.cells.iter().enumerate() {
        let _ = writeln!(text, "{:>4}  {}", number + 1, cell.key);
    }
    if !plan.left_out.is_empty() {
        let _ = writeln!(text, "\n{} combinations left out:", plan.left_out.len());
        for left_out in &plan.left_out {
            let axes: Vec<String> = left_out
                .axes
                .iter()
                .filter(|(_, value)| value != "default")
                .map(|(axis, value)| format!("{axis}={value}"))
                .collect();
            let _ = writeln!(text, "      {}: {}", axes.join(", "), left_out.reason);
        }
    }
    machines(&mut text, plan);
    if !plan.claims.is_empty() {
        let _ = writeln!(text, "\n{} claims:", plan.claims.len());
        for claim in &plan.claims {
            let _ = writeln!(text, "      {}", claim.says);
        }
    }
    let precision = &plan.precision;
    let (least, most) = (precision.min_trials as usize, precision.max_trials as usize);
    let cells = plan.cells.len();
    let trials = if least == most {
        format!("{} trials ({least} of each cell)", cells * least)
    } else {
        format!(
            "{} to {} trials ({least} to {most} of each cell)",
            cells * least,
            cells * most
        )
    };
    let _ = write!(text, "\n{trials}");
    if most < stats::TRIALS_MIN {
        let _ = write!(text, "; ranking stacks takes at least {} of each", stats::TRIALS_MIN);
    }
    text.push('\n');
    text
}

/// The trials of a shard, by cell: the cell's number in the plan, the cell, and the numbers of its trials from 1.
/// If the number of trials depends on results, those of the first batch.
fn trials_of(plan: &Plan, partition: &Partition, shard: Shard) -> Vec<(usize, String, Vec<u32>)> {
    let trials = stats::looks(&plan.precision)[0];
    let of_cell = |(place, cell): (usize, &Cell)| {
        let is_own = |index: &u32| partition.shard_of(cell.id, *index) == Some(shard);
        let own: Vec<u32> = (0..trials).filter(is_own).map(|index| index + 1).collect();
        (!own.is_empty()).then(|| (place + 1, cell.key.clone(), own))
    };
    plan.cells.iter().enumerate().filter_map(of_cell).collect()
}

fn shard_text(plan: &Plan, shard: Shard) -> String {
    let partition = Partition::of(plan, shard.count());
    let cells = trials_of(plan, &partition, shard);
    let mut text = format!("{}\n\nshard {shard}: ", plan.title);
    if cells.is_empty() {
        let _ = writeln!(
            text,
            "no trials; {} of the {} shards have any",
            partition.used(),
            shard.count()
        );
        return text;
    }
    let trials: usize = cells.iter().map(|(_, _, own)| own.len()).sum();
    let percent = 100.0 * partition.share(shard);
    let (most, least) = (plan.precision.max_trials, stats::looks(&plan.precision)[0]);
    let _ = match is_fixed(&plan.precision) {
        true => writeln!(text, "{trials} of {} trials, {percent:.1} % of the expected time", {
            plan.cells.len() * least as usize
        }),
        false => writeln!(
            text,
            "{} of {} cells with all of their trials ({least} to {most} of each), {percent:.1} % of the expected time",
            cells.len(),
            plan.cells.len()
        ),
    };
    for (number, key, own) in cells {
        let _ = match is_fixed(&plan.precision) {
            true => writeln!(text, "{number:>4}  {key}: {}", trial_words(&own)),
            false => writeln!(text, "{number:>4}  {key}"),
        };
    }
    text
}

/// `trials 1, 3 to 5`
fn trial_words(trials: &[u32]) -> String {
    let mut words: Vec<String> = Vec::new();
    for run in trials.chunk_by(|a, b| a + 1 == *b) {
        match run {
            [first, .., last] => words.push(format!("{first} to {last}")),
            _ => words.extend(run.iter().map(u32::to_string)),
        }
    }
    let noun = if trials.len() == 1 { "trial" } else { "trials" };
    format!("{noun} {}", words.join(", "))
}

fn shard_json(plan: &Plan, shard: Shard) -> Value {
    let partition = Partition::of(plan, shard.count());
    let cells = trials_of(plan, &partition, shard);
    let cells = cells.iter().map(|(_, key, own)| {
        let indices: Vec<u32> = own.iter().map(|number| number - 1).collect();
        json!({ "cell": key, "trials": indices })
    });
    json!({
        "shard": shard,
        "trials_fixed": is_fixed(&plan.precision),
        "expected_share": partition.share(shard),
        "cells": cells.collect::<Vec<_>>(),
    })
}

/// The machines of the cells, without duplicate values: models, counts, RAM and kernels are axes.
fn machines(text: &mut String, plan: &Plan) {
    let machines = || plan.cells.iter().map(|cell| &cell.machine);
    let groups = distinct(machines().flat_map(|machine| machine.disks.iter().map(|group| group.name.clone())));
    for name in groups {
        let of_name = |machine: &MachineSpec| {
            let group = machine.group(&name)?;
            Some(group.words())
        };
        let _ = writeln!(
            text,
            "\ndisks: {} ({name})",
            distinct(machines().filter_map(|machine| of_name(machine))).join(", ")
        );
    }
    let ram = distinct(machines().map(|machine| study_file::describe_size(machine.ram_bytes)));
    let kernels = distinct(machines().map(|machine| machine.kernel.clone()));
    if !kernels.is_empty() {
        let _ = writeln!(text, "RAM: {}; kernel {}", ram.join(", "), kernels.join(", "));
    }
}

/// Without duplicates, in order of appearance.
fn distinct(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    for word in words {
        if !seen.contains(&word) {
            seen.push(word);
        }
    }
    seen
}
