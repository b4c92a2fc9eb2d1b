//! Axes and their points: lists on several axes are combined.

use crate::Known;
use crate::parse::entry::{Content, Entry};
use crate::parse::value::{Given, Value, default_value};
use crate::schema::key::{self, Key, Takes};
use crate::schema::keys;
use crate::syntax::diagnostic::Span;
use std::borrow::Cow;

/// An axis with its values for one stack or workload.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub name: Cow<'static, str>,
    pub values: Vec<Given>,
    /// Whether its key is in the file.
    pub written: bool,
}

/// The name of the axis of a variable of a job file: its own, unless a key has it.
pub(crate) fn axis_of_variable(name: &str) -> String {
    const OTHERS: [&str; 7] = ["workload", "stack", "test", "metric", "replicate", "cores", "figure"];
    let is_taken = keys::all().any(|key| key.axis_name == name || key.name == name) || OTHERS.contains(&name);
    if is_taken {
        format!("fio_{name}")
    } else {
        name.to_owned()
    }
}

/// The axes of a table of the file: every key that is an axis, with its default if missing.
pub(crate) fn axes_of(entry: &Entry, known: &Known) -> Vec<Axis> {
    // fio has many further options; only those in the file are listed.
    let speaks = |key: &&Key| !matches!(key.takes, Takes::FioOption) || entry.field(key.name).is_some();
    let keys = entry
        .table
        .keys()
        .filter(|key| key.axis != key::Axis::Single && !matches!(key.takes, Takes::Variables))
        .filter(speaks);
    let variables = entry.table.keys().filter(|key| matches!(key.takes, Takes::Variables));
    let variables = variables
        .flat_map(|key| entry.variables(key.name))
        .map(|variable| Axis {
            name: axis_of_variable(&variable.name).into(),
            values: variable.values.clone(),
            written: true,
        });
    let of_keys = keys.map(|key| {
        let field = entry.field(key.name);
        let values = match field.map(|field| &field.content) {
            Some(Content::Values(values)) if !values.is_empty() => values.clone(),
            _ if entry.is_broken(key.name) => vec![Given {
                value: Value::Broken,
                span: entry.span.clone(),
            }],
            _ => vec![Given {
                value: default_value(key, known),
                span: entry.span.clone(),
            }],
        };
        Axis {
            name: key.axis_name.into(),
            values,
            written: field.is_some(),
        }
    });
    of_keys.chain(variables).collect()
}

/// A combination of one value from each axis.
#[derive(Clone, Debug)]
pub(crate) struct Point<'a> {
    axes: &'a [Axis],
    picks: Vec<usize>,
}

impl<'a> Point<'a> {
    fn given(&self, name: &str) -> Option<(&'a Given, bool)> {
        let at = self.axes.iter().position(|axis| axis.name == name)?;
        Some((&self.axes[at].values[self.picks[at]], self.axes[at].written))
    }

    pub fn get(&self, name: &str) -> &'a Value {
        self.given(name).map_or(&Value::Default, |(given, _)| &given.value)
    }

    /// The value of a size, a count or a time.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.get(name).count()
    }

    pub fn small(&self, name: &str) -> u32 {
        self.number(name).map_or(0, |n| u32::try_from(n).unwrap_or(u32::MAX))
    }

    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Value::Flag(true))
    }

    /// The value of a text or word; `None` if left at the default.
    pub fn text(&self, name: &str) -> Option<String> {
        match self.get(name) {
            Value::Text(_) | Value::Word(_) => Some(self.get(name).word()),
            _ => None,
        }
    }

    pub fn is_broken(&self, name: &str) -> bool {
        *self.get(name) == Value::Broken
    }

    /// Whether the axis has other values than this one.
    pub fn has_others(&self, name: &str) -> bool {
        let axis = self.axes.iter().find(|axis| axis.name == name);
        axis.is_some_and(|axis| axis.values.iter().any(|given| given.value != *self.get(name)))
    }

    /// Whether it is the first value of the axis.
    pub fn is_first(&self, name: &str) -> bool {
        let at = self.axes.iter().position(|axis| axis.name == name);
        at.is_none_or(|at| self.picks[at] == 0)
    }

    pub fn has_broken(&self) -> bool {
        self.axes
            .iter()
            .zip(&self.picks)
            .any(|(axis, pick)| axis.values[*pick].value == Value::Broken)
    }

    /// Whether the axis's key is in the file.
    pub fn is_written(&self, name: &str) -> bool {
        self.given(name).is_some_and(|(_, written)| written)
    }

    /// Position of the value in the file, if it is there.
    pub fn span(&self, name: &str) -> Option<&'a Span> {
        self.given(name)
            .filter(|(_, written)| *written)
            .map(|(given, _)| &given.span)
    }

    pub fn words(&self) -> impl Iterator<Item = (&'a str, String)> + use<'a, '_> {
        self.axes
            .iter()
            .zip(&self.picks)
            .map(|(axis, pick)| (axis.name.as_ref(), axis.values[*pick].value.word()))
    }
}

/// Number of points.
pub(crate) fn size(axes: &[Axis]) -> usize {
    axes.iter().fold(1, |size, axis| size.saturating_mul(axis.values.len()))
}

/// The most text that a point of these axes has.
pub(crate) fn text_bytes(axes: &[Axis]) -> usize {
    let longest = |axis: &Axis| {
        let words = axis.values.iter().map(|given| given.value.word().len());
        words.max().unwrap_or(0)
    };
    let written = axes.iter().filter(|axis| axis.written);
    written.map(|axis| axis.name.len() + longest(axis)).sum()
}

/// All points; the last axis changes fastest.
pub(crate) fn points(axes: &[Axis]) -> impl Iterator<Item = Point<'_>> {
    let mut next = (size(axes) > 0).then(|| vec![0; axes.len()]);
    std::iter::from_fn(move || {
        let picks = next.take()?;
        let mut after = picks.clone();
        for (at, axis) in axes.iter().enumerate().rev() {
            after[at] += 1;
            if after[at] < axis.values.len() {
                next = Some(after);
                break;
            }
            after[at] = 0;
        }
        Some(Point { axes, picks })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(name: &'static str, values: &[u64]) -> Axis {
        let given = |n: &u64| Given {
            value: Value::Count(*n),
            span: 0..0,
        };
        Axis {
            name: name.into(),
            values: values.iter().map(given).collect(),
            written: true,
        }
    }

    #[test]
    fn axes_multiply_and_the_last_changes_fastest() {
        let axes = [axis("a", &[1, 2]), axis("b", &[7]), axis("c", &[3, 4])];
        let seen: Vec<Vec<u64>> = points(&axes)
            .map(|point| ["a", "b", "c"].iter().filter_map(|name| point.number(name)).collect())
            .collect();
        assert_eq!(seen, [[1, 7, 3], [1, 7, 4], [2, 7, 3], [2, 7, 4]]);
        assert_eq!(size(&axes), 4);
    }

    #[test]
    fn no_axes_span_one_point() {
        assert_eq!(points(&[]).count(), 1);
        assert_eq!(points(&[axis("a", &[])]).count(), 0);
    }
}
