//! The axes that span a map.

use study::plan::{Cell, Side};

/// Fewer places are a table with a few rows.
const PLACES_MIN: usize = 6;

/// Share of a map's places that must be filled.
const FILLED_MIN: f64 = 0.6;

/// Maximum number of maps per test: more of them show nothing at a glance.
const FACETS_MAX: usize = 24;

/// Rows, columns and small multiples.
#[derive(Debug, PartialEq)]
pub(super) struct Layout {
    pub row_axis: String,
    pub column_axis: String,
    pub row_values: Vec<String>,
    pub column_values: Vec<String>,
    /// The values of all other axes that vary; a single empty one if none does.
    pub facets: Vec<Side>,
}

/// An axis with its values in the study's order.
struct Varied<'a> {
    name: &'a str,
    values: Vec<&'a str>,
}

impl Layout {
    /// `None` if the cells do not vary along two axes, or would leave a map too empty.
    pub(super) fn of(cells: &[&Cell]) -> Option<Self> {
        let axes = independent(varied(cells), cells);
        // The two with the most values; among equals, the first ones.
        let mut by_size: Vec<&Varied<'_>> = axes.iter().collect();
        by_size.sort_by_key(|axis| std::cmp::Reverse(axis.values.len()));
        let (&rows, &columns) = (by_size.first()?, by_size.get(1)?);
        let others: Vec<&str> = axes
            .iter()
            .map(|axis| axis.name)
            .filter(|name| *name != rows.name && *name != columns.name)
            .collect();
        let facets = facets(cells, &others);
        let places = rows.values.len() * columns.values.len();
        let is_filled = cells.len() as f64 >= FILLED_MIN * (places * facets.len()) as f64;
        let owned = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        (places >= PLACES_MIN && is_filled && facets.len() <= FACETS_MAX).then(|| Self {
            row_axis: rows.name.to_owned(),
            column_axis: columns.name.to_owned(),
            row_values: owned(&rows.values),
            column_values: owned(&columns.values),
            facets,
        })
    }

    /// Whether a cell belongs to this place of this map.
    pub(super) fn is_at(&self, cell: &Cell, facet: &Side, row: &str, column: &str) -> bool {
        let is = |axis: &str, wanted: &str| value(cell, axis) == Some(wanted);
        is(&self.row_axis, row)
            && is(&self.column_axis, column)
            && facet.iter().all(|(axis, wanted)| is(axis, wanted))
    }
}

fn value<'a>(cell: &'a Cell, axis: &str) -> Option<&'a str> {
    let pair = cell.axes.iter().find(|(name, _)| name == axis);
    pair.map(|(_, value)| value.as_str())
}

/// The axes that all cells have and in which they differ.
fn varied<'a>(cells: &[&'a Cell]) -> Vec<Varied<'a>> {
    let Some(first) = cells.first() else {
        return Vec::new();
    };
    let names = first.axes.iter().map(|(name, _)| name.as_str());
    let axes = names.filter_map(|name| {
        let mut values: Vec<&str> = Vec::new();
        for cell in cells {
            let value = value(cell, name)?;
            if !values.contains(&value) {
                values.push(value);
            }
        }
        (values.len() > 1).then_some(Varied { name, values })
    });
    axes.collect()
}

/// Removes axes that depend on another one; of two that depend on each other the first one stays.
fn independent<'a>(mut axes: Vec<Varied<'a>>, cells: &[&Cell]) -> Vec<Varied<'a>> {
    let mut place = axes.len();
    while place > 0 {
        place -= 1;
        let follows = (0..axes.len()).any(|other| other != place && follows(axes[place].name, &axes[other], cells));
        if follows {
            axes.remove(place);
        }
    }
    axes
}

/// Whether each value of `other` occurs with only one value of `axis`.
fn follows(axis: &str, other: &Varied<'_>, cells: &[&Cell]) -> bool {
    other.values.iter().all(|wanted| {
        let mut with = cells
            .iter()
            .filter(|cell| value(cell, other.name) == Some(wanted))
            .map(|cell| value(cell, axis));
        let first = with.next();
        with.all(|value| Some(value) == first)
    })
}

/// The existing combinations of these axes, in the study's order.
fn facets(cells: &[&Cell], axes: &[&str]) -> Vec<Side> {
    let mut all: Vec<Side> = Vec::new();
    for cell in cells {
        let pairs = axes
            .iter()
            .filter_map(|axis| Some(((*axis).to_owned(), value(cell, axis)?.to_owned())));
        let side: Side = pairs.collect();
        if !all.contains(&side) {
            all.push(side);
        }
    }
    all
}
