//! Studies of power cuts find the known defects, and nothing else.

use crate::guest::{disks, trials};
use crate::laboratory::kernel;
use lab::guest::{Config, Init, LIMITS, PowerCut, SpareMemory};
use lab::job::GuestJob;
use lab::power_cut::{Error, Exploration, JudgedState};
use requirements::one_processor;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use study::event::Event;
use study::workload::Work;
use trial::Limits;
use trial::power_cut::ViolationKind;

/// A study of one stack and one workload of power cuts.
fn study(disks: &str, stack: &str, work: &str) -> String {
    format!(
        "title = \"power cuts\"\nmachine = \"lab\"\nram = \"128 MiB\"\n[disks]\n{disks}\n[[stack]]\n{stack}\n\
         [[workload]]\nname = \"cuts\"\npower_cut = {work}\n"
    )
}

/// All states of the first trial. `None` if a test has to be skipped.
fn explore(study: &str) -> Option<Vec<JudgedState>> {
    with(study, states)
}

fn states(exploration: &Exploration<'_>) -> Vec<JudgedState> {
    let mut all = Vec::new();
    let wall = exploration
        .all(&AtomicBool::new(false), &mut |_| {}, &mut |judged| {
            all.push(judged.clone())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let rate = all.len() as f64 / wall.as_secs_f64();
    eprintln!("{} states, {rate:.2} a second of wall time", all.len());
    all
}

/// Calls a function with the exploration of the first trial. `None` if a test has to be skipped.
fn with<T>(study: &str, what: impl FnOnce(&Exploration<'_>) -> T) -> Option<T> {
    with_limits(study, LIMITS, what)
}

/// The same with limits for each guest.
fn with_limits<T>(study: &str, limits: Limits, what: impl FnOnce(&Exploration<'_>) -> T) -> Option<T> {
    let kernel = kernel()?;
    let _slot = one_processor();
    let trial = trials(study).remove(0);
    let Work::PowerCut(spec) = trial.cell.workload.work.clone() else {
        panic!("the study has power cuts")
    };
    let folder = tempfile::tempdir().expect("a folder");
    let group = &trial.cell.machine.disks;
    let count = group.iter().map(|group| group.count).sum();
    let mut disks = disks(&group[0].model, count);
    for disk in &mut disks.disks {
        lab::disks::lose(disk, &spec);
    }
    let init = Init::in_own_memory(Path::new(env!("CARGO_BIN_EXE_raidlab"))).expect("it can be loaded");
    let job = lab::job::encode(&GuestJob::Trial(Box::new(trial.clone())), &[]);
    let exploration = Exploration {
        trial: &trial,
        spec,
        config: Config {
            kernel: &kernel.path,
            init: &init,
            root: None,
            ram_bytes: trial.cell.machine.ram_bytes,
            seed: trial.seed,
            disks: &postcard::to_allocvec(&disks).expect("plain data"),
            job: &job,
            memory_budget_bytes: 1 << 30,
            contents: None,
            power_cut: None,
            states: None,
            spare: &SpareMemory::default(),
            folder: folder.path(),
            trace: None,
            processor: lab::guest::processors().first().copied(),
            kernel_arguments: &[],
            limits,
        },
    };
    Some(what(&exploration))
}

fn assert_clean(states: &[JudgedState]) {
    for state in states {
        assert_eq!(state.verdict, trial::power_cut::StateVerdict::default(), "{state:?}");
    }
}

fn having(states: &[JudgedState], kind: ViolationKind) -> usize {
    states.iter().filter(|state| state.verdict.has(kind)).count()
}

const ONE: &str = "model = \"wd-500gb-2007\"\ncount = 1";
const FOUR: &str = "model = \"wd-500gb-2007\"\ncount = 4";
const CUTS: &str = "{ operations = 60, points = 6 }";

fn ext4(mount: &str) -> String {
    study(
        ONE,
        &format!("array = {{ level = \"single\" }}\nfs = {{ type = \"ext4\" }}\nmount = \"{mount}\""),
        CUTS,
    )
}

#[test]
fn ext4_without_barriers_loses_what_it_acknowledged_and_with_them_it_does_not() {
    let Some(safe) = explore(&ext4("noatime")) else { return };
    assert_clean(&safe);
    let states = explore(&ext4("noatime,nobarrier")).expect("a kernel");
    let lost = having(&states, ViolationKind::Lost);
    eprintln!("nobarrier: {lost} of {} states lost acknowledged writes", states.len());
    assert!(lost > 0, "{states:?}");
    let again = explore(&ext4("noatime,nobarrier")).expect("a kernel");
    assert_eq!(states, again, "the same seed gives the same states and verdicts");
}

/// Many states of one run, judged by one guest, are those of as many runs that end in a power cut.
#[test]
#[ignore = "test-all"]
fn states_that_one_run_keeps_are_those_of_power_cuts_that_end_it() {
    let stacks = [
        "array = { level = 5, size = \"256 MiB\" }\nfs = { type = \"ext4\" }\nmount = \"nobarrier\"",
        "array = { level = 1, size = \"512 MiB\", bitmap = \"none\" }\nfs = { type = \"xfs\" }",
        "array = { level = 10, size = \"256 MiB\" }\nfs = { type = \"btrfs\" }",
    ];
    for stack in stacks {
        let study = study(FOUR, stack, "{ operations = 40, points = 6, subsets = 2 }");
        let found = with(&study, |exploration| {
            let stop = AtomicBool::new(false);
            let mut kept = Vec::new();
            let all = exploration.all(&stop, &mut |_| {}, &mut |judged| kept.push(judged.clone()));
            all.unwrap_or_else(|error| panic!("{error}"));
            let alone = |kept: &JudgedState| {
                let (at_ns, seed) = (kept.at_ns, kept.seed);
                let judged = exploration.state(PowerCut { at_ns, seed }, &stop);
                judged.unwrap_or_else(|error| panic!("{error}"))
            };
            let ended: Vec<JudgedState> = kept.iter().step_by(3).map(alone).collect();
            (kept, ended)
        });
        let Some((kept, ended)) = found else { return };
        assert_eq!(kept.len(), 12);
        assert_eq!(kept.iter().step_by(3).cloned().collect::<Vec<_>>(), ended, "{stack}");
    }
}

/// The step into which a power cut falls before the operations, and when these begin.
fn cut_outside(exploration: &Exploration<'_>, at_ns: u64) -> (String, u64) {
    match exploration.state(PowerCut { at_ns, seed: 1 }, &AtomicBool::new(false)) {
        Err(Error::Outside { step, times, .. }) => (step, times.start),
        other => panic!("a cut at {at_ns} ns: {other:?}"),
    }
}

/// Cuts within every step that makes the stack: each is reported with its step, none is judged.
#[test]
#[ignore = "test-all"]
fn a_cut_while_the_stack_is_made_names_the_step() {
    let stack = "array = { level = 5, size = \"256 MiB\" }\nfs = { type = \"ext4\" }";
    with(&study(FOUR, stack, "{ operations = 10, points = 1 }"), |exploration| {
        let mut steps = Vec::new();
        let mut note = |event| {
            if let Event::Step { name, at_ns } = event {
                steps.push((name, at_ns));
            }
        };
        exploration
            .all(&AtomicBool::new(false), &mut note, &mut |_| {})
            .expect("it can be explored");
        let names: Vec<&str> = steps.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["check stack", "create array", "mkfs", "mount", "power-cut"]);
        // Times of steps count from the trial's start, to the microsecond that much later than the guest's.
        let (booting, operations_ns) = cut_outside(exploration, 0);
        let (mut before, mut after) = (0, operations_ns);
        while after - before > 1000 {
            let middle = before.midpoint(after);
            let is_booting = cut_outside(exploration, middle).0 == booting;
            *(if is_booting { &mut before } else { &mut after }) = middle;
        }
        let start_ns = after - steps[0].1;
        let mut cuts = 0;
        for pair in steps.windows(2) {
            let [(name, begin), (_, end)] = pair else {
                unreachable!("a window of two")
            };
            // A step without a request takes no virtual time.
            if end - begin > 2000 {
                cuts += 1;
                let (step, _) = cut_outside(exploration, start_ns + begin.midpoint(*end));
                assert_eq!(step, *name, "{steps:?}");
            }
        }
        assert!(cuts >= 3, "{steps:?}");
    });
}

fn raid5(more: &str) -> String {
    let stack = format!("array = {{ level = 5, size = \"256 MiB\", {more} }}\nfs = {{ type = \"ext4\" }}");
    study(FOUR, &stack, "{ operations = 60, points = 40, missing_member = true }")
}

/// The write hole: with a member missing, idle files contain data that no operation wrote. PPL also loses acknowledged
/// data (docs/findings/ppl-flush.md), a different defect that this test ignores.
#[test]
fn the_write_hole_of_raid_5_is_found_and_ppl_closes_it() {
    let Some(states) = explore(&raid5("bitmap = \"none\"")) else {
        return;
    };
    let wrong = having(&states, ViolationKind::Wrong);
    eprintln!(
        "RAID 5 without PPL, a member missing: {wrong} of {} states with wrong data",
        states.len()
    );
    assert!(wrong > 0, "{states:?}");
    let states = explore(&raid5("ppl = true")).expect("a kernel");
    for state in &states {
        let verdict = &state.verdict;
        assert!(
            !verdict.has(ViolationKind::Wrong) && verdict.not_mountable.is_none(),
            "{state:?}"
        );
    }
}

/// Copies and parity agree after the resync, and the data is the same without one member.
#[test]
#[ignore = "test-all"]
fn whole_arrays_keep_what_they_acknowledged() {
    for (level, filesystem) in [(1, "xfs"), (5, "ext4"), (6, "btrfs"), (10, "ext4")] {
        let stack = format!(
            "array = {{ level = {level}, size = \"512 MiB\", bitmap = \"none\" }}\nfs = {{ type = \"{filesystem}\" }}"
        );
        let Some(states) = explore(&study(FOUR, &stack, "{ operations = 40, points = 3 }")) else {
            return;
        };
        assert_clean(&states);
    }
}

/// For ext4 without barriers, which relies on the disk alone: states, and those that lost acknowledged writes.
fn without_barriers(model: &str, survivors: &str) -> Option<(usize, usize)> {
    let states = explore(&study(
        &format!("model = \"{model}\"\ncount = 1"),
        "array = { level = \"single\" }\nfs = { type = \"ext4\" }\nmount = \"nobarrier\"",
        &format!("{{ operations = 60, points = 12, survivors = \"{survivors}\" }}"),
    ))?;
    eprintln!("{model}, {survivors}: {states:?}");
    Some((states.len(), having(&states, ViolationKind::Lost)))
}

#[test]
#[ignore = "test-all"]
fn an_ssd_with_power_loss_protection_loses_nothing_and_one_without_does() {
    for survivors in ["none", "any"] {
        let Some((states, lost)) = without_barriers("samsung-pm883-480gb", survivors) else {
            return;
        };
        assert_eq!((states, lost), (12, 0), "with capacitors, {survivors}");
    }
    let (_, lost) = without_barriers("samsung-860-pro-512gb", "none").expect("a kernel");
    assert!(lost > 0, "without capacitors");
}

/// With barriers. The disks are honest until the operations begin, so that there is a filesystem to lose something from.
#[test]
#[ignore = "test-all"]
fn disks_that_ignore_flushes_lose_what_was_acknowledged() {
    let of = |ignore: bool| {
        let work = format!("{{ operations = 60, points = 12, survivors = \"none\", ignore_flush = {ignore} }}");
        explore(&study(
            ONE,
            "array = { level = \"single\" }\nfs = { type = \"ext4\" }",
            &work,
        ))
    };
    let Some(honest) = of(false) else { return };
    assert_clean(&honest);
    let lying = of(true).expect("a kernel");
    let lost = |state: &&JudgedState| state.verdict.has(ViolationKind::Lost);
    assert!(lying.iter().any(|state| lost(&state)));
    let mountable = lying.iter().filter(|state| state.verdict.not_mountable.is_none());
    assert!(mountable.count() > 0);
}

/// During the reshape the array is degraded, and dirty after the cut: it starts with `start_dirty_degraded` only.
#[test]
#[ignore = "test-all"]
fn a_raid_5_that_becomes_a_raid_6_starts_again() {
    let stack = "array = { level = 5, size = \"128 MiB\", chunk = \"64K\", spares = 1, bitmap = \"none\" }\n\
                 fs = { type = \"ext4\" }";
    let acts = "[[act]]\nafter = \"10 %\"\ndo = \"grow\"\nlevel = 6\n";
    let text = study(
        "model = \"wd-500gb-2007\"\ncount = 5",
        stack,
        "{ operations = 60, points = 6 }",
    );
    let Some(states) = explore(&(text + acts)) else { return };
    for state in &states {
        assert_eq!(state.verdict.not_mountable, None, "{state:?}");
    }
}

/// A disk that is added again as a new one has no superblock for a moment, and the array starts without it.
#[test]
fn a_disk_without_superblock_is_left_out() {
    let stack = "array = { level = 10, size = \"128 MiB\", bitmap = \"none\" }\nfs = { type = \"btrfs\" }";
    let acts =
        ["fail", "remove", "add"].map(|act| format!("[[act]]\nafter = \"10 %\"\ndo = \"{act}\"\ndisk = 1\n"));
    let text = study(
        "model = \"wd-500gb-2007\"\ncount = 4",
        stack,
        "{ operations = 20, points = 40 }",
    );
    let Some(states) = explore(&(text + &acts.concat())) else {
        return;
    };
    for state in &states {
        let said = state.verdict.not_mountable.as_deref().unwrap_or_default();
        assert!(!said.contains("assembly aborted"), "{state:?}");
    }
}

/// A guest that judged several states and then dies may have died of those: so it was with md's timer
/// (docs/findings/md-stop-timer.md). Here it is ended because it says too much, after some of 100 states.
#[test]
fn a_guest_that_dies_is_named_and_its_state_is_judged_again() {
    let study = study(
        "model = \"samsung-f1-1tb\"\ncount = 2",
        "array = { level = 1, size = \"64 MiB\" }\nfs = { type = \"ext4\" }\nmount = \"nobarrier\"",
        "{ operations = 30, points = 100, survivors = \"none\" }",
    );
    let limits = Limits {
        output_bytes: 20 << 10,
        ..LIMITS
    };
    let Some(judged) = with_limits(&study, limits, states) else {
        return;
    };
    let deaths: Vec<&str> = judged
        .iter()
        .filter_map(|state| state.verdict.guest_died.as_deref())
        .collect();
    assert!((1..50).contains(&deaths.len()), "{}", deaths.len());
    for words in deaths {
        assert!(
            words.contains("OutputLimit") && words.contains("another guest has judged"),
            "{words}"
        );
    }
}
