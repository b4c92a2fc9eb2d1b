//! Invalid arguments on the command line: the error, valid values, and exit code 2.

use crate::desk::{Desk, SMALL};

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    desk
}

#[test]
fn numbers_that_are_none() {
    insta::assert_snapshot!(desk().transcript(&[
        &["run", "small.toml", "--seed", "x"],
        &["run", "small.toml", "--seed", "-1"],
        &["run", "small.toml", "--seed", "18446744073709551616"],
        &["run", "small.toml", "--jobs", "0"],
        &["run", "small.toml", "--jobs", "257"],
        &["run", "small.toml", "--jobs", "1.5"],
        &["show", "--run", "0"],
        &["show", "--run", "last"],
        &["shell", "small.toml", "--cell", "0"],
        &["shell", "small.toml", "--cell", "99"],
    ]));
}

#[test]
fn choices_that_there_are_not() {
    insta::assert_snapshot!(
        desk().transcript(&[&["run", "small.toml", "--on", "mars"], &["export", "--format", "xml"],])
    );
}

#[test]
fn parts_of_the_matrix_that_there_are_not() {
    insta::assert_snapshot!(desk().transcript(&[
        &["run", "small.toml", "--only", "nonsense"],
        &["run", "small.toml", "--only", ""],
        &["run", "small.toml", "--only", "="],
        &["run", "small.toml", "--only", "tipe=ext2"],
        &["run", "small.toml", "--only", "type=xfs"],
        &["run", "small.toml", "--only", "type=ext2,level=6"],
        &["plan", "small.toml", "--only", "type=xt4"],
    ]));
}

#[test]
fn kernels_that_there_are_not() {
    let desk = desk();
    std::fs::create_dir(desk.folder().join("folder")).expect("a folder");
    insta::assert_snapshot!(desk.transcript(&[
        &["kernel", "build", "nosuch"],
        &["kernel", "build", "./nosuch"],
        &["kernel", "build", "folder"],
        &["kernel", "build", "5.10"],
        &["kernel", "build", "6.12", "--name", "mine"],
        &["kernel", "list"],
    ]));
}

/// The name becomes a folder of the cache.
#[test]
fn a_name_of_a_kernel_leads_nowhere_else() {
    let desk = desk();
    std::fs::create_dir_all(desk.folder().join("tree/arch/um")).expect("a folder");
    desk.write("tree/Makefile", "VERSION = 6\nPATCHLEVEL = 12\n");
    insta::assert_snapshot!(desk.transcript(&[
        &["kernel", "build", "tree", "--name", "../../elsewhere"],
        &["kernel", "build", "tree", "--name", "6.12"],
    ]));
}

/// `--only` could not be repeated, and nothing could be excluded.
#[test]
fn issue_12_16_only_is_repeated_and_negated() {
    let desk = desk();
    let cells = |only: &[&str]| {
        let mut arguments = vec!["plan", "small.toml"];
        arguments.extend(only.iter().flat_map(|only| ["--only", only]));
        let ran = desk.run_without_touching(&arguments);
        assert_eq!(ran.exit, Some(0), "{only:?}: {}", ran.stderr);
        let key = |line: &str| Some(line.strip_prefix("   ")?.trim_start().split_once("  ")?.1.to_owned());
        let lines = ran.stdout.lines().skip_while(|line| !line.contains(" cell"));
        lines.skip(1).map_while(key).collect::<Vec<String>>()
    };
    let all = cells(&[]);
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(cells(&["type=ext2", "type=ext4"]), all);
    assert_eq!(cells(&["type!=ext2"]), cells(&["type=ext4"]));
    assert_eq!(cells(&["type!=ext4"]), cells(&["type=ext2"]));
    insta::assert_snapshot!(desk.transcript(&[
        &["plan", "small.toml", "--only", "type!=ext2", "--only", "type!=ext4"],
        &["plan", "small.toml", "--only", "type!=xt4"],
        &["plan", "small.toml", "--only", "tipe!=ext4"],
    ]));
}

/// A terminal obeyed them: clap repeats arguments as they are.
#[test]
fn what_is_wrong_with_an_argument_is_said_without_its_control_characters() {
    let desk = Desk::new();
    for arguments in [
        &["pl\u{202e}an"] as &[&str],
        &["plan", "--\u{1b}]0;x\u{7}"],
        &["run", "x.toml", "--seed", "\u{9b}2J\u{202e}"],
    ] {
        let ran = desk.run(arguments);
        assert_eq!(ran.exit, Some(2), "{arguments:?}");
        let is_order = |c: char| c == '\u{202e}' || (c.is_control() && c != '\n');
        assert!(!ran.stderr.contains(is_order), "{:?}", ran.stderr);
        assert!(ran.stderr.starts_with("error: "), "{:?}", ran.stderr);
    }
}
