//! The commands that build the stacks that the scoreboard leaves to choose from.

use crate::input::Input;
use crate::scoreboard::sentences::NAMED_MAX;
use crate::scoreboard::trade_off::best_of_tests;
use crate::scoreboard::{Advice, Scoreboard};
use crate::words::commands;
use serde::Serialize;

/// More stacks have no commands of their own; "How each stack was created" has those of all.
const STACKS_MAX: usize = 4;

/// A stack with lines to copy.
#[derive(Serialize)]
pub(super) struct Recommended {
    stack: String,
    lines: Vec<String>,
    notes: Vec<String>,
}

/// The stacks that are recommended, in every test or for some; empty if it is unknown how they were made.
pub(super) fn recommended(input: &Input, board: &Scoreboard) -> Vec<Recommended> {
    let rows: Vec<usize> = match &board.advice {
        Advice::Build(choice) if choice.leaders.len() <= NAMED_MAX => {
            choice.leaders.iter().chain(&choice.others).copied().collect()
        }
        Advice::NoneGood(_) => best_of_tests(board).into_iter().map(|(row, _)| row).collect(),
        _ => Vec::new(),
    };
    let rows = rows.into_iter().take(STACKS_MAX);
    rows.filter_map(|row| {
        let stack = &board.rows[row].stack;
        let cell = input.plan.cells.iter().find(|cell| cell.stack_label == *stack)?;
        let (lines, notes) = commands::of(input, cell);
        let is_known = !cell.is_imported() && !lines.is_empty();
        is_known.then(|| Recommended {
            stack: stack.clone(),
            lines,
            notes,
        })
    })
    .collect()
}
