use crate::catalogue::Model;
use std::format;
use std::string::{String, ToString};

const DESKTOP: &str = include_str!("../../../../../data/disks/wd-500gb-2007.toml");
const ZONED: &str = include_str!("../../../../../data/disks/hp-c2247a.toml");
const MEASURED_SEEKS: &str = include_str!("../../../../../data/disks/seagate-barracuda-st32171w.toml");
const SSD: &str = include_str!("../../../../../data/disks/samsung-870-evo-4tb.toml");
const SHINGLED: &str = include_str!("../../../../../data/disks/seagate-archive-8tb.toml");

/// The error after replacing `from` by `to`, without its line and column.
fn said(text: &str, from: &str, to: &str) -> (usize, String) {
    assert!(text.contains(from), "no `{from}`");
    let text = text.replacen(from, to, 1);
    let said = match Model::parse("m.toml", &text) {
        Ok(_) => panic!("`{to}` is accepted"),
        Err(error) => error.to_string(),
    };
    let mut parts = said.splitn(4, ':');
    assert_eq!(parts.next(), Some("m.toml"));
    let line: usize = parts.next().and_then(|line| line.parse().ok()).expect("a line");
    let words = parts.nth(1).unwrap_or_default().trim().to_string();
    let place = text.lines().nth(line - 1).unwrap_or_default();
    assert!(!place.trim().is_empty(), "{line} is an empty line: {words}");
    (line, words)
}

fn line_of(text: &str, part: &str) -> usize {
    text.lines().position(|line| line.contains(part)).expect("it is there") + 1
}

/// Each case has the start of the line that is reported.
fn all_said(text: &str, cases: &[(&str, &str, &str, &str)]) {
    for (from, to, key, words) in cases {
        let (line, got) = said(text, from, to);
        assert!(got.contains(words), "`{to}`: {got}");
        assert_eq!(line, line_of(&text.replacen(from, to, 1), key), "`{to}`: {got}");
    }
}

#[test]
fn names_and_titles() {
    let name = "name = \"wd-500gb-2007\"";
    for wrong in ["", " x", "a|b", "a=b", "../x", "x.toml", "default", "two\\nlines"] {
        let (line, words) = said(DESKTOP, name, &format!("name = \"{wrong}\""));
        assert!(
            words.contains("cannot name a model: a name has 1 to 64 characters"),
            "{words}"
        );
        assert_eq!(line, 2);
    }
    let long = format!("name = \"{}\"", "x".repeat(65));
    assert_eq!(said(DESKTOP, name, &long).0, 2);
    all_said(
        DESKTOP,
        &[
            ("wd5000aaks\"", "a,b\"", "aliases", "`a,b` cannot name a model"),
            ("(WD5000AAKS class)\"", "\\n\"", "title", "a title is one line"),
        ],
    );
}

#[test]
fn sizes_and_rotation() {
    all_said(
        DESKTOP,
        &[
            (
                "is = 976_773_168",
                "is = 0",
                "is = 0",
                "0 sectors: a disk has at least 2048",
            ),
            (
                "is = 976_773_168",
                "is = 999_999_999_999_999",
                "sustained_mb_s",
                "more than any drive has",
            ),
            (
                "rpm = { is = 7200.0",
                "rpm = { is = 0.0",
                "rpm = ",
                "0 rpm: between 60 and 100000",
            ),
            ("rpm = { is = 7200.0", "rpm = { is = -7200.0", "rpm = ", "-7200 rpm"),
            ("rpm = { is = 7200.0", "rpm = { is = nan", "rpm = ", "NaN rpm"),
            ("heads = { is = 4", "heads = { is = 0", "heads", "0 heads"),
            (
                "head_switch_ms = { is = 0.8",
                "head_switch_ms = { is = -0.8",
                "head_switch_ms",
                "-0.8 ms",
            ),
            (
                "outer = 89.6",
                "outer = 40.0",
                "sustained_mb_s",
                "40 MB/s outside, 50 inside",
            ),
            ("inner = 50.0", "inner = -50.0", "sustained_mb_s", "outer ≥ inner > 0"),
            ("read_mb_s = 300.0", "read_mb_s = 0.0", "interface", "0 MB/s"),
            (
                "seek = ",
                "track_mb_s = { is = { outer = 120.0, inner = 60.0 }, sure = \"measured\", source = \"x\" }\nseek = ",
                "track_mb_s",
                "one of `layout`, `sustained_mb_s` and `track_mb_s`",
            ),
        ],
    );
}

#[test]
fn zones() {
    let first = "cylinders = [0, 558]";
    let layout = "[disk.layout.is]";
    all_said(
        ZONED,
        &[
            (
                first,
                "cylinders = [0, 600]",
                layout,
                "the zone of cylinders 559 to 760 overlaps the zone of cylinders 0 to 600",
            ),
            (first, "cylinders = [558, 0]", layout, "zone of cylinders 558 to 0"),
            (
                first,
                "cylinders = [0, 4294967295]",
                layout,
                "zone of cylinders 0 to 4294967295",
            ),
            (
                "track_sectors = 96",
                "track_sectors = 0",
                layout,
                "with 0 sectors a track",
            ),
            (
                "track_sectors = 96",
                "track_sectors = 90",
                layout,
                "has more sectors a track (92) than the zone outside it (90)",
            ),
            (
                "track_skew = 14.0",
                "track_skew = -1.0",
                layout,
                "offset and skews are sectors, 0 or more",
            ),
            (
                "cylinder_skew = 32.0",
                "cylinder_skew = nan",
                layout,
                "offset and skews",
            ),
            ("offset = 0.0", "offset = inf", layout, "offset and skews"),
            (
                "is = 2054864",
                "is = 999999999999999",
                "is = 999999999999999",
                "more sectors than 48 bits",
            ),
            (
                "is = 2054864",
                "is = 3000000",
                "is = 3000000",
                "it is larger than its layout",
            ),
            (
                "is = 2054864",
                "is = 1000000",
                "is = 1000000",
                "more than twice as many",
            ),
            (
                "mapping = \"cylinders\"",
                "mapping = \"rings\"",
                layout,
                "mapping `rings`",
            ),
        ],
    );
}

#[test]
fn seek_curves() {
    all_said(
        DESKTOP,
        &[
            (
                "track_ms = 2.0",
                "track_ms = 9.0",
                "seek",
                "track_ms ≤ average_ms ≤ full_ms",
            ),
            ("full_ms = 21.0", "full_ms = 8.0", "seek", "seeks of 2, 8.9 and 8 ms"),
            ("track_ms = 2.0", "track_ms = -2.0", "seek", "ms: between 0 and 60000"),
            (
                "form = \"curve\", track_ms = 2.0",
                "form = \"lines\", track_ms = 9.0",
                "seek",
                "track_ms ≤ average_ms",
            ),
        ],
    );
    let curve = "form = \"curve\", track_ms = 2.0, average_ms = 8.9, full_ms = 21.0";
    let hp = |root: &str| {
        format!(
            "form = \"hp\", linear_from = 400, root_base_ms = 2.0, root_ms = {root}, linear_base_ms = 8.0, linear_ms = 0.0001"
        )
    };
    assert!(
        said(DESKTOP, curve, &hp("-0.01"))
            .1
            .contains("longer seeks take longer")
    );
    all_said(
        MEASURED_SEEKS,
        &[
            (
                "[[1, 1.943], [2, 1.956]",
                "[[1, 1.943], [2, 0.9]",
                "[disk.seek.is]",
                "a seek over 2 cylinders takes 0.9 ms",
            ),
            (
                "[[1, 1.943], [2, 1.956]",
                "[[2, 1.943], [1, 1.956]",
                "[disk.seek.is]",
                "rising distances",
            ),
            (
                "[4986, ",
                "[49860, ",
                "[disk.seek.is]",
                "a seek over 49860 cylinders, but the disk has",
            ),
        ],
    );
}

#[test]
fn buffers_and_caches() {
    let ahead = "read_ahead = \"sectors\", read_ahead_sectors = 1792";
    all_said(
        DESKTOP,
        &[
            (
                "segments = 8,",
                "segments = 0,",
                "segments",
                "its buffer needs 1 to 4096 segments",
            ),
            (
                "segment_sectors = 2048",
                "segment_sectors = 1000",
                "segments",
                "it reads 1792 sectors ahead into segments of 1000",
            ),
            (
                ahead,
                "read_ahead = \"sectors\"",
                "segments",
                "needs `read_ahead_sectors`",
            ),
            (
                ahead,
                "read_ahead = \"none\", read_ahead_sectors = 1792",
                "segments",
                "is only for read_ahead = \"sectors\"",
            ),
            (ahead, "read_ahead = \"all\"", "segments", "read_ahead `all`"),
            (
                "extents_max = 64",
                "extents_max = 0",
                "extents_max",
                "a write cache that is enabled needs",
            ),
            (
                "destage_sectors_max = 1024",
                "destage_sectors_max = 0",
                "extents_max",
                "a write cache that is enabled needs",
            ),
            (
                "sectors_max = 16384,",
                "sectors_max = 976773169,",
                "extents_max",
                "larger than the disk",
            ),
            (
                "sectors_max = 16384,",
                "sectors_max = 16385, in_segments = true,",
                "extents_max",
                "in 8 segments of 2048",
            ),
            (
                "sectors_max = 16384,",
                "sectors_max = 16384, in_segments = true,",
                "extents_max",
                "64 extents in 8 segments",
            ),
        ],
    );
    let small = DESKTOP.replace("is = 976_773_168", "is = 16_000");
    let buffer = said(&small, "segments = 8,", "segments = 8, ").1;
    assert!(buffer.contains("a buffer larger than the disk"), "{buffer}");
}

#[test]
fn queues_and_overheads() {
    all_said(
        DESKTOP,
        &[
            (
                "depth = 32",
                "depth = 0",
                "policy",
                "unsorted_newest = 5 in a queue of depth 0",
            ),
            ("depth = 32", "depth = 5", "policy", "no request is ever chosen"),
            (
                "depth = 32",
                "depth = 70000",
                "policy",
                "its queue needs a depth of 1 to 65536",
            ),
            (
                "rotation_margin_ms = 1.5",
                "rotation_margin_ms = 8.4",
                "policy",
                "a revolution takes 8.33 ms",
            ),
            ("policy = \"sptf\"", "policy = \"best\"", "policy", "policy `best`"),
            (
                "read_hit_after_read_ms = 0.05",
                "read_hit_after_read_ms = -1.0",
                "read_hit",
                "-1 ms",
            ),
        ],
    );
}

#[test]
fn solid_state_and_shingled_drives() {
    all_said(
        SSD,
        &[
            (
                "spare_percent = { is = 9.0",
                "spare_percent = { is = -9.0",
                "spare_percent",
                "-9 % of spare flash",
            ),
            (
                "spare_percent = { is = 9.0",
                "spare_percent = { is = nan",
                "spare_percent",
                "NaN % of spare flash",
            ),
            ("channels = 8", "channels = 0", "chips", "1 to 64 channels"),
            (
                "full_gb = 6.0",
                "full_gb = 80.0",
                "slc",
                "larger when full than when empty",
            ),
            (
                "empty_gb = 78.0",
                "empty_gb = 78.0e6",
                "slc",
                "sizes from 0 to 1000000 GB",
            ),
            (
                "program_us = 400.0",
                "program_us = 4000.0",
                "slc",
                "is written more slowly (4000 µs)",
            ),
        ],
    );
    let line = SSD
        .lines()
        .find(|line| line.starts_with("buffer_sectors"))
        .expect("it is there");
    let buffer =
        |sectors: &str| format!("buffer_sectors = {{ is = {sectors}, sure = \"measured\", source = \"x\" }}");
    let small = SSD.replace("is = 7814037168", "is = 400000000");
    for (text, sectors, words) in [
        (SSD, "8", "its buffer holds less than two programs"),
        (
            &small,
            "4294967295",
            "a buffer of 4294967295 sectors, larger than the drive (400000000)",
        ),
    ] {
        assert_eq!(
            said(text, line, &buffer(sectors)),
            (line_of(SSD, "buffer_sectors"), words.to_string())
        );
    }
    let band = SHINGLED
        .split("band_mb = ")
        .nth(1)
        .and_then(|rest| rest.split([',', ' ']).next());
    let band = format!("band_mb = {}", band.expect("a number"));
    assert!(
        said(SHINGLED, &band, "band_mb = -1.0")
            .1
            .contains("sizes between 0.001 and 100000")
    );
}

#[test]
fn figures_to_check() {
    let is = "what = \"read-mb-s\"\nis = 91.0";
    let with = |key: &str| format!("what = \"read-mb-s\"\nis = 91.0\n{key}");
    for (to, words) in [
        (
            "what = \"read-mb-s\"\nis = 0.0".to_string(),
            "0 is not a number above 0",
        ),
        (
            "what = \"read-mb-s\"\nis = inf".to_string(),
            "inf is not a number above 0",
        ),
        (with("place = 1.5"), "place = 1.5"),
        (with("depth = 0"), "depth = 0"),
        (with("sectors = 4096"), "requests of 4096 sectors"),
        (with("writes = 0"), "writes = 0"),
        (with("after_gb = 1e12"), "after_gb = 1000000000000"),
        (with("after_gb = -1.0"), "after_gb = -1"),
    ] {
        let (line, got) = said(DESKTOP, is, &to);
        assert!(got.starts_with("a figure to check: ") && got.contains(words), "{got}");
        assert_eq!(line, line_of(DESKTOP, "is = 91.0"));
    }
}
