//! The stacks and machines that were tested.

use crate::input::Input;
use crate::words;
use crate::words::commands::shell_line;
use crate::words::figure::{bytes, number};
use serde::Serialize;
use std::collections::BTreeMap;
use study::plan::Cell;
use study::stack::MachineKind;

#[derive(Serialize)]
pub(super) struct Setup {
    /// Facts that are the same for all cells.
    shared: Vec<(String, String)>,
    /// Headings of the facts that differ between stacks.
    headings: Vec<&'static str>,
    stacks: Vec<(String, Vec<String>)>,
    left_out: Vec<(String, String)>,
    provenance: Vec<(String, String)>,
    recipes: Vec<Recipe>,
}

/// How a stack was made: the external programs of its first trial.
#[derive(Serialize)]
struct Recipe {
    stack: String,
    lines: Vec<String>,
}

/// A fact of a cell, and its heading.
type Fact = (&'static str, fn(&Cell) -> String);

/// Imported results have no such facts.
fn known(cell: &Cell, fact: &Fact) -> String {
    match cell.machine.kind {
        MachineKind::Foreign => "unknown".to_owned(),
        MachineKind::Lab | MachineKind::Host => fact.1(cell),
    }
}

/// Not shown where no stack has any.
const LAYERS: &str = "Layers";

const FACTS: [Fact; 8] = [
    ("Disks", |cell| words::disks(&cell.machine)),
    ("Memory", |cell| bytes(cell.machine.ram_bytes)),
    ("Kernel", |cell| cell.machine.kernel.clone()),
    ("Array", |cell| words::array(&cell.stack.array)),
    (LAYERS, |cell| words::layers(&cell.stack)),
    ("Filesystem", |cell| words::filesystem(&cell.stack.filesystem)),
    ("Mount options", |cell| words::mount_options(&cell.stack)),
    ("Scheduler, read-ahead", |cell| words::tuning(&cell.stack)),
];

pub(super) fn setup(input: &Input) -> Setup {
    let cells = &input.plan.cells;
    let (shared, differing): (Vec<Fact>, Vec<Fact>) = FACTS.into_iter().partition(|fact| {
        cells
            .first()
            .is_none_or(|first| cells.iter().all(|cell| known(cell, fact) == known(first, fact)))
    });
    let mut shared: Vec<(String, String)> = shared
        .into_iter()
        .filter_map(|fact| Some((fact.0.to_owned(), known(cells.first()?, &fact))))
        .filter(|(heading, said)| *heading != LAYERS || said != words::NO_LAYERS)
        .collect();
    let models = input
        .disks
        .iter()
        .map(|disk| (format!("Disk {}", disk.model), disk.words.clone()));
    shared.splice(shared.len().min(1)..shared.len().min(1), models);
    Setup {
        shared,
        headings: differing.iter().map(|(heading, _)| *heading).collect(),
        stacks: input
            .plan
            .stack_labels()
            .into_iter()
            .map(|stack| {
                let cell = cells.iter().find(|cell| cell.stack_label == stack);
                let facts = differing
                    .iter()
                    .map(|fact| cell.map_or_else(String::new, |cell| known(cell, fact)))
                    .collect();
                (stack.to_owned(), facts)
            })
            .collect(),
        left_out: input
            .plan
            .left_out
            .iter()
            .map(|left| (words::axes(&left.axes), left.reason.clone()))
            .collect(),
        provenance: provenance(input),
        recipes: recipes(input),
    }
}

/// Each key with its value; if the values differ, all of them with their numbers of trials.
fn provenance(input: &Input) -> Vec<(String, String)> {
    let mut values: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for row in &input.facts.provenance {
        let of_key = values.entry(&row.entry.key).or_default();
        match of_key.iter_mut().find(|(value, _)| *value == row.entry.value) {
            Some((_, count)) => *count += 1,
            None => of_key.push((&row.entry.value, 1)),
        }
    }
    let words = |of_key: Vec<(&str, usize)>| match of_key.as_slice() {
        [(value, _)] => (*value).to_owned(),
        several => {
            let each = |(value, count): &(&str, usize)| format!("{value} ({} trials)", number(*count as f64, 0));
            several.iter().map(each).collect::<Vec<_>>().join(", ")
        }
    };
    values
        .into_iter()
        .map(|(key, of_key)| (key.to_owned(), words(of_key)))
        .collect()
}

fn recipes(input: &Input) -> Vec<Recipe> {
    let recipe = |stack: &str| {
        let cell = input.plan.cells.iter().find(|cell| cell.stack_label == stack)?;
        let calls = input
            .calls
            .iter()
            .filter(|row| row.trial.cell == cell.id && row.trial.index == 0);
        let lines: Vec<String> = calls.map(|row| shell_line(&row.entry.argv)).collect();
        (!lines.is_empty()).then(|| Recipe {
            stack: stack.to_owned(),
            lines,
        })
    };
    input.plan.stack_labels().into_iter().filter_map(recipe).collect()
}

/// The disks of the first cell, with the catalogue's description if there is one.
pub(super) fn disk_words(input: &Input) -> String {
    let Some(cell) = input.plan.cells.first() else {
        return "none".to_owned();
    };
    known(cell, &FACTS[0])
}

/// The kernels that the trials' machines reported; otherwise those of the study.
pub(super) fn kernel_words(input: &Input) -> String {
    let reported = input.facts.kernels.iter().map(|row| row.entry.as_str());
    let asked = input.plan.cells.iter().map(|cell| cell.machine.kernel.as_str());
    let mut kernels: Vec<&str> = reported.collect();
    if kernels.is_empty() {
        kernels = asked.collect();
    }
    kernels.sort_unstable();
    kernels.dedup();
    kernels.join(", ")
}
