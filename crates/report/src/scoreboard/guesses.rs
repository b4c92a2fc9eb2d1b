//! Tests in which it depends on what is not known of the disks or the processor which stack is better.

use super::Test;
use crate::input::Input;
use crate::words::figure::number;
use crate::words::named;
use stats::{Effect, InBlock, Row, deciding_guess, faster};
use std::collections::BTreeMap;
use study::metric::Better;

/// More tests are not listed.
const SENTENCES_MAX: usize = 4;

/// A difference of the mean over drawn disks is one below this probability of equal ones.
const ALPHA: f64 = 0.05;

/// A sentence for each test that counts, in which the best stack is ahead of the next on the mean of all drawn disks, but not on each.
pub(super) fn guesses(input: &Input, tests: &[Test<'_>]) -> Vec<String> {
    let counted = tests.iter().filter(|test| test.counts);
    let mut sentences: Vec<String> = counted.filter_map(|test| of_test(input, test)).collect();
    sentences.truncate(SENTENCES_MAX);
    sentences
}

fn of_test(input: &Input, test: &Test<'_>) -> Option<String> {
    let better = test.measure.metric.better();
    let mut rows: Vec<&Row> = test
        .measure
        .rows
        .iter()
        .filter(|row| row.is_drawn && row.summary.is_some())
        .collect();
    let median = |row: &Row| row.summary.as_ref().map_or(0.0, |summary| summary.median);
    rows.sort_by(|one, other| match better {
        Better::Lower => median(one).total_cmp(&median(other)),
        _ => median(other).total_cmp(&median(one)),
    });
    let (first, second) = (*rows.first()?, *rows.get(1)?);
    let values = |row: &Row| -> Vec<InBlock> { row.values.iter().map(InBlock::by_round).collect() };
    let (of_first, of_second) = (values(first), values(second));
    // As if the mean of all drawn disks were asked for.
    let mean = Effect::of(&of_first, &of_second, None).map(|effect| faster(effect, better))?;
    let logs: BTreeMap<u64, f64> = of_first
        .iter()
        .filter_map(|one| {
            let other = of_second.iter().find(|other| other.block == one.block)?;
            let log = (one.value / other.value).ln();
            Some((one.block, if better == Better::Lower { -log } else { log }))
        })
        .collect();
    let ahead = logs.values().filter(|log| **log > 0.0).count();
    if mean.p_differ() > ALPHA || ahead == logs.len() {
        return None;
    }
    let mut factors: BTreeMap<u64, BTreeMap<String, f64>> = BTreeMap::new();
    for drawn in input
        .facts
        .drawn
        .iter()
        .filter(|drawn| Some(drawn.trial.cell) == first.cell)
    {
        let of_trial = factors.entry(u64::from(drawn.trial.index)).or_default();
        of_trial.insert(drawn.entry.figure.clone(), drawn.entry.factor);
    }
    let (ratios, factors): (Vec<f64>, Vec<_>) = logs
        .iter()
        .filter_map(|(block, log)| Some((*log, factors.get(block)?.clone())))
        .unzip();
    let guess = deciding_guess(&ratios, &factors);
    let decides = match &guess {
        Some(guess) => format!(
            ", most on {} ({} % of the scatter)",
            guess.figure,
            number(guess.share * 100.0, 0)
        ),
        None => String::new(),
    };
    let cell = input.plan.cells.iter().find(|cell| Some(cell.id) == first.cell)?;
    let processor = cell
        .machine
        .processor
        .as_ref()
        .map(|processor| processor.model.as_str());
    let of_processor = guess.zip(processor).map(|(guess, model)| guess.figure.ends_with(model));
    let (drawn, tells) = match (processor, of_processor) {
        (None, _) => ("disks", "`raidlab disk measure` on one of yours tells"),
        (Some(_), Some(true)) => ("machines", "`raidlab cpu measure` on yours tells"),
        (Some(_), Some(false)) => ("machines", "`raidlab disk measure` on one of your disks tells"),
        (Some(_), None) => (
            "machines",
            "`raidlab disk measure` and `raidlab cpu measure` on yours tell",
        ),
    };
    Some(format!(
        "{}: {} is ahead of {} on {ahead} of {} drawn {drawn}: it depends on what is not known of them{decides}; {tells}.",
        named(&test.workload.name, test.name),
        first.stack,
        second.stack,
        logs.len()
    ))
}
