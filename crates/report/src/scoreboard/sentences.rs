//! A scoreboard in words: one sentence to act on, and what else there is to choose from.

use super::choice::Tie;
use super::leader::leads;
use super::stack_facts::{
    corruption, facts_that_differ, is_corruption_shared, is_layout_shared, is_rebuild_shared, layout,
    only_with_bitmap,
};
use super::trade_off;
use super::unranked::{ahead, is_behind_unranked, too_few, unranked, unreal};
use super::{Advice, Choice, Column, SHORT_S, Score, ScoreRow, Scoreboard, ShortTest};
use crate::input::Input;
use crate::words::figure::{RateUnit, count, number, number_of};
use crate::words::listed;
use stats::{Closeness, TestResults};
use study::metric::Metric;
use study::stack::SilentCorruption;

/// Equal ranks of figures that differ by more than this factor are explained.
const TIE_SHOWN: f64 = 1.05;

/// A sentence does not name more stacks.
pub(crate) const NAMED_MAX: usize = 3;

/// Trials that failed, are missing, or do not count: before everything else, because figures of what is left can look whole.
/// Empty if every planned trial counts.
pub(crate) fn failures_and_guards(input: &Input) -> Vec<String> {
    let mut sentences = Vec::new();
    let (done, failed) = input.done_and_failed();
    let own_cells = input.plan.cells.iter().filter(|cell| !cell.is_imported());
    let planned = own_cells.count() * input.plan.precision.min_trials as usize;
    if failed > 0 {
        sentences.push(format!("{failed} of {} failed.", count(done + failed, "trial")));
    }
    if input.run.finished_at_unix_s.is_none() {
        let all = planned.max(done + failed);
        sentences.push(format!(
            "The run is not finished: {done} of at least {} {} done.",
            count(all, "trial"),
            if all == 1 { "is" } else { "are" }
        ));
    } else if done + failed < planned && input.run.only.is_empty() {
        let missing = planned - done - failed;
        let are = if missing == 1 { "is" } else { "are" };
        sentences.push(format!("{missing} of {} {are} missing.", count(planned, "trial")));
    }
    sentences
}

/// What an administrator acts on.
pub(crate) fn sentence(input: &Input, board: &Scoreboard, rates: RateUnit) -> String {
    match &board.advice {
        Advice::NothingToCompare if input.samples.is_empty() => "Nothing has been measured yet.".to_owned(),
        Advice::NothingToCompare if input.plan.stack_labels().len() == 1 => {
            "One stack was measured: its figures stand below, and there is none to compare it with.".to_owned()
        }
        Advice::NothingToCompare => "There are no two stacks to compare in any test.".to_owned(),
        Advice::Incomplete => "No stack has a figure in every test, so none is recommended.".to_owned(),
        Advice::OnlyCaches => "Not decided: every test measured memory or the caches of drives rather than disks; the warnings say what to \
                               change."
            .to_owned(),
        Advice::Imported => "Imported results are shown as they are: none is recommended.".to_owned(),
        Advice::TooFewTrials => too_few(board),
        Advice::AllUnsafe => "Every stack lost something in a power cut, so none is recommended.".to_owned(),
        Advice::NoneGood(choice) => {
            ahead(board, rates)
                + &trade_off::none_good(board, choice)
                + &too_short(board)
                + &unranked(board)
                + unreal(board)
                + &only_with_bitmap(input, board)
                + &caches(board)
        }
        Advice::Build(choice) => {
            ahead(board, rates)
                + &build(board, choice, rates)
                + &board.decisive
                + &too_short(board)
                + &unranked(board)
                + unreal(board)
                + &only_with_bitmap(input, board)
                + &caches(board)
        }
    }
}

/// ` Not counted, because memory or the caches of drives were measured: mail mixed.`
fn caches(board: &Scoreboard) -> String {
    let names: Vec<&str> = board.of_caches.iter().take(NAMED_MAX).map(String::as_str).collect();
    let more = match board.of_caches.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match names.is_empty() {
        true => String::new(),
        false => format!(
            " Not counted, because memory or the caches of drives were measured: {}{more}.",
            names.join(", ")
        ),
    }
}

pub(super) fn build(board: &Scoreboard, choice: &Choice, rates: RateUnit) -> String {
    let rows: Vec<&ScoreRow> = choice.leaders.iter().map(|&row| &board.rows[row]).collect();
    match rows.as_slice() {
        [] => String::new(),
        [only] => format!(
            "{} {}{}{}",
            only.stack,
            leads(board, only, rates),
            protection(board, only, choice),
            resync(board, only)
        ),
        several if several.len() <= NAMED_MAX => {
            let names: Vec<&str> = several.iter().map(|row| row.stack.as_str()).collect();
            let subject = match several.len() == board.rows.len() {
                true => format!("No stack is shown to be better ({})", listed(&names, "and")),
                false => format!("{} may be the best choice", listed(&names, "or")),
            };
            format!(
                "{subject}: in their worst tests they reach {} of the best, and {}.{}",
                reached(board, several),
                why_several(choice),
                match several.iter().all(|row| row.layout.resyncs) {
                    true => resync(board, several[0]).replace(" It has", " They have"),
                    false => String::new(),
                }
            )
        }
        many => {
            let names: Vec<&str> = many.iter().take(NAMED_MAX).map(|row| row.stack.as_str()).collect();
            format!(
                "Any of {} of {} may be the best choice: {} and {} more. In their worst tests they reach {} of the best or \
                 more, and {}.",
                many.len(),
                count(board.rows.len(), "stack"),
                names.join(", "),
                many.len() - names.len(),
                many.last().map_or_else(String::new, |row| worst(board, row)),
                why_several(choice)
            )
        }
    }
}

/// Why several stacks may be the best, as the end of a sentence.
const fn why_several(choice: &Choice) -> &'static str {
    match choice.tie {
        Tie::Error => "differences of less than a tenth are not ranked, because models of disks are not that exact",
        Tie::Trials => "their trials do not show which is better",
        Tie::Both => {
            "their trials do not show which is better, or they differ by less than a tenth, which models of disks cannot decide"
        }
    }
}

/// `96 to 100 %`, of the stacks from the best to the worst.
fn reached(board: &Scoreboard, rows: &[&ScoreRow]) -> String {
    let ends = [rows.last(), rows.first()].map(|row| row.map_or_else(String::new, |row| worst(board, row)));
    match ends {
        [least, most] if least == most => most,
        [least, most] => format!("{} to {most}", least.trim_end_matches(" %")),
    }
}

/// `every test`, or those that count: one alone is named.
pub(super) fn counted_tests(board: &Scoreboard) -> String {
    let counted: Vec<&Column> = board.columns.iter().filter(|column| column.weight > 0).collect();
    match counted.as_slice() {
        [_] if board.columns.len() == 1 => "the only test".to_owned(),
        [only] => format!("the only test that counts ({})", only.name()),
        all if all.len() == board.columns.len() => "every test".to_owned(),
        _ => "every test that counts".to_owned(),
    }
}

/// `Losses count by the weights of the study: photos 2, random 0, others 1.` Empty if it has none.
pub(crate) fn weights(board: &Scoreboard) -> String {
    let mut given: Vec<String> = Vec::new();
    for column in board
        .columns
        .iter()
        .filter(|column| column.weight != 1 && !column.is_short)
    {
        let weight = format!("{} {}", column.workload, column.weight);
        if !given.contains(&weight) {
            given.push(weight);
        }
    }
    match given.is_empty() {
        true => String::new(),
        false => {
            if board.columns.iter().any(|column| column.weight == 1) {
                given.push("others 1".to_owned());
            }
            format!("Losses count by the weights of the study: {}.", given.join(", "))
        }
    }
}

/// ` Too short to count: postgres commit.`; empty if every test counts.
fn too_short(board: &Scoreboard) -> String {
    match listed_short(board, |test| test.name.clone()) {
        names if names.is_empty() => names,
        names => format!(" Too short to count: {names}."),
    }
}

/// `Tests of less than 1 s with most stacks do not count: photos delete (0.06 to 0.61 s).` Empty if there are none.
pub(crate) fn short_tests(board: &Scoreboard) -> String {
    let range = |test: &ShortTest| match (number_of(test.shortest_s), number_of(test.longest_s)) {
        (shortest, longest) if shortest == longest => format!("{} ({shortest} s)", test.name),
        (shortest, longest) => format!("{} ({shortest} to {longest} s)", test.name),
    };
    match listed_short(board, range) {
        named if named.is_empty() => named,
        named => format!(
            "Tests of less than {SHORT_S} s with most stacks do not count: {named}. More files or a longer runtime make them count."
        ),
    }
}

/// The tests that are too short to count: the first ones, and how many more there are.
fn listed_short(board: &Scoreboard, words: impl Fn(&ShortTest) -> String) -> String {
    let named: Vec<String> = board.short.iter().take(NAMED_MAX).map(words).collect();
    let more = match board.short.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    named.join(", ") + &more
}

/// `worst: photos read, 118 against 206 MiB/s`.
pub(super) fn worst_name(board: &Scoreboard, column: usize, score: &Score, rates: RateUnit) -> String {
    format!("worst: {}, {}", test_name(board, column, score), figures(score, rates))
}

/// The test of a score, with its workload.
pub(crate) fn test_name(board: &Scoreboard, column: usize, score: &Score) -> String {
    match board.columns[column].test.is_empty() {
        true => score.test.clone(),
        false => board.columns[column].name(),
    }
}

/// `118 against 206 MiB/s`; with `, 21.4 against 12.3 s` if the test has a fixed amount of work.
pub(crate) fn figures(score: &Score, rates: RateUnit) -> String {
    let (unit, factor) = score.metric.map_or(("", 1.0), |metric| rates.of(metric));
    let pair = |own: f64, best: f64, unit: &str| format!("{} against {} {unit}", number_of(own), number_of(best));
    let figures = pair(score.figure * factor, score.best * factor, unit);
    match score
        .seconds
        .filter(|_| !score.is_timed && score.metric != Some(Metric::Duration))
    {
        Some((own, best)) => format!("{figures}, {}", pair(own, best, "s")),
        None => figures,
    }
}

fn protection(board: &Scoreboard, row: &ScoreRow, choice: &Choice) -> String {
    if row.layout.survives != Some(0) {
        return String::new();
    }
    let protects = |other: &&ScoreRow| other.layout.survives.is_some_and(|disks| disks > 0);
    let rows = choice.others.iter().map(|&other| &board.rows[other]);
    match rows.into_iter().find(protects) {
        Some(other) => format!(
            " It survives no failed disk; {} does, and reaches {} or more.",
            other.stack,
            other.worst_ratio().map_or_else(String::new, percent)
        ),
        None => String::new(),
    }
}

/// What the leading stack pays for having no bitmap where others have one, as a sentence on one stack.
pub(super) fn resync(board: &Scoreboard, row: &ScoreRow) -> String {
    let does_not = |other: &ScoreRow| other.layout.survives != Some(0) && !other.layout.resyncs;
    if !row.layout.resyncs || !board.rows.iter().any(does_not) {
        return String::new();
    }
    // Rows are sorted by their largest loss.
    let mut others = board
        .rows
        .iter()
        .filter(|other| does_not(other) && other.may_be_built());
    format!(
        " It has no bitmap: after a crash md resyncs the whole array{}.{}",
        resync_time(row),
        others.next().map_or_else(String::new, |other| format!(
            " Of those without such a resync {} loses least, and reaches {} of the best or more.",
            other.stack,
            worst(board, other)
        ))
    )
}

/// `, at least 24.1 h on whole disks`; empty if it is not known.
pub(super) fn resync_time(row: &ScoreRow) -> String {
    let hours = row.layout.resync_hours;
    hours.map_or_else(String::new, |hours| {
        format!(", at least {} h on whole disks", number_of(hours))
    })
}

/// The rows to choose from, each with what it gives and what it takes.
pub(crate) fn choices(board: &Scoreboard, rates: RateUnit) -> Vec<String> {
    let Some(choice) = board.advice.choice() else {
        return Vec::new();
    };
    match board.advice {
        Advice::NoneGood(_) => trade_off::best_of_tests(board)
            .into_iter()
            .map(|(row, names)| {
                format!(
                    "For {}: {}",
                    names.join(", "),
                    choice_words(board, &board.rows[row], rates)
                )
            })
            .collect(),
        // The sentence says it all.
        _ if choice.leaders.len() == 1 && choice.others.is_empty() && facts_that_differ(board).is_empty() => {
            Vec::new()
        }
        _ => {
            let rows = choice.leaders.iter().take(NAMED_MAX).chain(&choice.others);
            rows.map(|&row| choice_words(board, &board.rows[row], rates)).collect()
        }
    }
}

/// `RAID 5 btrfs: at worst 44 % (small files delete: 14,075 against 32,113 files/s); 3 of 4 disks usable, survives 1
/// failed disk`.
fn choice_words(board: &Scoreboard, row: &ScoreRow, rates: RateUnit) -> String {
    let every = counted_tests(board);
    let worst = row
        .worst
        .zip(row.worst_score())
        .map(|(column, score)| match score.ratio {
            Some(0.995..) if is_behind_unranked(board) => {
                format!("among ranked stacks the best in {every}, or within 1 % of it")
            }
            Some(0.995..) => format!("the best in {every}, or within 1 % of it"),
            ratio if board.columns[column].weight != 1 => format!(
                "loses most by weight in {}: {} ({}), weight {}",
                test_name(board, column, score),
                ratio.map_or_else(String::new, percent),
                figures(score, rates),
                board.columns[column].weight
            ),
            ratio => format!(
                "at worst {} ({}: {}{})",
                ratio.map_or_else(String::new, percent),
                test_name(board, column, score),
                figures(score, rates),
                // The best scatters as well: without its interval the loss looks certain.
                if score.is_first { ", which may be noise" } else { "" }
            ),
        });
    let layout = Some(layout(row)).filter(|_| !is_layout_shared(board));
    let rebuild = Some(&row.rebuild).filter(|rebuild| !rebuild.is_empty() && !is_rebuild_shared(board));
    let rebuild = rebuild.map(|rebuild| format!("rebuild {rebuild}"));
    // Most stacks detect nothing: that stands in the table.
    let is_detected = row.silent_corruption != Some(SilentCorruption::Undetected);
    let corruption = (is_detected && !is_corruption_shared(board)).then(|| corruption(row).to_owned());
    let parts = [worst, layout, corruption, rebuild, Some(row.power_cut.clone())];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    format!("{}: {}", row.stack, parts.join("; "))
}

/// The largest loss by the weights of the study, `59 %`; a dash if a test has no figure.
pub(crate) fn worst(board: &Scoreboard, row: &ScoreRow) -> String {
    row.weighted_ratio(&board.columns)
        .map_or_else(|| "–".to_owned(), percent)
}

/// The heading of [`worst`].
pub(crate) fn worst_heading(board: &Scoreboard) -> &'static str {
    match weights(board).is_empty() {
        true => "worst",
        false => "worst by weight",
    }
}

/// Why stacks share the first rank of a test although their figures differ: `write: 118 to 206 MiB/s share the first rank`.
pub(crate) fn tie(test: &TestResults) -> Option<String> {
    let measure = test.headline();
    let Closeness::MayDiffer(share) = measure.ranking.leaders else {
        return None;
    };
    let medians = measure
        .leaders()
        .iter()
        .filter_map(|&place| Some(measure.rows[place].summary.as_ref()?.median));
    let (least, most) = medians.fold((f64::INFINITY, 0.0_f64), |(least, most), median| {
        (least.min(median), most.max(median))
    });
    if most <= least * TIE_SHOWN {
        return None;
    }
    let may_differ = match share {
        0.0..10.0 => format!("by up to {}", percent(share)),
        _ => "by more than ten times".to_owned(),
    };
    Some(format!(
        "{}: {} share the first rank, with {} to {} {}: the trials scatter too much to show a difference; they may differ {may_differ}.",
        test.name,
        count(measure.leaders().len(), "stack"),
        number_of(least),
        number_of(most),
        measure.metric.unit().name()
    ))
}

/// `59 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.05 {
        return "< 0.1 %".to_owned();
    }
    let decimals = usize::from(percent < 10.0 && percent > 0.0);
    format!("{} %", number(percent, decimals))
}

/// `0.59`; what would be `0.000` is `< 0.001`.
pub(crate) fn ratio(ratio: f64) -> String {
    if ratio > 0.0 && ratio < 0.0005 {
        return "< 0.001".to_owned();
    }
    number(ratio, if ratio < 0.1 { 3 } else { 2 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ReiserFS deleted large files at 0.02 % of the rate of XFS, and `0.0 %` stood there.
    #[test]
    fn issue_39_a_small_ratio_is_not_nothing() {
        assert_eq!(
            (percent(0.0002), ratio(0.0002)),
            ("< 0.1 %".to_owned(), "< 0.001".to_owned())
        );
        assert_eq!((percent(0.0), ratio(0.002)), ("0 %".to_owned(), "0.002".to_owned()));
    }
}
