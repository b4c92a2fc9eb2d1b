//! `raidlab run` with power cuts, and `raidlab power-cut`, which repeats one of them.

use crate::lab;

const STUDY: &str = "title = \"power cuts\"\nmachine = \"lab\"\nram = \"128 MiB\"\n[disks]\nmodel = \"wd-500gb-2007\"\n\
    count = 1\n[[stack]]\narray = { level = \"single\" }\nfs = { type = \"ext4\" }\nmount = \"nobarrier\"\n[[workload]]\n\
    name = \"cuts\"\npower_cut = { operations = 60, points = 6 }\n[[workload]]\nname = \"write\"\n\
    io = { rw = \"write\", bs = \"64K\", size = \"1M\" }\n[precision]\ntrials = 1\n";

/// Instant, seed and text of the first finding that a run stored.
fn first_finding(export: &serde_json::Value) -> (String, String, String) {
    let text = export.to_string();
    let found = text.split("cut at ").nth(1).expect("nobarrier loses something");
    let (at, rest) = found.split_once(" ns, seed ").expect("the instant");
    let (seed, rest) = rest.split_once(": ").expect("the seed");
    let words = rest.split('"').next().expect("the end of a string");
    (at.to_owned(), seed.to_owned(), words.to_owned())
}

#[test]
fn lab_a_finding_of_a_run_is_found_again_by_its_instant_and_seed() {
    let Some((desk, _turn)) = lab::desk() else { return };
    desk.write("cuts.toml", STUDY);
    let ran = desk.run(&["run", "cuts.toml", "--seed", "3"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let (at, seed, words) = first_finding(&lab::export(&desk));
    let again = |more: &[&str]| {
        let fixed = ["power-cut", "cuts.toml", "--seed", "3", "--cut-seed", &seed];
        desk.run(&[&fixed, more].concat())
    };
    let one = again(&["--at", &at]);
    assert_eq!(one.exit, Some(0), "{}", one.stderr);
    let whole = format!("cut at {at} ns, seed {seed}: {words}\n");
    assert!(one.stdout.contains(&whole), "{whole}{}", one.stdout);
    assert!(one.stdout.contains("operations had begun"), "{}", one.stdout);

    // The shortest workload that shows it, and a command that reproduces it.
    let small = again(&["--at", &at, "--shrink"]);
    assert_eq!(small.exit, Some(0), "{}", small.stderr);
    let kind = words.split(": ").next().expect("the kind");
    assert!(small.stdout.contains(kind), "{words}\n{}", small.stdout);
    let command = small.stdout.lines().last().expect("a command");
    let command = command.strip_prefix("again: raidlab ").expect("the command");
    let shown = desk.run(&command.split(' ').collect::<Vec<_>>());
    assert_eq!(shown.exit, Some(0), "{command}: {}", shown.stderr);
    assert!(shown.stdout.contains(kind), "{command}: {}", shown.stdout);
    let operations = |text: &str| {
        text.lines()
            .nth(1)
            .and_then(|line| line.split(' ').next()?.parse::<u32>().ok())
    };
    assert!(operations(&shown.stdout) < operations(&one.stdout), "{}", shown.stdout);

    let late = again(&["--at", "999000000000"]);
    assert_eq!(late.exit, Some(2), "{}", late.stderr);
    assert!(
        late.stderr
            .contains("a power cut at 999000000000 ns is outside the time window of the operations, from "),
        "{}",
        late.stderr
    );
    let none = again(&["--at", &at, "--cell", "2"]);
    assert_eq!(none.exit, Some(2));
    assert!(
        none.stderr.contains("--cell 2: its workload has no power cuts"),
        "{}",
        none.stderr
    );
}
