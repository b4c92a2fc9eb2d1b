use super::{import, to_toml};
use crate::catalogue::Model;
use std::collections::BTreeMap;
use std::string::{String, ToString};

const SPECS: &str = include_str!("tests/small.diskspecs");
const MODEL: &str = include_str!("tests/small.model");
const SEEK: &str = "Seek distances measured: 3\n1, 1.0\n10, 2.0\n100, 5.5\n";
const PARV: &str = "disksim_bus BUS1 {\n Read block transfer time = 0.2,\n Write block transfer time = 0.25\n}\n";

fn files() -> BTreeMap<&'static str, String> {
    let pairs = [
        ("small.diskspecs", SPECS),
        ("small.model", MODEL),
        ("small.seek", SEEK),
        ("small.parv", PARV),
    ];
    pairs.into_iter().map(|(name, text)| (name, text.to_string())).collect()
}

fn read(files: &BTreeMap<&'static str, String>) -> Result<crate::catalogue::format::ModelFile, String> {
    let mut get = |name: &str| files.get(name).cloned().ok_or_else(|| "no such file".to_string());
    import("small.diskspecs", &mut get).map_err(|e| e.to_string())
}

#[test]
fn a_disk_is_read_and_survives_our_format() {
    let file = read(&files()).unwrap_or_else(|e| panic!("{e}"));
    let text = to_toml(&file).expect("it can be written");
    let model = Model::parse("small.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    let direct = Model::build(file, &text).expect("the same without the detour");
    assert_eq!(std::format!("{:?}", model.device), std::format!("{:?}", direct.device));
    // 100 cylinders of 2 tracks of 50 sectors, less 10 spares; then 100 of 2 of 40, less 8.
    assert_eq!(model.sectors, 100 * 2 * 50 - 10 + 100 * 2 * 40 - 8);
    let crate::description::Device::Mechanical(disk) = &model.device else {
        panic!("it has platters")
    };
    assert_eq!(disk.revolution_ns, 10_000_000);
    assert_eq!(disk.seek.len(), 3);
    assert_eq!(disk.interface.read_sector_ps, 200_000_000, "the slower of disk and bus");
    assert_eq!(disk.interface.write_sector_ps, 250_000_000);
    assert_eq!(disk.overheads.read_miss_after_read_ns, 300_000);
    assert_eq!(disk.layout.zones[0].slips, [77]);
}

#[test]
fn mistakes_have_places() {
    let cases = [
        (
            "small.diskspecs",
            "Max queue length = 1",
            "Max queue length = one",
            "small.diskspecs:18:23: `Max queue length` needs a number",
        ),
        (
            "small.diskspecs",
            "small.model",
            "smal.model",
            "small.diskspecs:2:12: cannot read `smal.model`: no such file",
        ),
        (
            "small.model",
            "Blocks per track = 40",
            "Blocks per track = 0",
            "small.model:27:32: `Blocks per track` is 0: between 1 and 1048576",
        ),
        (
            "small.model",
            "Head switch time = 0.5",
            "",
            "small.model:41:23: `Head switch time` is missing in `dm_mech_g1`",
        ),
        (
            "small.seek",
            "10, 2.0",
            "ten, 2.0",
            "small.seek:3:1: `distance, milliseconds` expected",
        ),
        (
            "small.seek",
            "10, 2.0",
            "1, 2.0",
            "small.seek:3:1: distance 1 does not follow 1",
        ),
        (
            "small.model",
            "Last cylinder number = 99",
            "Last cylinder number = 120",
            "small.model:8:15: zone 1 begins before zone 0 ends",
        ),
        (
            "small.parv",
            "= 0.2,",
            "= slow,",
            "small.parv:2:29: `Read block transfer time` needs a number",
        ),
    ];
    for (name, from, to, expected) in cases {
        let mut files = files();
        let text = files.get_mut(name).expect("one of the files");
        assert!(text.contains(from), "{from}");
        *text = text.replacen(from, to, 1);
        let got = read(&files).err().unwrap_or_default();
        assert_eq!(got, expected, "{from} -> {to}");
    }
}

#[test]
fn cut_off_files_are_mistakes_and_never_panics() {
    for name in ["small.diskspecs", "small.model"] {
        let whole = files()[name].clone();
        for length in (0..whole.rfind('}').unwrap_or(0)).filter(|&l| whole.is_char_boundary(l)) {
            let mut files = files();
            files.insert(name, whole[..length].to_string());
            assert!(read(&files).is_err(), "{name} cut at {length}");
        }
    }
}

#[test]
fn blocks_that_nest_without_end_are_refused() {
    let mut files = files();
    files.insert("small.diskspecs", "a { b = ".repeat(10_000));
    assert!(read(&files).err().unwrap_or_default().contains("nest too deep"));
    files.insert("small.diskspecs", std::format!("a {{ b = {}", "[".repeat(10_000)));
    assert!(read(&files).err().unwrap_or_default().contains("nest too deep"));
}
