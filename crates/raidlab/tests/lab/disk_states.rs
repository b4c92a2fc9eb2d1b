//! What disks hold before the stack is created, and what a study shows of their models' part in its figures.

use crate::laboratory::{Laboratory, succeeded};

/// Writes that overwrite old data all over a drive wait for its garbage collection.
#[test]
fn a_drive_in_long_use_writes_slower_than_a_new_one() {
    let Some(laboratory) = Laboratory::open() else { return };
    let results = laboratory.run(
        r#"
        ram = "128M"
        [disks]
        model = "samsung-870-evo-500gb"
        state = { filled = ["1 %", "60 %", "100 %"] }
        [[stack]]
        fs = { type = "raw" }
        [[workload]]
        name = "w"
        io = { rw = "randwrite", bs = "4K", size = "4G", iodepth = 32, direct = true, ramp_time = "6s", runtime = "2s" }
        [precision]
        trials = 1
        "#,
    );
    let of = |filled: &str| results.sample_of(&format!("{filled} full raw | w"), "randwrite", "iops");
    let (new, part, full) = (of("1%"), of("60%"), of("100%"));
    println!(
        "4 KiB at random: {new:.0} writes a second on a new drive, {part:.0} on one that is 60 % full, {full:.0} on a full one"
    );
    assert!(
        new > 1.5 * full && part > 1.2 * full && part < 1.05 * new,
        "{new} {part} {full}"
    );
}

/// Each band that is merged makes room for 1 MiB, and takes a second.
#[test]
fn a_shingled_disk_whose_zone_is_full_collapses_under_small_writes() {
    let Some(laboratory) = Laboratory::open() else { return };
    let results = laboratory.run(
        r#"
        ram = "128M"
        [disks]
        model = "wd-wd40efax"
        state = { zone = ["0 %", "100 %"] }
        [[stack]]
        fs = { type = "raw" }
        [[workload]]
        name = "w"
        io = { rw = "randwrite", bs = "32K", size = "64M", iodepth = 4, direct = true, end_fsync = true }
        [precision]
        trials = 1
        "#,
    );
    let of = |zone: &str| results.sample_of(&format!("zone {zone} in use raw | w"), "randwrite", "throughput");
    let (empty, full) = (of("0%"), of("100%"));
    println!("32 KiB at random: {empty:.2} MiB/s into an empty zone, {full:.2} into a full one");
    assert!(empty > 5.0 * full, "{empty} {full}");
}

/// 256 reads in flight on drives that take 32 each: RAID 5 reads most of them through its stripe cache.
#[test]
fn issue_41_reads_that_io_uring_has_split_are_named() {
    let Some(laboratory) = Laboratory::open() else { return };
    let job =
        r#"rw = "randread", bs = "64K", size = "256M", numjobs = 8, iodepth = 32, direct = true, runtime = "1s""#;
    let results = laboratory.run(&format!(
        r#"
        ram = "256M"
        [disks]
        model = "samsung-870-evo-4tb"
        count = 4
        [[stack]]
        array = {{ level = 5, bitmap = "none" }}
        fs = {{ type = "raw" }}
        [[workload]]
        name = "ring"
        io = {{ {job} }}
        [[workload]]
        name = "libaio"
        fio = {{ {job}, ioengine = "libaio" }}
        [precision]
        trials = 1
        "#
    ));
    let rate = |workload: &str| results.sample(workload, "randread", "throughput");
    println!("io_uring {:.0} MiB/s, libaio {:.0}", rate("ring"), rate("libaio"));
    assert!(rate("libaio") > 1.5 * rate("ring"));
    let shown = succeeded(&mut laboratory.raidlab(&["show"]));
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("`ring`, randread: direct reads were split"), "{shown}");
    assert!(
        !shown.contains("`libaio`, randread: direct reads were split"),
        "{shown}"
    );
}

/// The seek times decide how many single reads a disk serves, and its media rate does not.
#[test]
fn what_a_figure_of_a_model_decides_is_shown() {
    let Some(laboratory) = Laboratory::open() else { return };
    laboratory.study(
        r#"
        ram = "128M"
        [disks]
        model = "wd-500gb-2007"
        [[stack]]
        fs = { type = "raw" }
        [[workload]]
        name = "reads"
        io = { rw = "randread", bs = "4K", size = "200G", direct = true, runtime = "3s" }
        "#,
    );
    let arguments = ["disk", "sensitivity", "study.toml", "--trials", "3"];
    let shown = succeeded(&mut laboratory.raidlab(&arguments));
    println!("{shown}");
    assert!(shown.contains("(simulated)"), "{shown}");
    assert!(
        shown.lines().any(|line| line.trim_start().starts_with("seek times")),
        "{shown}"
    );
    assert!(
        !shown
            .lines()
            .any(|line| line.trim_start().starts_with("the rate of the media")),
        "{shown}"
    );
    assert!(laboratory.folder().join("raidlab.db").is_file());
}
