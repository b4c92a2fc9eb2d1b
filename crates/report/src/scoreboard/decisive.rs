//! Tests without which other stacks would be recommended.

use super::sentences::percent;
use super::{Advice, Column, SIMULATED_RESOLUTION, ScoreRow};
use crate::words::listed;

/// With fewer tests that count, each of them decides.
const TESTS_MIN: usize = 3;

/// More stacks are not named.
const NAMED_MAX: usize = 3;

/// ` One test decides: without documents read RAID 5 xfs reaches 84 % of the best in every other test, or more.` Empty if no test decides
/// alone, and those that read new files do not together.
pub(super) fn sentence(
    columns: &[Column],
    rows: &[ScoreRow],
    advice: &Advice,
    resolution: f64,
    reads_new_files: impl Fn(&Column) -> bool,
) -> String {
    let counted: Vec<usize> = (0..columns.len()).filter(|&place| columns[place].weight > 0).collect();
    let (Advice::Build(choice), true) = (advice, counted.len() >= TESTS_MIN) else {
        return String::new();
    };
    let leads = |row: &ScoreRow| choice.leaders.iter().any(|&leader| rows[leader].stack == row.stack);
    // The leaders without these tests, if they are good.
    let without = |left_out: &[usize]| {
        let mut others = columns.to_vec();
        left_out.iter().for_each(|&place| others[place].weight = 0);
        let rows = ranked(&others, rows.to_vec());
        match Advice::of(&others, &rows, resolution) {
            Advice::Build(choice) => choice.leaders.iter().map(|&row| rows[row].clone()).collect(),
            _ => Vec::new(),
        }
    };
    for &place in &counted {
        let leaders = without(&[place]);
        if !leaders.is_empty() && !leaders.iter().any(leads) {
            let of_new_files = match reads_new_files(&columns[place]) {
                true => " (files that were just written to a new filesystem)",
                false => "",
            };
            return format!(
                " One test decides: without {}{of_new_files} {}.",
                columns[place].name(),
                reach(&leaders, "")
            );
        }
    }
    let new_files: Vec<usize> = counted
        .iter()
        .copied()
        .filter(|&place| reads_new_files(&columns[place]))
        .collect();
    let leaders = match new_files.len() {
        0 => Vec::new(),
        _ => without(&new_files),
    };
    let others: Vec<ScoreRow> = leaders.iter().filter(|row| !leads(row)).cloned().collect();
    match others.is_empty() {
        true => String::new(),
        false => {
            let names: Vec<String> = new_files.iter().map(|&place| columns[place].name()).collect();
            format!(
                " Without the tests that read files which were just written to a new filesystem ({}), {}.",
                names.join(", "),
                match leaders.iter().position(leads) {
                    Some(place @ 1..) if is_ahead(&leaders[0], &leaders[place]) => order(&leaders[..=place]),
                    None => order(&leaders[..1]),
                    _ if leaders.len() <= NAMED_MAX => not_apart(&leaders),
                    _ => reach(&others, "also "),
                }
            )
        }
    }
}

/// `RAID 5 ext4 (85 %) and RAID 5 btrfs (80 %) lead, each with what it reaches of the best in every other test`.
fn not_apart(rows: &[ScoreRow]) -> String {
    let named = |row: &ScoreRow| format!("{} ({})", row.stack, percent(row.worst_ratio().unwrap_or(0.0)));
    let names: Vec<String> = rows.iter().map(named).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    format!(
        "{} lead, each with what it reaches of the best in every other test: these are not shown to differ, or by less than a tenth",
        listed(&names, "and")
    )
}

/// By more than the models' error.
fn is_ahead(first: &ScoreRow, other: &ScoreRow) -> bool {
    let ratios = first.worst_ratio().zip(other.worst_ratio());
    ratios.is_some_and(|(first, other)| other < SIMULATED_RESOLUTION * first)
}

/// `RAID 5 ext4 comes first (86 % of the best in every other test, or more), then RAID 10 btrfs (76 %)`, up to the first stack that leads
/// with these tests.
fn order(rows: &[ScoreRow]) -> String {
    let reached = |row: &ScoreRow| percent(row.worst_ratio().unwrap_or(0.0));
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
        return String::new();
    };
    let then = match rows {
        [_] => String::new(),
        [_, _] => format!(", then {} ({})", last.stack, reached(last)),
        [_, second, _] => {
            format!(
                ", then {} ({}) and {} ({})",
                second.stack,
                reached(second),
                last.stack,
                reached(last)
            )
        }
        all => format!(", then {} others and {} ({})", all.len() - 2, last.stack, reached(last)),
    };
    format!(
        "{} comes first ({} of the best in every other test, or more){then}",
        first.stack,
        reached(first)
    )
}

/// `RAID 5 xfs and RAID 5 ext4 reach 84 % of the best in every other test, or more`.
fn reach(leaders: &[ScoreRow], also: &str) -> String {
    let ends = [leaders.last(), leaders.first()];
    let ends = ends.map(|row| percent(row.and_then(ScoreRow::worst_ratio).unwrap_or(0.0)));
    let reached = match &ends {
        [least, most] if least == most => least.clone(),
        [least, most] => format!("{} to {most}", least.trim_end_matches(" %")),
    };
    let names: Vec<&str> = leaders.iter().take(NAMED_MAX).map(|row| row.stack.as_str()).collect();
    let (names, verb) = match leaders.len() {
        1 => (names[0].to_owned(), "reaches"),
        many if many > names.len() => (format!("any of {many} stacks"), "reaches"),
        _ => (listed(&names, "and"), "reach"),
    };
    format!("{names} {also}{verb} {reached} of the best in every other test, or more")
}

/// The smallest largest loss first; a stable sort: equals keep the study's order.
pub(super) fn ranked(columns: &[Column], mut rows: Vec<ScoreRow>) -> Vec<ScoreRow> {
    for row in &mut rows {
        row.weigh(columns);
    }
    let loss = |row: &ScoreRow| row.weighted_ratio(columns).unwrap_or(-1.0);
    rows.sort_by(|one, other| loss(other).total_cmp(&loss(one)));
    rows
}

#[cfg(test)]
mod tests {
    use super::super::choice::tests::{column, row, score};
    use super::*;

    /// A NAS was recommended btrfs, which is ahead in reading documents in the order in which they were just written, and nothing said that this
    /// one test of four decides.
    #[test]
    fn issue_39_a_test_that_alone_decides_is_named() {
        let columns: Vec<Column> = ["photos", "backup", "documents"]
            .map(|name| column(name, "read", 1))
            .into();
        let stack = |name: &str, ratios: [f64; 3]| ScoreRow {
            scores: ratios.map(|ratio| score(ratio, 0.01)).into(),
            ..row(name, ratios[0], 0.01, (3.0, 1))
        };
        let said = |btrfs: [f64; 3]| {
            let all = vec![stack("RAID 5 xfs", [1.0, 1.0, 0.1]), stack("btrfs", btrfs)];
            let rows = ranked(&columns, all);
            let advice = Advice::of(&columns, &rows, 1.0);
            sentence(&columns, &rows, &advice, 1.0, |column| column.workload == "documents")
        };
        assert_eq!(
            said([0.7, 0.75, 1.0]),
            " One test decides: without documents read (files that were just written to a new filesystem) RAID 5 xfs reaches 100 % of \
             the best in every other test, or more."
        );
        assert_eq!(
            said([0.995, 1.0, 1.0]),
            " Without the tests that read files which were just written to a new filesystem (documents read), RAID 5 xfs \
             (100 %) and btrfs (100 %) lead, each with what it reaches of the best in every other test: these are not shown to differ, or by \
             less than a tenth."
        );
        let reversed = {
            let all = vec![stack("RAID 5 xfs", [0.1, 1.0, 0.1]), stack("btrfs", [1.0, 0.85, 1.0])];
            let rows = ranked(&columns, all);
            let advice = Advice::of(&columns, &rows, 1.0);
            sentence(&columns, &rows, &advice, 1.0, |column| column.workload != "backup")
        };
        assert_eq!(
            reversed,
            " Without the tests that read files which were just written to a new filesystem (photos read, documents read), RAID 5 xfs comes \
             first (100 % of the best in every other test, or more)."
        );
        let of_others = |row: [f64; 3]| {
            let rows = ranked(
                &columns,
                vec![stack("RAID 5 xfs", [0.3, 1.0, 0.1]), stack("btrfs", row)],
            );
            sentence(&columns, &rows, &Advice::of(&columns, &rows, 1.0), 1.0, |_| false)
        };
        assert_eq!(of_others([1.0, 1.0, 1.0]), "", "the best anyway");
    }
}
