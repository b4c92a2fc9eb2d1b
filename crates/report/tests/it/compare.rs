//! Comparison of two runs: the text and the page, which are made from the same rows.

use crate::made::compared;
use report::{ComparedSide, TableOptions, comparison, comparison_html};
use stats::run_comparison::{ComparisonOutcome, RunComparison};

const SIDES: [ComparedSide<'static>; 2] = [
    ComparedSide {
        name: "run 1 of old.db: First look",
        is_simulated: true,
    },
    ComparedSide {
        name: "run 2 of new.db: First look",
        is_simulated: true,
    },
];

fn text(between: &RunComparison, sides: [ComparedSide<'_>; 2]) -> String {
    let options = TableOptions::plain(120);
    comparison(between, sides, options)
}

#[test]
fn faster_slower_and_what_only_one_has() {
    let between = compared();
    let has = |outcome: fn(&ComparisonOutcome) -> bool| between.rows.iter().any(|row| outcome(&row.outcome));
    assert!(has(|one| *one == ComparisonOutcome::Faster) && has(|one| *one == ComparisonOutcome::Slower));
    assert!(
        has(|one| matches!(one, ComparisonOutcome::EqualWithin(_)))
            && has(|one| *one == ComparisonOutcome::NotShown)
    );
    assert!(has(|one| *one == ComparisonOutcome::TooFewTrials) && between.rows.iter().any(|row| !row.is_same_cell));
    insta::assert_snapshot!(text(&between, SIDES));
}

/// The side with simulated disks is marked, the other one is not.
#[test]
fn a_lab_against_a_host() {
    let host = ComparedSide {
        name: "run 1 of host.db: First look",
        is_simulated: false,
    };
    let text = text(&compared(), [SIDES[0], host]);
    let head: Vec<&str> = text.lines().take(2).collect();
    assert_eq!(
        head,
        [
            "A: run 1 of old.db: First look  (simulated disks, virtual time)",
            "B: run 1 of host.db: First look"
        ]
    );
    let page = comparison_html(&compared(), [SIDES[0], host]);
    assert!(page.contains("<strong>Simulated disks, virtual time: A only.</strong>"));
    let page = comparison_html(&compared(), [host, host]);
    assert!(
        !page[page.find("<body>").expect("a body")..]
            .to_lowercase()
            .contains("simulated")
    );
}

#[test]
fn the_page_has_what_the_text_has() {
    let between = compared();
    let (text, page) = (text(&between, SIDES), comparison_html(&between, SIDES));
    let summary = text.lines().nth(3).expect("a sentence");
    assert!(
        summary.starts_with("20 tests: ") && text.matches(summary).count() == 1,
        "{summary}"
    );
    // The text is wrapped.
    let verdict = page
        .split("<p class=\"verdict\">")
        .nth(1)
        .and_then(|rest| rest.split("</p>").next());
    let verdict = verdict.expect("a sentence");
    assert!(text.replace('\n', " ").contains(verdict), "{verdict}");
    for row in &between.rows {
        assert!(
            page.contains(&format!("{}</th>", row.first_key)) || !row.is_same_cell,
            "{}",
            row.first_key
        );
    }
    let count = |class: &str| page.matches(&format!("<tr class=\"{class}\" role=\"row\">")).count();
    let rows =
        |outcome: fn(&ComparisonOutcome) -> bool| between.rows.iter().filter(|row| outcome(&row.outcome)).count();
    assert_eq!(
        [count("faster"), count("slower"), count("few")],
        [
            rows(|one| *one == ComparisonOutcome::Faster),
            rows(|one| *one == ComparisonOutcome::Slower),
            rows(|one| *one == ComparisonOutcome::TooFewTrials)
        ]
    );
    assert_eq!(
        count("few") + page.matches("<svg class=\"track\">").count(),
        between.rows.len()
    );
    for (anchor, keys) in [("only-A", &between.only_first), ("only-B", &between.only_second)] {
        let list = page.split(&format!("<section id=\"{anchor}\"")).nth(1).expect("a list");
        let list = list.split("</section>").next().expect("its end");
        assert_eq!(keys.len(), 1);
        assert!(list.contains(&format!("<li>{}</li>", keys[0])), "{list}");
    }
}

/// All ratios are on one axis: the stroke of 1.25 is as far to the right of 1 as that of 0.8 would be to the left.
#[test]
fn one_axis_for_all_rows() {
    let between = compared();
    let page = comparison_html(&between, SIDES);
    let places = |part: &str, before: &str| -> Vec<f64> {
        let all = part.split(before).skip(1);
        all.map(|rest| {
            rest.split('%')
                .next()
                .and_then(|place| place.parse().ok())
                .expect("a place")
        })
        .collect()
    };
    let grid = page.split("<g id=\"grid\">").nth(1).expect("a grid");
    let one = places(grid, "<line class=\"one\" x1=\"")[0];
    let medians = places(
        page.split("<table").nth(1).expect("a table"),
        "<line class=\"median\" x1=\"",
    );
    let ratios: Vec<f64> = between.rows.iter().filter_map(|row| row.ratio).collect();
    assert_eq!(medians.len(), ratios.len());
    let scales: Vec<f64> = medians
        .iter()
        .zip(&ratios)
        .filter(|(_, ratio)| ratio.ln().abs() > 0.1)
        .map(|(place, ratio)| (place - one) / ratio.ln())
        .collect();
    assert!(scales.len() > 4);
    assert!(
        scales.iter().all(|scale| (scale / scales[0] - 1.0).abs() < 0.01),
        "{scales:?}"
    );
}

#[test]
fn the_page_stands_alone_and_escapes() {
    let mut between = compared();
    let hostile = "\"'><script>alert(1)</script>";
    between.rows[0].first_key.push_str(hostile);
    between.rows[1].test.push_str(hostile);
    between.only_first[0].push_str(hostile);
    let side = ComparedSide {
        name: hostile,
        is_simulated: true,
    };
    let page = comparison_html(&between, [SIDES[0], side]);
    for foreign in [
        "<script", "<link", "<img", "src=", "href=\"h", "url(", "http://", "https://",
    ] {
        assert!(!page.contains(foreign), "the page contains `{foreign}`");
    }
    assert!(page.matches("&lt;script&gt;").count() >= 4);
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""));
}

#[test]
fn runs_with_nothing_in_common_have_a_page() {
    let between = RunComparison {
        only_first: vec!["xfs | reads".to_owned()],
        ..RunComparison::default()
    };
    let page = comparison_html(&between, SIDES);
    assert!(page.contains("<p class=\"verdict\">The two have no cell in common.</p>"));
    assert!(page.contains("<li>xfs | reads</li>") && !page.contains("<table"));
    assert!(page.contains("1 of its cells has no counterpart and is not compared."));
}
