//! Compares traces of real disks with models made from their parameter files alone.
//!
//! The files are outside the repository, in the folder `RAIDLAB_DISKSIM` or else in `../shared/disksim` next to the
//! repository. Without them these tests are reported as skipped.

use disksim::catalogue::{self, Model};
use disksim::disksim_import::{import, to_toml};
use disksim::replay;
use disksim::request::Op;
use std::path::PathBuf;

fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("RAIDLAB_DISKSIM").map(PathBuf::from);
    let shared = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/disksim");
    let found = named
        .into_iter()
        .chain([shared])
        .find(|f| f.join("atlas10k.trace").exists());
    if found.is_none() {
        requirements::skip("no DiskSim validation files; set RAIDLAB_DISKSIM to their folder");
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

/// The deviation that this model reaches, rounded up; DiskSim's own figures are 0.107, 0.268, 0.349 and 0.090.
/// docs/internals/disks.md explains why the last one is missed.
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

/// The catalogue has one property of the two Seagates that DiskSim's parameters cannot express: sectors that were
/// passed on the way to the host's data are not served again. Everything else is as imported.
#[test]
fn the_catalogue_has_the_same_disks_or_truer_ones() {
    let Some(folder) = folder() else { return };
    for ((name, entry, _), most) in REACHED.iter().zip([0.0975, 0.0960, 0.3140, 0.0925]) {
        let model = catalogue::find(entry).unwrap_or_else(|e| panic!("{e}"));
        let (here, imported) = (
            rms_ms(&folder, name, &model, 1),
            rms_ms(&folder, name, &imported(&folder, name), 1),
        );
        println!("{entry}: rms {here:.4} ms, {imported:.4} ms as imported");
        assert!(
            here <= imported && here <= most,
            "{name}: {here}, {imported} as imported"
        );
    }
}

/// A read of sectors that an earlier read skipped: the three reads are within a segment of the drive's buffer.
fn falls_into_a_gap(trace: &[replay::Traced], at: usize, segment: u64) -> bool {
    const BACK: usize = 7;
    let read = trace[at];
    let end = |t: &replay::Traced| t.sector + u64::from(t.sectors);
    let reads = |before: usize| {
        let from = before.saturating_sub(BACK);
        (from..before).filter(|&i| trace[i].op == Op::Read)
    };
    let skips = |second: usize| {
        let far = &trace[second];
        end(&read) <= far.sector
            && reads(second).any(|i| end(&trace[i]) <= read.sector && far.sector - end(&trace[i]) <= segment)
    };
    read.op == Op::Read && reads(at).any(skips)
}

/// Reads into a gap: their number, the number in which the model is within a millisecond of the disk, and the mean
/// times. The behaviour of the drives of 1997 to 1999 differs: the Atlas 10K mostly has the gap's sectors, the
/// Barracuda seldom.
const GAPS: [(&str, &str, u64, usize, f64); 3] = [
    ("cheetah9LP", "seagate-cheetah-9lp", 561, 72, 0.45),
    ("atlas10k", "quantum-atlas-10k", 374, 97, 0.88),
    ("barracuda", "seagate-barracuda-st32171w", 281, 55, 0.40),
];

#[test]
fn reads_into_a_gap_take_what_they_took() {
    let Some(folder) = folder() else { return };
    for (name, entry, segment, reads, close) in GAPS {
        let model = catalogue::find(entry).unwrap_or_else(|e| panic!("{e}"));
        let file = format!("{name}.trace");
        let text = std::fs::read_to_string(folder.join(&file)).expect("the trace is there");
        let trace = replay::parse(&file, &text).unwrap_or_else(|e| panic!("{e}"));
        let report = replay::run(&model, &file, &trace, 1).unwrap_or_else(|e| panic!("{e}"));
        let gaps: Vec<_> = (0..trace.len())
            .filter(|&i| falls_into_a_gap(&trace, i, segment))
            .map(|i| &report.deviations[i])
            .collect();
        let mean = |of: fn(&replay::Deviation) -> f64| gaps.iter().map(|d| of(d)).sum::<f64>() / gaps.len() as f64;
        let near = gaps
            .iter()
            .filter(|d| (d.measured_ms - d.simulated_ms).abs() < 1.0)
            .count();
        println!(
            "{name}: {} reads into a gap, {near} within 1 ms; mean {:.3} ms measured, {:.3} ms simulated",
            gaps.len(),
            mean(|d| d.measured_ms),
            mean(|d| d.simulated_ms)
        );
        assert_eq!(gaps.len(), reads, "{name}");
        assert!(near as f64 >= close * gaps.len() as f64, "{name}");
        let off_ms = mean(|d| d.simulated_ms) - mean(|d| d.measured_ms);
        assert!(off_ms.abs() < 0.6, "{name}: {off_ms} ms");
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
