//! The disks of an array after some acts.

use study::act::{Act, ActKind};
use study::plan::Cell;
use study::stack::{Keeper, Level};

/// An error with a suggestion.
pub(super) type WrongAct = (String, &'static str);

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// In the array, or a spare after it was added again.
    Active,
    Failed,
    Removed,
    /// It does not respond any more.
    Dead,
}

/// The disks of an array after some acts, assuming that its manager had enough time to rebuild. The trial checks
/// that.
pub(super) struct Members {
    keeper: Keeper,
    level: Level,
    /// States of the initial members.
    states: Vec<State>,
    /// Spares that are not members yet.
    spares: usize,
    /// Spares that became members when a disk was replaced.
    taken: usize,
    /// Disks that were replaced.
    replaced: Vec<u32>,
    may_be_missing: usize,
    /// Members that the array should have.
    wanted: usize,
}

impl Members {
    /// `None` without redundancy.
    pub(super) fn of(cell: &Cell) -> Option<Self> {
        let array = &cell.stack.array;
        let disks = cell.member_count();
        let wanted = disks.saturating_sub(array.spares) as usize;
        Some(Self {
            keeper: cell.stack.keeper(disks)?,
            level: array.level,
            states: vec![State::Active; wanted],
            spares: array.spares as usize,
            taken: 0,
            replaced: Vec::new(),
            may_be_missing: cell.stack.may_be_missing(disks) as usize,
            wanted,
        })
    }

    pub(super) const fn keeper(&self) -> Keeper {
        self.keeper
    }

    /// Working disks: members, and spares if they take over automatically.
    fn working(&self) -> usize {
        let waiting = if self.keeper == Keeper::Md { self.spares } else { 0 };
        let active = self.states.iter().filter(|state| **state == State::Active);
        waiting + self.taken + active.count()
    }

    pub(super) fn after(&mut self, act: &Act) -> Option<WrongAct> {
        if let Some(wrong) = self.has_no(act.kind) {
            return Some(wrong);
        }
        if act.kind == ActKind::Grow && !matches!(self.level, Level::Raid4 | Level::Raid5 | Level::Raid6) {
            let message = format!("`grow` is for RAID 4, 5 and 6, not for {}", self.level.facts().name);
            return Some((message, "use level 4, 5 or 6"));
        }
        let has_spare = match self.keeper {
            _ if act.kind == ActKind::Replace && self.is_down(act) => self.spares > 0,
            Keeper::Md => self.working() > self.wanted,
            _ => self.spares > 0,
        };
        if matches!(act.kind, ActKind::Grow | ActKind::Replace) && !has_spare {
            let message = format!("`{}` needs a spare, and there is none", act.kind.word());
            return Some((message, "write `spares = 1` in `array`, with one disk more"));
        }
        match act.kind {
            ActKind::Check | ActKind::Repair | ActKind::Fstrim => None,
            ActKind::Grow => {
                self.wanted += 1;
                let level = act.level?;
                if self.level != Level::Raid5 {
                    let message = format!("{} cannot become RAID 6", self.level.facts().name);
                    return Some((message, "only RAID 5 can; leave `level` out"));
                }
                self.level = level;
                self.may_be_missing = 2;
                None
            }
            _ => self.after_disk(act),
        }
    }

    /// Acts that a manager does not support.
    fn has_no(&self, kind: ActKind) -> Option<WrongAct> {
        let help = match (self.keeper, kind) {
            (Keeper::Md, _) => return None,
            (_, ActKind::Remove | ActKind::Add | ActKind::ReAdd) => {
                "a disk that failed has died there: write `replace`, with `spares = 1` in `array`"
            }
            (_, ActKind::Grow) => "only md's arrays grow",
            (Keeper::Bcachefs, ActKind::Check | ActKind::Repair) => {
                "bcachefs has a scrub from Linux 6.15 on, but not in the program that raidlab uses (Debian's bcachefs-tools)"
            }
            (Keeper::Bcachefs, ActKind::Corrupt) => {
                "use md, btrfs or ZFS: without a scrub bcachefs does not look for it"
            }
            (Keeper::Lvm, ActKind::Corrupt) => "use md, btrfs or ZFS: raidlab cannot locate data on LVM",
            _ => return None,
        };
        Some((
            format!("`{}` is not supported on {}", kind.word(), self.keeper.name()),
            help,
        ))
    }

    /// Whether the act's disk has failed, and has not been replaced.
    fn is_down(&self, act: &Act) -> bool {
        let Some(disk) = act.disk.filter(|disk| !self.replaced.contains(disk)) else {
            return false;
        };
        let state = self.states.get((disk as usize).wrapping_sub(1));
        state.is_some_and(|state| matches!(state, State::Failed | State::Dead))
    }

    fn after_disk(&mut self, act: &Act) -> Option<WrongAct> {
        let (kind, disk) = (act.kind, act.disk?);
        if kind == ActKind::Replace && self.is_down(act) {
            self.replaced.push(disk);
            (self.spares, self.taken) = (self.spares - 1, self.taken + 1);
            return None;
        }
        let count = self.states.len();
        let Some(state) = self.states.get_mut((disk as usize).wrapping_sub(1)) else {
            let message = format!("there is no disk {disk}: the array has {count} disks");
            return Some((message, "spares do not count"));
        };
        let (needed, next) = match kind {
            ActKind::Fail | ActKind::Replace => (State::Active, State::Failed),
            ActKind::Hang if act.is_for_ever() => (State::Active, State::Dead),
            ActKind::Slow | ActKind::Hang | ActKind::Corrupt => (State::Active, State::Active),
            ActKind::Remove => (State::Failed, State::Removed),
            _ => (State::Removed, State::Active),
        };
        if *state != needed {
            let (wrong, help) = match needed {
                _ if *state == State::Dead => ("does not respond any more", "name another disk"),
                State::Active => ("has failed already", "add it again first"),
                State::Failed => ("has not failed: md removes no active disk", "let it `fail` first"),
                State::Removed | State::Dead => ("was not removed", "let it `fail` and `remove` it first"),
            };
            return Some((format!("disk {disk} {wrong}"), help));
        }
        *state = next;
        if kind == ActKind::Replace {
            self.replaced.push(disk);
            (self.spares, self.taken) = (self.spares - 1, self.taken + 1);
        }
        let missing = self.wanted.saturating_sub(self.working());
        (missing > self.may_be_missing).then(|| {
            let message = format!(
                "{missing} of {} disks would be missing: the array would lose its data",
                self.wanted
            );
            (message, "let fewer disks fail, or add one first")
        })
    }
}
