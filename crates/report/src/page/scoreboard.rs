//! The first screen: the scoreboard, and what there is to choose from.

use crate::scoreboard::sentences::{
    choices, figures, ratio, short_tests, test_name, weights, worst, worst_heading,
};
use crate::scoreboard::stack_facts::{facts_that_are_shared, facts_that_differ};
use crate::scoreboard::{Column, Score, ScoreRow, Scoreboard};
use crate::words::figure::RateUnit;
use serde::Serialize;

/// More rows are folded.
const ROWS_MAX: usize = 10;

#[derive(Serialize)]
pub(super) struct Board {
    columns: Vec<Heading>,
    /// The heading of the largest losses.
    worst: &'static str,
    /// Facts of the stacks that differ.
    facts: Vec<String>,
    rows: Vec<Row>,
    /// Further rows, which are folded.
    more: Vec<Row>,
    has_best: bool,
    has_excluded: bool,
    has_doubts: bool,
    /// What all stacks have in common; empty if nothing.
    shared: String,
    choices: Vec<String>,
    /// What values of axes change.
    by_axis: Vec<String>,
}

#[derive(Serialize)]
struct Heading {
    workload: String,
    test: String,
    is_doubtful: bool,
    /// `too short`; empty if it counts.
    not_counted: &'static str,
}

#[derive(Serialize)]
struct Row {
    stack: String,
    is_leader: bool,
    worst: String,
    cells: Vec<Cell>,
    facts: Vec<String>,
}

#[derive(Serialize)]
struct Cell {
    /// Within a column of several tests.
    test: String,
    ratio: String,
    interval: String,
    /// For a pointer: the test and its figures. Not of folded rows, which may be many.
    title: String,
    /// The strength of its shade: 100 for the best.
    heat: u32,
    is_best: bool,
    is_doubtful: bool,
    is_missing: bool,
}

pub(super) fn board(board: &Scoreboard) -> Board {
    let facts = facts_that_differ(board);
    let leaders = board
        .advice
        .choice()
        .map_or(&[] as &[usize], |choice| choice.leaders.as_slice());
    let row = |(place, row): (usize, &ScoreRow)| Row {
        stack: row.stack.clone(),
        is_leader: leaders.contains(&place),
        worst: worst(board, row),
        cells: row
            .scores
            .iter()
            .enumerate()
            .map(|(column, score)| cell(board, column, score, place < ROWS_MAX))
            .collect(),
        facts: facts.iter().map(|(_, facts)| facts[place].clone()).collect(),
    };
    let mut rows: Vec<Row> = board.rows.iter().enumerate().map(row).collect();
    let more = rows.split_off(rows.len().min(ROWS_MAX));
    let scores = || board.rows.iter().flat_map(|row| &row.scores);
    let heading = |column: &Column| Heading {
        workload: column.workload.clone(),
        test: column.test.clone(),
        is_doubtful: column.is_doubtful,
        not_counted: column.not_counted().unwrap_or_default(),
    };
    Board {
        worst: worst_heading(board),
        columns: board.columns.iter().map(heading).collect(),
        has_best: scores().any(|score| score.is_best),
        has_excluded: scores().any(|score| score.excluded > 0),
        has_doubts: board.columns.iter().any(|column| column.is_doubtful),
        facts: facts.into_iter().map(|(heading, _)| heading.to_owned()).collect(),
        rows,
        more,
        shared: [weights(board), short_tests(board), facts_that_are_shared(board)]
            .join(" ")
            .trim()
            .to_owned(),
        choices: choices(board, RateUnit::MiB),
        by_axis: [board.by_axis.clone(), board.guesses.clone()].concat(),
    }
}

fn cell(board: &Scoreboard, column: usize, score: &Score, has_title: bool) -> Cell {
    let interval = score.interval.map(|interval| match interval.low == interval.high {
        true => "(same)".to_owned(),
        false => format!("{}–{}", ratio(interval.low), ratio(interval.high)),
    });
    let is_missing = score.ratio.is_none();
    Cell {
        test: if is_missing {
            ""
        } else {
            board.columns[column].test_within(score)
        }
        .to_owned(),
        ratio: score.ratio.map_or_else(|| score.missing.to_owned(), ratio),
        interval: interval.unwrap_or_default(),
        title: match has_title && !is_missing {
            false => String::new(),
            true => format!("{}: {}", test_name(board, column, score), figures(score, RateUnit::MiB)),
        },
        heat: score.ratio.map_or(0, |ratio| (100.0 * ratio.min(1.0)).round() as u32),
        is_best: score.is_best,
        is_doubtful: score.excluded > 0,
        is_missing,
    }
}
