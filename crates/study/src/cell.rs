//! A cell of a plan, and its identity: the same in every study, independent of names.
//!
//! The hash covers the cell's machine, stack, workload and replicate in a canonical JSON: sorted keys, without
//! `null` and empty values, so that a field added later does not change the identity of cells that do not use it.
//! (A new field must therefore be an `Option`, a list, or skipped in JSON at its default.) The title of the study,
//! the name of the workload, labels and the order of cells are not part of it.

use crate::act::{self, Act};
use crate::cell_id::CellId;
use crate::stack::{ArraySpec, MachineKind, MachineSpec, StackSpec};
use crate::workload::{AgeSpec, Work, WorkloadSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Arc;

/// Selects cells or samples: axis = value pairs, all of which must match.
pub type Side = Vec<(String, String)>;

/// Name of the axis of stack labels, for tables with stacks as rows.
pub const STACK: &str = "stack";
/// Additional axes of samples.
pub const TEST: &str = "test";
pub const METRIC: &str = "metric";

/// Increased if the canonical form ever has to change.
const FORM: u32 = 1;

/// One point of the matrix: a machine, a stack on it, a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Unique in the plan, stable between runs, readable: `ext3 1K | small files`.
    pub key: String,
    /// Identity independent of names: results belong to it. Set by [`Plan::identify`].
    #[serde(default)]
    pub id: CellId,
    /// Short label that distinguishes this cell's stack from the plan's other stacks: `ext3 1K`.
    pub stack_label: String,
    /// Cells that differ only in this number are repetitions with different seeds; 0 for the first.
    #[serde(default)]
    pub replicate: u32,
    /// The cell's value on every axis, `level` = `6`, `block_size` = `4K`, `workload` = …: with the study's spelling
    /// and order, including axes with only one value.
    pub axes: Vec<(String, String)>,
    /// Cells of one stack share machine and stack.
    pub machine: Arc<MachineSpec>,
    pub stack: Arc<StackSpec>,
    pub workload: WorkloadSpec,
    /// Acts on the array during the workload, in the order in which they are done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<Act>,
}

impl Cell {
    /// Number of disks under test, spares included.
    pub fn member_count(&self) -> u32 {
        self.machine.member_count(&self.stack.array)
    }

    /// Its machine, to be changed for this cell alone.
    pub fn machine_mut(&mut self) -> &mut MachineSpec {
        Arc::make_mut(&mut self.machine)
    }

    /// Its stack, to be changed for this cell alone.
    pub fn stack_mut(&mut self) -> &mut StackSpec {
        Arc::make_mut(&mut self.stack)
    }

    /// The tests that have samples: the workload's, and those of the acts.
    pub fn tests(&self) -> Vec<&str> {
        let mut tests = self.workload.work.tests();
        tests.extend(act::tests(&self.acts));
        tests
    }

    /// Whether its array has no bitmap only because `size` makes the members small: mdadm adds one to larger disks, and the study
    /// asks for none.
    pub fn lacks_bitmap_by_size(&self) -> bool {
        let array = &self.stack.array;
        let is_written = self.axes.iter().any(|(axis, _)| axis == "bitmap");
        let is_small = array
            .member_size_bytes
            .is_some_and(|bytes| bytes <= ArraySpec::MEMBER_BYTES_WITHOUT_BITMAP);
        is_small && array.resyncs_after_a_crash() && !is_written && array.of.is_none()
    }

    /// Whether its results were measured elsewhere and imported: of its machine nothing is known.
    pub fn is_imported(&self) -> bool {
        self.machine.kind == MachineKind::Foreign
    }

    /// The name in its `[[workload]]`: that of the workload without the values of its own axes.
    pub fn workload_entry(&self) -> &str {
        let entry = self.axes.iter().find(|(axis, _)| axis == "workload");
        entry.map_or(self.workload.name.as_str(), |(_, name)| name)
    }
}

impl CellId {
    /// Identity of a cell. [`Plan::identify`](crate::plan::Plan::identify) sets it in the plan's cells.
    pub fn of(cell: &Cell) -> Self {
        hashed(&canonical_text(&cell.workload.work), setting(cell, Some(&cell.machine)))
    }

    /// Identity without machine and kernel: the same for cells that differ only in these.
    pub fn anywhere(cell: &Cell) -> Self {
        hashed(&canonical_text(&cell.workload.work), setting(cell, None))
    }
}

/// All parts of a cell but the work, and their hash.
type Setting = (Vec<Act>, Option<AgeSpec>, Arc<MachineSpec>, Arc<StackSpec>, Sha256);

/// What many cells of a plan share: the hash of all parts but the work, and the canonical text of the work.
#[derive(Default)]
pub(crate) struct Shared {
    last: Option<Setting>,
    /// By the name of the workload.
    works: HashMap<String, (Work, String)>,
}

/// Works whose text is kept.
const SHARED_WORKS_MAX: usize = 4096;

impl Shared {
    /// Identity of a cell; quick if it has the acts, the machine and the stack of the cell before.
    pub(crate) fn id(&mut self, cell: &Cell) -> CellId {
        // What else is hashed differs from cell to cell.
        if cell.replicate > 0 || cell.is_imported() {
            return CellId::of(cell);
        }
        let known = self.last.take().filter(|(acts, age, machine, stack, _)| {
            *acts == cell.acts && *age == cell.workload.age && *machine == cell.machine && *stack == cell.stack
        });
        let new = || {
            let hash = setting(cell, Some(&cell.machine));
            let (machine, stack) = (cell.machine.clone(), cell.stack.clone());
            (cell.acts.clone(), cell.workload.age, machine, stack, hash)
        };
        let (.., hash) = self.last.insert(known.unwrap_or_else(new));
        let (name, work) = (&cell.workload.name, &cell.workload.work);
        if let Some((of_text, text)) = self.works.get(name)
            && of_text == work
        {
            return hashed(text, hash.clone());
        }
        let text = canonical_text(work);
        let id = hashed(&text, hash.clone());
        if self.works.len() < SHARED_WORKS_MAX {
            self.works.insert(name.clone(), (work.clone(), text));
        }
        id
    }
}

/// The hash of the canonical JSON of a cell up to its work. The parts are in the order of their keys.
fn setting(cell: &Cell, machine: Option<&MachineSpec>) -> Sha256 {
    let mut hash = Sha256::new();
    let mut before = "{";
    let mut part = |name: &str, text: &str| {
        for piece in [before, "\"", name, "\":", text] {
            hash.update(piece);
        }
        before = ",";
    };
    if !cell.acts.is_empty() {
        part("acts", &canonical_text(&cell.acts));
    }
    if let Some(age) = &cell.workload.age {
        part("age", &canonical_text(age));
    }
    part("form", &FORM.to_string());
    if cell.is_imported() && !cell.axes.is_empty() {
        // Nothing else is known about imported results.
        part("imported", &canonical_text(&cell.axes));
    }
    if let Some(machine) = machine {
        part("machine", &canonical_text(machine));
    }
    if cell.replicate > 0 {
        part("replicate", &cell.replicate.to_string());
    }
    part("stack", &canonical_text(&cell.stack));
    hash
}

/// The hash of a cell with the canonical JSON of its work.
fn hashed(work: &str, mut setting: Sha256) -> CellId {
    setting.update(",\"work\":");
    setting.update(work);
    setting.update("}");
    let hash = setting.finalize();
    CellId(std::array::from_fn(|place| hash[place]))
}

fn canonical_text(value: &impl Serialize) -> String {
    canonical(json!(value)).to_string()
}

/// Sorts keys and omits empty values. `false` and 0 are values.
fn canonical(mut value: Value) -> Value {
    normalise(&mut value);
    value
}

fn normalise(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(normalise);
            fields.retain(|_, value| !is_empty(value));
            fields.sort_keys();
        }
        Value::Array(items) => items.iter_mut().for_each(normalise),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => (),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_not_used_changes_nothing_and_order_does_not_either() {
        let old = json!({ "b": 1, "a": { "x": false } });
        let new = json!({ "a": { "new_list": [], "new_option": null, "x": false }, "b": 1, "new_table": {} });
        assert_eq!(canonical(old).to_string(), canonical(new).to_string());
    }

    #[test]
    fn what_is_set_is_never_left_out() {
        for (one, other) in [
            (json!({ "a": null }), json!({ "a": false })),
            (json!({ "a": false }), json!({ "a": true })),
            (json!({ "a": 0 }), json!({})),
            (json!({ "a": [1, 2] }), json!({ "a": [2, 1] })),
            (json!({ "a": [null, 1] }), json!({ "a": [1] })),
        ] {
            assert_ne!(
                canonical(one.clone()).to_string(),
                canonical(other.clone()).to_string(),
                "{one} {other}"
            );
        }
    }
}
