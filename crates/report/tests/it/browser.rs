//! The page as a browser draws it: on a desktop screen and on a phone, light and dark, on paper, and with a
//! keyboard. The page itself runs no script; these tests run one that measures the drawing.

use crate::chromium::{Chromium, Scheme};
use crate::first_look;
use crate::made;
use report::{ComparedSide, Input};
use serde_json::Value;

/// Measurements of the script in a window of this width; `None`, with the reason printed, without a browser.
fn measured(input: &Input, width: u32, scheme: Scheme) -> Option<Value> {
    let mut browser = Chromium::start()?;
    browser.open(&report::html(input), width, scheme);
    Some(browser.measure())
}

/// Conditions for any width and any scheme.
fn assert_well_drawn(page: &Value, width: u64) {
    assert_eq!(page["width"], width);
    assert!(
        page["overflow_px"].as_f64().unwrap() <= 0.0,
        "the page scrolls sideways: {}",
        page["widest"]
    );
    assert_accessible(page);
    let panels = page["panels"].as_array().unwrap();
    assert_eq!(panels.len(), 8, "2 workloads of 4 tests");
    for panel in panels {
        let name = &panel["name"];
        assert_eq!(panel["rows"], 7, "{name}: a row a stack");
        assert_eq!(panel["overlapping_labels"], 0, "{name}");
        assert!(
            panel["labels"].as_u64().unwrap() >= 2,
            "{name}: an axis needs two labels"
        );
        assert!(panel["track_px"].as_f64().unwrap() >= 90.0, "{name}: {panel}");
        for dot in panel["dots"].as_array().unwrap() {
            let place = dot["place"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&place), "{name}: {dot} lies outside its track");
        }
    }
    assert_contrasts(
        page,
        &["text", "soft", "best", "dots", "note", "bad", "supported", "effect"],
    );
}

/// The needed colours occur, and all have enough contrast.
fn assert_contrasts(page: &Value, needed: &[&str]) {
    let contrasts = page["contrasts"].as_object().unwrap();
    for what in needed {
        assert!(contrasts.contains_key(*what), "{what} is not in the page");
    }
    for (what, contrast) in contrasts {
        assert!(contrast.as_f64().unwrap() >= 4.5, "{what} has a contrast of {contrast}");
    }
}

/// Requirements of keyboards and screen readers.
fn assert_accessible(page: &Value) {
    for what in ["unnamed", "without_caption", "without_scope", "dead_links"] {
        assert_eq!(page[what], 0, "{what}");
    }
    assert_eq!(page["landmarks"], 4, "header, nav, main, footer");
    assert_eq!(page["duplicate_ids"], Value::Array(Vec::new()));
}

/// A dot is at the position of its value: on a scale from zero, positions are proportional to values.
fn assert_to_scale(panel: &Value) {
    let dots = panel["dots"].as_array().unwrap();
    let (first, first_place) = (dots[0]["value"].as_f64().unwrap(), dots[0]["place"].as_f64().unwrap());
    for dot in dots {
        let (value, place) = (dot["value"].as_f64().unwrap(), dot["place"].as_f64().unwrap());
        assert!(
            (place / first_place - value / first).abs() < 0.01,
            "{dot} is not to scale in {}",
            panel["name"]
        );
    }
}

#[test]
fn at_a_desk_in_light() {
    let Some(page) = measured(&first_look::input(), 1280, Scheme::Light) else {
        return;
    };
    assert_well_drawn(&page, 1280);
    assert_eq!(page["is_dark"], false);
    // Three trials of each stack, in one panel with a sample that a guard excluded; one trial failed.
    let panels = page["panels"].as_array().unwrap();
    assert_eq!(panels[0]["dots"].as_array().unwrap().len(), 21);
    assert_eq!(panels[1]["dots"].as_array().unwrap().len(), 20);
    assert_eq!(
        (&panels[1]["crosses"], &panels[0]["crosses"]),
        (&Value::from(1), &Value::from(0))
    );
    assert_eq!(panels[4]["dots"].as_array().unwrap().len(), 20);
    assert_eq!(
        (&panels[0]["bands"], &panels[1]["bands"]),
        (&Value::from(7), &Value::from(6))
    );
    panels[4..].iter().for_each(assert_to_scale);
    // The panels of the medium files in MiB/s share their scale.
    assert_eq!(panels[4]["ticks"], panels[5]["ticks"]);
    assert_eq!(panels[4]["ticks"], panels[6]["ticks"]);
    assert_eq!(page["panels_per_line"], 2);
}

#[test]
fn at_a_desk_in_dark() {
    let Some(page) = measured(&first_look::input(), 1280, Scheme::Dark) else {
        return;
    };
    assert_well_drawn(&page, 1280);
    assert_eq!(page["is_dark"], true);
}

#[test]
fn on_a_phone() {
    for scheme in [Scheme::Light, Scheme::Dark] {
        let Some(page) = measured(&first_look::input(), 360, scheme) else {
            return;
        };
        assert_well_drawn(&page, 360);
        assert_eq!(page["panels_per_line"], 1);
    }
}

/// A study with many axes has long labels.
#[test]
fn long_labels_on_a_phone() {
    let mut input = first_look::input();
    let long = |key: &str| key.replacen(" |", ", RAID 10 n2, chunk 512K, bitmap=internal, data=writeback |", 1);
    for cell in &mut input.plan.cells {
        cell.key = long(&cell.key);
        cell.stack_label = cell.key.split(" | ").next().expect("a stack").to_owned();
    }
    let Some(page) = measured(&input, 360, Scheme::Light) else {
        return;
    };
    assert_well_drawn(&page, 360);
}

/// Maps of two tests on two filesystems: chunk × bitmap.
#[test]
fn maps_at_a_desk_and_on_a_phone() {
    for (width, scheme) in [(1280, Scheme::Light), (390, Scheme::Light), (390, Scheme::Dark)] {
        let Some(page) = measured(&made::sweep(), width, scheme) else {
            return;
        };
        assert!(page["overflow_px"].as_f64().unwrap() <= 0.0, "{}", page["widest"]);
        assert_accessible(&page);
        let maps = page["maps"].as_array().unwrap();
        assert_eq!(maps.len(), 4);
        for map in maps {
            assert_eq!((&map["spots"], &map["overflowing"]), (&Value::from(8), &Value::from(0)));
            assert!(map["right"].as_f64().unwrap() <= f64::from(width), "{map}");
            let numbers = |key: &str| -> Vec<f64> {
                let all = map[key].as_array().unwrap().iter();
                all.map(|one| one.as_f64().unwrap()).collect()
            };
            let (heats, alphas) = (numbers("heats"), numbers("alphas"));
            for (one, other) in (0..8).flat_map(|one| (0..8).map(move |other| (one, other))) {
                assert!(
                    heats[one] <= heats[other] || alphas[one] > alphas[other],
                    "shades follow figures"
                );
            }
        }
        assert_contrasts(&page, &["text", "strongest_shade"]);
    }
}

/// Comparison of two runs: every ratio is on one axis, and nothing overflows.
#[test]
fn a_comparison_at_a_desk_and_on_a_phone() {
    let between = made::compared();
    let side = |name| ComparedSide {
        name,
        is_simulated: true,
    };
    let page = report::comparison_html(&between, ["old.db", "new.db"].map(side));
    let Some(mut browser) = Chromium::start() else { return };
    for (width, scheme) in [
        (1280, Scheme::Light),
        (1280, Scheme::Dark),
        (360, Scheme::Light),
        (360, Scheme::Dark),
    ] {
        browser.open(&page, width, scheme);
        let page = browser.measure();
        assert_eq!(page["width"], width);
        assert!(page["overflow_px"].as_f64().unwrap() <= 0.0, "{}", page["widest"]);
        assert_accessible(&page);
        assert_contrasts(
            &page,
            &["faster", "slower", "faster_stroke", "slower_stroke", "measured", "note"],
        );
        let rows = page["comparison"].as_array().unwrap();
        assert_eq!(rows.len(), between.rows.len());
        for (row, compared) in rows.iter().zip(&between.rows) {
            assert_eq!(row["overlapping"], 0, "{row}");
            assert!(row["right"].as_f64().unwrap() <= f64::from(width), "{row}");
            assert_eq!(row["median"].is_number(), compared.ratio.is_some(), "{row}");
            assert!(
                compared.ratio.is_none() || row["track_px"].as_f64().unwrap() >= 190.0,
                "{row}"
            );
        }
        // The same ratio is at the same position in all rows, and a larger one to its right.
        let mut places: Vec<(f64, f64)> = rows
            .iter()
            .zip(&between.rows)
            .filter_map(|(row, compared)| Some((compared.ratio?, row["median"].as_f64()?)))
            .collect();
        places.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert!(places.windows(2).all(|pair| pair[0].1 <= pair[1].1 + 0.5), "{places:?}");
    }
}

/// Pages with everything that can be folded: latencies, throughput over time, disks, all figures, warnings, claims,
/// maps, power cuts, and a comparison.
fn pages() -> Vec<(&'static str, String)> {
    let mut first = first_look::input();
    first.advice = ["one", "two", "three"]
        .map(|word| format!("{word} is not what it seems"))
        .to_vec();
    let side = |name| ComparedSide {
        name,
        is_simulated: true,
    };
    vec![
        ("first look", report::html(&first)),
        ("sweep", report::html(&made::sweep())),
        ("sweep of workloads", report::html(&made::workload_sweep())),
        ("power cuts", report::html(&made::power_cuts())),
        (
            "comparison",
            report::comparison_html(&made::compared(), ["A", "B"].map(side)),
        ),
    ]
}

/// Folded content was never drawn at the width of a phone.
#[test]
fn what_is_folded_fits_on_a_phone() {
    let Some(mut browser) = Chromium::start() else { return };
    let mut opened = 0;
    for (name, page) in pages() {
        browser.open(&page, 360, Scheme::Light);
        opened += browser.ask("openAll()").as_u64().unwrap();
        assert_eq!(browser.ask("openAll()"), 0, "all are open");
        let measured = browser.measure();
        assert!(
            measured["overflow_px"].as_f64().unwrap() <= 0.0,
            "{name}: {}",
            measured["widest"]
        );
        assert_eq!(browser.ask("tooWide()"), Value::Array(Vec::new()), "{name}");
        assert_accessible(&measured);
    }
    assert!(opened > 20, "{opened}");
}

/// Without a mouse: Tab reaches every link, summary and scrollable region, Enter opens folded content, and the
/// focus is visible everywhere.
#[test]
fn a_keyboard_reaches_everything() {
    const KEYS_MAX: usize = 400;
    let Some(mut browser) = Chromium::start() else { return };
    for (name, page) in pages() {
        browser.open(&page, 360, Scheme::Light);
        let mut visited: Vec<String> = Vec::new();
        for _ in 0..KEYS_MAX {
            browser.press("Tab");
            let focused = browser.ask("focused()");
            let Some(place) = focused["place"].as_str() else { break };
            if visited.iter().any(|known| known == place) {
                break;
            }
            assert!(
                focused["outline_px"].as_f64().unwrap() >= 1.0,
                "{name}: {focused} does not show its focus"
            );
            assert_eq!(focused["is_shown"], true, "{name}: {focused}");
            visited.push(place.to_owned());
            if focused["is_folded"] == true {
                browser.press("Enter");
                assert_eq!(
                    browser.ask("focused()")["is_folded"],
                    false,
                    "{name}: {focused} does not open"
                );
            }
        }
        assert!(visited[0].ends_with("Skip to the results"), "{name}: {visited:?}");
        assert_eq!(browser.ask("openAll()"), 0, "{name}: all were opened by keys");
        let reachable = browser.ask("reachable()");
        let missed: Vec<&Value> = reachable.as_array().unwrap().iter().collect();
        let missed: Vec<&&Value> = missed
            .iter()
            .filter(|place| !visited.iter().any(|known| known == place.as_str().unwrap()))
            .collect();
        assert!(missed.is_empty(), "{name}: {missed:?} cannot be reached");
        assert!(visited.len() >= 5, "{name}: {visited:?}");
    }
}

/// What is folded is not printed, and what is open is.
#[test]
fn issue_39_c15_print_has_what_is_open() {
    let Some(mut browser) = Chromium::start() else { return };
    for (name, page) in pages() {
        browser.open(&page, 800, Scheme::Dark);
        browser.emulate_print();
        let on_paper = browser.ask("drawnDetails()");
        for details in on_paper.as_array().unwrap() {
            let is_drawn = details["height_px"].as_f64().unwrap() > 0.0;
            let has_more = details["summary"] != details["text"];
            assert!(
                is_drawn == (details["is_open"] == true) || !has_more,
                "{name}: {details}"
            );
        }
        assert_eq!(browser.ask("scrolling().length"), 0, "{name}: paper does not scroll");
    }
}

/// A report was printed on 81 pages, and as high as a tower on a phone.
#[test]
fn issue_39_c15_a_large_report_is_a_few_pages() {
    let Some(mut browser) = Chromium::start() else { return };
    for (name, input) in [("first look", first_look::input()), ("many stacks", made::many(2_000))] {
        let page = report::html(&input);
        browser.open(&page, 390, Scheme::Light);
        let height = browser.ask("document.documentElement.scrollHeight").as_u64().unwrap();
        assert!(height <= 10_000, "{name}: {height} px");
        browser.open(&page, 1280, Scheme::Light);
        let pdf = String::from_utf8_lossy(&browser.pdf()).into_owned();
        let pages = pdf.matches("/Type /Page\n").count();
        assert!((1..=6).contains(&pages), "{name}: {pages} pages");
    }
}
