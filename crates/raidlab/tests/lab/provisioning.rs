//! Stacks that are set up and torn down as on the host, many of them in one guest: the dry run lists every act in
//! order, and whatever act fails, nothing of the others is left. `make stacks` has all stacks of
//! studies/every-stack.toml; here are every array with one filesystem, and failures of a few.

use crate::commands::comparable;
use crate::guest::{Guest, disks, example, guests_see};
use crate::laboratory::kernel_named;
use crate::stacks::{ALL, STUDY};
use lab::carried::CarriedFile;
use lab::job::{self, GuestJob, ProgramJob};
use lab::kernel::{DEFAULT_VERSION, Flavour, KernelName};
use serde_json::{Value, json};
use std::time::Duration;
use study::event::Event;
use study::plan::Cell;
use study::stack::{FilesystemKind, Layer};
use study_file::Known;
use trial::ProcessEnd;

/// The stacks of a kernel flavour, without duplicates.
fn cells(flavour: Flavour) -> Vec<Cell> {
    let plan = study_file::read(STUDY, "every-stack.toml", &Known::default()).expect("a sound study");
    let mut cells = plan.cells;
    cells.retain(|cell| KernelName::of(&cell.machine, &cell.stack).flavour == flavour);
    // Its program may have to be fetched first.
    cells.retain(|cell| cell.stack.filesystem.kind != FilesystemKind::Bcachefs);
    cells.dedup_by(|one, other| one.stack == other.stack);
    cells
}

/// Every array once, each with the next filesystem.
fn sample(cells: Vec<Cell>) -> Vec<Cell> {
    let mut picked: Vec<Cell> = Vec::new();
    for (number, cell) in cells.iter().enumerate() {
        let of_array = cells.iter().filter(|other| other.stack.array == cell.stack.array);
        let is_first = number == 0 || cells[number - 1].stack.array != cell.stack.array;
        if is_first {
            let of_array: Vec<&Cell> = of_array.collect();
            picked.push(of_array[picked.len() % of_array.len()].clone());
        }
    }
    picked
}

/// A stack as crate `stack`'s example `provisioning` reads it, without snapshots: it is not used, and they are taken for a workload.
fn stack(cell: &Cell, zeroed: bool, failures: bool) -> Value {
    let mut spec = (*cell.stack).clone();
    spec.snapshots = 0;
    for layer in &mut spec.layers {
        if let Layer::Volume(volume) = layer {
            volume.snapshot_bytes = None;
        }
    }
    json!({ "disks": cell.machine.disks, "spec": spec, "zeroed": zeroed, "failures": failures })
}

/// The crates of that example.
const ITS_CRATES: [&str; 4] = ["filesystems", "stack", "study", "tools"];

/// Sets up and tears down these stacks in a guest; returns the acts that failed.
fn provision(flavour: Flavour, machine: &Cell, stacks: &[Value]) -> Option<usize> {
    let name = KernelName {
        flavour,
        ..KernelName::parse(DEFAULT_VERSION)
    };
    let kernel = kernel_named(&name)?;
    let program = requirements::met(example("provisioning", &ITS_CRATES))?;
    if !guests_see(&program) {
        return None;
    }
    let mut guest = Guest::new()?;
    let count = machine.machine.disks.iter().map(|group| group.count).sum();
    let job = GuestJob::Program(ProgramJob {
        path: program,
        arguments: Vec::new(),
    });
    let mut carried = kernel.carried().expect("the cache can be read");
    carried.push(CarriedFile {
        path: "stacks.json".into(),
        contents: serde_json::to_vec(stacks).expect("plain data"),
    });
    guest.job = job::encode(&job, &carried);
    guest.kernel = kernel.path;
    guest.disks = disks(&machine.machine.disks[0].model, count);
    guest.ram_bytes = machine.machine.ram_bytes;
    guest.limits.wall = Duration::from_secs(3600);
    let seen = guest.run();
    assert_eq!(seen.ended.end, ProcessEnd::Exited, "{}", seen.ended.console);
    let mut values: [Vec<String>; 6] = Default::default();
    let keys = [
        "dry-run.up",
        "dry-run.down",
        "up",
        "down",
        "failed.before",
        "failed.after",
    ];
    let mut failure = None;
    for event in seen.events() {
        match event {
            Event::Provenance { key, value } => {
                let number = keys.iter().position(|known| *known == key).expect("a known key");
                values[number].push(value);
            }
            Event::Failed(failed) => failure = Some(failed),
            _ => {}
        }
    }
    let [dry_up, dry_down, up, down, before, after] = values;
    for (number, stack) in stacks.iter().enumerate().take(down.len()) {
        let dry = format!("{}\n{}", dry_up[number], dry_down[number]);
        let real = format!("{}\n{}", up[number], down[number]);
        assert_eq!(
            comparable(&dry),
            comparable(&real),
            "the dry run and the run of {stack}"
        );
    }
    if let Some(failure) = failure {
        panic!("{:?}: {failure:?}", stacks.get(down.len().saturating_sub(1)));
    }
    assert_eq!(down.len(), stacks.len());
    let failed = |list: &[String]| list.iter().flat_map(|acts| acts.lines()).count();
    let acts = failed(&before) + failed(&after);
    println!("{} stacks as their dry run says, {acts} failures undone", stacks.len());
    Some(acts)
}

/// All stacks with failures, or each array once.
fn of(flavour: Flavour, failing: &[&str]) {
    let mut cells = cells(flavour);
    let all = std::env::var_os(ALL).is_some();
    if !all {
        let fails = |cell: &&Cell| failing.contains(&cell.stack_label.as_str());
        let mut wanted: Vec<Cell> = cells.iter().filter(fails).cloned().collect();
        assert_eq!(wanted.len(), failing.len(), "{failing:?} are stacks of the study");
        wanted.extend(sample(cells));
        cells = wanted;
    }
    let fails = |number: usize| all || number < failing.len();
    let stacks: Vec<Value> = cells
        .iter()
        .enumerate()
        .map(|(number, cell)| stack(cell, true, fails(number)))
        .collect();
    if let Some(acts) = provision(flavour, &cells[0], &stacks) {
        assert!(acts >= 10 * failing.len(), "only {acts} acts failed");
    }
}

#[test]
fn md_and_the_filesystems_of_most_studies() {
    of(
        Flavour::Base,
        &["RAID 5 ext4 external bitmap", "RAID 1 of RAID 0 of 3 disks xfs"],
    );
}

#[test]
#[ignore = "test-all"]
fn lvm_and_the_other_filesystems() {
    of(Flavour::More, &["LVM raid5 ext4"]);
}

#[test]
#[ignore = "test-all"]
fn zfs() {
    let Some(_kernel) = kernel_named(&KernelName::parse("6.12+zfs")) else {
        return;
    };
    of(Flavour::Zfs, &[]);
}

/// Arrays on used disks, which need a resync, and queue settings.
#[test]
fn a_resync_and_settings_of_queues() {
    let cells = cells(Flavour::Base);
    let find = |label: &str| {
        let found = cells.iter().find(|cell| cell.stack_label == label);
        found.unwrap_or_else(|| panic!("there is `{label}`")).clone()
    };
    let mut raid = find("RAID 5 xfs");
    raid.stack_mut().array.member_size_bytes = Some(16 << 20 << 3);
    raid.stack_mut().array.stripe_cache_pages = Some(512);
    raid.stack_mut().array.group_thread_cnt = Some(2);
    raid.stack_mut().array.sync_speed_max = Some(50_000);
    let mut single = find("single btrfs");
    single.stack_mut().scheduler = Some("kyber".to_owned());
    single.stack_mut().read_ahead_sectors = Some(4096);
    let stacks = [stack(&raid, false, true), stack(&single, false, true)];
    if let Some(acts) = provision(Flavour::Base, &raid, &stacks) {
        assert!(acts > 20, "only {acts} acts failed");
    }
}
