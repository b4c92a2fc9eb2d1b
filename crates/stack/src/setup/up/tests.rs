//! Sets up every stack of studies/every-stack.toml on a machine in memory.

use crate::Access;
use crate::Context;
use crate::DiskKind;
use crate::Disks;
use crate::MemoryLedger;
use crate::NoDiskCheck;
use crate::Stack;
use crate::StackError;
use crate::StackSetting;
use crate::Teardown;
use crate::down;
use crate::machine::executor::{Command, Executor, FailAt, Listed, Moment};
use crate::simulated::{DryRunOn, SimulatedMachine};
use crate::up;
use std::path::{Path, PathBuf};
use std::time::Instant;
use study::plan::Cell;
use study::stack::Level;
use study_file::Known;

const STUDY: &str = include_str!("../../../../../studies/every-stack.toml");

/// One cell of each stack.
fn cells() -> Vec<Cell> {
    let plan = study_file::read(STUDY, "every-stack.toml", &Known::default()).expect("a sound study");
    let mut cells = plan.cells;
    cells.dedup_by(|one, other| one.stack == other.stack);
    cells
}

fn disks(cell: &Cell) -> Disks {
    let count: u32 = cell.machine.disks.iter().map(|group| group.count).sum();
    let node = |number| PathBuf::from(format!("/dev/vd{}", char::from(b'a' + number as u8)));
    let nodes: Vec<PathBuf> = (0..count).map(node).collect();
    Disks::of(&cell.machine.disks, &nodes).expect("enough")
}

/// A stack that is being set up or torn down.
struct Trying<'c> {
    cell: &'c Cell,
    disks: Disks,
    ledger: MemoryLedger,
    zeroed: bool,
}

impl Trying<'_> {
    fn with<T>(&mut self, executor: &mut dyn Executor, act: impl FnOnce(&mut Context<'_>) -> T) -> T {
        act(&mut Context {
            access: Access {
                executor,
                recorder: &mut |_| (),
                check: &mut NoDiskCheck,
            },
            ledger: &mut self.ledger,
            began: Instant::now(),
            setting: StackSetting {
                work_folder: Path::new("/tmp/raidlab"),
                name: "raidlab",
                zeroed: self.zeroed,
                created: false,
                disk_kind: DiskKind::Simulated,
                teardown: Teardown::Full,
            },
        })
    }

    fn up(&mut self, executor: &mut dyn Executor) -> Result<Stack, StackError> {
        let disks = self.disks.clone();
        let spec = &self.cell.stack;
        self.with(executor, |context| up(spec, &disks, context))
    }
}

#[test]
fn whatever_act_fails_what_came_before_is_undone() {
    let mut failures = 0;
    let cells = cells();
    assert!(cells.len() > 200, "{} stacks", cells.len());
    for (cell, zeroed) in cells.iter().flat_map(|cell| [(cell, true), (cell, false)]) {
        let mut trying = Trying {
            cell,
            disks: disks(cell),
            ledger: MemoryLedger::default(),
            zeroed,
        };
        let mut machine = SimulatedMachine::new(DryRunOn::Guest, trying.disks.all(), true, None);
        let untouched = machine.state().clone();
        for moment in [Moment::Before, Moment::After] {
            for act in 1.. {
                let mut failing = FailAt::new(&mut machine, act, moment);
                let outcome = trying.up(&mut failing);
                let what = failing.failed().map(str::to_owned);
                let here = format!("{}: {moment:?} `{what:?}`", cell.stack_label);
                match outcome {
                    Err(error) => assert!(error.failed_undo.is_empty(), "{here}: {error}"),
                    Ok(stack) => {
                        assert!(machine.state() != &untouched, "{here}");
                        let torn_down = trying.with(&mut machine, |context| down(stack, context));
                        torn_down.unwrap_or_else(|error| panic!("{here}: {error}"));
                    }
                }
                assert_eq!(machine.state(), &untouched, "{here}");
                assert_eq!(trying.ledger.open, [], "{here}");
                if what.is_none() {
                    break;
                }
                failures += 1;
            }
        }
    }
    println!("{failures} acts failed, of {} stacks", cells.len());
    assert!(failures > 10 * cells.len());
}

/// A failed undo keeps its line in the ledger, and does not prevent the others.
#[test]
fn what_cannot_be_undone_stays_in_the_ledger() {
    let cells = cells();
    let is_plain = |cell: &&Cell| cell.stack_label.contains("ext4");
    let cell = cells.iter().find(is_plain).expect("there is ext4");
    let mut trying = Trying {
        cell,
        disks: disks(cell),
        ledger: MemoryLedger::default(),
        zeroed: true,
    };
    let mut machine = SimulatedMachine::new(DryRunOn::Guest, trying.disks.all(), true, None);
    let stack = trying.up(&mut machine).unwrap_or_else(|error| panic!("{error}"));
    let acts = trying.ledger.open.len();
    let mut failing = FailAt::new(&mut machine, 2, Moment::Before);
    let error = trying.with(&mut failing, |context| down(stack, context));
    let error = error.expect_err("the second act on the way down fails");
    assert_eq!(error.failed_undo.len(), 1, "{error}");
    assert!(acts > 1 && trying.ledger.open.len() == 1, "{:?}", trying.ledger.open);
    assert_eq!(trying.ledger.open[0].undo, error.failed_undo[0].undo);
}

/// The part for md is written first, without the journal; teardown is in reverse order.
#[test]
fn dm_integrity_is_set_up_below_md_and_closed_again() {
    let cells = cells();
    let is_it = |cell: &&Cell| cell.stack.array.integrity.is_some() && cell.stack.array.level == Level::Raid1;
    let cell = cells.iter().find(is_it).expect("there is a mirror");
    let mut trying = Trying {
        cell,
        disks: disks(cell),
        ledger: MemoryLedger::default(),
        zeroed: false,
    };
    let mut machine = SimulatedMachine::new(DryRunOn::Guest, trying.disks.all(), true, None);
    let mut listed = Listed::new(&mut machine);
    let stack = trying.up(&mut listed).unwrap_or_else(|error| panic!("{error}"));
    let first_disk = |commands: Vec<Command>| -> Vec<String> {
        let of_others = ["vdb", "vdc", "vdd", "vde", "vdf", "-1", "-2", "-3", "-4", "-5"];
        let lines = commands.iter().map(ToString::to_string);
        lines
            .filter(|line| line.contains("integrity") && !of_others.iter().any(|other| line.ends_with(other)))
            .collect()
    };
    let up = first_disk(listed.take());
    trying
        .with(&mut listed, |context| down(stack, context))
        .unwrap_or_else(|error| panic!("{error}"));
    insta::assert_debug_snapshot!((up, first_disk(listed.take())));
}
