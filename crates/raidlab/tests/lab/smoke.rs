//! Every level and every filesystem can be set up, works, and keeps its data.

use crate::laboratory::{Laboratory, succeeded};

const WORKLOAD: &str = "[[workload]]\nname = \"tiny\"\n\
    tree = { files = 24, size = { min = \"1B\", median = \"4K\", max = \"64K\" }, directories = 4 }\n\
    [precision]\ntrials = 1\n";

#[test]
#[ignore = "test-all"]
fn every_level_with_two_filesystems() {
    let Some(laboratory) = Laboratory::open() else { return };
    let results = laboratory.run(&format!(
        "ram = \"256M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 4\n[[stack]]\n\
         array = [{{ level = [\"single\", 0] }}, {{ level = [1, 4, 5, 6, 10], size = \"2G\", bitmap = \"internal\" }}]\n\
         fs = {{ type = [\"ext4\", \"xfs\"] }}\n{WORKLOAD}"
    ));
    assert_eq!(results.cells().len(), 14, "{:?}", results.cells());
}

#[test]
fn every_filesystem_on_a_mirror() {
    let Some(laboratory) = Laboratory::open() else { return };
    let results = laboratory.run(&format!(
        "ram = \"256M\"\n[disks]\nmodel = \"seagate-ironwolf-12tb\"\ncount = 2\n[[stack]]\n\
         array = {{ level = 1, size = \"20G\" }}\n\
         fs = {{ type = [\"ext2\", \"ext3\", \"ext4\", \"xfs\", \"jfs\", \"reiserfs\", \"btrfs\"] }}\n{WORKLOAD}"
    ));
    assert_eq!(results.cells().len(), 7, "{:?}", results.cells());
}

#[test]
#[ignore = "test-all"]
fn every_level_without_a_filesystem() {
    let Some(laboratory) = Laboratory::open() else { return };
    let results = laboratory.run(
        "ram = \"256M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 4\n[[stack]]\n\
         array = { level = [\"single\", \"linear\", 0, 1, 4, 5, 6, 10] }\nfs = { type = \"raw\" }\n\
         [[workload]]\nname = \"tiny\"\n\
         io = { rw = \"randwrite\", bs = \"16K\", size = \"4M\", iodepth = 4, direct = true, end_fsync = true }\n\
         [precision]\ntrials = 1\n",
    );
    assert_eq!(results.cells().len(), 8, "{:?}", results.cells());
}

/// Random reads within 200 GiB counted as 0.28 times those within 2 GiB, because their job was not called like the workload.
#[test]
fn issue_39_imported_requests_within_another_area_do_not_count() {
    let Some(laboratory) = Laboratory::open() else { return };
    laboratory.study(
        "ram = \"128M\"\n[disks]\nmodel = \"seagate-ironwolf-4tb\"\n[[stack]]\nfs = { type = \"none\" }\n[[workload]]\nname = \"random reads\"\n\
         io = { rw = \"randread\", bs = \"4K\", size = \"64M\", direct = true, runtime = \"1s\" }\n[precision]\ntrials = 1\n",
    );
    succeeded(&mut laboratory.raidlab(&["run", "study.toml"]));
    let file = r#"{"fio version": "fio-3.33", "jobs": [{"jobname": "randread", "error": 0,
        "job options": {"rw": "randread", "bs": "4k", "size": "200g"},
        "read": {"io_bytes": 4096000, "runtime": 10000, "total_ios": 1000, "lat_ns": {"N": 1000}},
        "write": {"io_bytes": 0, "runtime": 0, "total_ios": 0, "lat_ns": {"N": 0}}}]}"#;
    std::fs::write(laboratory.folder().join("mine.json"), file).expect("written");
    succeeded(&mut laboratory.raidlab(&["import", "mine.json", "--workload", "random reads"]));
    let shown = succeeded(&mut laboratory.raidlab(&["show", "--run", "1", "--with", "2"])).replace('\n', " ");
    assert!(
        shown.contains(
            "because they seek within other areas: random reads randread (200 GiB imported, 64 MiB simulated)"
        ),
        "{shown}"
    );
}
