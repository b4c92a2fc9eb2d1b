//! `raidlab plan`: what a study comes to, without running it.

use super::{advice, print, studied};
use crate::cli::{Format, PlanArguments};
use crate::expected::ExpectedError;
use lab::kernel::Cache;
use std::fmt::Write;
use std::process::ExitCode;
use study::plan::Plan;
use study::stack::MachineSpec;

pub fn plan(arguments: &PlanArguments) -> Result<ExitCode, ExpectedError> {
    let (plan, _) = studied::read(&arguments.study, &arguments.only, &Cache::of_user())?;
    match arguments.format {
        Format::Text => print(&format!("{}{}", text(&plan), advice::paragraph(&advice::of(&plan))))?,
        Format::Json => {
            let json = serde_json::to_string_pretty(&plan).expect("a plan is plain data");
            print(&format!("{json}\n"))?;
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
    let _ = writeln!(text, "\n{trials}; the time is estimated after the first trial");
    text
}

/// What the cells run on, every value once: models, counts, RAM and kernels are axes.
fn machines(text: &mut String, plan: &Plan) {
    let machines = || plan.cells.iter().map(|cell| &cell.machine);
    let groups = distinct(machines().flat_map(|machine| machine.disks.iter().map(|group| group.name.clone())));
    for name in groups {
        let of_name = |machine: &MachineSpec| {
            let group = machine.group(&name)?;
            Some(format!("{} x {}", group.count, group.model))
        };
        let _ = writeln!(
            text,
            "\ndisks: {} ({name})",
            distinct(machines().filter_map(of_name)).join(", ")
        );
    }
    let ram = distinct(machines().map(|machine| format!("{} MiB", machine.ram_bytes >> 20)));
    let kernels = distinct(machines().map(|machine| machine.kernel.clone()));
    if !kernels.is_empty() {
        let _ = writeln!(text, "RAM: {}; kernel {}", ram.join(", "), kernels.join(", "));
    }
}

/// Each once, in order of appearance.
fn distinct(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    for word in words {
        if !seen.contains(&word) {
            seen.push(word);
        }
    }
    seen
}
