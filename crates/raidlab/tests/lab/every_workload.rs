//! Every kind of workload on one stack: `studies/every-workload.toml` completes, and its guards hold.

use crate::laboratory::{Laboratory, succeeded};
use serde_json::Value;
use std::path::Path;

#[test]
fn every_workload_runs_and_what_it_wrote_is_there_after_a_remount() {
    let Some(laboratory) = Laboratory::open() else { return };
    if tools::Tools::find(&[tools::Tool::Bonnie]).is_err() {
        requirements::skip("no Bonnie++: `raidlab doctor --install`");
        return;
    }
    let study = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../studies/every-workload.toml"
    ));
    succeeded(&mut laboratory.raidlab(&["run", &study.display().to_string()]));
    let export: Value =
        serde_json::from_str(&succeeded(&mut laboratory.raidlab(&["export", "--format", "json"]))).expect("JSON");
    let guards = export["guards"].as_array().expect("guards");
    for guard in guards {
        // Tests that are too short for Bonnie++ have no figure, and report it.
        let is_of_bonnie = guard["guard"] == "long-enough";
        assert!(is_of_bonnie || guard["passed"] == true, "{guard}");
    }
    let compared = guards.iter().filter(|guard| guard["guard"] == "contents").count();
    assert!(compared >= 12, "{compared} comparisons of contents");
}

/// Files are copied from the disks of another group, whose reads show that.
#[test]
fn a_tree_is_written_from_another_groups_filesystem() {
    let Some(laboratory) = Laboratory::open() else { return };
    let results = laboratory.run(
        "ram = \"256M\"\n[disks]\nmodel = \"wd-500gb-2007\"\n\
         [disks.source]\nmodel = \"seagate-cheetah-15k7-450gb\"\ncount = 2\narray = { level = 1 }\n\
         fs = { type = \"ext4\" }\n\
         [[stack]]\nfs = { type = \"xfs\" }\n[precision]\ntrials = 1\n\
         [[workload]]\nname = \"tree\"\ntree = { files = 64, size = \"1M\", from = \"source\", \
         tests = [\"write\", \"read\"] }\n",
    );
    let written = results.sample("tree", "write", "throughput");
    let read = results.sample("tree", "read", "throughput");
    assert!(written > 0.0 && read > 0.0, "{written} and {read} MiB/s");
}
