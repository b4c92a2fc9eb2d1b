//! Digests that hold on any machine: those of small studies, kept with the source.

use crate::laboratory::{Laboratory, Results, succeeded};
use crate::processor;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use study::GuestFile;

/// RAID 1 and RAID 5 under filesystems whose programs every machine with raidlab has, with files that do not fit into
/// memory, and threads that write at random places.
const STUDY: &str = include_str!("golden.toml");

/// A workload that depends on the processor: a RAID 5 of memory, used by several tasks.
const ON_A_PROCESSOR: &str = include_str!("processor.toml");

/// Makes the tests write the observed digests.
const UPDATE: &str = "RAIDLAB_UPDATE_GOLDEN";

#[test]
fn the_golden_digest() {
    let Some(laboratory) = Laboratory::open() else { return };
    check(&laboratory, STUDY, "golden");
}

#[test]
#[ignore = "test-all"]
fn the_golden_digest_of_a_processor() {
    let Some(laboratory) = processor::laboratory() else {
        return;
    };
    check(&laboratory, ON_A_PROCESSOR, "processor");
}

/// Compares a run of the study with the golden store `NAME.db`. `NAME.digest` has the same for a reader: the digest, and what it
/// was made with.
fn check(laboratory: &Laboratory, study: &str, name: &str) {
    laboratory.study(study);
    let results = laboratory.run_with(&["--store", "here.db", "--seed", "7"]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab");
    let (store, text) = (folder.join(format!("{name}.db")), folder.join(format!("{name}.digest")));
    let seen = made_with(&results);
    if std::env::var_os(UPDATE).is_some() {
        fs::copy(laboratory.folder().join("here.db"), &store).expect("the source folder can be written");
        let mut lines = format!("digest: {}\n", results.digest());
        for (key, value) in seen.iter().chain(&results.guest_files()) {
            writeln!(lines, "{key}: {value}").expect("memory takes it");
        }
        fs::write(&text, lines).expect("the source folder can be written");
        return;
    }
    // A copy: opening a store of an earlier schema brings it up to date.
    fs::copy(&store, laboratory.folder().join("golden.db")).expect("it is part of the source");
    let compared = laboratory
        .raidlab(&["digest", "here.db", "golden.db"])
        .args(["--format", "json"])
        .output();
    let compared: Value = serde_json::from_slice(&compared.expect("raidlab starts").stdout).expect("JSON");
    if compared["digest_sha256"] == compared["other_digest_sha256"] {
        return;
    }
    let golden = fs::read_to_string(&text).expect("it is part of the source");
    let other = |(key, value): &(String, String)| {
        let known = golden.lines().find_map(|line| line.strip_prefix(&format!("{key}: ")));
        (known != Some(value)).then(|| format!("{key}: {value} here, {} there", known.unwrap_or("none")))
    };
    let mut causes: Vec<String> = seen.iter().filter_map(other).collect();
    // The kernel's image follows its compiler, which is named above, and the sources here, which explain nothing.
    let files = compared["inputs"].as_array().into_iter().flatten();
    let files = files
        .filter_map(|input| input["name"].as_str())
        .filter(|name| *name != GuestFile::KERNEL);
    causes.extend(files.map(|name| format!("{name}: another file")));
    let difference = compared["difference"].as_str().unwrap_or_default();
    if !causes.is_empty() {
        requirements::skip(format!(
            "{name}: the digest differs from the golden one, with other inputs: {}. Figures of this machine are as good, \
             and are compared with those of another one only if both have the same files. {difference}",
            causes.join("; ")
        ));
        return;
    }
    panic!(
        "the digest differs from the golden one of {name}, with the same compilers, programs and libraries.\n{difference}\n\
         If a change of the disk model, the kernel, a stack or a workload is meant to change figures: say so in \
         CHANGELOG.md, and have the test write the new store: {UPDATE}=1 cargo test -p raidlab --test lab golden -- \
         --include-ignored\n\
         If nothing of that was changed: this machine, or this build, computes something else than others do, which \
         is a defect."
    );
}

/// Sources and compilers of the kernel, by name.
fn made_with(results: &Results) -> Vec<(String, String)> {
    let source = results.provenance("kernel.source");
    let mut seen = vec![(
        "kernel.source".to_owned(),
        source.first().expect("every trial has it").to_string(),
    )];
    for compiler in ["gcc", "ld", "rustc"] {
        let version = succeeded(Command::new(compiler).arg("--version"));
        seen.push((
            compiler.to_owned(),
            version.lines().next().unwrap_or_default().to_owned(),
        ));
    }
    seen
}
