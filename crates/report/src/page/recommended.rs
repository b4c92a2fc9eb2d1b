//! The commands that build the stacks that the scoreboard leaves to choose from.

use crate::input::Input;
use crate::scoreboard::sentences::NAMED_MAX;
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

/// Empty if no stack is recommended, or if it is unknown how it was made.
pub(super) fn recommended(input: &Input, board: &Scoreboard) -> Vec<Recommended> {
    let Advice::Build(choice) = &board.advice else {
        return Vec::new();
    };
    if choice.leaders.len() > NAMED_MAX {
        return Vec::new();
    }
    let rows = choice.leaders.iter().chain(&choice.others).take(STACKS_MAX);
    rows.filter_map(|&row| {
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
