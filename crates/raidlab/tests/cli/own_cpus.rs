//! The user's own processor models, which extend the catalogue.

use crate::desk::{Desk, SMALL};
use std::fs;
use study::plan::Plan;

const XEON: &str = include_str!("../../../../data/cpus/xeon-e5520.toml");

/// The Xeon E5520 under another name.
fn renamed(name: &str) -> String {
    XEON.replacen("name = \"xeon-e5520\"", &format!("name = \"{name}\""), 1)
}

fn desk(files: &[(&str, &str)]) -> Desk {
    let desk = Desk::new();
    let folder = desk.own_cpus();
    fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("a file is written");
    }
    desk
}

fn study(cpu: &str) -> String {
    format!("cpu = \"{cpu}\"\n{SMALL}")
}

#[test]
fn issue_16_own_processors_are_in_the_catalogue() {
    let desk = desk(&[("a.toml", &renamed("mine")), ("notes.txt", "no model")]);
    let list = desk.run(&["cpu", "list"]);
    assert_eq!((list.exit, list.stderr.as_str()), (Some(0), ""));
    let last = list.stdout.lines().last().expect("a line");
    assert!(last.starts_with("mine ") && last.ends_with("; your own"), "{last}");
    let json = desk.run(&["cpu", "list", "--format", "json"]);
    let entries: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    let own = entries
        .as_array()
        .expect("a list")
        .iter()
        .filter(|entry| entry["own"] == true);
    assert_eq!(own.map(|entry| &entry["name"]).collect::<Vec<_>>(), ["mine"]);
    let show = desk.run(&["cpu", "show", "mine"]);
    assert_eq!(show.exit, Some(0), "{}", show.stderr);
    assert!(show.stdout.starts_with("mine: "), "{}", show.stdout);

    desk.write("own.toml", study("mine"));
    let plan = desk.run(&["plan", "own.toml", "--format", "json"]);
    assert_eq!(plan.exit, Some(0), "{}", plan.stderr);
    let plan: Plan = serde_json::from_str(&plan.stdout).expect("a plan");
    assert_eq!(plan.processors.len(), 1);
    assert_eq!(plan.processors[0].text, renamed("mine"));
}

#[test]
fn issue_16_own_processors_that_cannot_be_used() {
    let desk = desk(&[
        ("good.toml", &renamed("good")),
        ("torn.toml", "name = \"torn\"\ntitle = \"no end\n"),
        ("cores.toml", &renamed("idle").replacen("is = 8.0", "is = -8.0", 1)),
        ("twin-a.toml", &renamed("twin")),
        ("twin-b.toml", &renamed("twin")),
        ("built-in.toml", XEON),
        ("endless.toml", &renamed("infinite")),
    ]);
    let list = desk.run_without_touching(&["cpu", "list"]);
    assert_eq!(list.exit, Some(2), "{}", list.stdout);
    assert!(
        list.stdout.contains("\ngood ") && list.stdout.contains("\nxeon-e5520 "),
        "{}",
        list.stdout
    );
    for file in ["torn", "cores", "twin-a", "twin-b", "built-in", "endless"] {
        assert!(list.stderr.contains(&format!("{file}.toml")), "{file}: {}", list.stderr);
    }
    for name in ["torn", "idle", "twin", "xeon-e5520"] {
        desk.write("own.toml", study(name));
        let plan = desk.run(&["plan", "own.toml"]);
        assert_eq!(plan.exit, Some(2), "{name}: {}", plan.stdout);
        let message = format!("the processor model `{name}` cannot be used: ");
        assert!(
            plan.stderr.contains(&message) && plan.stderr.contains("--> own.toml:1:7"),
            "{}",
            plan.stderr
        );
    }
    desk.write("own.toml", study("xeon-gold-6248"));
    assert_eq!(
        desk.run(&["plan", "own.toml"]).exit,
        Some(0),
        "a study that names none of them"
    );
}
