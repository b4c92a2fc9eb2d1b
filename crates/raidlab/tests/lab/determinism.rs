//! One seed, one result: regardless of other load on the machine, and of the machine.

use crate::laboratory::{Laboratory, Results};
use std::fs;
use std::process::{Child, Command};

const STUDY: &str = "ram = \"256M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 4\n\
    [[stack]]\narray = { level = 1, size = \"20G\" }\nfs = { type = \"ext4\" }\n\
    [[stack]]\narray = { level = 5, size = \"20G\" }\nfs = { type = [\"xfs\", \"btrfs\"] }\n\
    [[workload]]\nname = \"tree\"\n\
    tree = { files = 300, size = { min = \"64B\", median = \"8K\", max = \"1M\" }, directories = 20 }\n\
    [[workload]]\nname = \"mixed\"\n\
    io = { rw = \"randrw\", bs = \"4K\", size = \"16M\", numjobs = 2, iodepth = 8, direct = true, end_fsync = true }\n\
    [precision]\ntrials = 2\n";

#[test]
fn a_run_repeats_bit_for_bit() {
    let Some(mut laboratory) = Laboratory::open() else {
        return;
    };
    laboratory.study(STUDY);
    let run = |laboratory: &Laboratory, store: &str, jobs: &str, seed: &str| {
        laboratory.run_with(&["--store", store, "--jobs", jobs, "--seed", seed])
    };
    let alone = run(&laboratory, "alone.db", "1", "7");
    assert_eq!(alone.cells().len(), 6);
    assert_eq!(
        alone.provenance("disk.vdc.contents").len(),
        12,
        "every disk of every trial has a digest"
    );

    let busy = Spinner::start();
    let with_others = run(&laboratory, "busy.db", "1", "7");
    drop(busy);
    let two_at_a_time = run(&laboratory, "two.db", "2", "7");
    laboratory.move_elsewhere();
    let elsewhere = run(&laboratory, "elsewhere.db", "2", "7");
    let another_seed = run(&laboratory, "seed.db", "2", "8");

    for (what, other) in [
        ("busy", &with_others),
        ("--jobs 2", &two_at_a_time),
        ("elsewhere", &elsewhere),
    ] {
        assert_same(what, &alone, other);
    }
    assert_ne!(alone.digest(), another_seed.digest());
    assert!(
        contents(&alone)
            .iter()
            .zip(contents(&another_seed))
            .all(|(a, b)| *a != b),
        "another seed, other files"
    );
    // The two trials of a cell differ in their seed as well.
    assert_ne!(contents(&alone)[0], contents(&alone)[1]);
}

/// The dynamic linker's list of libraries grows with each installed library, used or not.
#[test]
fn what_is_installed_here_changes_nothing() {
    const LIST: &str = "/etc/ld.so.cache";
    let Some(mut laboratory) = Laboratory::open() else {
        return;
    };
    let Ok(list) = fs::read(LIST) else {
        requirements::skip(format!("there is no {LIST}"));
        return;
    };
    laboratory.study(STUDY);
    let options = |store| ["--store", store, "--seed", "7", "--only", "type=ext4"];
    let here = laboratory.run_with(&options("here.db"));
    if !laboratory.with_file(LIST, &[&list[..], &[0; 100_000]].concat()) {
        requirements::skip(format!("another {LIST} takes `unshare --mount`, as root"));
        return;
    }
    let with_more = laboratory.run_with(&options("more.db"));
    assert_same("a longer list of libraries", &here, &with_more);
}

/// The init's system calls reach the guest's kernel in two ways (`kernel/driver/init_user.c`); a host has one of them or both.
#[test]
fn an_init_with_a_process_of_its_own_changes_nothing() {
    let Some(laboratory) = Laboratory::open() else { return };
    laboratory.study(STUDY);
    assert_same_by_ptrace(laboratory, Laboratory::run_with);
}

/// The stacks of 300 threads, and 768 MiB of buffers: more than there are addresses below those of the kernel.
#[test]
fn many_threads_and_large_buffers_do_not_meet_the_kernel() {
    let Some(laboratory) = Laboratory::open() else { return };
    laboratory.study(
        "ram = \"1G\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 2\n\
        [[stack]]\narray = { level = 1, size = \"20G\" }\nfs = { type = \"xfs\" }\n\
        [[workload]]\nname = \"threads\"\nio = { rw = \"randread\", bs = \"4K\", size = \"16K\", numjobs = 300 }\n\
        [[workload]]\nname = \"buffers\"\n\
        io = { rw = \"read\", bs = \"1M\", size = \"2M\", numjobs = 24, iodepth = 32, direct = true }\n\
        [precision]\ntrials = 1\n",
    );
    assert_same_by_ptrace(laboratory, Laboratory::results_of);
}

/// Runs the existing study in both ways.
pub fn assert_same_by_ptrace(mut laboratory: Laboratory, run: fn(&Laboratory, &[&str]) -> Results) {
    let options = |store| ["--store", store, "--seed", "7"];
    let in_the_kernel = run(&laboratory, &options("kernel.db"));
    laboratory.with_variable("RAIDLAB_PTRACE=1");
    let apart = run(&laboratory, &options("apart.db"));
    assert_same("the init by ptrace", &in_the_kernel, &apart);
}

/// Files that do not fit into memory: a trace buffer in the guest's memory would reduce it.
#[test]
fn a_trace_changes_nothing() {
    let Some(laboratory) = Laboratory::open() else { return };
    laboratory.study(
        "ram = \"128M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 4\n\
        [[stack]]\narray = { level = [1, 5], size = \"4G\" }\nfs = { type = \"xfs\" }\n\
        [[workload]]\nname = \"tree\"\n\
        tree = { files = 150, size = { min = \"64B\", median = \"1M\", max = \"4M\" }, directories = 10 }\n\
        [precision]\ntrials = 1\n",
    );
    let traced = laboratory.run_with(&["--store", "traced.db", "--seed", "7"]);
    let untraced = laboratory.run_as_told(&["--store", "untraced.db", "--seed", "7"]);
    assert_same("without a trace", &traced, &untraced);
}

#[test]
#[ignore = "test-all"]
fn first_look_repeats() {
    let Some(laboratory) = Laboratory::open() else { return };
    let study = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/first-look.toml");
    laboratory.study(&fs::read_to_string(study).expect("the study is there"));
    let only = ["--only", "type=reiserfs,workload=small files", "--seed", "7"];
    let two = laboratory.run_with(&[&only[..], &["--store", "two.db", "--jobs", "2"]].concat());
    let _busy = Spinner::start();
    let one = laboratory.run_with(&[&only[..], &["--store", "one.db", "--jobs", "1"]].concat());
    assert_same("first-look", &two, &one);
}

fn contents(results: &Results) -> Vec<&str> {
    results.provenance("disk.vda.contents")
}

/// Reports the differences, not everything.
pub fn assert_same(what: &str, one: &Results, other: &Results) {
    let (one, other) = (one.body(), other.body());
    let differing: Vec<_> = one
        .lines()
        .zip(other.lines())
        .filter(|(a, b)| a != b)
        .take(20)
        .collect();
    assert!(differing.is_empty(), "{what}: {differing:#?}");
    assert_eq!(one.len(), other.len(), "{what}");
}

/// A child that competes for the processor time of the thread that starts it.
pub struct Spinner(Child);

impl Spinner {
    pub fn start() -> Spinner {
        let child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn();
        Spinner(child.expect("a shell"))
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
