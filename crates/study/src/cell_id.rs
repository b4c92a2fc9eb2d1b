//! Identity of a cell as a hash: the same in every study, independent of names.
//!
//! The hash covers the cell's machine, stack, workload and replicate in a canonical JSON: sorted keys, without
//! `null` and empty values, so that a field added later does not change the identity of cells that do not use it.
//! (A new field must therefore be an `Option`, a list, or skipped in JSON at its default.) The title of the study,
//! the name of the workload, labels and the order of cells are not part of it.

use crate::plan::Cell;
use crate::stack::{MachineKind, MachineSpec};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// Increased if the canonical form ever has to change.
const FORM: u32 = 1;

/// Identity of a cell: 128 bits of a SHA-256, written as 32 hexadecimal digits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId([u8; 16]);

impl CellId {
    /// Identity of a cell. [`Plan::identify`](crate::plan::Plan::identify) sets it in the plan's cells.
    pub fn of(cell: &Cell) -> Self {
        Self::hashed(cell, Some(&cell.machine))
    }

    /// Identity without machine and kernel: the same for cells that differ only in these.
    pub fn anywhere(cell: &Cell) -> Self {
        Self::hashed(cell, None)
    }

    fn hashed(cell: &Cell, machine: Option<&MachineSpec>) -> Self {
        let mut parts = json!({
            "form": FORM, "machine": machine, "stack": cell.stack, "work": cell.workload.work,
        });
        if cell.replicate > 0 {
            parts["replicate"] = cell.replicate.into();
        }
        if !cell.acts.is_empty() {
            parts["acts"] = json!(cell.acts);
        }
        if cell.machine.kind == MachineKind::Foreign {
            // Nothing else is known about imported results.
            parts["imported"] = json!(cell.axes);
        }
        let hash = Sha256::digest(canonical(parts).to_string());
        Self(std::array::from_fn(|place| hash[place]))
    }
}

/// Sorts keys and omits empty values. `false` and 0 are values.
fn canonical(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> = fields
                .into_iter()
                .map(|(name, value)| (name, canonical(value)))
                .filter(|(_, value)| !is_empty(value))
                .collect();
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(fields.into_iter().collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(canonical).collect()),
        plain => plain,
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

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CellId({self})")
    }
}

/// Error for a text that is not 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotACellId(String);

impl fmt::Display for NotACellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a cell's identity (32 hexadecimal digits)", self.0)
    }
}

impl std::error::Error for NotACellId {}

impl FromStr for CellId {
    type Err = NotACellId;

    fn from_str(text: &str) -> Result<Self, NotACellId> {
        let error = || NotACellId(text.to_owned());
        if text.len() != 32 || !text.is_ascii() {
            return Err(error());
        }
        let mut bytes = [0; 16];
        for (place, byte) in bytes.iter_mut().enumerate() {
            let digits = &text[2 * place..2 * place + 2];
            *byte = u8::from_str_radix(digits, 16).map_err(|_| error())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for CellId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CellId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
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

    #[test]
    fn its_text_reads_back() {
        let id: CellId = "00112233445566778899aabbccddeeff".parse().expect("an identity");
        assert_eq!(id.to_string(), "00112233445566778899aabbccddeeff");
        for wrong in [
            "",
            "0011",
            "zz112233445566778899aabbccddeeff",
            "é0112233445566778899aabbccddeef",
        ] {
            assert!(wrong.parse::<CellId>().is_err(), "{wrong}");
        }
    }
}
