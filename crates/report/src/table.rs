//! The result table for the terminal: a row per stack, a column per test.

mod claims;
mod comparison;
mod custom_table;
mod power_cut;

pub use comparison::comparison;

use crate::input::{Input, TrialState};
use crate::words;
use crate::words::figure::{SAME, count, decimals, number, uncertainty};
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentLineStyle, LineStyle, Table, TableStyle};
use stats::{Basis, Measure, TestResults, WorkloadResults};

/// Options for drawing it.
#[derive(Clone, Copy, Debug)]
pub struct TableOptions {
    /// Columns of the terminal. Tests that do not fit go into another table below.
    pub width: usize,
    pub colour: bool,
}

/// Two spaces between columns, a line under the heading.
const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none())
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .content_lines(ContentLineStyle::none());

/// Spaces around the text of a column: one on each side, and one to the next column.
const BLANKS: usize = 3;

/// Follows the figures of the best tier.
const BEST: &str = "*";

/// All results of a run as text, ending with a line feed.
pub fn table(input: &Input, options: TableOptions) -> String {
    let results = input.results();
    let warnings = input.warnings();
    let verdict = words::verdict::sentences(input, &results).join(" ");
    let verdict = textwrap::fill(&verdict, options.width.max(20));
    let head = [&input.plan.title, &subtitle(input)].map(|line| textwrap::fill(line, options.width.max(20)));
    let mut text = head.to_vec();
    text.extend([String::new(), verdict]);
    let claims = claims::text(&words::claims::claims(input, &warnings), options);
    let part = input.part_words();
    if !part.is_empty() {
        text.extend([String::new(), textwrap::fill(&part, options.width.max(20))]);
    }
    if !claims.is_empty() {
        // At the top, after the description of the run.
        text.splice(2..2, [String::new(), claims]);
    }
    let leading = words::control::warning(input).into_iter().chain(warnings.run.clone());
    let leading: Vec<String> = leading
        .flat_map(|warning| [String::new(), textwrap::fill(&warning, options.width.max(20))])
        .collect();
    text.splice(2..2, leading);
    for table in words::custom_table::tables(input, &results, &warnings) {
        text.push(String::new());
        text.push(custom_table::text(&table, input.is_simulated(), options));
    }
    for cuts in words::power_cut::power_cuts(input, &results) {
        text.push(String::new());
        text.push(format!("{}  ({})", cuts.workload, words::mark(input.run.machine)));
        text.push(power_cut::text(&cuts, options));
    }
    let results = words::power_cut::others(&results);
    for workload in &results.workloads {
        text.push(String::new());
        text.push(format!("{}  ({})", workload.name, words::mark(input.run.machine)));
        let doubted = warnings.of_ranking(&workload.name);
        text.extend(doubted.iter().map(|words| textwrap::fill(words, options.width.max(20))));
        text.push(workload_tables(input, workload, options).join("\n\n"));
    }
    text.push(String::new());
    text.extend(
        notes(input, &results.workloads)
            .iter()
            .map(|note| textwrap::fill(note, options.width.max(20))),
    );
    text.join("\n") + "\n"
}

fn subtitle(input: &Input) -> String {
    let done = input
        .trials
        .iter()
        .filter(|trial| trial.state == TrialState::Done)
        .count();
    let machine = words::machine(input.run.machine, &input.plan);
    let part = if input.run.only.is_empty() {
        String::new()
    } else {
        format!(" · only {}", words::axes(&input.run.only))
    };
    format!("{machine} · {} · seed {}{part}", count(done, "trial"), input.run.seed)
}

/// As many tables, one below the other, as the width requires.
fn workload_tables(input: &Input, workload: &WorkloadResults, options: TableOptions) -> Vec<String> {
    let columns: Vec<Vec<String>> = workload.tests.iter().map(|test| column(input, test)).collect();
    let widths: Vec<usize> = columns
        .iter()
        .map(|column| column.iter().map(|cell| cell.chars().count()).max().unwrap_or(0) + BLANKS)
        .collect();
    let label_width = label_width(
        input,
        options
            .width
            .saturating_sub(widths.iter().copied().max().unwrap_or(0) + BLANKS),
    );
    let mut tables = Vec::new();
    let mut place = 0;
    while place < columns.len() {
        let mut end = place + 1;
        let mut width = label_width + BLANKS + widths[place];
        while end < columns.len() && width + widths[end] <= options.width {
            width += widths[end];
            end += 1;
        }
        tables.push(one_table(
            input,
            &workload.tests[place..end],
            &columns[place..end],
            label_width,
            options.colour,
        ));
        place = end;
    }
    tables
}

/// Width of the longest label; labels are wrapped if that exceeds the available room.
fn label_width(input: &Input, room: usize) -> usize {
    const LEAST: usize = 20;
    let longest = input
        .plan
        .stack_labels()
        .iter()
        .map(|stack| stack.chars().count())
        .max();
    longest.unwrap_or(0).max("stack".len()).min(room.max(LEAST))
}

/// Heading, unit, and a cell for each stack.
fn column(input: &Input, test: &TestResults) -> Vec<String> {
    let measure = test.headline();
    let decimals = decimals(measure.rows.iter().filter_map(|row| row.summary.as_ref()));
    let leaders = measure.leaders();
    let marks = |place: usize| {
        if leaders.is_empty() {
            ""
        } else if leaders.contains(&place) {
            " *"
        } else {
            "  "
        }
    };
    let cells = measure.rows.iter().enumerate().map(|(place, row)| match &row.summary {
        Some(summary) => {
            let uncertainty = uncertainty(summary, decimals);
            let space = if uncertainty.is_empty() { "" } else { " " };
            format!(
                "{}{space}{uncertainty}{}",
                number(summary.median, decimals),
                marks(place)
            )
        }
        None => format!("{}{}", input.without_figure(row), marks(place)),
    });
    let unit_mark = if leaders.is_empty() { "" } else { "  " };
    [
        test.name.clone() + unit_mark,
        measure.metric.unit().name().to_owned() + unit_mark,
    ]
    .into_iter()
    .chain(cells)
    .collect()
}

pub(crate) fn plain_table(colour: bool) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE);
    if colour {
        table.enforce_styling()
    } else {
        table.force_no_tty()
    };
    table
}

fn one_table(
    input: &Input,
    tests: &[TestResults],
    columns: &[Vec<String>],
    label_width: usize,
    colour: bool,
) -> String {
    let mut table = plain_table(colour);
    let heading = |column: &Vec<String>| right(format!("{}\n{}", column[0], column[1]));
    table.set_header(std::iter::once(Cell::new("stack")).chain(columns.iter().map(heading)));
    for (place, stack) in input.plan.stack_labels().into_iter().enumerate() {
        let cells = columns.iter().zip(tests).map(|(column, test)| {
            let cell = right(column[place + 2].clone());
            styled(cell, test.headline(), place, colour)
        });
        let label = textwrap::fill(stack, label_width);
        table.add_row(std::iter::once(Cell::new(label)).chain(cells));
    }
    table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

pub(crate) fn right(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

fn styled(cell: Cell, measure: &Measure, place: usize, colour: bool) -> Cell {
    match (colour, &measure.rows[place].summary) {
        (true, None) => cell.fg(Color::Red),
        (true, Some(_)) if measure.leaders().contains(&place) => {
            cell.fg(Color::Green).add_attribute(Attribute::Bold)
        }
        _ => cell,
    }
}

fn notes(input: &Input, workloads: &[WorkloadResults]) -> Vec<String> {
    let measures: Vec<&Measure> = workloads
        .iter()
        .flat_map(|workload| &workload.tests)
        .map(TestResults::headline)
        .collect();
    let intervals = || {
        measures
            .iter()
            .flat_map(|measure| &measure.rows)
            .filter_map(|row| row.summary.as_ref()?.interval)
    };
    let mut notes = Vec::new();
    if intervals().next().is_some() {
        notes.push("median ± half of its 95 % interval, or both ends of a wide one".to_owned());
    }
    if measures.iter().any(|measure| !measure.leaders().is_empty()) {
        notes.push(format!(
            "{BEST} no stack is shown to be faster; no mark where none is shown to differ"
        ));
    }
    if intervals().any(|interval| interval.basis == Basis::Identical) {
        notes.push(format!(
            "{SAME}: all trials gave this value; it does not depend on the seed"
        ));
    }
    if intervals().any(|interval| interval.basis == Basis::LogNormal) {
        notes.push("with fewer than six trials intervals assume log-normal values".to_owned());
    }
    let failed = input
        .trials
        .iter()
        .filter(|trial| matches!(trial.state, TrialState::Failed(_)))
        .count();
    if failed > 0 {
        notes.push(format!("{} failed: `raidlab report` says why", count(failed, "trial")));
    }
    let excluded: usize = measures
        .iter()
        .flat_map(|measure| &measure.rows)
        .map(|row| row.excluded.len())
        .sum();
    let not_placed = measures.iter().any(|measure| measure.not_placed().next().is_some());
    if not_placed {
        notes.push("figures without an interval come from too few trials to rank".to_owned());
    }
    if excluded > 0 {
        notes.push(format!("{} excluded by a failed guard", count(excluded, "sample")));
    }
    notes.extend(words::processor_notes(input));
    notes.extend(words::rebuild::note(input));
    notes.extend(words::device_time::note(input));
    notes.extend(words::control::note(input).map(|note| format!("A/A control: {note}")));
    notes
}
