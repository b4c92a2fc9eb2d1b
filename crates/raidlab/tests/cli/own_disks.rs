//! The user's own disk models: files named by a study, and files that extend the catalogue.

use crate::desk::{Desk, SMALL};
use crate::{kept, lab};
use std::fs;
use std::process::Command;
use study::plan::Plan;

const RAPTOR: &str = include_str!("../../../../data/disks/wd-raptor-150gb.toml");
const DESKTOP: &str = include_str!("../../../../data/disks/wd-500gb-2007.toml");

/// A model with another name.
fn renamed(text: &str, name: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("aliases = "));
    let line = |line: &str| match line.starts_with("name = ") {
        true => format!("name = \"{name}\"\n"),
        false => format!("{line}\n"),
    };
    lines.map(line).collect()
}

fn study(models: &str) -> String {
    SMALL.replace("model = \"wd-500gb-2007\"", &format!("model = {models}"))
}

fn with_own(desk: &Desk, files: &[(&str, &str)]) {
    fs::create_dir_all(desk.own_disks()).expect("a folder");
    for (name, text) in files {
        fs::write(desk.own_disks().join(name), text).expect("a file is written");
    }
}

fn fifo(path: &std::path::Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("coreutils");
    assert!(made.success());
}

#[test]
fn issue_17_own_models_are_in_the_catalogue() {
    let desk = Desk::new();
    with_own(
        &desk,
        &[
            ("a.toml", &renamed(RAPTOR, "mine")),
            ("notes.txt", "no model"),
            (".#a.toml", ""),
        ],
    );
    let list = desk.run(&["disk", "list"]);
    assert_eq!((list.exit, list.stderr.as_str()), (Some(0), ""));
    let own: Vec<&str> = list.stdout.lines().filter(|line| line.contains("your own")).collect();
    assert_eq!(own.len(), 1, "{}", list.stdout);
    assert!(own[0].starts_with("mine ") && own[0].contains("150.0 GB"), "{}", own[0]);
    assert!(list.stdout.lines().last() == Some(own[0]) && list.stdout.contains("\nwd-raptor-150gb "));

    let json = desk.run(&["disk", "list", "--format", "json"]);
    let entries: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    let own = entries
        .as_array()
        .expect("a list")
        .iter()
        .filter(|entry| entry["own"] == true);
    assert_eq!(own.map(|entry| &entry["name"]).collect::<Vec<_>>(), ["mine"]);

    for arguments in [
        ["disk", "show", "mine"],
        ["disk", "show", "MINE"],
        ["disk", "check", "mine"],
    ] {
        let ran = desk.run(&arguments);
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        assert!(ran.stdout.starts_with("mine: Western Digital Raptor"), "{}", ran.stdout);
    }
    desk.write("own.toml", study("[\"mine\", \"wd-raptor-150gb\"]"));
    let plan = desk.run(&["plan", "own.toml"]);
    assert_eq!(plan.exit, Some(0), "{}", plan.stderr);
    assert!(
        plan.stdout.contains("disks: 2 × mine, 2 × wd-raptor-150gb (data)"),
        "{}",
        plan.stdout
    );
    assert!(plan.stdout.contains("  mine ext4 | few files\n"), "{}", plan.stdout);
}

#[test]
fn issue_17_without_xdg_config_home_it_is_in_the_home_folder() {
    let desk = Desk::new();
    let disks = desk.folder().join(".config/raidlab/disks");
    fs::create_dir_all(&disks).expect("a folder");
    fs::write(disks.join("a.toml"), renamed(RAPTOR, "at-home")).expect("written");
    for relative in [None, Some("config")] {
        let mut command = desk.raidlab(&["disk", "show", "at-home"]);
        command.env_remove("XDG_CONFIG_HOME").env("HOME", desk.folder());
        if let Some(relative) = relative {
            command.env("XDG_CONFIG_HOME", relative);
        }
        let output = command.output().expect("raidlab is run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn issue_17_own_models_that_cannot_be_used() {
    let desk = Desk::new();
    with_own(
        &desk,
        &[
            ("good.toml", &renamed(RAPTOR, "good")),
            ("torn.toml", "name = \"torn\"\ntitle = \"no end\n"),
            (
                "unknown.toml",
                &renamed(RAPTOR, "surplus").replace("heads = ", "spindles = 1\nheads = "),
            ),
            ("fast.toml", &renamed(RAPTOR, "fast").replace("10000.0", "0.0")),
            ("twin-a.toml", &renamed(RAPTOR, "twin")),
            ("twin-b.toml", &renamed(DESKTOP, "twin")),
            ("raptor.toml", RAPTOR),
            ("alias.toml", &renamed(RAPTOR, "Raptor-150")),
            ("large.toml", &"#".repeat((1 << 20) + 1)),
        ],
    );
    fs::write(desk.own_disks().join("latin.toml"), b"name = \"x\"\n# \xfc").expect("written");
    fs::create_dir(desk.own_disks().join("folder.toml")).expect("a folder");
    fifo(&desk.own_disks().join("pipe.toml"));
    let list = desk.run_without_touching(&["disk", "list"]);
    assert_eq!(list.exit, Some(2));
    assert!(
        list.stdout.contains("\ngood ") && list.stdout.contains("\nwd-raptor-150gb "),
        "{}",
        list.stdout
    );
    insta::assert_snapshot!(list.stderr.replace(&desk.own_disks().display().to_string(), "…"));

    desk.write("default.toml", study("\"hitachi-7k500\""));
    assert_eq!(
        desk.run(&["plan", "default.toml"]).exit,
        Some(0),
        "a study that names none of them"
    );
    for name in ["torn", "surplus", "unknown", "twin", "wd-raptor-150gb", "latin", "pipe"] {
        desk.write("own.toml", study(&format!("\"{name}\"")));
        let plan = desk.run(&["plan", "own.toml"]);
        assert_eq!(plan.exit, Some(2), "{name}: {}", plan.stdout);
        let message = format!("the disk model `{name}` cannot be used: ");
        assert!(
            plan.stderr.contains(&message) && plan.stderr.contains("--> own.toml:5:9"),
            "{}",
            plan.stderr
        );
        let show = desk.run(&["disk", "show", name]);
        assert_eq!(show.exit, Some(2), "{name}");
        assert!(show.stderr.contains(".toml"), "{}", show.stderr);
    }
}

#[test]
fn issue_17_a_folder_of_own_models_that_is_none() {
    let desk = Desk::new();
    fs::create_dir_all(desk.own_disks().parent().expect("a folder")).expect("made");
    fs::write(desk.own_disks(), "").expect("written");
    let list = desk.run(&["disk", "list"]);
    assert_eq!(list.exit, Some(2));
    assert!(list.stdout.contains("wd-raptor-150gb"));
    assert!(
        list.stderr.contains("cannot be read: Not a directory"),
        "{}",
        list.stderr
    );
    assert_eq!(desk.run(&["disk", "show", "wd-raptor-150gb"]).exit, Some(0));
}

#[test]
fn issue_17_model_files_that_cannot_be_used() {
    let desk = Desk::new();
    let raptor = renamed(RAPTOR, "mine");
    desk.write("text.toml", "Dear raidlab,\nthis is my disk.\n");
    desk.write("unknown.toml", raptor.replace("heads = ", "spindles = 1\nheads = "));
    desk.write("seeks.toml", raptor.replace("average_ms = 4.5", "average_ms = 0.4"));
    desk.write("faster.toml", raptor.replace("inner = 60.0", "inner = 90.0"));
    desk.write("still.toml", raptor.replace("10000.0", "0.0"));
    desk.write("name.toml", renamed(RAPTOR, "a|b"));
    desk.write("built-in.toml", RAPTOR);
    desk.write("large.toml", "#".repeat((1 << 20) + 1));
    desk.write("latin.toml", b"name = \"x\"\n# \xfc");
    fs::create_dir(desk.folder().join("folder.toml")).expect("a folder");
    std::os::unix::fs::symlink("/dev/zero", desk.folder().join("link.toml")).expect("a link");
    let files = [
        "gone", "folder", "pipe", "text", "unknown", "seeks", "faster", "still", "name", "built-in", "large",
        "latin", "link",
    ];
    let mut said = String::new();
    for file in files {
        desk.write("own.toml", study(&format!("\"./{file}.toml\"")));
        if file == "pipe" {
            fifo(&desk.folder().join("pipe.toml"));
        }
        let plan = desk.run(&["plan", "own.toml"]);
        assert_eq!(plan.exit, Some(2), "{file}: {}", plan.stdout);
        assert!(plan.stderr.contains("--> own.toml:5:9"), "{}", plan.stderr);
        said.push_str(&desk.shown(&plan));
    }
    for path in ["../own.toml", "/etc/fstab", "~/own.toml"] {
        desk.write("own.toml", study(&format!("\"{path}\"")));
        said.push_str(&desk.shown(&desk.run(&["plan", "own.toml"])));
    }
    insta::assert_snapshot!(said);
}

#[test]
fn issue_17_paths_are_the_studys_and_stay_on_this_machine() {
    let desk = Desk::new();
    fs::create_dir_all(desk.folder().join("studies/disks")).expect("a folder");
    desk.write("studies/disks/raptor.toml", renamed(RAPTOR, "mine"));
    desk.write("studies/own.toml", study("[\"disks/raptor.toml\", \"wd-500gb-2007\"]"));
    let whole = desk.folder().join("studies/own.toml");
    let plans = ["studies/own.toml", &whole.display().to_string()].map(|path| {
        let ran = desk.run(&["plan", path, "--format", "json"]);
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        ran.stdout
    });
    assert_eq!(plans[0], plans[1]);
    assert!(!plans[0].contains(&desk.folder().display().to_string()));
    let plan: Plan = serde_json::from_str(&plans[0]).expect("a plan");
    assert_eq!(plan.models.len(), 1);
    assert_eq!(plan.models[0].text, renamed(RAPTOR, "mine"));
    let of_model = |name: &str| {
        plan.cells
            .iter()
            .filter(|cell| cell.machine.disks[0].model == name)
            .count()
    };
    assert_eq!((of_model("mine"), of_model("wd-500gb-2007")), (2, 2));

    let only = desk.run(&["plan", "studies/own.toml", "--only", "model=mine"]);
    assert!(
        only.stdout.contains("2 cells:") && only.exit == Some(0),
        "{} {}",
        only.stdout,
        only.stderr
    );
    // A store made without a lab.
    kept::store_of(&desk, "kept.db", &plan);
    for arguments in [["report", "-o", "-"], ["export", "-o", "-"]] {
        let ran = desk.run(&[&arguments[..], &["--store", "kept.db"]].concat());
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        assert!(
            ran.stdout.contains("mine ext4") && ran.stdout.contains("10000 rpm"),
            "{}",
            ran.stdout
        );
        assert!(!ran.stdout.contains(&desk.folder().display().to_string()));
        if arguments[0] == "report" {
            let mark = format!("(the study's own model, SHA-256 {})", plan.models[0].sha256);
            assert!(ran.stdout.contains(&mark) || ran.stdout.contains(&mark.replace('\'', "&#x27;")));
        }
    }
}

/// The same disk under another name has the same results, a slower one lower throughput.
#[test]
fn lab_issue_17_a_study_runs_on_own_models() {
    let Some((desk, _turn)) = lab::desk() else { return };
    let slow = renamed(DESKTOP, "slow").replace("rpm = { is = 7200.0", "rpm = { is = 1000.0");
    desk.write("slow.toml", &slow);
    with_own(&desk, &[("copy.toml", &renamed(DESKTOP, "copy"))]);
    let one_filesystem =
        study("[\"wd-500gb-2007\", \"copy\", \"./slow.toml\"]").replace("[\"ext2\", \"ext4\"]", "\"ext4\"");
    desk.write("own.toml", &one_filesystem);
    let dry = desk.run_without_touching(&["run", "own.toml", "--dry-run"]);
    assert_eq!(dry.exit, Some(0), "{}", dry.stderr);
    assert!(dry.stdout.contains("# slow ext4 | few files"), "{}", dry.stdout);

    let ran = desk.run(&["run", "own.toml"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let export = lab::export(&desk);
    let median = |model: &str| {
        let samples = export["samples"].as_array().expect("a list");
        let of_model = samples.iter().filter(|sample| {
            let is_cell = sample["cell"]
                .as_str()
                .is_some_and(|cell| cell.starts_with(&format!("{model} ")));
            is_cell && sample["test"] == "read" && sample["metric"] == "throughput"
        });
        let mut values: Vec<f64> = of_model.filter_map(|sample| sample["value"].as_f64()).collect();
        assert_eq!(values.len(), 3, "{model}");
        values.sort_by(f64::total_cmp);
        values[1]
    };
    let (built_in, copy, slow_one) = (median("wd-500gb-2007"), median("copy"), median("slow"));
    assert!((copy / built_in - 1.0).abs() < 0.05, "{copy} {built_in}");
    assert!(slow_one < built_in * 0.7, "{slow_one} {built_in}");
    let stored = fs::read(desk.folder().join("raidlab.db")).expect("the store");
    let own = desk.own_disks().display().to_string();
    assert!(!stored.windows(own.len()).any(|window| window == own.as_bytes()));
    assert!(
        export["study"]
            .as_str()
            .is_some_and(|study| study.contains("# disk model slow:\n"))
    );

    let again = desk.run(&["run", "own.toml"]);
    assert!(
        again
            .stderr
            .contains("all trials of this study with seed 1 are already in the store"),
        "{}",
        again.stderr
    );
    // The file has changed: another run, which reuses only the other cells' trials.
    desk.write("slow.toml", slow.replace("1000.0", "900.0"));
    let changed = desk.run(&["run", "own.toml"]);
    assert_eq!(changed.exit, Some(0), "{}", changed.stderr);
    assert!(
        changed
            .stdout
            .contains("3 trials done, 0 failed, 6 were already in the store"),
        "{}",
        changed.stdout
    );
    assert_eq!(desk.run(&["runs"]).stdout.matches("Small").count(), 2);

    // The first run can be shown without the files.
    fs::remove_dir_all(desk.own_disks()).expect("removed");
    fs::remove_file(desk.folder().join("slow.toml")).expect("removed");
    let report = desk.run(&["report", "--run", "1", "-o", "-"]);
    assert_eq!(report.exit, Some(0), "{}", report.stderr);
    assert!(report.stdout.contains("own model, SHA-256"));
}

#[test]
fn lab_issue_17_a_shell_has_disks_of_an_own_model() {
    let Some((desk, _turn)) = lab::desk() else { return };
    desk.write("mine.toml", renamed(RAPTOR, "mine"));
    desk.write("own.toml", study("\"./mine.toml\""));
    let ran = desk.run(&["shell", "own.toml", "--", "cat", "/sys/block/vda/size"]);
    assert_eq!(
        (ran.exit, ran.stdout.as_str()),
        (Some(0), "293046768\n"),
        "{}",
        ran.stderr
    );
}
