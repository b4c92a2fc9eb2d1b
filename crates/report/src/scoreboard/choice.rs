//! What a scoreboard recommends: the stack with the smallest largest loss, those that are not shown to lose more, and
//! what else they differ in.

use super::{Column, Layout, Score, ScoreRow};

/// If every stack falls below this part of the best in some test, none is recommended.
const GOOD_MIN: f64 = 0.5;

#[derive(Clone, Debug, PartialEq, Default)]
pub enum Advice {
    /// No two stacks have a figure of the same test.
    #[default]
    NothingToCompare,
    /// All stacks are imported.
    Imported,
    /// No stack was measured in every test.
    Incomplete,
    /// Every test measured memory or caches.
    OnlyCaches,
    /// There are figures, but too few trials to compare them.
    TooFewTrials,
    /// Every stack that was measured in every test lost something in a power cut.
    AllUnsafe,
    /// Every stack is far behind the best in some test: no single one is recommended.
    NoneGood(Choice),
    /// Rows of stacks that are not shown to lose more than one another, the smallest loss first.
    Build(Choice),
}

impl Tie {
    /// `reasons` of a leader: by its trials, and by the models' error.
    fn of(leaders: &[usize], reasons: impl Fn(usize) -> (bool, bool)) -> Self {
        let all = |is: fn((bool, bool)) -> bool| leaders.iter().all(|&row| is(reasons(row)));
        if all(|(_, by_error)| by_error) {
            Self::Error
        } else if all(|(by_trials, _)| by_trials) {
            Self::Trials
        } else {
            Self::Both
        }
    }
}

/// Stacks to choose from, as rows of the scoreboard.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Choice {
    /// Those with the smallest largest loss.
    pub leaders: Vec<usize>,
    /// The smallest largest loss of those that survive more disk failures than the first leader, or have more usable space;
    /// one for each kind.
    pub others: Vec<usize>,
    pub tie: Tie,
}

/// Why there are several leaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tie {
    /// Trials show no difference between any of them and the first.
    #[default]
    Trials,
    /// All differ by less than [`super::SIMULATED_RESOLUTION`].
    Error,
    Both,
}

impl Advice {
    /// `rows` are sorted by their largest loss. `resolution`: stacks at this ratio or more of the
    /// first count as equal to it; 1 on a host.
    pub(super) fn of(columns: &[Column], rows: &[ScoreRow], resolution: f64) -> Self {
        if rows.len() < 2 {
            return Self::NothingToCompare;
        }
        if rows.iter().all(|row| row.is_imported) {
            return Self::Imported;
        }
        let whole = || (0..rows.len()).filter(|&row| rows[row].worst.is_some() && !rows[row].is_imported);
        if whole().next().is_none() {
            return Self::Incomplete;
        }
        let ranked: Vec<usize> = whole().filter(|&row| rows[row].is_ranked).collect();
        if ranked.len() < 2 {
            return Self::TooFewTrials;
        }
        let safe: Vec<usize> = ranked.iter().copied().filter(|&row| rows[row].may_be_built()).collect();
        let Some(&first) = safe.first() else {
            return Self::AllUnsafe;
        };
        let is_tied = |row: &usize| {
            overlaps(columns, &rows[first], &rows[*row])
                || is_within(resolution, columns, &rows[first], &rows[*row])
        };
        let leaders: Vec<usize> = safe.iter().copied().filter(is_tied).collect();
        let tie = Tie::of(&leaders, |row| {
            let is_within = is_within(resolution, columns, &rows[first], &rows[row]);
            (
                overlaps(columns, &rows[first], &rows[row]),
                resolution < 1.0 && is_within,
            )
        });
        let choice = Choice {
            others: others(rows, &safe, &leaders),
            tie,
            leaders,
        };
        match rows[first]
            .weighted_ratio(columns)
            .is_some_and(|ratio| ratio >= GOOD_MIN)
        {
            true => Self::Build(choice),
            false => Self::NoneGood(choice),
        }
    }

    pub fn choice(&self) -> Option<&Choice> {
        match self {
            Self::Build(choice) | Self::NoneGood(choice) => Some(choice),
            Self::NothingToCompare
            | Self::OnlyCaches
            | Self::Imported
            | Self::Incomplete
            | Self::TooFewTrials
            | Self::AllUnsafe => None,
        }
    }
}

/// Whether the smallest ratio of `other` may be that of `first` by their trials. The best of a test has no interval.
fn overlaps(columns: &[Column], first: &ScoreRow, other: &ScoreRow) -> bool {
    let smallest = |row: &ScoreRow, end: fn(&Score) -> f64| {
        let counted = columns.iter().zip(&row.scores).filter(|(column, _)| column.weight > 0);
        let ends = counted.map(|(column, score)| column.weighted(end(score)));
        ends.fold(f64::INFINITY, f64::min)
    };
    smallest(other, Score::high) >= smallest(first, Score::low)
}

impl Score {
    /// The lower end of its ratio, for comparisons with other stacks.
    fn low(&self) -> f64 {
        self.overlap.map_or(self.ratio.unwrap_or(0.0), |interval| interval.low)
    }

    fn high(&self) -> f64 {
        self.overlap.map_or(self.ratio.unwrap_or(0.0), |interval| interval.high)
    }
}

fn is_within(resolution: f64, columns: &[Column], first: &ScoreRow, other: &ScoreRow) -> bool {
    let ratios = other.weighted_ratio(columns).zip(first.weighted_ratio(columns));
    ratios.is_some_and(|(other, first)| other >= first * resolution)
}

/// One row for each layout that survives more failures or has more usable space than that of the first leader.
fn others(rows: &[ScoreRow], safe: &[usize], leaders: &[usize]) -> Vec<usize> {
    let Some(&first) = leaders.first() else {
        return Vec::new();
    };
    let own = rows[first].layout;
    let is_more = |of: Layout| {
        let survives = of.survives.zip(own.survives).is_some_and(|(of, own)| of > own);
        let usable = of.usable.zip(own.usable).is_some_and(|(of, own)| of > own);
        of.disks == own.disks && (survives || usable)
    };
    let is_leader = |row: usize| leaders.iter().any(|&leader| rows[leader].layout == rows[row].layout);
    let mut others: Vec<usize> = Vec::new();
    for &row in safe.iter().filter(|&&row| is_more(rows[row].layout)) {
        if !is_leader(row) && !others.iter().any(|&known| rows[known].layout == rows[row].layout) {
            others.push(row);
        }
    }
    others
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::scoreboard::leader::behind_in_uncounted_tests;
    use crate::scoreboard::sentences::{build, resync};
    use crate::scoreboard::unranked::{ahead, unranked};
    use crate::scoreboard::{SIMULATED_RESOLUTION, Scoreboard};
    use crate::words::figure::RateUnit;
    use stats::{Basis, Interval};

    pub(in crate::scoreboard) fn score(ratio: f64, half: f64) -> Score {
        let interval = Interval {
            low: ratio - half,
            high: ratio + half,
            basis: Basis::Blocks,
        };
        Score {
            ratio: Some(ratio),
            interval: Some(interval),
            overlap: Some(interval),
            is_ranked: true,
            ..Score::default()
        }
    }

    pub(in crate::scoreboard) fn row(
        stack: &str,
        ratio: f64,
        half: f64,
        (usable, survives): (f64, u32),
    ) -> ScoreRow {
        ScoreRow {
            stack: stack.to_owned(),
            scores: vec![score(ratio, half)],
            worst: Some(0),
            is_ranked: true,
            layout: Layout {
                disks: 4,
                usable: Some(usable),
                survives: Some(survives),
                has_bitmap: false,
                resyncs: false,
                resync_hours: None,
            },
            silent_corruption: None,
            is_below_raid: false,
            rebuild: String::new(),
            power_cut: String::new(),
            is_unsafe: false,
            is_imported: false,
        }
    }

    pub(in crate::scoreboard) fn column(workload: &str, test: &str, weight: u32) -> Column {
        Column {
            workload: workload.to_owned(),
            test: test.to_owned(),
            is_doubtful: false,
            weight,
            is_short: weight == 0,
            is_of_caches: false,
        }
    }

    pub(in crate::scoreboard) fn board(columns: Vec<Column>, rows: &[ScoreRow], advice: Advice) -> Scoreboard {
        Scoreboard {
            columns,
            rows: rows.to_vec(),
            advice,
            ..Scoreboard::default()
        }
    }

    /// One column counts once.
    fn advice(rows: &[ScoreRow]) -> Advice {
        Advice::of(&[column("", "", 1)], rows, 1.0)
    }

    const RAID5: (f64, u32) = (3.0, 1);
    const RAID6: (f64, u32) = (2.0, 2);
    const RAID10: (f64, u32) = (2.0, 1);

    #[test]
    fn issue_39_a1_the_smallest_largest_loss_is_recommended_with_what_else_there_is() {
        let rows = [
            row("RAID 10 xfs", 0.9, 0.02, RAID10),
            row("RAID 5 xfs", 0.6, 0.02, RAID5),
            row("RAID 5 ext4", 0.5, 0.02, RAID5),
            row("RAID 6 xfs", 0.4, 0.02, RAID6),
        ];
        let expected = Choice {
            leaders: vec![0],
            others: vec![1, 3],
            tie: Tie::Trials,
        };
        assert_eq!(advice(&rows), Advice::Build(expected));
    }

    /// "Drop the bitmap" was what the first screen said, without what a crash costs then.
    #[test]
    fn issue_39_a4_a_recommended_stack_without_a_bitmap_says_how_long_a_resync_takes() {
        let mut rows = [
            row("RAID 5 no bitmap", 0.9, 0.0, RAID5),
            row("RAID 5 bitmap", 0.7, 0.0, RAID5),
        ];
        (rows[0].layout.resyncs, rows[0].layout.resync_hours) = (true, Some(23.4));
        let board = board(vec![column("", "", 1)], &rows, advice(&rows));
        assert_eq!(
            resync(&board, &board.rows[0]),
            " It has no bitmap: after a crash md resyncs the whole array, at least 23.4 h on whole disks. Of those without such a \
             resync RAID 5 bitmap loses least, and reaches 70 % of the best or more."
        );
        assert_eq!(resync(&board, &board.rows[1]), "");
    }

    /// "Leads in every test that counts" stood above a loss of 23 % in the only test that mattered to its reader.
    #[test]
    fn issue_39_a1_a_loss_in_a_test_that_does_not_count_is_named() {
        let column = |workload: &str, weight: u32| column(workload, "iops", weight);
        let board = |ratio: f64| {
            let mut leader = row("RAID 1 ext4", 1.0, 0.0, RAID10);
            let short = Score {
                figure: 100.0 * ratio,
                best: 100.0,
                ..score(ratio, 0.01)
            };
            leader.scores.push(short);
            Scoreboard {
                columns: vec![column("vms", 1), column("wal", 0)],
                rows: vec![leader],
                ..Scoreboard::default()
            }
        };
        let behind = |board: &Scoreboard| behind_in_uncounted_tests(board, &board.rows[0], RateUnit::MiB);
        let named = behind(&board(0.77)).expect("a loss");
        assert!(named.contains("wal") && named.contains("77.0 against 100"), "{named}");
        assert_eq!(behind(&board(0.95)), None);
    }

    /// A stack was listed as a leader and again as one of those that survive more.
    #[test]
    fn issue_39_a1_no_choice_is_listed_twice() {
        let rows = [
            row("RAID 5 btrfs", 0.6, 0.1, RAID5),
            row("RAID 6 btrfs", 0.58, 0.1, RAID6),
            row("RAID 6 xfs", 0.4, 0.01, RAID6),
        ];
        let advice = advice(&rows);
        let choice = advice.choice().expect("one is good");
        assert_eq!((&choice.leaders[..], &choice.others[..]), (&[0, 1][..], &[][..]));
    }

    #[test]
    fn issue_39_a1_ties_are_ties() {
        let rows = [
            row("RAID 10 xfs", 0.9, 0.05, RAID10),
            row("RAID 10 ext4", 0.84, 0.05, RAID10),
            row("RAID 10 btrfs", 0.7, 0.05, RAID10),
        ];
        let leaders = advice(&rows).choice().map(|choice| choice.leaders.clone());
        assert_eq!(leaders, Some(vec![0, 1]));
    }

    /// "A or B may be the best choice" was said of all there were.
    #[test]
    fn issue_39_a1_a_tie_of_all_stacks_is_no_choice() {
        let said = |second: f64| {
            let rows = [
                row("Linux 6.12", 0.84, 0.1, RAID5),
                row("Linux 7.3", second, 0.1, RAID5),
                row("Linux 6.6", 0.3, 0.01, RAID5),
            ];
            let rows = if second > 0.7 { &rows[..2] } else { &rows[..] };
            let board = board(vec![column("mail", "deliver", 1)], rows, advice(rows));
            build(&board, board.advice.choice().expect("a choice"), RateUnit::MiB)
        };
        assert!(said(0.8).starts_with("No stack is shown to be better (Linux 6.12 and Linux 7.3): "));
        assert!(said(0.69).starts_with("Linux 6.12 or Linux 7.3 may be the best choice: "));
    }

    /// On two NVMe drives XFS led by 3 % in windows of 2 s, and ext4 by 6 % in windows of 0.6 s, each with intervals of a
    /// hundredth.
    #[test]
    fn issue_39_a1_simulated_stacks_within_a_tenth_count_as_equal() {
        let rows = [
            row("RAID 1 xfs", 1.0, 0.001, RAID10),
            row("RAID 1 ext4", 0.94, 0.001, RAID10),
            row("RAID 1 btrfs", 0.7, 0.001, RAID10),
        ];
        let columns = [column("vms", "iops", 1)];
        let leaders = |resolution: f64| {
            let advice = Advice::of(&columns, &rows, resolution);
            let choice = advice.choice().expect("one is good");
            (choice.leaders.clone(), choice.tie)
        };
        assert_eq!(leaders(SIMULATED_RESOLUTION), (vec![0, 1], Tie::Error));
        assert_eq!(leaders(1.0), (vec![0], Tie::Trials), "a host");
    }

    #[test]
    fn issue_39_a1_both_reasons_for_a_tie_are_given() {
        let rows = [
            row("one", 1.0, 0.001, RAID10),
            row("near", 0.95, 0.001, RAID10),
            row("wide", 0.85, 0.2, RAID10),
        ];
        let advice = Advice::of(&[column("", "", 1)], &rows, SIMULATED_RESOLUTION);
        assert_eq!(advice.choice().map(|choice| choice.tie), Some(Tie::Both));
    }

    /// A test with wide intervals in another column than that of the smallest ratio.
    #[test]
    fn issue_39_a1_every_column_may_have_the_largest_loss() {
        let mut rows = [row("one", 0.95, 0.001, RAID10), row("other", 0.9, 0.001, RAID10)];
        rows[0].scores.push(score(0.97, 0.2));
        rows[1].scores.push(score(1.0, 0.0));
        let columns = [column("photos", "read", 1), column("photos", "write", 1)];
        let leaders = Advice::of(&columns, &rows, 1.0)
            .choice()
            .map(|choice| choice.leaders.clone());
        assert_eq!(leaders, Some(vec![0, 1]));
    }

    #[test]
    fn issue_39_a1_no_stack_is_recommended_if_none_is_good() {
        let rows = [row("one", 0.4, 0.02, RAID5), row("other", 0.2, 0.02, RAID5)];
        assert!(matches!(advice(&rows), Advice::NoneGood(_)));
    }

    /// A stack with a ratio of 1 everywhere was passed over, because one of its three trials was excluded, and nothing said so.
    #[test]
    fn issue_39_a2_a_stack_that_is_not_ranked_for_an_excluded_trial_is_named() {
        let mut rows = [
            row("RAID 10 xfs", 1.0, 0.0, RAID10),
            row("RAID 10 ext4", 0.9, 0.02, RAID10),
            row("RAID 5 ext4", 0.6, 0.02, RAID5),
        ];
        rows[0].is_ranked = false;
        rows[0].scores[0].excluded = 1;
        let board = |rows: &[ScoreRow]| board(Vec::new(), rows, advice(rows));
        let named = board(&rows);
        assert_eq!(
            named.advice.choice().map(|choice| choice.leaders.clone()),
            Some(vec![1])
        );
        assert_eq!(
            unranked(&named),
            " Not ranked, because too few trials count (guards excluded 1 sample): RAID 10 xfs."
        );
        // None of its trials counts.
        (rows[0].worst, rows[0].scores[0].ratio) = (None, None);
        assert!(unranked(&board(&rows)).contains("RAID 10 xfs"));
        (rows[0].worst, rows[0].scores[0].ratio) = (Some(0), Some(1.0));
        rows[0].is_ranked = true;
        assert_eq!(unranked(&board(&rows)), "");
    }

    /// "The best in every test" stood next to a stack with three times the figure, two of whose trials a guard had excluded.
    #[test]
    fn issue_39_a2_a_stack_that_is_not_ranked_but_ahead_comes_first() {
        let mut rows = [
            row("RAID 6 no bitmap", 1.0, 0.0, RAID6),
            row("RAID 6 bitmap", 0.327, 0.0, RAID6),
            row("RAID 10 bitmap", 0.18, 0.0, RAID10),
        ];
        rows[0].is_ranked = false;
        (rows[0].scores[0].figure, rows[1].scores[0].figure) = (214.8, 70.1);
        let words = |rows: &[ScoreRow], weight| {
            let columns = vec![column("random writes", "randwrite", weight)];
            let advice = Advice::of(&columns, rows, 1.0);
            ahead(&board(columns, rows, advice), RateUnit::MiB)
        };
        let said = words(&rows, 1);
        assert!(
            said.starts_with(
                "RAID 6 no bitmap may be the best: in random writes randwrite it is 3.1 times as good"
            ),
            "{said}"
        );
        assert!(said.contains("ranked stack (215 against 70.1"), "{said}");
        assert_eq!(words(&rows, 0), "", "a test that does not count");
        rows[0].is_unsafe = true;
        assert_eq!(words(&rows, 1), "", "it lost something in a power cut");
        rows[0].is_unsafe = false;
        rows[1].scores[0].ratio = Some(0.95);
        assert_eq!(words(&rows, 1), "");
    }

    /// Two imported reports with figures of the same tests had "no figure in every test".
    #[test]
    fn issue_39_b_imports_alone_are_not_recommended_and_not_incomplete() {
        let mut rows = [row("server", 1.0, 0.0, RAID5), row("other", 0.5, 0.0, RAID5)];
        for row in &mut rows {
            row.is_imported = true;
        }
        assert_eq!(advice(&rows), Advice::Imported);
    }

    #[test]
    fn what_was_not_measured_or_loses_data_is_not_recommended() {
        let mut rows = [
            row("fast", 1.0, 0.0, RAID5),
            row("safe", 0.8, 0.02, RAID5),
            row("unmeasured", 0.7, 0.02, RAID5),
        ];
        rows[0].is_unsafe = true;
        rows[2].worst = None;
        let leaders = |rows: &[ScoreRow]| advice(rows).choice().map(|choice| choice.leaders.clone());
        assert_eq!(leaders(&rows), Some(vec![1]));
        rows[1].is_unsafe = true;
        assert_eq!(advice(&rows), Advice::AllUnsafe);
        rows[0].is_ranked = false;
        assert_eq!(advice(&rows), Advice::TooFewTrials);
    }
}
