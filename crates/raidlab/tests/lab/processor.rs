//! Guests with a processor model: results repeat, and cores help if there are several tasks.

use crate::determinism::{Spinner, assert_same, assert_same_by_ptrace};
use crate::laboratory::{Laboratory, Results, succeeded};
use lab::kernel::KernelName;

/// An array whose speed depends on the processor, with one job and with four.
fn study(machine: &str) -> String {
    format!(
        "ram = \"256M\"\n{machine}\n[disks]\nmodel = \"ram\"\ncount = 4\n\
         [[stack]]\narray = {{ level = 5, size = \"256M\" }}\nfs = {{ type = \"xfs\" }}\n\
         [[workload]]\nname = \"cached\"\nio = {{ rw = \"write\", bs = \"4K\", size = \"16M\" }}\n\
         [[workload]]\nname = \"four\"\n\
         io = {{ rw = \"randwrite\", bs = \"4K\", size = \"4M\", numjobs = 4, direct = true }}\n\
         [precision]\ntrials = 1\n"
    )
}

pub fn laboratory() -> Option<Laboratory> {
    Laboratory::open_with(&KernelName::parse("6.12+cpu"))
}

fn run(laboratory: &Laboratory, machine: &str, store: &str) -> Results {
    laboratory.study(&study(machine));
    laboratory.run_with(&["--store", store, "--seed", "7"])
}

#[test]
#[ignore = "test-all"]
fn a_guest_with_a_processor_repeats_bit_for_bit() {
    let Some(mut laboratory) = laboratory() else { return };
    let machine = "cpu = \"epyc-9004-vm\"\ncores = 2";
    let alone = run(&laboratory, machine, "alone.db");
    let _busy = Spinner::start();
    let busy = run(&laboratory, machine, "busy.db");
    assert_same("busy", &alone, &busy);
    assert_eq!(alone.digest(), busy.digest());
    // The path of the kernel differs, and the guest's PID on the host as well.
    laboratory.move_elsewhere();
    let elsewhere = run(&laboratory, machine, "elsewhere.db");
    assert_same("elsewhere", &alone, &elsewhere);
    let another = run(&laboratory, "cpu = \"pentium-4-1600\"", "another.db");
    assert_ne!(alone.digest(), another.digest(), "another processor, other times");
}

/// Nobody is charged for what only one of the two ways takes.
#[test]
fn programs_with_processes_of_their_own_change_nothing() {
    let Some(laboratory) = laboratory() else { return };
    laboratory.study(include_str!("processor.toml"));
    assert_same_by_ptrace(laboratory, Laboratory::run_with);
}

/// Two seeds have other processors, and a seed always the same one.
#[test]
fn drawn_processors_scatter_by_what_is_not_known_of_them() {
    let Some(laboratory) = laboratory() else { return };
    let of = |models: &str, store: &str| -> Vec<f64> {
        let study = study("cpu = \"n100\"").replace("trials = 1", &format!("trials = 3\n{models}"));
        laboratory.study(&study);
        let _ = laboratory.run_as_told(&["--store", store, "--seed", "7"]);
        let exported = succeeded(&mut laboratory.raidlab(&["export", "--store", store, "--format", "json"]));
        let json: serde_json::Value = serde_json::from_str(&exported).expect("an export is JSON");
        let samples = json["samples"].as_array().expect("samples").iter();
        let wanted = |row: &&serde_json::Value| {
            row["test"] == "randwrite"
                && row["metric"] == "iops"
                && row["cell"].as_str().is_some_and(|cell| cell.ends_with("| four"))
        };
        samples.filter(wanted).filter_map(|row| row["value"].as_f64()).collect()
    };
    let spread = |values: &[f64]| {
        let most = values.iter().copied().fold(0.0, f64::max);
        most / values.iter().copied().fold(f64::INFINITY, f64::min)
    };
    let (plain, drawn) = (of("", "plain.db"), of("models = true", "drawn.db"));
    println!("{plain:?} {drawn:?}");
    assert_eq!((plain.len(), drawn.len()), (3, 3));
    assert!(spread(&plain) < 1.05 && spread(&drawn) > 1.1, "{plain:?} {drawn:?}");
    assert_eq!(of("models = true", "again.db"), drawn);
    let exported = succeeded(&mut laboratory.raidlab(&["export", "--store", "drawn.db", "--format", "json"]));
    assert!(exported.contains("drawn.n100.cpu.block"));
    assert_eq!(lab::disks::drawn_words("n100.cpu.memory"), "the rate of copies of n100");
}

#[test]
#[ignore = "test-all"]
fn an_infinitely_fast_processor_is_none() {
    let Some(laboratory) = Laboratory::open() else { return };
    let none = run(&laboratory, "", "none.db");
    let infinite = run(&laboratory, "cpu = \"infinite\"", "infinite.db");
    assert_eq!(none.digest(), infinite.digest());
}

/// Four jobs and md's thread share one core, or have one each; one job hardly benefits from a second core: only md
/// uses it.
#[test]
#[ignore = "test-all"]
fn cores_help_where_tasks_are_many() {
    let Some(laboratory) = laboratory() else { return };
    let on = |cores: u32| {
        let machine = format!("cpu = \"xeon-e5520\"\ncores = {cores}");
        run(&laboratory, &machine, &format!("{cores}.db"))
    };
    let (one, eight) = (on(1), on(8));
    let gain = |workload: &str, test: &str| {
        let of = |results: &Results| results.sample(workload, test, "iops");
        of(&eight) / of(&one)
    };
    let (four, cached) = (gain("four", "randwrite"), gain("cached", "write"));
    assert!(four > 1.5 && four < 8.0, "{four}");
    assert!((0.95..1.25).contains(&cached), "{cached}");
}

/// On disks without service times, only a processor of 1997 takes time.
#[test]
#[ignore = "test-all"]
fn a_processor_at_its_limit_is_named() {
    let Some(laboratory) = laboratory() else { return };
    let note = "these figures are not those of the disks";
    for (machine, is_limit) in [("cpu = \"pentium-2-400\"", true), ("cpu = \"infinite\"", false)] {
        run(&laboratory, machine, "raidlab.db");
        let said = succeeded(&mut laboratory.raidlab(&["show"]));
        println!("{said}");
        assert_eq!(said.contains(note), is_limit, "{machine}: {said}");
    }
}
