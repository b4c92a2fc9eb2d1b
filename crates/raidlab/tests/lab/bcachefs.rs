//! bcachefs in the lab: the real program, from Debian's packages. If they are not available, its tests are skipped.

use crate::laboratory::Laboratory;
use lab::kernel::{BCACHEFS, Cache, KernelName};
use std::sync::OnceLock;
use tools::{Tool, Tools};

const STUDY: &str = "ram = \"256M\"\n[disks]\nmodel = \"hp-c2247a\"\ncount = 4\n\
    [[stack]]\narray = { level = \"none\" }\n\
    fs = { type = \"bcachefs\", replicas = [1, 3], compression = [\"off\", \"zstd\"] }\n\
    [[stack]]\narray = { level = 5 }\nfs = { type = \"bcachefs\", block_size = \"1K\" }\nmount = \"noatime\"\n\
    [[workload]]\nname = \"tree\"\n\
    tree = { files = 100, size = { min = \"1B\", median = \"8K\", max = \"512K\" }, directories = 6 }\n\
    [[workload]]\nname = \"stream\"\n\
    io = { rw = \"write\", bs = \"64K\", size = \"8M\", buffer_compress_percentage = 80, end_fsync = true }\n\
    [precision]\ntrials = 1\n";

/// Whether it is installed or cached; fetched now if necessary. Otherwise prints why a test is skipped.
pub fn is_to_be_had() -> bool {
    static WHY_NOT: OnceLock<Option<String>> = OnceLock::new();
    let why_not = WHY_NOT.get_or_init(|| {
        let cache = Cache::of_user();
        let is_there = Tools::find(&[Tool::Filesystem(&filesystems::bcachefs::BCACHEFS)]).is_ok()
            || cache.bcachefs().is_some();
        let fetched = if is_there {
            Ok(())
        } else {
            cache.fetch(BCACHEFS, &mut |_| {})
        };
        fetched.err().map(|error| error.to_string())
    });
    if let Some(why) = why_not {
        requirements::skip(why.lines().next().unwrap_or_default());
    }
    why_not.is_none()
}

/// Files are unchanged after a remount with cold caches: a run with failed guards does not count.
#[test]
#[ignore = "test-all"]
fn copies_and_compression_reach_the_disks_the_same_way_twice() {
    if !is_to_be_had() {
        return;
    }
    let Some(mut laboratory) = Laboratory::open_with(&KernelName::parse("6.12+more")) else {
        return;
    };
    laboratory.study(STUDY);
    let first = laboratory.run_with(&["--store", "first.db", "--jobs", "1"]);
    laboratory.move_elsewhere();
    let second = laboratory.run_with(&["--store", "second.db", "--jobs", "2"]);
    assert_eq!(first.cells().len(), 10);
    assert_eq!(first.body(), second.body());

    let written = |stack: &str| -> f64 {
        let cell = format!("bcachefs {stack} | stream");
        let members = ["vda", "vdb", "vdc", "vdd"].map(|disk| format!("member {disk}"));
        members
            .iter()
            .map(|disk| first.sample_of(&cell, disk, "sectors_written"))
            .sum()
    };
    let (one, three) = (
        written("1 replica compression off"),
        written("3 replicas compression off"),
    );
    assert!((2.5..3.5).contains(&(three / one)), "{one} and {three} sectors");
    let less = written("1 replica compression zstd");
    assert!(less < 0.6 * one, "{less} of {one} sectors");

    // The provenance names the origin of the program for cells whose guests were given it.
    if Tools::find(&[Tool::Filesystem(&filesystems::bcachefs::BCACHEFS)]).is_err() {
        let packages = first.provenance("bcachefs.packages");
        assert_eq!(packages.len(), 10);
        assert!(
            packages[0].contains(BCACHEFS) && packages[0].contains("libc6 "),
            "{}",
            packages[0]
        );
    }
    assert_eq!(first.provenance("bcachefs").len(), 10, "its own word on its version");
}
