//! What each figure of the disks' models changes: cells with one figure at an end of its range against those with the models as they are.

use crate::input::Input;
use crate::table::{TableOptions, plain_table, right};
use crate::words::figure::{number, number_of};
use crate::words::named;
use comfy_table::Cell as TableCell;
use stats::{Effect, InBlock, Measure, times_better};
use study::Measurement;
use study::metric::{Better, Metric};
use study::plan::Cell;
use study::stack::MovedFigure;

/// Figures that change less are not listed.
const SHOWN_MIN: f64 = 0.02;

/// Stacks next to one another.
const STACKS_MAX: usize = 5;

/// What one figure changes in a test.
struct Moved<'a> {
    model: &'a str,
    figure: &'a str,
    words: &'a str,
    /// By factor, the smaller first, with what becomes of each stack.
    ends: Vec<(f64, Vec<Option<Change>>)>,
}

/// A stack's figure with a moved figure against that with the models as they are: above 1 is better.
#[derive(Clone, Copy)]
struct Change {
    ratio: f64,
    /// At 95 %, for this pair alone.
    is_shown: bool,
}

/// A table for each test, and the figures with which another stack leads. `None` if no figure of the run was moved.
pub fn sensitivity(input: &Input, options: TableOptions) -> Option<String> {
    if input.plan.cells.iter().all(|cell| cell.machine.moved.is_none()) {
        return None;
    }
    let fill = |line: &str| textwrap::fill(line, options.width.max(20));
    let mut text = vec![
        fill(&input.plan.title),
        fill(
            "What each figure of the disks' models changes (simulated): one at a time at the ends of its range, within which it is at 95 %; \
             all else, also the seeds, is equal. Positive is better; in parentheses what trials do not show to be more than scatter.",
        ),
    ];
    let mut decided = Vec::new();
    for workload in &input.results().workloads {
        for test in &workload.tests {
            let measure = test.headline();
            if measure.metric.better() == Better::Neither {
                continue;
            }
            let name = named(&workload.name, &test.name);
            let stacks = stacks(input, &workload.name, measure);
            let moved = moved(input, (&workload.name, &test.name), measure.metric, &stacks);
            for part in (0..stacks.len()).collect::<Vec<_>>().chunks(STACKS_MAX) {
                text.push(String::new());
                text.push(format!("{name}, {}", measure.metric.unit().name()));
                text.push(one_table(&stacks, &moved, part, options));
            }
            decided.extend(leaders(&name, measure, &stacks, &moved));
        }
    }
    text.push(String::new());
    if decided.is_empty() {
        text.push(fill(
            "No figure at an end of its range changes which stack leads in a test.",
        ));
    }
    text.extend(decided.iter().map(|line| fill(line)));
    Some(text.join("\n") + "\n")
}

/// Labels of the stacks with the models as they are, and their figures in this measure.
fn stacks<'a>(input: &'a Input, workload: &str, measure: &Measure) -> Vec<(&'a Cell, f64)> {
    let own = input.plan.cells.iter().filter(|cell| cell.workload.name == workload);
    let own = own.filter(|cell| cell.machine.moved.is_none());
    own.filter_map(|cell| Some((cell, median(measure, cell)?))).collect()
}

fn median(measure: &Measure, cell: &Cell) -> Option<f64> {
    let row = measure.rows.iter().find(|row| row.cell == Some(cell.id))?;
    row.summary
        .as_ref()
        .map(|summary| summary.median)
        .filter(|median| *median > 0.0)
}

/// By trials of the same seeds of these two cells alone: the scatter of one stack says nothing of another's.
fn change(input: &Input, test: &str, metric: Metric, [own, moved]: [&Cell; 2]) -> Option<Change> {
    let values = |cell: &Cell| -> Vec<InBlock> {
        let is_of = |sample: &&Measurement| sample.trial.cell == cell.id && sample.entry.metric == metric;
        let samples = input.samples.iter().filter(is_of);
        let samples = samples.filter(|sample| sample.entry.test == test && sample.counts());
        samples.map(InBlock::by_seed).collect()
    };
    let effect = Effect::of(&values(moved), &values(own), None)?;
    let effect = stats::faster(effect, metric.better());
    Some(Change {
        ratio: effect.ratio(),
        is_shown: effect.p_differ() <= stats::ALPHA,
    })
}

fn moved<'a>(
    input: &'a Input,
    (workload, test): (&str, &str),
    metric: Metric,
    stacks: &[(&Cell, f64)],
) -> Vec<Moved<'a>> {
    let mut all: Vec<Moved<'a>> = Vec::new();
    for cell in input.plan.cells.iter().filter(|cell| cell.workload.name == workload) {
        let Some(end) = &cell.machine.moved else {
            continue;
        };
        let MovedFigure {
            model,
            figure,
            factor,
            words,
        } = end;
        let is_of = |(own, _): &(&Cell, f64)| cell.stack_label == end.of_stack(&own.stack_label);
        let Some(place) = stacks.iter().position(is_of) else {
            continue;
        };
        let known = all
            .iter()
            .position(|moved| moved.figure == figure && moved.model == model);
        let known = known.unwrap_or_else(|| {
            all.push(Moved {
                model,
                figure,
                words,
                ends: Vec::new(),
            });
            all.len() - 1
        });
        let ends = &mut all[known].ends;
        let end = ends.iter().position(|(other, _)| other == factor).unwrap_or_else(|| {
            ends.push((*factor, vec![None; stacks.len()]));
            ends.len() - 1
        });
        ends[end].1[place] = change(input, test, metric, [stacks[place].0, cell]);
    }
    let most = |moved: &Moved<'_>| {
        let changes = moved.ends.iter().flat_map(|(_, changes)| changes.iter().flatten());
        let shown = changes.filter(|change| change.is_shown);
        shown.map(|change| change.ratio.ln().abs()).fold(0.0, f64::max)
    };
    for one in &mut all {
        one.ends.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    all.sort_by(|one, other| most(other).total_cmp(&most(one)));
    all.retain(|moved| most(moved) >= SHOWN_MIN);
    all
}

fn one_table(stacks: &[(&Cell, f64)], moved: &[Moved<'_>], part: &[usize], options: TableOptions) -> String {
    let mut table = plain_table(options.colour);
    let labels = part.iter().map(|&place| right(stacks[place].0.stack_label.clone()));
    table.set_header(
        [TableCell::new("figure"), right("times".to_owned())]
            .into_iter()
            .chain(labels),
    );
    let own = part.iter().map(|&place| right(number_of(stacks[place].1)));
    table.add_row(
        [TableCell::new("as modelled"), right(String::new())]
            .into_iter()
            .chain(own),
    );
    let has_models = moved.iter().any(|one| one.model != moved[0].model);
    for one in moved {
        let name = match has_models {
            true => format!("{} of {}", one.words, one.model),
            false => one.words.to_owned(),
        };
        let factors: Vec<String> = one.ends.iter().map(|(factor, _)| times(*factor)).collect();
        let of_stack = |place: usize| {
            let of_end =
                |(_, changes): &(f64, Vec<Option<Change>>)| changes[place].map_or_else(|| "–".to_owned(), percent);
            one.ends.iter().map(of_end).collect::<Vec<_>>().join(" / ") + " %"
        };
        let cells = part.iter().map(|&place| right(of_stack(place)));
        table.add_row(
            [TableCell::new(name), right(factors.join(" / "))]
                .into_iter()
                .chain(cells),
        );
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    let others = match moved.is_empty() {
        true => "no figure is shown to change 2 % or more",
        false => "no other figure is shown to change 2 % or more",
    };
    lines.join("\n") + "\n" + others
}

fn times(factor: f64) -> String {
    match factor > 0.0 {
        true => number(factor, 2),
        false => "the other way".to_owned(),
    }
}

/// `+12`, `(−1)`.
fn percent(change: Change) -> String {
    let percent = ((change.ratio - 1.0) * 100.0).round() + 0.0;
    let words = match percent > 0.0 {
        true => format!("+{percent:.0}"),
        false => format!("{percent:.0}").replace('-', "−"),
    };
    match change.is_shown {
        true => words,
        false => format!("({words})"),
    }
}

/// Ends with which another stack leads, in sentences.
fn leaders(name: &str, measure: &Measure, stacks: &[(&Cell, f64)], moved: &[Moved<'_>]) -> Vec<String> {
    let Some(&(_, of_first)) = stacks.first() else {
        return Vec::new();
    };
    // Larger is better.
    let own = |place: usize| times_better(measure.metric.better(), stacks[place].1, of_first);
    let leader =
        |score: &dyn Fn(usize) -> f64| (0..stacks.len()).max_by(|&one, &other| score(one).total_cmp(&score(other)));
    let Some(first) = leader(&own) else {
        return Vec::new();
    };
    let label = |place: usize| &stacks[place].0.stack_label;
    let mut sentences = Vec::new();
    for one in moved {
        for (factor, changes) in &one.ends {
            let ratio = |change: Change| if change.is_shown { change.ratio } else { 1.0 };
            let score = |place: usize| changes[place].map_or(0.0, |change| ratio(change) * own(place));
            let Some(other) = leader(&score).filter(|&other| score(other) > score(first) * (1.0 + SHOWN_MIN))
            else {
                continue;
            };
            sentences.push(format!(
                "{name}: {} leads as modelled, {} with `{}` {}, which `raidlab disk measure DEVICE -o FILE{}` measures.",
                label(first),
                label(other),
                one.words,
                match *factor > 0.0 {
                    true => format!("× {}", times(*factor)),
                    false => times(*factor),
                },
                if needs_writes(one.figure) { " --destroy SERIAL" } else { "" }
            ));
        }
    }
    sentences
}

/// Whether `raidlab disk measure` has to write to the disk for a figure.
fn needs_writes(figure: &str) -> bool {
    ["write", "program", "spare", "slc", "buffer_sectors"]
        .iter()
        .any(|word| figure.contains(word))
        || figure == "flash.overheads"
}
