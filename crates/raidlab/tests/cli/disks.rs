//! The disk catalogue.

use crate::desk::Desk;

#[test]
fn the_catalogue_for_a_script() {
    let ran = Desk::new().run_without_touching(&["disk", "list", "--format", "json"]);
    let disks: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON and nothing else");
    let names: Vec<&str> = disks
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|disk| disk["name"].as_str())
        .collect();
    for name in ["wd-500gb-2007", "seagate-ironwolf-12tb", "seagate-cheetah-15k7-450gb"] {
        assert!(names.contains(&name), "{names:?}");
    }
}

#[test]
fn models_and_files_that_there_are_not() {
    let desk = Desk::new();
    desk.write("broken.toml", "title = \"A disk\"\nspindle = 7200\n");
    desk.write("junk", b"\x00\xff\xfe");
    desk.write("text", "no trace\n");
    insta::assert_snapshot!(desk.transcript(&[
        &["disk", "show", "wd-500gb-2008"],
        &["disk", "show", "zip-drive"],
        &["disk", "show", "nosuch.toml"],
        &["disk", "show", "broken.toml"],
        &["disk", "replay", "hp-c2247a", "nosuch"],
        &["disk", "replay", "hp-c2247a", "junk"],
        &["disk", "replay", "hp-c2247a", "text"],
        &["disk", "replay", "hp-c2247", "text"],
        &["disk", "import", "nosuch.diskspecs"],
        &["disk", "import", "text"],
        &["disk", "import", "junk"],
        &["disk", "import", "."],
    ]));
}
