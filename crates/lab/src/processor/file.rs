//! The files of `data/cpus/`.

use super::{Cost, CostUnit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A model as stored in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelFile {
    pub name: String,
    pub title: String,
    pub cores: Figure,
    pub ghz: Figure,
    /// Size of the last-level cache, as far as one core uses it.
    pub cache_kib: Option<Figure>,
    /// By [`Cost::name`].
    #[serde(default)]
    pub time_ns: BTreeMap<String, Figure>,
    /// By [`Cost::name`].
    #[serde(default)]
    pub rate_mb_s: BTreeMap<String, Figure>,
}

/// A figure and its source.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Figure {
    pub is: f64,
    pub sure: Sure,
    pub source: String,
}

/// How certain a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sure {
    /// Measured on such a processor, by the source.
    Measured,
    /// From the vendor's documentation.
    Datasheet,
    /// General knowledge, an estimate, or a figure of a similar processor.
    Unverified,
    /// Computed from another figure, as described in the source.
    Derived,
}

impl fmt::Display for Sure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Sure::Measured => "measured",
            Sure::Datasheet => "datasheet",
            Sure::Unverified => "unverified",
            Sure::Derived => "derived",
        })
    }
}

impl ModelFile {
    pub fn figure(&self, cost: Cost) -> Option<&Figure> {
        match cost.unit() {
            CostUnit::Nanoseconds => self.time_ns.get(cost.name()),
            CostUnit::MegabytesPerSecond | CostUnit::Kibibytes => self.rate_mb_s.get(cost.name()),
        }
    }

    /// Checks the values.
    pub fn check(&self) -> Result<(), String> {
        let known = |unit: CostUnit| {
            Cost::ALL
                .iter()
                .filter(move |cost| cost.unit() == unit)
                .map(|cost| cost.name())
        };
        let unknown = |table: &str, key: &str, names: Vec<&str>| {
            Err(format!(
                "unknown key `{table}.{key}`: known keys are {}",
                names.join(", ")
            ))
        };
        for key in self.time_ns.keys() {
            if !known(CostUnit::Nanoseconds).any(|name| name == key) {
                return unknown("time_ns", key, known(CostUnit::Nanoseconds).collect());
            }
        }
        for key in self.rate_mb_s.keys() {
            if !known(CostUnit::MegabytesPerSecond).any(|name| name == key) {
                return unknown("rate_mb_s", key, known(CostUnit::MegabytesPerSecond).collect());
            }
        }
        let figures = self.time_ns.iter().chain(&self.rate_mb_s);
        for (key, figure) in figures {
            // A cost of zero would mean an infinitely fast processor; more than a second is an error of units.
            if !(1e-3..1e9).contains(&figure.is) {
                return Err(format!("`{key}` is {}; it must be from 0.001 to 10⁹", figure.is));
            }
        }
        if !(1e-3..=1000.0).contains(&self.ghz.is) {
            return Err(format!("`ghz` is {}; it must be from 0.001 to 1000", self.ghz.is));
        }
        let caches = self.cache_kib.as_ref();
        if let Some(figure) = caches.filter(|figure| !(4.0..=1e9).contains(&figure.is)) {
            return Err(format!("`cache_kib` is {}; it must be from 4 to 10⁹", figure.is));
        }
        if !(1.0..=256.0).contains(&self.cores.is) || self.cores.is.fract() != 0.0 {
            return Err(format!(
                "`cores` is {}; it must be a whole number from 1 to 256",
                self.cores.is
            ));
        }
        Ok(())
    }
}
