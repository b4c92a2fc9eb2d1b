//! What a rebuild's figures are of, in words: a member of a study is often a small part of its disk.

use crate::input::Input;
use std::collections::BTreeSet;
use study::metric::Metric;
use study::wording::bytes;

/// The note below tables with rebuilds.
pub(crate) fn note(input: &Input) -> Option<String> {
    let rebuilt: BTreeSet<_> = input
        .samples
        .iter()
        .filter(|sample| sample.entry.metric == Metric::TimeToRebuild)
        .map(|sample| sample.trial.cell)
        .collect();
    let of_cells = input.plan.cells.iter().filter(|cell| rebuilt.contains(&cell.id));
    let sizes: BTreeSet<Option<u64>> = of_cells.map(|cell| cell.stack.array.member_size_bytes).collect();
    let words: Vec<String> = sizes
        .iter()
        .map(|size| size.map_or_else(|| "whole disks".to_owned(), bytes))
        .collect();
    let has_hours = input
        .samples
        .iter()
        .any(|sample| sample.entry.metric == Metric::TimeToRebuildDisk);
    let hours = match has_hours {
        true => {
            "; `h` are hours for the whole disk, if each of its zones reaches the same share of its rate; under load \
                 very roughly, since md's stops count more on a small member and seeks are shorter there: compare members of \
                 two sizes"
        }
        false => "",
    };
    (!words.is_empty()).then(|| format!("rebuild: measured on members of {}{hours}", words.join(", ")))
}
