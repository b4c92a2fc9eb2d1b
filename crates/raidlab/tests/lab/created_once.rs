//! Stacks that are created once, with trials on copies of their disks.

use crate::laboratory::Laboratory;

const STUDY: &str = "ram = \"256M\"\ncreate_once = true\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 4\n\
    bitmap = { count = 1 }\n\
    [[stack]]\narray = { level = 1, size = \"20G\", bitmap = \"external\" }\nfs = { type = \"ext4\" }\n\
    [[stack]]\narray = { level = 5, size = \"20G\" }\nfs = { type = \"xfs\" }\n\
    [[stack]]\narray = { level = 1, of = { level = 0, disks = 2 } }\nfs = { type = \"ext4\" }\n\
    [[stack]]\narray = { level = \"none\" }\nfs = { type = \"btrfs\", data = \"raid1\", metadata = \"raid1\" }\n\
    [[stack]]\narray = { level = 6 }\nfs = { type = \"none\" }\n\
    [[workload]]\nname = \"write\"\nio = { rw = \"write\", size = \"16M\", end_fsync = true }\n\
    [[workload]]\nname = \"overwrite\"\nio = { rw = \"randwrite\", size = \"16M\", end_fsync = true }\n\
    [[workload]]\nname = \"read\"\nio = { rw = \"randread\", size = \"16M\" }\n\
    [[workload]]\nname = \"mix\"\nio = { rw = \"randrw\", size = \"16M\" }\n\
    [precision]\ntrials = 2\n";

/// Trials do not see each other's writes, and nothing depends on who created the stack, or on how many guests run.
#[test]
fn trials_start_from_copies_of_one_stack() {
    let Some(laboratory) = Laboratory::open() else { return };
    laboratory.study(STUDY);
    let run = |store: &str, jobs: &str| laboratory.run_with(&["--store", store, "--jobs", jobs]);
    let one = run("raidlab.db", "1");
    // Both writers have one stack, and so have both readers, of which one also writes.
    assert_eq!(one.cells().len(), 20);
    let two = run("two.db", "2");
    assert_eq!(one.digest(), two.digest());
    // Every trial says how its stack was created, and that it was assembled.
    let called = laboratory.programs_called();
    let xfs = &called.iter().find(|(cell, _)| cell.contains("xfs")).expect("a cell").1;
    let has = |words: &str| xfs.iter().any(|call| call.contains(words));
    assert!(has("mkfs.xfs") && has("--create") && has("--assemble"), "{xfs:?}");
}
