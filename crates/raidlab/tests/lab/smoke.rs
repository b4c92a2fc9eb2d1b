//! Every level and every filesystem can be set up, works, and keeps its data.

use crate::laboratory::Laboratory;

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
