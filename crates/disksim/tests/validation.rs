//! Traces of real disks against models made from their parameter files alone.
//!
//! The files lie outside the repository: `RAIDLAB_DISKSIM` names their folder, else `../shared/disksim` beside the
//! repository is tried. Without them these tests are skipped and say so.
#![cfg(feature = "catalogue")]

use disksim::catalogue::{self, Model};
use disksim::disksim_import::{import, to_toml};
use disksim::replay;
use std::path::PathBuf;

fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("RAIDLAB_DISKSIM").map(PathBuf::from);
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/disksim");
    let found = named
        .into_iter()
        .chain([beside])
        .find(|f| f.join("atlas10k.trace").exists());
    if found.is_none() {
        println!("skipped: no DiskSim validation files; set RAIDLAB_DISKSIM to their folder");
    }
    found
}

fn imported(folder: &std::path::Path, name: &str) -> Model {
    let mut files = |file: &str| std::fs::read_to_string(folder.join(file)).map_err(|e| e.to_string());
    let file = import(&format!("{name}.diskspecs"), &mut files).unwrap_or_else(|e| panic!("{e}"));
    let text = to_toml(&file).expect("a model can be written");
    Model::parse(name, &text).unwrap_or_else(|e| panic!("{e}"))
}

fn rms_ms(folder: &std::path::Path, name: &str, model: &Model, seed: u64) -> f64 {
    let file = format!("{name}.trace");
    let text = std::fs::read_to_string(folder.join(&file)).expect("the trace is there");
    let trace = replay::parse(&file, &text).unwrap_or_else(|e| panic!("{e}"));
    let report = replay::run(model, &file, &trace, seed).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(report.requests, trace.len());
    report.rms_ms
}

/// What this model reaches, rounded up: DiskSim's own figures are 0.107, 0.268, 0.349 and 0.090. Why the last one is
/// missed is in ARCHITECTURE.md, "How true the disks are".
const REACHED: [(&str, &str, f64); 4] = [
    ("cheetah9LP", "seagate-cheetah-9lp", 0.1078),
    ("atlas10k", "quantum-atlas-10k", 0.0960),
    ("barracuda", "seagate-barracuda-st32171w", 0.3495),
    ("hp_c2247a", "hp-c2247a", 0.0925),
];

#[test]
fn models_are_as_close_to_real_disks_as_they_were() {
    let Some(folder) = folder() else { return };
    for (name, _, most) in REACHED {
        let model = imported(&folder, name);
        for seed in [1, 2] {
            let rms = rms_ms(&folder, name, &model, seed);
            assert!(rms <= most, "{name}, seed {seed}: {rms}");
        }
    }
}

#[test]
fn the_catalogue_has_the_same_disks() {
    let Some(folder) = folder() else { return };
    for (name, entry, _) in REACHED {
        let model = catalogue::find(entry).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(
            rms_ms(&folder, name, &model, 1),
            rms_ms(&folder, name, &imported(&folder, name), 1),
            "{name}"
        );
    }
}

#[test]
fn another_disk_is_not_as_close() {
    let Some(folder) = folder() else { return };
    let cheetah = imported(&folder, "cheetah9LP");
    let rms = rms_ms(&folder, "atlas10k", &imported(&folder, "atlas10k"), 1);
    let file = "atlas10k.trace";
    let text = std::fs::read_to_string(folder.join(file)).expect("the trace is there");
    let trace: Vec<_> = replay::parse(file, &text)
        .unwrap_or_else(|e| panic!("{e}"))
        .into_iter()
        .filter(|t| t.sector + u64::from(t.sectors) <= cheetah.sectors)
        .collect();
    let other = replay::run(&cheetah, file, &trace, 1)
        .unwrap_or_else(|e| panic!("{e}"))
        .rms_ms;
    assert!(other > 1.5 * rms, "the figure tells disks apart: {other} {rms}");
}
