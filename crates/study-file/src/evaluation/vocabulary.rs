//! The axes and values of a plan that claims and filters may name.

use crate::expand::matrix::Unit;
use crate::parse::entry::{Content, Entry, FilterItem};
use crate::schema::key::Takes;
use crate::schema::keys;
use crate::syntax::diagnostic::{Found, nearest, suggest};

use crate::parse::value::Value;
use crate::schema::pattern::Pattern;
use crate::syntax::unit::{format_size, format_time, parse_percent, parse_size, parse_time};
use crate::workload_forms::WorkloadEntry;
use study::metric::Metric;
use study::plan::{Cell, METRIC, Side, TEST};

pub(crate) use study::aa_control::REPLICATE;

/// An unknown axis or value, with a suggestion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unknown {
    pub of_value: bool,
    pub message: String,
    pub help: String,
}

#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    axes: Vec<Words>,
}

#[derive(Debug)]
struct Words {
    axis: String,
    words: Vec<String>,
    /// Some of its values could not be read, so any value is accepted.
    open: bool,
}

impl Vocabulary {
    /// From a file that is still being read, including its invalid parts.
    pub fn of_entries(units: &[Unit], workloads: &[WorkloadEntry], cells: &[Cell]) -> Self {
        let mut all = Self::default();
        let axes = units
            .iter()
            .flat_map(|unit| &unit.axes)
            .chain(workloads.iter().flat_map(|w| &w.axes));
        for axis in axes {
            for given in &axis.values {
                all.add(&axis.name, &given.value.word(), given.value == Value::Broken);
            }
        }
        for workload in workloads {
            all.add("workload", &workload.name, workload.name.is_empty());
            all.tests_of_entry(workload);
        }
        for test in cells.iter().flat_map(|cell| study::act::tests(&cell.acts)) {
            all.add(TEST, test, false);
        }
        all.metrics();
        let replicates = cells
            .iter()
            .flat_map(|cell| &cell.axes)
            .filter(|(axis, _)| axis == REPLICATE);
        replicates.for_each(|(axis, word)| all.add(axis, word, false));
        all
    }

    /// From a plan's cells: what `--only` may name.
    pub fn of_cells(cells: &[Cell]) -> Self {
        let mut all = Self::default();
        for (axis, word) in cells.iter().flat_map(|cell| &cell.axes) {
            all.add(axis, word, false);
        }
        all
    }

    fn tests_of_entry(&mut self, workload: &WorkloadEntry) {
        if workload.broken {
            self.add(TEST, "", true);
        }
        let tests = workload.form.iter().flat_map(|form| form.tests(&workload.axes));
        for test in tests {
            self.add(TEST, test.as_deref().unwrap_or_default(), test.is_none());
        }
    }

    fn metrics(&mut self) {
        Metric::of_studies().for_each(|metric| self.add(METRIC, metric.name(), false));
    }

    fn add(&mut self, axis: &str, word: &str, open: bool) {
        let at = self
            .axes
            .iter()
            .position(|words| words.axis == axis)
            .unwrap_or_else(|| {
                self.axes.push(Words {
                    axis: axis.to_owned(),
                    words: Vec::new(),
                    open: false,
                });
                self.axes.len() - 1
            });
        let words = &mut self.axes[at];
        words.open |= open;
        if !open && !words.words.iter().any(|known| known == word) {
            words.words.push(word.to_owned());
        }
    }

    fn axis(&self, name: &str) -> Result<&Words, Unknown> {
        let known = self.axes.iter().find(|words| words.axis == name);
        known.ok_or_else(|| self.unknown_axis(name))
    }

    pub fn has_axis(&self, name: &str) -> bool {
        self.axis(name).is_ok()
    }

    pub fn unknown_axis(&self, name: &str) -> Unknown {
        let names: Vec<&str> = self.axes.iter().map(|words| words.axis.as_str()).collect();
        Unknown {
            of_value: false,
            message: format!("the study has no axis `{name}`"),
            help: suggest(name, &names),
        }
    }

    /// Parses the `where` of a claim, table or column to the plan's spelling. `None` if it is invalid.
    pub fn filter(&self, entry: &Entry, found: &mut Found) -> Option<Side> {
        let items: &[FilterItem] = match entry.field("where").map(|field| &field.content) {
            Some(Content::Filter(items)) => items,
            Some(_) => return None,
            None => &[],
        };
        let mut filter = Vec::new();
        for item in items {
            match self.resolve(&item.axis, &item.value) {
                Ok(value) => filter.push((item.axis.clone(), value)),
                Err(unknown) => {
                    let span = if unknown.of_value {
                        &item.value_span
                    } else {
                        &item.axis_span
                    };
                    found.add_with_help(span, unknown.message, unknown.help);
                }
            }
        }
        (filter.len() == items.len()).then_some(filter)
    }

    /// The value in the plan's spelling.
    pub fn resolve(&self, axis: &str, value: &str) -> Result<String, Unknown> {
        let words = self.axis(axis)?;
        let spelt = respell(axis, value);
        let same = |word: &&String| **word == value || **word == spelt || word.eq_ignore_ascii_case(value);
        if let Some(word) = words.words.iter().find(same) {
            return Ok(word.clone());
        }
        if words.open {
            return Ok(spelt);
        }
        let known: Vec<&str> = words.words.iter().map(String::as_str).collect();
        let message = format!("the axis `{axis}` has no value `{value}`");
        let help = match nearest(value, known.iter().copied()) {
            Some(_) => suggest(value, &known),
            None => crate::syntax::diagnostic::enumerate(&known),
        };
        Err(Unknown {
            of_value: true,
            message,
            help,
        })
    }

    /// Parses `AXIS=VALUE, AXIS=VALUE` to the plan's spelling. A value may contain commas, as mount options do.
    pub fn pairs(&self, text: &str) -> Result<Vec<(String, String)>, Unknown> {
        self.read_pairs(text, &|axis| axis)
    }

    /// Like [`Self::pairs`], but also accepts `AXIS!=VALUE`; the axis keeps the `!`.
    pub fn conditions(&self, text: &str) -> Result<Vec<(String, String)>, Unknown> {
        self.read_pairs(text, &|axis| axis.strip_suffix('!').map_or(axis, str::trim_end))
    }

    /// `name` removes a suffix from the name of an axis.
    fn read_pairs(&self, text: &str, name: &dyn Fn(&str) -> &str) -> Result<Vec<(String, String)>, Unknown> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for piece in text.split(',') {
            let pair = piece.split_once('=').map(|(axis, value)| (axis.trim(), value.trim()));
            match (pair, pairs.last_mut()) {
                // `noatime,data=journal`: a mount option, because there is no axis with that name.
                (Some((axis, _)), Some((_, last)))
                    if self.axis(name(axis)).is_err() && self.goes_on(last, piece) =>
                {
                    last.push(',');
                    last.push_str(piece.trim());
                }
                (Some((axis, value)), _) => pairs.push((axis.to_owned(), value.to_owned())),
                (None, Some((_, last))) => {
                    last.push(',');
                    last.push_str(piece.trim());
                }
                (None, None) => {
                    let message = format!("`{}` is not AXIS=VALUE", piece.trim());
                    let names: Vec<&str> = self.axes.iter().map(|words| words.axis.as_str()).collect();
                    let help = format!("the axes are {}", names.join(", "));
                    return Err(Unknown {
                        of_value: false,
                        message,
                        help,
                    });
                }
            }
        }
        for (axis, value) in &mut pairs {
            *value = self.resolve(name(axis), value)?;
        }
        Ok(pairs)
    }

    /// Whether some value starts with the text so far followed by `piece`.
    fn goes_on(&self, so_far: &str, piece: &str) -> bool {
        let longer = format!("{so_far},{}", piece.trim());
        self.axes
            .iter()
            .any(|words| words.words.iter().any(|word| word.starts_with(&longer)))
    }
}

/// The canonical form of a value: `4096B` is `4K`, `raid6` is `6`.
fn respell(axis: &str, value: &str) -> String {
    let takes = keys::all().find(|key| key.axis_name == axis).map(|key| key.takes);
    let spelt = match takes {
        Some(Takes::Size { .. } | Takes::Spread) => parse_size(value).ok().map(format_size),
        Some(Takes::Pattern) => Pattern::parse(value).ok().map(|pattern| pattern.word()),
        Some(Takes::Percent { max }) => parse_percent(axis, value, max)
            .ok()
            .map(|percent| format!("{percent}%")),
        Some(Takes::Time) => parse_time(value).ok().map(format_time),
        Some(Takes::Word(words)) => {
            let lower = value.to_lowercase();
            let spellings = words.iter().find(|spellings| spellings.contains(&lower.as_str()));
            spellings.map(|spellings| spellings[0].to_owned())
        }
        _ => None,
    };
    spelt.unwrap_or_else(|| value.to_owned())
}
