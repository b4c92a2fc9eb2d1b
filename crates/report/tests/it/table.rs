//! The result table as the terminal shows it.

use crate::first_look;
use report::{ModelFit, TableOptions, table};
use study::CellId;
use study::metric::Metric;
use study::plan::Cell;

fn plain(width: usize) -> String {
    table(&first_look::input(), TableOptions::plain(width))
}

#[test]
fn wide() {
    insta::assert_snapshot!(plain(120));
}

#[test]
fn narrow_terminals_get_more_tables_and_no_broken_lines() {
    let text = plain(48);
    insta::assert_snapshot!(text);
    let of_tables = text.lines().filter(|line| line.contains('±') && !line.contains("95 %"));
    assert!(of_tables.clone().count() > 0 && of_tables.clone().all(|line| line.chars().count() <= 48));
}

/// An 80-column terminal got lines with 84 columns.
#[test]
fn issue_12_16_no_line_is_wider_than_the_terminal() {
    let mut input = first_look::input();
    for (number, cell) in input.plan.cells.iter_mut().enumerate() {
        let label = format!(
            "{} on RAID 6 of 8, chunk 512K, without a bitmap, number {number}",
            cell.stack_label
        );
        cell.stack_label = label;
    }
    for input in [first_look::input(), input] {
        for width in 60..=120 {
            let text = table(&input, TableOptions::plain(width));
            for line in text.lines() {
                assert!(
                    line.chars().count() <= width,
                    "{} > {width}: {line}",
                    line.chars().count()
                );
            }
        }
    }
}

#[test]
fn colour_only_if_told_so() {
    let coloured = table(
        &first_look::input(),
        TableOptions {
            colour: true,
            ..TableOptions::plain(120)
        },
    );
    assert!(coloured.contains("\u{1b}["));
    assert!(!plain(120).contains('\u{1b}'));
}

#[test]
fn before_the_first_trial() {
    let mut input = first_look::input();
    input.trials.clear();
    input.samples.clear();
    insta::assert_snapshot!(table(&input, TableOptions::plain(80)));
}

/// First-look with its first cell twice; the samples of the replicate are those of the cell times this factor.
fn with_replicate(factor: f64) -> report::Input {
    let mut input = first_look::input();
    let first = input.plan.cells[0].clone();
    let mut replicate = first.clone();
    replicate.key = format!("{} #2", first.key);
    replicate.stack_label = format!("{} #2", first.stack_label);
    input.plan.cells.push(replicate);
    input.plan.identify();
    let id = input.plan.cells.last().expect("it was pushed").id;
    let of_first: Vec<_> = input
        .samples
        .iter()
        .filter(|one| one.trial.cell == first.id)
        .cloned()
        .collect();
    input.samples.extend(of_first.into_iter().map(|mut one| {
        one.trial.cell = id;
        one.entry.value *= factor;
        one
    }));
    input
}

#[test]
fn a_control_that_differs_is_said_before_everything_else() {
    let options = TableOptions::plain(120);
    let text = table(&with_replicate(1.3), options);
    let first = text.split("\n\n").nth(1).unwrap_or_default();
    assert!(first.starts_with("The A/A control differs: "), "{text}");
    let page = report::html(&with_replicate(1.3));
    let place = |words: &str| page.find(words).unwrap_or(usize::MAX);
    assert!(place("A control differs: ") < place("<p class=\"verdict\">"));

    let text = table(&with_replicate(1.0), options);
    assert!(!text.contains("control differs"), "{text}");
    assert!(text.contains("A/A control: no difference in "), "{text}");
    let page = report::html(&with_replicate(1.0));
    assert!(page.contains("no difference in "), "{page}");

    let mut without = first_look::input();
    assert!(
        !table(&without, options).contains("A/A control"),
        "the lab has no need of one"
    );
    without.run.machine = study::stack::MachineKind::Host;
    assert!(table(&without, options).contains("A/A control: none"));
}

/// The identities of a workload's cells.
fn cells_of(input: &report::Input, workload: &str) -> Vec<CellId> {
    let of_workload = input.plan.cells.iter().filter(|cell| cell.workload.name == workload);
    of_workload.map(|cell| cell.id).collect()
}

/// A workload that does not count made short tests not count either, and no stack was recommended.
#[test]
fn issue_39_a1_short_tests_count_where_nothing_longer_does() {
    let mut input = first_look::input();
    input.plan.weights = vec![("medium files".to_owned(), 0)];
    let small = cells_of(&input, "small files");
    for sample in &mut input.samples {
        if small.contains(&sample.trial.cell) && sample.entry.metric == Metric::Duration {
            sample.entry.value = 0.5;
        }
    }
    let text = table(&input, TableOptions::plain(200));
    assert!(!text.contains("none is recommended"), "{text}");
    assert!(!text.contains("do not count"), "{text}");
}

/// With the same weight for every test, ext4 is recommended, because xfs is slower with small files.
#[test]
fn issue_39_a1_what_does_not_count_decides_nothing() {
    let mut input = first_look::input();
    input.plan.weights = vec![("small files".to_owned(), 0)];
    let text = table(&input, TableOptions::plain(200));
    let advice = "xfs or ext4 may be the best choice: in their worst tests they reach 94 to 95 % of the best, and \
                  differences of less than a tenth are not ranked";
    assert!(text.contains(advice), "{text}");
    assert!(text.contains("Losses count by the weights of the study: small files 0, others 1."));
    // Nor does it matter whether it was measured.
    let is_small = |cell: &Cell| cell.workload.name == "small files" && cell.stack_label == "xfs";
    let unmeasured: Vec<CellId> = input
        .plan
        .cells
        .iter()
        .filter(|cell| is_small(cell))
        .map(|cell| cell.id)
        .collect();
    input.samples.retain(|sample| !unmeasured.contains(&sample.trial.cell));
    assert!(table(&input, TableOptions::plain(200)).contains(advice));
}

/// The best stack of a run under way stood in the last row, with a ratio of 3, because it had fewer trials than the others.
#[test]
fn issue_39_a_stack_with_too_few_trials_so_far_is_not_behind_worse_ones() {
    let mut input = first_look::input();
    input.run.finished_at_unix_s = None;
    let is_btrfs = |cell: &&Cell| cell.stack_label == "btrfs";
    let early: Vec<CellId> = input.plan.cells.iter().filter(is_btrfs).map(|cell| cell.id).collect();
    input
        .samples
        .retain(|sample| !early.contains(&sample.trial.cell) || sample.trial.index == 0);
    let results = input.results();
    let board = input.scoreboard(&results, &input.warnings());
    for row in &board.rows {
        for score in row.scores.iter().filter(|score| score.missing.is_empty()) {
            assert!(score.ratio.is_none_or(|ratio| ratio <= 1.0), "{}: {score:?}", row.stack);
        }
    }
    let text = table(&input, TableOptions::plain(120));
    assert!(text.contains("Too few trials to recommend a stack"), "{text}");
}

/// "1 is the best" stood above 1.51 and 1.20 of stacks of which a guard had excluded a trial, and the slowest had 1.00.
#[test]
fn issue_39_a2_nothing_is_better_than_the_best_where_a_guard_excluded_trials() {
    let mut input = first_look::input();
    let is_best = |cell: &&Cell| cell.stack_label == "xfs" && cell.workload.name == "medium files";
    let best = input.plan.cells.iter().find(is_best).expect("a cell").id;
    for sample in &mut input.samples {
        let is_of_test = sample.trial.cell == best && sample.entry.test == *"delete";
        if is_of_test && sample.trial.index == 0 {
            sample.failed_guards.push("steady".to_owned());
        }
    }
    let results = input.results();
    let board = input.scoreboard(&results, &input.warnings());
    let named = |column: &report::Column| column.name() == "medium files delete";
    let place = board.columns.iter().position(named).expect("a column");
    for row in &board.rows {
        let ratio = row.scores[place].ratio.expect("a figure");
        assert_eq!(ratio == 1.0, row.stack == "xfs", "{}: {ratio}", row.stack);
        assert!(ratio <= 1.0, "{}: {ratio}", row.stack);
    }
}

#[test]
fn unmeasured_claims_are_counted_and_not_listed() {
    let mut input = first_look::input();
    input.samples.clear();
    input.run.finished_at_unix_s = None;
    let text = table(&input, TableOptions::plain(120));
    assert!(text.contains("The study's claim is not yet measured."), "{text}");
    assert!(!text.contains("JFS is by far"), "{text}");
}

#[test]
fn issue_39_a5_warnings_about_the_study_stand_before_its_figures() {
    let mut input = first_look::input();
    let seeks = |name: &str| format!("`{name}` seeks within 1 % of the disk");
    input.advice = ["a", "b", "c", "d", "e"].map(seeks).to_vec();
    let text = table(&input, TableOptions::plain(120));
    let place = |words: &str| text.find(words).unwrap_or(usize::MAX);
    assert!(
        place("warning: `d` seeks within") < place("small files  (simulated)"),
        "{text}"
    );
    assert!(!text.contains("`e` seeks"));
    assert!(
        place("1 more warning: `raidlab plan`") < place("small files  (simulated)"),
        "{text}"
    );
}

/// A model that misses most published figures of its disk looked as sound as one that meets them.
#[test]
fn issue_39_the_first_screen_says_how_well_the_disks_models_are_known() {
    let first_screen = |unverified: &[&str], fit: Option<ModelFit>| {
        let mut input = crate::made::sweep();
        for disk in &mut input.disks {
            disk.unverified = unverified.iter().map(|&name| name.to_owned()).collect();
            disk.fit = fit.clone();
        }
        let text = table(&input, TableOptions::plain(10_000));
        let (first, _) = text.split_once("each stack relative").expect("a scoreboard");
        first.to_owned()
    };
    let fit = |met: usize| {
        Some(ModelFit {
            figures: 7,
            met,
            median_percent: 27.7,
            worst: "random write, 4 KiB, depth 512".to_owned(),
            off_percent: -56.2,
        })
    };
    let few = first_screen(&["seek"], fit(1));
    let words = "The model wd-500gb-2007 is within its goal for 1 of 7 published figures: half of them are within 28 %, the farthest is \
                 random write, 4 KiB, depth 512, 56 % below it; it has estimates, without a document or a measurement: seek.";
    assert!(few.contains(words), "{few}");
    assert!(first_screen(&[], fit(7)).contains("is within its goal for all 7 published figures"));
    let none = first_screen(&["seek", "read-ahead"], None);
    assert!(
        none.contains("was checked against no published figure of such a disk, and has estimates"),
        "{none}"
    );
    assert!(!first_screen(&[], None).contains("The model "));
}

/// A study of two kernels was answered with the best pair of kernel and filesystem.
#[test]
fn issue_39_what_an_axis_changes_is_said_of_stacks_that_are_else_equal() {
    let mut input = crate::made::sweep();
    let text = table(&input, TableOptions::plain(10_000));
    let said = "bitmap internal against none, all else equal: of 15 comparisons, worse in 7: 0.67 times (small files write, ";
    assert!(text.contains(said), "{text}");
    assert!(!text.contains("type xfs against"), "they also differ in block_size");
    // The other half of the comparisons.
    input.samples.retain(|sample| sample.entry.test == "randwrite");
    let text = table(&input, TableOptions::plain(10_000));
    let said = "bitmap internal against none, all else equal: of 8 comparisons, within a tenth in 8.";
    assert!(text.contains(said), "{text}");
}

/// "A, B or C may be the best choice" answered a study of two kernels.
#[test]
fn issue_39_what_a_kernel_changes_is_answered_first() {
    let mut input = crate::made::sweep();
    for axis in input.plan.cells.iter_mut().flat_map(|cell| &mut cell.axes) {
        if axis.0 == "bitmap" {
            axis.0 = "kernel".to_owned();
        }
    }
    let text = table(&input, TableOptions::plain(10_000));
    let verdict = text.lines().nth(3).expect("the first paragraph");
    assert!(
        verdict.starts_with("Kernel internal against none, all else equal: of 15 comparisons"),
        "{text}"
    );
    assert_eq!(text.matches("against none, all else equal").count(), 1, "{text}");
}

/// An axis was "worse" in a test in which the scoreboard, which compares all stacks, showed none to be faster.
#[test]
fn issue_39_an_axis_shows_no_difference_that_the_scoreboard_does_not() {
    let mut input = crate::made::sweep();
    input.samples.retain(|sample| sample.entry.test == "randwrite");
    for (place, sample) in input.samples.iter_mut().enumerate() {
        let internal = if place / 6 % 2 == 1 { 0.8 } else { 1.0 };
        sample.entry.value = 2.0 * internal * (1.0 + 0.02 * ((place * 7 % 11) as f64 - 5.0));
    }
    let text = table(&input, TableOptions::plain(10_000));
    let first_screen = text.split_once("small files  (simulated)").expect("tables").0;
    let is_starred = |line: &&str| line.contains("bitmap internal ") && line.ends_with('*');
    assert_eq!(first_screen.lines().filter(is_starred).count(), 2, "{text}");
    let said = "bitmap internal against none, all else equal: of 8 comparisons, worse in 6: ";
    assert!(text.contains(said), "{text}");
}

/// A stack was recommended by a test that its drives' write caches took.
#[test]
fn issue_39_a3_tests_of_caches_decide_nothing() {
    let mut input = first_look::input();
    let first_screen = |input: &report::Input| {
        let text = table(input, TableOptions::plain(10_000));
        let (first, _) = text.split_once("each stack relative").expect("a scoreboard");
        first.to_owned()
    };
    assert!(!first_screen(&input).contains("caches of drives"));
    input.of_caches.insert(("small files".to_owned(), "write".to_owned()));
    let one = first_screen(&input);
    assert!(
        one.contains("caches of drives were measured: small files write."),
        "{one}"
    );
    let tests = ["write", "read", "copy", "delete"];
    for workload in ["small files", "medium files"] {
        input
            .of_caches
            .extend(tests.map(|test| (workload.to_owned(), test.to_owned())));
    }
    let none = first_screen(&input);
    assert!(
        none.contains("Not decided: every test measured memory or the caches of drives"),
        "{none}"
    );
    assert!(!none.contains("best choice"), "{none}");
}

/// What is decided by a figure that nobody knows was said to be decided, as soon as there were enough trials.
#[test]
fn issue_41_a_comparison_that_hangs_on_what_is_not_known_of_the_disks_names_it() {
    let mut input = first_look::input();
    let cells = cells_of(&input, "small files");
    for cell in &mut input.plan.cells {
        cell.machine_mut().draws_models = true;
    }
    let of = |input: &report::Input, cell| {
        let mut samples = input.samples.iter();
        samples
            .find(|one| {
                one.trial.cell == cell && one.entry.test == *"write" && one.entry.metric.name() == "throughput"
            })
            .cloned()
    };
    let pair = [cells[0], cells[1]];
    let templates = pair.map(|cell| of(&input, cell).expect("a sample"));
    input
        .samples
        .retain(|one| one.entry.test != *"write" || !cells.contains(&one.trial.cell));
    for index in 0..10 {
        let seek = 1.0 + 0.05 * f64::from(index);
        for (template, value) in templates.iter().zip([100.0 * (1.35 - seek * 0.25), 100.0]) {
            let mut one = template.clone();
            (one.trial.index, one.trial.seed, one.entry.value) = (index, u64::from(index), value);
            input
                .facts
                .drawn
                .extend(
                    [("disk.seek", seek), ("disk.rate", 1.0)].map(|(figure, factor)| study::Recorded {
                        trial: one.trial,
                        entry: study::DrawnFigure {
                            figure: figure.to_owned(),
                            factor,
                        },
                    }),
                );
            input.samples.push(one);
        }
    }
    let text = table(&input, TableOptions::plain(10_000));
    let line = text
        .lines()
        .find(|line| line.contains("drawn disks: it depends"))
        .unwrap_or_else(|| panic!("{text}"));
    assert!(
        line.starts_with("small files write: ")
            && line.contains("most on disk.seek (100 % of the scatter)")
            && line.contains("raidlab disk measure"),
        "{line}"
    );
    assert!(text.contains("Models of disks are drawn for each trial"), "{text}");
    assert!(text.contains("95 % intervals are of one such disk"), "{text}");
}
