//! Stacks that are created once, with trials on copies of their disks.

use crate::laboratory::Laboratory;
use lab::kernel::Cache;
use std::path::PathBuf;
use store::Store;

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

/// The set-up of a stack that an earlier run created is not done again, unless its contents were changed since.
#[test]
fn issue_40_stacks_are_kept_for_later_runs() {
    let Some(mut laboratory) = Laboratory::open() else {
        return;
    };
    let cache = laboratory.folder().join("cache/raidlab");
    std::fs::create_dir_all(&cache).expect("a folder");
    std::os::unix::fs::symlink(Cache::of_user().folder().join("kernels"), cache.join("kernels")).expect("a link");
    laboratory.with_variable(&format!(
        "XDG_CACHE_HOME={}",
        laboratory.folder().join("cache").display()
    ));
    laboratory.study(
        "ram = \"256M\"\ncreate_once = true\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 3\n[[stack]]\narray = { level = 5 }\n\
         fs = { type = \"xfs\" }\n[[workload]]\nname = \"read\"\nio = { rw = \"randread\", size = \"16M\" }\n[precision]\ntrials = 1\n",
    );
    let run = |store: &str| laboratory.run_as_told(&["--store", store]).digest().to_owned();
    let first = run("one.db");
    let stacks: Vec<PathBuf> = std::fs::read_dir(cache.join("stacks"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    let [stack] = stacks.as_slice() else {
        panic!("{stacks:?}")
    };
    // What the second run says about the calls is what is kept.
    let record = stack.join("stack.json");
    let text = std::fs::read_to_string(&record).expect("a record");
    let (key, calls) = text.split_once("\"calls\"").expect("calls");
    std::fs::write(
        &record,
        format!("{key}\"calls\"{}", calls.replace("mkfs.xfs", "mkfs.kept")),
    )
    .expect("ours");
    assert_eq!(run("two.db"), first);
    let said = |store: &str| {
        let store = Store::open_existing(&laboratory.folder().join(store)).expect("a store");
        let run = store.latest_run().expect("read").expect("a run");
        format!("{:?}", store.calls(run.id).expect("calls"))
    };
    assert!(said("two.db").contains("mkfs.kept"));
    let mut contents = std::fs::read(stack.join("contents")).expect("there");
    let middle = contents.len() / 2;
    contents[middle] ^= 1;
    std::fs::write(stack.join("contents"), contents).expect("ours");
    assert_eq!(run("three.db"), first);
    assert!(!said("three.db").contains("mkfs.kept"));
}
