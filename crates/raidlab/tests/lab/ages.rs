//! Aged filesystems: as full and as fragmented as asked, and the same for all trials, however many guests run.

use crate::laboratory::{Laboratory, Results};
use lab::kernel::Cache;

fn study(turnover: u32) -> String {
    format!(
        "ram = \"256M\"\ncreate_once = true\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 2\n\
         [[stack]]\narray = {{ level = 1, size = \"320M\" }}\nfs = {{ type = [\"ext4\", \"xfs\", \"btrfs\"] }}\n\
         [[workload]]\nname = \"read\"\nage = {{ fill = \"85 %\", turnover = {turnover} }}\n\
         io = {{ rw = \"read\", bs = \"1M\", size = \"16M\" }}\n\
         [[workload]]\nname = \"write\"\nage = {{ fill = \"85 %\", turnover = {turnover} }}\n\
         io = {{ rw = \"write\", bs = \"1M\", size = \"16M\", end_fsync = true }}\n\
         [precision]\ntrials = 2\n"
    )
}

/// A laboratory whose stacks are not those of other tests.
fn laboratory() -> Option<Laboratory> {
    let mut laboratory = Laboratory::open()?;
    let cache = laboratory.folder().join("cache/raidlab");
    std::fs::create_dir_all(&cache).expect("a folder");
    std::os::unix::fs::symlink(Cache::of_user().folder().join("kernels"), cache.join("kernels")).expect("a link");
    let variable = format!("XDG_CACHE_HOME={}", laboratory.folder().join("cache").display());
    laboratory.with_variable(&variable);
    Some(laboratory)
}

/// What all trials say of the aged filesystems, without repetition: each is made once.
fn facts(results: &Results, key: &str) -> Vec<String> {
    let mut all: Vec<String> = results.provenance(key).into_iter().map(str::to_owned).collect();
    assert!(all.len().is_multiple_of(4), "two workloads, two trials: {all:?}");
    all.sort_unstable();
    all.dedup();
    all
}

/// The number at the beginning of each.
fn numbers(facts: &[String]) -> Vec<u64> {
    let first = |fact: &String| fact.split(' ').next().and_then(|word| word.parse().ok());
    facts.iter().map(|fact| first(fact).expect("a number")).collect()
}

/// The guard `aged` of every trial must pass, within 1 % of the fill.
#[test]
fn filesystems_are_as_full_and_as_fragmented_as_asked() {
    let Some(laboratory) = laboratory() else { return };
    let run = |turnover: u32, options: &[&str]| {
        laboratory.study(&study(turnover));
        laboratory.run_as_told(options)
    };
    let filled = run(0, &["--store", "filled.db"]);
    let aged = run(2, &["--store", "aged.db", "--jobs", "1"]);
    assert_eq!(aged.cells().len(), 6);
    for results in [&filled, &aged] {
        assert_eq!(facts(results, "age.used").len(), 3, "one for each filesystem");
        assert_eq!(facts(results, "age.files").len(), 3);
    }
    // ext4 and XFS say where their free space is.
    let pieces = |results: &Results| numbers(&facts(results, "age.free_space"));
    let (few, many) = (pieces(&filled), pieces(&aged));
    println!("extents of free space: {few:?} when filled, {many:?} when written again twice");
    assert_eq!((few.len(), many.len()), (2, 2));
    assert!(few.iter().max() < many.iter().min(), "{few:?} {many:?}");
    assert!(many.iter().all(|pieces| *pieces > 100), "{many:?}");
    // Made again, by two guests at a time.
    let stacks = laboratory.folder().join("cache/raidlab/stacks");
    std::fs::remove_dir_all(stacks).expect("they were kept");
    let again = run(2, &["--store", "again.db", "--jobs", "2"]);
    assert_eq!(again.digest(), aged.digest());
    for key in ["age.churn", "age.files", "age.free_space", "age.gaps", "age.used"] {
        assert_eq!(facts(&again, key), facts(&aged, key), "{key}");
    }
}
