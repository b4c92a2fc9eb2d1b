//! The result table for the terminal: a row per stack, a column per test.

mod claims;
mod comparison;
mod custom_table;
mod imported_against_own;
mod power_cut;
mod scoreboard;

pub use comparison::comparison;

use crate::input::Input;
use crate::scoreboard::{sentences, stack_facts, verdict};
use crate::words;
use crate::words::figure::{RateUnit, SAME, bytes, count, decimals, shown};
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentLineStyle, LineStyle, Table, TableStyle};
use stats::{Basis, Measure, Summary, TestResults, WorkloadResults};
use study::stack::{MachineKind, MachineSpec};

/// Options for drawing it.
#[derive(Clone, Copy, Debug)]
pub struct TableOptions {
    /// Columns of the terminal. Tests that do not fit go into another table below.
    pub width: usize,
    pub colour: bool,
    pub rates: RateUnit,
}

impl TableOptions {
    /// Without colours.
    pub const fn plain(width: usize) -> Self {
        Self {
            width,
            colour: false,
            rates: RateUnit::MiB,
        }
    }
}

/// Two spaces between columns, a line under the heading.
const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none())
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .content_lines(ContentLineStyle::none());

/// Spaces around the text of a column: one on each side, and one to the next column.
const BLANKS: usize = 3;

/// Warnings about the study that are shown above the tables.
const ADVICE_MAX: usize = 4;

/// What is known of the disk models stands next to the verdict if there are no more of them, else below the tables.
const MODELS_MAX: usize = 2;

/// Follows the figures of the best tier.
const BEST: &str = "*";

/// All results of a run as text, ending with a line feed.
pub fn table(input: &Input, options: TableOptions) -> String {
    let results = input.results();
    let warnings = input.warnings();
    let board = input.scoreboard(&results, &warnings);
    let fill = |line: &str| textwrap::fill(line, options.width.max(20));
    let mut text = vec![fill(&input.plan.title), fill(&subtitle(input))];
    let mut add = |words: String| {
        if !words.is_empty() {
            text.extend([String::new(), words]);
        }
    };
    let leading = words::aa_control::warning(input)
        .into_iter()
        .chain(warnings.run.clone());
    leading.for_each(|warning| add(fill(&warning)));
    add(fill(
        &verdict::verdict_sentences(input, &results, &board, options.rates).join(" "),
    ));
    let of_safety = input.of_safety.iter();
    of_safety.for_each(|sentence| add(fill(&format!("warning: {sentence}"))));
    let models = words::models(input);
    if models.len() <= MODELS_MAX {
        add(fill(&models.join(" ")));
    }
    words::explanations(input, &results)
        .iter()
        .for_each(|words| add(fill(words)));
    let pairs = words::imported_against_own::pairs(input, &results, options.rates);
    add(imported_against_own::text(
        &pairs,
        words::mark(input.run.machine),
        options,
    ));
    add(scoreboard::text(&board, words::mark(input.run.machine), options));
    let choices = sentences::choices(&board, options.rates);
    add(choices.iter().map(|line| fill(line)).collect::<Vec<_>>().join("\n"));
    add(fill(&stack_facts::facts_that_are_shared(&board)));
    add(board
        .by_axis
        .iter()
        .chain(&board.guesses)
        .map(|line| fill(line))
        .collect::<Vec<_>>()
        .join("\n"));
    add(advice(input)
        .iter()
        .map(|line| fill(line))
        .collect::<Vec<_>>()
        .join("\n"));
    add(fill(&input.part_words()));
    add(claims::text(&words::claims::claims(input, &warnings), options));
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
    let (done, _) = input.done_and_failed();
    let machine = words::machine(input.run.machine, &input.plan);
    let part = if input.run.only.is_empty() {
        String::new()
    } else {
        format!(" · only {}", words::axes(&input.run.only))
    };
    let imported = match input.has_imported() {
        true => " · with imported results, which were measured elsewhere",
        false => "",
    };
    let shared = shared_machine(input).map_or_else(String::new, |words| format!(" · {words}"));
    format!(
        "{machine}{shared} · {} · seed {}{part}{imported}",
        count(done, "trial"),
        input.run.seed
    )
}

/// Warnings about the study, as `raidlab plan` gives them: figures may not mean what their names say.
fn advice(input: &Input) -> Vec<String> {
    let listed = input.advice.iter().take(ADVICE_MAX);
    let mut lines: Vec<String> = listed.map(|sentence| format!("warning: {sentence}")).collect();
    if let more @ 1.. = input.advice.len().saturating_sub(ADVICE_MAX) {
        lines.push(format!(
            "{}: `raidlab plan` and `raidlab report` show all",
            count(more, "more warning")
        ));
    }
    lines
}

/// What all cells have in common of disks, kernel, memory and processor.
fn shared_machine(input: &Input) -> Option<String> {
    let own = || input.plan.cells.iter().filter(|cell| !cell.is_imported());
    let machine = &own()
        .next()
        .filter(|cell| cell.machine.kind == MachineKind::Lab)?
        .machine;
    let shared = |is_same: &dyn Fn(&MachineSpec) -> bool, words: String| {
        own().all(|cell| is_same(&cell.machine)).then_some(words)
    };
    let processor = machine.processor.as_ref().map_or_else(
        || "processor time not modelled".to_owned(),
        |processor| format!("processor {}", processor.model),
    );
    let parts = [
        shared(&|other| other.disks == machine.disks, words::disks(machine)),
        shared(
            &|other| other.kernel == machine.kernel,
            format!("kernel {}", machine.kernel),
        ),
        shared(
            &|other| other.ram_bytes == machine.ram_bytes,
            format!("{} of RAM", bytes(machine.ram_bytes)),
        ),
        shared(&|other| other.processor == machine.processor, processor),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// As many tables, one below the other, as the width requires.
fn workload_tables(input: &Input, workload: &WorkloadResults, options: TableOptions) -> Vec<String> {
    let columns: Vec<Vec<String>> = workload
        .tests
        .iter()
        .map(|test| column(input, test, options.rates))
        .collect();
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
fn column(input: &Input, test: &TestResults, rates: RateUnit) -> Vec<String> {
    let measure = test.headline();
    let (unit, factor) = rates.of(measure.metric);
    let scaled = |row: &stats::Row| row.summary.as_ref().map(|summary| summary.scaled(factor));
    let summaries: Vec<Option<Summary>> = measure.rows.iter().map(scaled).collect();
    let decimals = decimals(summaries.iter().flatten());
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
    let cells = measure
        .rows
        .iter()
        .zip(&summaries)
        .enumerate()
        .map(|(place, (row, summary))| match summary {
            Some(summary) => {
                let (figure, uncertainty) = shown(measure.metric, summary, decimals);
                let space = if uncertainty.is_empty() { "" } else { " " };
                format!("{figure}{space}{uncertainty}{}", marks(place))
            }
            None => format!("{}{}", input.without_figure(row), marks(place)),
        });
    let unit_mark = if leaders.is_empty() { "" } else { "  " };
    [test.name.clone() + unit_mark, unit.to_owned() + unit_mark]
        .into_iter()
        .chain(cells)
        .collect()
}

pub(super) fn plain_table(colour: bool) -> Table {
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
        // What drawn models add stands below.
        let is_drawn = intervals().any(|interval| interval.basis == Basis::Drawn);
        let models = match input.is_simulated() && !is_drawn {
            true => "; it says how trials scatter, not how exact the models are",
            false => "",
        };
        notes.push(format!(
            "median ± half of its 95 % interval, or both ends of a wide one{models}"
        ));
    }
    if measures.iter().any(|measure| !measure.leaders().is_empty()) {
        notes.push(format!(
            "{BEST} the fastest, or not shown to be slower; no mark where none is shown to differ"
        ));
    }
    if intervals().any(|interval| interval.basis == Basis::Drawn) {
        notes.push(
            "each trial has disks of another model, drawn from what is not known of them: 95 % intervals are of one such disk, and \
             more trials make them hardly narrower"
                .to_owned(),
        );
    }
    if intervals().any(|interval| interval.basis == Basis::Identical) {
        notes.push(format!(
            "{SAME}: all trials gave this value; it does not depend on the seed"
        ));
    }
    if intervals().any(|interval| interval.basis == Basis::LogNormal) {
        notes.push("with fewer than six trials intervals assume log-normal values".to_owned());
    }
    let not_placed = measures.iter().any(|measure| measure.not_placed().next().is_some());
    if not_placed {
        notes.push("figures without an interval come from too few trials to rank".to_owned());
    }
    notes.extend(words::failures::lines(input));
    notes.extend(words::guards::lines(input));
    let models = words::models(input);
    if models.len() > MODELS_MAX {
        notes.extend(models);
    }
    notes.extend(words::limits(input));
    notes.extend(words::rebuild::note(input));
    notes.extend(words::device_time::note(input));
    notes.extend(words::aa_control::note(input).map(|note| format!("A/A control: {note}")));
    notes
}
