//! What the page and the terminal both say, in the terms of the field: stacks, workloads, metrics and figures, the
//! verdict, warnings, claims, and the cells of tables.

pub(crate) mod aa_control;
pub(crate) mod claims;
mod clock;
pub(crate) mod commands;
pub(crate) mod comparison;
pub(crate) mod custom_table;
pub(crate) mod device_time;
pub(crate) mod failures;
pub(crate) mod figure;
pub(crate) mod guards;
pub(crate) mod imported_against_own;
mod layers;
mod limits;
pub(crate) mod power_cut;
pub(crate) mod rebuild;
mod stack;
pub(crate) mod warnings;

pub use claims::{ClaimWords, claim_words};
pub use clock::clock;
pub use comparison::ComparedSide;
pub use figure::{RateUnit, count, time};
pub use imported_against_own::{IMPORTED, IMPORTED_SETTINGS};
pub use limits::limits;
pub(crate) use limits::{appended_log, explanations, reads_new_files};
pub(crate) use stack::{NO_LAYERS, array, disks, filesystem, layers, tuning};
pub use warnings::{Warnings, order_of};

use crate::input::{DiskInfo, Input};
use study::metric::{Better, Metric};
use study::plan::{Cell, Plan};
use study::stack::{DiskGroup, MachineKind, StackSpec};

/// The mark of a lab run on every page and table.
pub(crate) const SIMULATED: &str = "simulated disks, virtual time";

/// The origin of figures, as a sentence.
pub(crate) fn machine(machine: MachineKind, plan: &Plan) -> &'static str {
    let groups = || plan.cells.iter().flat_map(|cell| &cell.machine.disks);
    match machine {
        MachineKind::Lab => SIMULATED,
        MachineKind::Host if groups().next().is_some() && groups().all(DiskGroup::is_loop_files) => {
            "files on loop devices of this host, not real disks"
        }
        MachineKind::Host => "real disks of this host",
        MachineKind::Foreign => "machines unknown to raidlab: imported results",
    }
}

/// How far each disk model can be trusted, a sentence or two each: results are no better than they are; and in which state drives are.
pub(crate) fn models(input: &Input) -> Vec<String> {
    let full = input
        .disks
        .iter()
        .filter(|disk| disk.is_full_drive)
        .map(|disk| disk.model.as_str());
    let full = full.collect::<Vec<_>>().join(", ");
    let of_state = (!full.is_empty()).then(|| {
        format!(
            "Drives ({full}) were measured preconditioned: full, after long random writes, and mkfs did not discard. On a real machine mkfs \
             trims those of RAID 0, 1 and 10; `state` of `[disks]` makes them as full as yours."
        )
    });
    let mut sentences = of_knowledge(input);
    sentences.extend(of_state);
    sentences
}

fn of_knowledge(input: &Input) -> Vec<String> {
    if input.plan.cells.iter().any(|cell| cell.machine.draws_models) {
        let has_processor = input.plan.cells.iter().any(|cell| cell.machine.processor.is_some());
        let what = if has_processor {
            "Models of disks and processors"
        } else {
            "Models of disks"
        };
        return vec![format!(
            "{what} are drawn for each trial from the ranges of what is not known of them: intervals and ranks include that."
        )];
    }
    input.disks.iter().filter_map(model).collect()
}

/// `None` for a model of which nothing is known to be wrong or unknown.
fn model(disk: &DiskInfo) -> Option<String> {
    let estimates = (!disk.unverified.is_empty()).then(|| {
        format!(
            "estimates, without a document or a measurement: {}",
            disk.unverified.join(", ")
        )
    });
    let name = &disk.model;
    Some(match (&disk.fit, estimates) {
        (None, None) => return None,
        (None, Some(estimates)) => {
            format!("The model {name} was checked against no published figure of such a disk, and has {estimates}.")
        }
        (Some(fit), estimates) => {
            let off = match (fit.figures, fit.met) {
                (1, 1) => format!(
                    "meets the one published figure that it was checked against ({})",
                    fit.worst
                ),
                (1, _) => format!(
                    "is {} the one published figure that it was checked against ({})",
                    off(fit.off_percent),
                    fit.worst
                ),
                (all, met) => format!(
                    "is within its goal for {} published figures: half of them are within {:.0} %, the farthest is {}, {} it",
                    if all == met {
                        format!("all {all}")
                    } else {
                        format!("{met} of {all}")
                    },
                    fit.median_percent,
                    fit.worst,
                    off(fit.off_percent)
                ),
            };
            format!(
                "The model {name} {off}{}.",
                estimates.map_or_else(String::new, |words| format!("; it has {words}"))
            )
        }
    })
}

/// `49 % above`.
fn off(percent: f64) -> String {
    let side = if percent < 0.0 { "below" } else { "above" };
    format!("{:.0} % {side}", percent.abs())
}

/// The cost of CPU time in the guests of a plan, as a sentence.
pub(crate) fn processor(plan: &Plan) -> String {
    let own = plan.cells.iter().filter(|cell| !cell.is_imported());
    let mut processors = own.map(|cell| cell.machine.processor.as_ref());
    let mut models: Vec<&str> = processors.clone().flatten().map(|one| one.model.as_str()).collect();
    models.sort_unstable();
    models.dedup();
    let models = models.join(", ");
    let is_named_everywhere = processors.all(|one| one.is_some());
    match (models.is_empty(), is_named_everywhere) {
        (true, _) => "Processor time is not modelled.".to_owned(),
        (false, true) => format!("Processor time is that of a model ({models})."),
        (false, false) => {
            format!("Processor time is that of a model ({models}), and not modelled where none is named.")
        }
    }
}

/// What short latencies mean where a guest has no processor model; `None` if each has one.
pub(crate) fn latencies_without_processor(plan: &Plan) -> Option<String> {
    let has_none = |cell: &Cell| cell.machine.kind == MachineKind::Lab && cell.machine.processor.is_none();
    plan.cells.iter().any(has_none).then(|| {
        "Where no processor is named, programs, the kernel and cache hits take no time: latencies of less than a microsecond are \
         not those of a real machine."
            .to_owned()
    })
}

/// The same as a mark next to figures.
pub(crate) const fn mark(machine: MachineKind) -> &'static str {
    match machine {
        MachineKind::Lab => "simulated",
        MachineKind::Host => "host",
        MachineKind::Foreign => "imported",
    }
}

/// As for mount(8).
pub(crate) fn mount_options(stack: &StackSpec) -> String {
    if stack.mount_options.is_empty() {
        "defaults".to_owned()
    } else {
        stack.mount_options.join(",")
    }
}

/// A metric in a heading: `files per second`.
pub(crate) fn metric(metric: Metric) -> String {
    metric.name().replace('_', " ")
}

/// A metric with its unit; only the unit if it implies the metric.
pub(crate) fn measured(measured: Metric) -> String {
    let unit = measured.unit();
    match measured {
        Metric::Throughput | Metric::FilesPerSecond | Metric::Iops | Metric::Seeks => unit.to_string(),
        _ => format!("{} in {unit}", metric(measured)),
    }
}

pub(crate) const fn better(better: Better) -> &'static str {
    match better {
        Better::Higher => "more is better",
        Better::Lower => "less is better",
        Better::Neither => "neither good nor bad",
    }
}

/// `level = 6, workload = reads`.
pub(crate) fn axes(axes: &[(String, String)]) -> String {
    axes.iter()
        .map(|(axis, value)| format!("{axis} = {value}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// `a, b and c`.
pub(crate) fn listed(names: &[&str], last_word: &str) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} {last_word} {last}", first.join(", ")),
    }
}

/// A test with its workload, `photos read`; once if both have one name, as `vm` of a job file with one section does.
pub(crate) fn named(workload: &str, test: &str) -> String {
    match workload == test {
        true => workload.to_owned(),
        false => format!("{workload} {test}"),
    }
}
