//! `power_cut = { … }`: operations on a filesystem, ended by power cuts.

use super::Form;
use super::rules::Rules;
use crate::Known;
use crate::axes::{Axis, Point};
use crate::parse::entry::Entry;
use crate::rules::impossible::{Impossible, impossible};
use crate::syntax::diagnostic::Found;
use study::stack::{Bitmap, MachineKind, MachineSpec, Pool, StackSpec};
use study::workload::{POWER_CUT_TESTS, PowerCutSpec, Survivors, Work};

struct PowerCut;

fn survivors(word: Option<&str>) -> Survivors {
    let named = Survivors::ALL
        .into_iter()
        .find(|survivors| Some(survivors.word()) == word);
    named.unwrap_or_default()
}

pub(super) fn read(_: &Entry, _: &Known, _: &mut Found) -> Option<Box<dyn Form>> {
    Some(Box::new(PowerCut))
}

impl Form for PowerCut {
    fn work(&self, point: &Point) -> Work {
        let or = |name: &str, default: u32| point.number(name).map_or(default, |_| point.small(name));
        Work::PowerCut(PowerCutSpec {
            operations: or("operations", 100),
            namespace: point.flag("namespace"),
            points: or("points", 10),
            subsets: or("subsets", 1),
            missing_member: point.flag("missing_member"),
            survivors: survivors(point.text("survivors").as_deref()),
            whole_blocks: point.flag("whole_blocks"),
            ignore_flush: point.flag("ignore_flush"),
            left_out: Vec::new(),
        })
    }

    fn tests(&self, _: &[Axis]) -> Vec<Option<String>> {
        POWER_CUT_TESTS.map(|(test, _)| Some(test.to_owned())).into()
    }
}

impl Rules for PowerCutSpec {
    fn room_axes(&self) -> &'static [&'static str] {
        &["operations"]
    }

    fn check(&self, machine: &MachineSpec, stack: &StackSpec) -> Vec<Impossible> {
        let mut all = Vec::new();
        if machine.kind != MachineKind::Lab {
            let reason = "only the lab can cut the power of its disks".to_owned();
            all.extend(impossible(&["power_cut", "type"], reason, "write `machine = \"lab\"`"));
        }
        let (array, filesystem) = (&stack.array, stack.lowest_filesystem());
        if array.level.is_lvm() || array.of.is_some() || array.bitmap == Bitmap::External {
            let reason =
                "a stack of LVM, nested arrays or an external bitmap cannot be started again after a power cut \
                          yet"
                .to_owned();
            let help = "use one md array (or a single disk) and a filesystem on it, or ZFS";
            all.extend(impossible(&["level", "type", "bitmap", "of_level"], reason, help));
        }
        if array.integrity.is_some() {
            let reason = "an array on dm-integrity cannot be started again after a power cut yet".to_owned();
            all.extend(impossible(&["integrity"], reason, "leave `integrity` out"));
        }
        let is_redundant = match filesystem.kind.is_pool() {
            true => filesystem.zfs.pool.is_some_and(|pool| pool != Pool::Stripe),
            false => array.level.is_md() && array.level.is_redundant(),
        };
        if self.missing_member && !is_redundant {
            let reason = "no member can be missing: the stack has no redundancy of md or ZFS".to_owned();
            let help = "leave `missing_member` out, or use RAID 1, 4, 5, 6 or 10, or a `pool` of mirrors or raidz";
            all.extend(impossible(&["missing_member", "level"], reason, help));
        }
        all
    }
}
