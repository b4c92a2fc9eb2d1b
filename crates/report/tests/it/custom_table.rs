//! The study's custom tables, with published figures.

use crate::first_look;
use report::{Input, TableOptions, html, table};
use study::table::{Figure, TableColumn, TableRow, TableSpec};

fn side(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned()))
        .collect()
}

fn column(heading: &str, filter: &[(&str, &str)], figure: Figure) -> TableColumn {
    TableColumn {
        heading: heading.to_owned(),
        filter: side(filter),
        unit: Some("KiB/s".to_owned()),
        figure,
        not_measured: None,
    }
}

fn row(stack: &str, published: [Option<f64>; 4]) -> TableRow {
    TableRow {
        values: vec![stack.to_owned()],
        published: published.to_vec(),
    }
}

fn input() -> Input {
    let mut input = first_look::input();
    input.plan.tables = vec![TableSpec {
        title: "Marechal's medium files".to_owned(),
        filter: side(&[("workload", "medium files")]),
        row_axes: vec!["stack".to_owned()],
        rows: vec![
            row("ext3 1K", [Some(24_000.0), None, None, Some(13.5)]),
            row("xfs", [Some(120_000.5), None, None, None]),
            row("a stack of another part", [Some(1.0), None, None, None]),
        ],
        columns: vec![
            column("Read", &[("test", "read")], Figure::Mean),
            column("", &[("test", "read")], Figure::Deviation),
            column("Write", &[("test", "write")], Figure::Median),
            TableColumn {
                not_measured: Some("processor time is free".to_owned()),
                ..column("%CPU", &[], Figure::Median)
            },
        ],
        relative_to: None,
        source: Some("lone-wolves.org, 2008".to_owned()),
    }];
    input
}

fn text(input: &Input, width: usize) -> String {
    let text = table(input, TableOptions::plain(width));
    let begin = text.find("Marechal's medium files").expect("the table");
    let end = begin
        + text[begin..]
            .find("\n\nsmall files")
            .expect("the tables that every study has");
    text[begin..end].to_owned()
}

#[test]
fn ours_stand_beside_what_was_published() {
    insta::assert_snapshot!(text(&input(), 120));
}

/// With drawn models a ratio says whether the interval covers what was published; others leave that open.
#[test]
fn published_figures_are_in_the_intervals_of_drawn_models_or_not() {
    let mut input = input();
    let before = text(&input, 120);
    assert!(!before.contains(" in\n") && !before.contains("in, out"), "{before}");
    input.plan.tables[0].rows[0].published[0] = Some(58_000.0);
    for cell in &mut input.plan.cells {
        cell.machine_mut().draws_models = true;
    }
    let drawn = text(&input, 120);
    let counted = drawn.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        counted.contains(
            "95 % interval of the drawn disk models: 1 of 2 are; half of the intervals are narrower than ±"
        ),
        "{drawn}"
    );
    assert!(drawn.contains("1.00 in") && drawn.contains("0.52 out"), "{drawn}");
}

#[test]
fn narrow_terminals_keep_a_columns_figures_together() {
    let text = text(&input(), 48);
    insta::assert_snapshot!(text);
    assert!(text.lines().all(|line| line.chars().count() <= 48));
}

#[test]
fn ratios_to_a_row() {
    let mut input = input();
    input.plan.tables[0].relative_to = Some(0);
    input.plan.tables[0].rows[0].published[0] = None;
    input.plan.tables[0].rows[1].published[0] = Some(1.25);
    input.plan.tables[0].columns.remove(1);
    insta::assert_snapshot!(text(&input, 120));
}

#[test]
fn a_stack_that_failed_says_so() {
    let mut input = input();
    let plan = input.plan.clone();
    let is_xfs = |row: &study::Measurement| plan.cell(row.trial.cell).is_some_and(|cell| cell.stack_label == "xfs");
    input.samples.retain(|row| !is_xfs(row));
    assert!(
        text(&input, 120)
            .lines()
            .any(|line| line.trim_start().starts_with("xfs") && line.contains('–'))
    );
}

#[test]
fn the_page_marks_what_is_simulated_and_what_was_published() {
    let page = html(&input());
    let begin = page.find("<section class=\"custom-table\"").expect("the table");
    let section = &page[begin..begin + page[begin..].find("</section>").expect("its end")];
    assert!(section.contains("<em>published</em> figures in italics: lone-wolves.org, 2008"));
    assert!(section.contains(">simulated</th><th scope=\"col\" class=\"number\"><em>published</em></th>"));
    assert!(
        section.contains("<em>24,000.0</em>") || section.contains("<em>24,000</em>"),
        "{section}"
    );
    assert!(!section.contains("another part"));
}

/// Issue 39, C15: S5 has six tables of ten stacks, which were half of 16,800 pixels on a phone.
#[test]
fn issue_39_15_more_than_two_tables_are_folded() {
    let mut input = input();
    let table = input.plan.tables[0].clone();
    let folded = |input: &Input| html(input).matches("<details>\n<summary id=\"table").count();
    input.plan.tables = vec![table.clone(); 2];
    assert_eq!(folded(&input), 0);
    input.plan.tables = vec![table; 6];
    assert_eq!(folded(&input), 4);
}
