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
    let rig = model.rig.expect("the bus is known");
    assert_eq!(rig.read_sector_ps, 200_000_000, "the slower of disk and bus");
    assert_eq!(rig.write_sector_ps, 250_000_000);
    // 50 sectors of 512 bytes in 10 ms are 2.56 MB/s.
    assert_eq!(disk.interface.read_sector_ps, 100_000_000, "twice the fastest track");
    assert_eq!(disk.overheads.read_miss_after_read_ns, 300_000);
    assert_eq!(disk.layout.zones[0].slips, [77]);
}

/// Issue 39, C16: DiskSim's dec_rz26 has a seek over as many cylinders as the disk has, and its ibm18es one of 1.026 ms
/// between 7.373 and 7.733.
#[test]
fn a_seek_that_no_disk_has_does_not_refuse_disksims_own_file() {
    let mut files = files();
    let seek = "1, 1.0\n10, 7.0\n50, 1.0\n100, 5.5\n200, 7.5\n";
    files.insert("small.seek", seek.to_string());
    let text = to_toml(&read(&files).unwrap_or_else(|e| panic!("{e}"))).expect("it can be written");
    let model = Model::parse("small.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    let crate::description::Device::Mechanical(disk) = &model.device else {
        panic!("it has platters")
    };
    assert_eq!(disk.seek.len(), 3);
    assert!(
        text.contains("without 1 ms over 50 cylinders, 7.5 ms over 200 cylinders"),
        "{text}"
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table of cases")]
fn errors_have_places() {
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
            "small.seek:3:1: a line of a seek curve is `distance in cylinders, milliseconds`, such as `10, 1.531`",
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
            "small.model",
            "Layout Model = dm_layout_g1 ",
            "Layout Model = dm_layout_g4 ",
            "small.model:5:19: layout `dm_layout_g4`: only `dm_layout_g1` is understood",
        ),
        (
            "small.model",
            "Block count = 17982",
            "Block count = 1798",
            "small.model:4:18: `Block count` is 1798, but the layout holds 17982 blocks",
        ),
        (
            "small.model",
            "Number of cylinders = 200",
            "Number of cylinders = 150",
            "small.model:3:26: `Number of cylinders` is 150, but the last zone ends at cylinder 199",
        ),
        (
            "small.model",
            "               77\n",
            "               10077\n",
            "small.model:18:21: slip 10077 lies outside the zone's 10000 sectors",
        ),
        (
            "small.model",
            "[ 12, 7995 ]",
            "[ 12 ]",
            "small.model:34:23: `defects` needs pairs of sectors: the defective one and its replacement",
        ),
        (
            "small.model",
            "Number of spares = 8,",
            "Number of spares = 8000,",
            "small.model:32:32: the number of spares is 8000, and must be below 8000",
        ),
        (
            "small.model",
            "Empty space at zone front = 0,",
            "Empty space at zone front = 10000,",
            "small.model:14:41: 10000 sectors are left empty in a zone of 10000",
        ),
        (
            "small.model",
            "Skew for track switch = 7.000000,",
            "Skew for track switch = 7.000000, Skew units = turns,",
            "small.model:15:60: `Skew units` is `turns`: `revolutions` or `sectors`",
        ),
        (
            "small.model",
            "Seek type = extracted",
            "Seek type = lightning",
            "small.model:43:19: seek type `lightning`: extracted, hpl, hplplus10, curve, linear or constant",
        ),
        (
            "small.parv",
            "= 0.2,",
            "= slow,",
            "small.parv:2:29: `Read block transfer time` needs a number",
        ),
    ];
    let mut wrong = std::vec::Vec::new();
    for (name, from, to, expected) in cases {
        let mut files = files();
        let text = files.get_mut(name).expect("one of the files");
        assert!(text.contains(from), "{from}");
        *text = text.replacen(from, to, 1);
        let got = read(&files).err().unwrap_or_default();
        if got != expected {
            wrong.push(std::format!("{from} -> {to}: {got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn truncated_files_are_errors_and_never_panics() {
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

#[test]
fn blocks_of_very_many_parameters_are_refused() {
    let mut files = files();
    let parameters: String = (0..2_000).map(|n| std::format!("p{n} = 1,")).collect();
    files.insert("small.diskspecs", std::format!("a b {{ {parameters} }}"));
    assert!(
        read(&files)
            .err()
            .unwrap_or_default()
            .contains("more than 1000 parameters")
    );
}

/// The small disk's model after one replacement in its text.
fn changed(from: &str, to: &str) -> crate::description::Mechanical {
    let mut files = files();
    let text = files.get_mut("small.model").expect("one of the files");
    assert!(text.contains(from), "{from}");
    *text = text.replacen(from, to, 1);
    let file = read(&files).unwrap_or_else(|e| panic!("{from} -> {to}: {e}"));
    let text = to_toml(&file).expect("it can be written");
    let model = Model::parse("small.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    let direct = Model::build(file, &text).unwrap_or_else(|e| panic!("{}", e.message));
    assert_eq!(
        std::format!("{:?}", model.device),
        std::format!("{:?}", direct.device),
        "{from} -> {to}"
    );
    match model.device {
        crate::description::Device::Mechanical(disk) => *disk,
        crate::description::Device::Flash(_) => panic!("it has platters"),
    }
}

fn seek_ms(disk: &crate::description::Mechanical, cylinders: u32) -> f64 {
    let found = disk.seek.iter().find(|p| p.cylinders == cylinders);
    found.map_or(f64::NAN, |p| p.seek_ns as f64 / 1e6)
}

#[test]
fn every_kind_of_seek_curve_is_read() {
    let extracted = "Seek type = extracted,\n      Full seek curve = small.seek,";
    let near = |got: f64, wanted: f64| assert!((got - wanted).abs() < 1e-5, "{got} {wanted}");
    let hp = "HPL seek equation values = [ 100, 3.0, 0.3, 5.0, 0.01,";
    let disk = changed(extracted, &std::format!("Seek type = hpl, {hp} 2.5 ],"));
    near(seek_ms(&disk, 1), 2.5);
    near(seek_ms(&disk, 4), 3.6);
    near(seek_ms(&disk, 100), 6.0);
    near(seek_ms(&disk, 199), 6.99);
    let disk = changed(extracted, &std::format!("Seek type = hpl, {hp} -1.0 ],"));
    near(seek_ms(&disk, 1), 3.3);
    let ten = "First ten seek times = [ 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9 ],";
    let disk = changed(extracted, &std::format!("Seek type = hplplus10, {hp} -1.0 ], {ten}"));
    near(seek_ms(&disk, 1), 1.0);
    near(seek_ms(&disk, 10), 1.9);
    near(seek_ms(&disk, 11), 3.0 + 0.3 * 11f64.sqrt());
    let three = "Single cylinder seek time = 1.0, Average seek time = 4.0, Full strobe seek time = 7.0,";
    let disk = changed(extracted, &std::format!("Seek type = curve, {three}"));
    near(seek_ms(&disk, 1), 1.0);
    let disk = changed(extracted, &std::format!("Seek type = linear, {three}"));
    near(seek_ms(&disk, 1), 1.0);
    let disk = changed(extracted, "Seek type = constant, Constant seek time = 3.5,");
    near(seek_ms(&disk, 1), 3.5);
}

#[test]
fn curves_through_points_that_fall_are_errors() {
    let mut files = files();
    let text = files.get_mut("small.model").expect("one of the files");
    *text = text.replacen(
        "Seek type = extracted,",
        "Seek type = curve, Single cylinder seek time = 5.0, Average seek time = 4.0, Full strobe seek time = 7.0,",
        1,
    );
    let got = read(&files).err().unwrap_or_default();
    assert!(
        got.contains("seeks of 5 ms over one cylinder, 4 on average, 7 over all"),
        "{got}"
    );
}

/// Parameter files of other drives have these: unordered slips, a negative write settle time, a number of cylinders
/// that is off by one, no range where none is needed, skews of a zone in revolutions.
#[test]
fn what_published_files_have_is_understood() {
    let disk = changed("77\n", "990,\n 77,\n 400,\n 77\n");
    assert_eq!(disk.layout.zones[0].slips, [77, 400, 990]);
    let disk = changed(
        "Add. write settling delay = 0.4",
        "Add. write settling delay = -0.642000",
    );
    assert_eq!(disk.write_settle_ns, -642_000);
    changed("Number of cylinders = 200", "Number of cylinders = 199");
    changed(", Rangesize for sparing = 1", "");
    changed("slips = [ ],", "");
    let turned = changed(
        "Skew for track switch = 7.000000",
        "Skew units = revolutions, Skew for track switch = 0.14",
    );
    let plain = changed("Block count", "Block count");
    assert!(
        turned.layout.zones[0]
            .track_skew_angle
            .abs_diff(plain.layout.zones[0].track_skew_angle)
            < 1 << 20
    );
    assert_eq!(
        turned.layout.zones[1].track_skew_angle,
        plain.layout.zones[1].track_skew_angle
    );
}

#[test]
fn every_layout_is_read_and_holds_its_sectors() {
    for mapping in 0..3 {
        for sparing in 0..11 {
            let scheme = std::format!(
                "scheme = {mapping},\n      Sparing scheme used = {sparing}, Rangesize for sparing = 5"
            );
            let from = "scheme = 0,\n      Sparing scheme used = 9, Rangesize for sparing = 1";
            let mut files = files();
            let text = files.get_mut("small.model").expect("one of the files");
            *text = text.replacen(from, &scheme, 1).replace("[ 12, 7995 ]", "[ 12, 79 ]");
            let file = read(&files).unwrap_or_else(|e| panic!("{scheme}: {e}"));
            let Some(layout) = file.disk.as_ref().and_then(|d| d.layout.as_ref()) else {
                panic!("a layout is there")
            };
            let layout = crate::catalogue::known_layout(layout).unwrap_or_else(|e| panic!("{}", e.message));
            let geometry = crate::geometry::Geometry::new(&layout, 2, 10_000_000);
            assert_eq!(file.sectors.get(), geometry.capacity(), "{scheme}");
            let last = geometry.locate(geometry.capacity() - 1);
            assert!((100..200).contains(&last.place.cylinder), "{scheme}: {last:?}");
        }
    }
}

#[test]
fn a_disk_in_one_file_with_comments_and_a_topology_is_read() {
    let mut files = files();
    let whole = SPECS.replacen("source small.model", MODEL.trim(), 1);
    let text = std::format!(
        "# a comment {{ with brackets\ndisksim_global Global {{ Init Seed = 42 }}\n{whole}\n\
         instantiate [ disk0 ] as SMALL\ntopology disksim_iodriver driver0 [\n   disksim_bus bus0 [ # here\n      disksim_disk disk0 []\n   ]\n]\n"
    );
    files.insert("small.diskspecs", text);
    files.remove("small.model");
    let inline = read(&files).unwrap_or_else(|e| panic!("{e}"));
    let apart = read(&self::files()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(to_toml(&inline).ok(), to_toml(&apart).ok());
}
