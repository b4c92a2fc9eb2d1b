//! A run as `raidlab export` writes it, from a store or from a file that anybody may have changed.

use crate::{Error, open_store};
use files::read_file::{open_regular, read_regular};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Read;
use std::path::{Path, PathBuf};
use store::{FORMAT_VERSION, RunChoice, TrialFacts, digest_of_export};
use study::ProvenanceEntry;

/// The magic bytes of an SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// The largest file that is read.
const BYTES_MAX: u64 = 256 << 20;

/// Tables whose rows belong to trials.
const TABLES: [&str; 4] = ["trials", "samples", "latencies", "provenance"];

/// A run as `raidlab export` writes it.
pub struct ExportedRun {
    pub(crate) path: PathBuf,
    pub(crate) json: Value,
    digest: String,
    is_recorded: bool,
}

/// A trial by its cell and its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Trial<'a> {
    pub cell: &'a str,
    pub index: u64,
}

impl ExportedRun {
    /// A run of a store, or one exported by `raidlab export`.
    pub fn read(path: &Path, run: Option<&RunChoice>) -> Result<Self, Error> {
        let failed = |error: &dyn Display| Error::NoExport {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let mut start = Vec::new();
        open_regular(path)
            .map_err(|error| error.of(path, ""))?
            .take(SQLITE.len() as u64)
            .read_to_end(&mut start)
            .map_err(|error| failed(&error))?;
        let text = if start == SQLITE {
            let (store, run) = open_store::open(path, run)?;
            store
                .export_json(run.id, &store::Judged::default())
                .map_err(|error| failed(&error))?
        } else {
            read_regular(path, BYTES_MAX).map_err(|error| error.of(path, ""))?
        };
        Self::parse(path, &text).map_err(|reason| failed(&reason))
    }

    /// Why the text is not an export, if it is none.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<ExportedRun, String> {
        let json: Option<Value> = serde_json::from_str(text).ok();
        let json = json
            .filter(|json| json["format"] == "raidlab-export")
            .ok_or("neither a raidlab store nor a run exported with `raidlab export --format json`")?;
        let version = &json["format_version"];
        if *version != FORMAT_VERSION {
            return Err(format!(
                "its `format_version` is {version}, and this raidlab reads {FORMAT_VERSION}"
            ));
        }
        let recorded = json["run"]["digest_sha256"].as_str();
        let recorded = recorded.ok_or("it has no `digest_sha256`")?.to_owned();
        for table in TABLES {
            let rows = json[table].as_array().map_or(&[][..], Vec::as_slice);
            let is_whole = |row: &Value| row["cell"].is_string() && row["trial"].is_u64();
            if let Some(at) = rows.iter().position(|row| !is_whole(row)) {
                return Err(format!("row {} of its `{table}` has no cell or no trial", at + 1));
            }
        }
        let computed = digest_of_export(text);
        if let Some(computed) = computed.as_ref().filter(|computed| **computed != recorded) {
            log::warn!(
                "warning: `{}` says the digest {recorded}, and its rows have {computed}: it was changed after it was written",
                path.display()
            );
        }
        Ok(ExportedRun {
            path: path.to_owned(),
            json,
            is_recorded: computed.is_none(),
            digest: computed.unwrap_or(recorded),
        })
    }

    /// The digest of its rows, or the one that the file says, if it does not have all that the digest is of.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What is said behind the digest.
    pub fn digest_remark(&self) -> &'static str {
        match self.is_recorded {
            true => " (as recorded in the file)",
            false => "",
        }
    }

    pub fn is_digest_recorded(&self) -> bool {
        self.is_recorded
    }

    pub(crate) fn rows(&self, table: &str) -> &[Value] {
        self.json[table].as_array().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn rows_of<'a>(&'a self, table: &str, trial: Trial<'_>) -> Vec<&'a Value> {
        self.rows(table).iter().filter(|row| of(row) == trial).collect()
    }

    /// Trials that were done, in the plan's order.
    pub(crate) fn trials(&self) -> impl Iterator<Item = Trial<'_>> {
        self.rows("trials").iter().filter(|row| row["status"] == "done").map(of)
    }

    /// The facts of a trial, with those of its disks.
    pub(crate) fn facts(&self, trial: Trial<'_>) -> TrialFacts {
        let rows = self.rows_of("provenance", trial).into_iter();
        TrialFacts::of_rows(rows.map(|row| ProvenanceEntry {
            key: text(row, "key").to_owned(),
            value: text(row, "value").to_owned(),
        }))
    }

    /// SHA-256 of the files that guests read, their kernels' images among them, by path.
    pub(crate) fn inputs(&self) -> BTreeMap<String, String> {
        let files = self.trials().flat_map(|trial| self.facts(trial).guest_files);
        files.map(|file| (file.path, file.sha256)).collect()
    }
}

pub(crate) fn of(row: &Value) -> Trial<'_> {
    Trial {
        cell: text(row, "cell"),
        index: row["trial"].as_u64().unwrap_or_default(),
    }
}

pub(crate) fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn export() -> Value {
        json!({
            "format": "raidlab-export", "format_version": 1, "cells": [{ "cell": "a", "id": "0a" }],
            "run": { "digest_sha256": "ab" },
            "trials": [{ "cell": "a", "trial": 0, "seed": 7, "status": "done" }],
            "samples": [{ "cell": "a", "trial": 0, "seed": 7, "test": "read", "metric": "throughput", "value": 0.1,
                "unit": "MiB/s", "better": "higher" }],
            "latencies": [],
        })
    }

    fn parsed(export: &Value) -> Result<ExportedRun, String> {
        ExportedRun::parse(Path::new("a.json"), &export.to_string())
    }

    /// The digest in the file was printed, whatever its rows were.
    #[test]
    fn an_export_has_the_digest_of_its_rows_and_not_the_one_that_it_says() {
        let whole = parsed(&export()).expect("an export");
        assert!(whole.digest().len() == 64 && whole.digest_remark().is_empty());
        let changes: [(&str, Value); 3] = [
            ("/samples/0/value", json!(0.2)),
            ("/samples/0/seed", json!(8)),
            ("/samples/0/cell", json!("b")),
        ];
        for (place, value) in changes {
            let mut changed = export();
            *changed.pointer_mut(place).expect("it is there") = value;
            assert_ne!(parsed(&changed).expect(place).digest(), whole.digest(), "{place}");
        }
        let mut part = export();
        part.as_object_mut().expect("an object").remove("latencies");
        let part = parsed(&part).expect("an export");
        assert_eq!(
            (part.digest(), part.digest_remark()),
            ("ab", " (as recorded in the file)")
        );
    }

    #[test]
    fn an_export_of_an_unknown_format_is_refused() {
        for version in [json!(99), json!("x"), json!("1"), Value::Null] {
            let mut other = export();
            other["format_version"] = version;
            let error = parsed(&other).err().expect("not known");
            assert!(error.ends_with("this raidlab reads 1"), "{error}");
        }
    }

    #[test]
    fn a_trial_without_a_number_is_not_taken_for_the_first() {
        for number in [json!(-1), json!("0"), Value::Null] {
            let mut odd = export();
            odd["trials"][0]["trial"] = number;
            let error = parsed(&odd).err().expect("no number");
            assert_eq!(error, "row 1 of its `trials` has no cell or no trial");
        }
    }

    /// It filled the memory.
    #[test]
    fn a_device_is_not_read() {
        let error = ExportedRun::read(Path::new("/dev/zero"), None).err().expect("a device");
        assert_eq!(error.to_string(), "`/dev/zero` is not a file");
    }
}
