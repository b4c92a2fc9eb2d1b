//! The page as a browser draws it: Debian's chromium, headless, at the width of a desk and of a phone, light and
//! dark. The page itself runs no script; these tests add one that measures what was drawn.

mod first_look;
mod made;

use report::Input;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

const MEASURE: &str = include_str!("measure.js");

/// Chromium's `preferredColorScheme`.
#[derive(Clone, Copy)]
enum Scheme {
    Dark = 0,
    Light = 1,
}

/// What the measuring script found in a frame of this width; `None`, with the reason printed, without a browser.
fn measured(input: &Input, width: u32, scheme: Scheme) -> Option<Value> {
    let Some(browser) = browser() else {
        println!("skipped: needs chromium (apt-get install chromium)");
        return None;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let page = report::html(input);
    // The page forbids scripts, ours too.
    let without_policy: String = page
        .lines()
        .filter(|line| !line.contains("Content-Security-Policy"))
        .collect::<Vec<_>>()
        .join("\n");
    let measuring = without_policy.replace("</body>", &format!("<script>{MEASURE}</script></body>"));
    assert!(measuring.contains(MEASURE));
    fs::write(folder.path().join("page.html"), measuring).expect("a page");
    // A window is never narrower than 500 px; a frame may be.
    let frame = format!(
        "<!doctype html><iframe src=\"page.html\" width=\"{width}\" height=\"3000\"></iframe><pre></pre><script>\
         onmessage = (event) => document.querySelector('pre').textContent = 'measured ' + event.data</script>"
    );
    let outer = folder.path().join("frame.html");
    fs::write(&outer, frame).expect("a page");
    let document = dump(&browser, &outer, folder.path(), scheme);
    let measured = document
        .split("measured ")
        .nth(1)
        .and_then(|rest| rest.split("</pre>").next());
    let measured = measured.unwrap_or_else(|| panic!("the page was not measured: {document}"));
    let json = measured.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    Some(serde_json::from_str(&json).expect("the script writes JSON"))
}

fn browser() -> Option<String> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| {
            Command::new(name)
                .arg("--version")
                .output()
                .is_ok_and(|output| output.status.success())
        })
        .map(str::to_owned)
}

fn dump(browser: &str, page: &Path, profile: &Path, scheme: Scheme) -> String {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1400,3000",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.join("profile").display()))
        .arg(format!("--blink-settings=preferredColorScheme={}", scheme as u8))
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What must hold at any width and in any scheme.
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
    let contrasts = page["contrasts"].as_object().unwrap();
    for (what, contrast) in contrasts {
        assert!(contrast.as_f64().unwrap() >= 4.5, "{what} has a contrast of {contrast}");
    }
}

/// What a keyboard and a screen reader need.
fn assert_accessible(page: &Value) {
    for what in ["unnamed", "without_caption", "without_scope", "dead_links"] {
        assert_eq!(page[what], 0, "{what}");
    }
    assert_eq!(page["landmarks"], 4, "header, nav, main, footer");
    assert_eq!(page["duplicate_ids"], Value::Array(Vec::new()));
}

/// A dot lies where its value says: on a scale from zero, places are as values.
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
    // The medium files' panels in MiB/s share their scale.
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

/// A study of many axes has long labels.
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
        for (what, contrast) in page["contrasts"].as_object().unwrap() {
            assert!(contrast.as_f64().unwrap() >= 4.5, "{what} has a contrast of {contrast}");
        }
    }
}
