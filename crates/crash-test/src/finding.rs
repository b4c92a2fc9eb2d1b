//! What was found in a history, and whether it is expected, known or new.

use crate::history::{Acts, History, Promise};
use lab::power_cut::Judged;
use std::collections::BTreeSet;
use trial::power_cut::{Verdict, Violation, ViolationKind};

/// What can be wrong with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Lost,
    Wrong,
    NotMountable,
    Checker,
    Parity,
    GuestDied,
}

impl Kind {
    pub const ALL: [Self; 6] = [
        Self::Lost,
        Self::Wrong,
        Self::NotMountable,
        Self::Checker,
        Self::Parity,
        Self::GuestDied,
    ];

    pub const fn words(self) -> &'static str {
        match self {
            Self::Lost => "acknowledged, but lost",
            Self::Wrong => "wrong data",
            Self::NotMountable => "not mountable",
            Self::Checker => "the filesystem's checker complains",
            Self::Parity => "copies or parity disagree",
            Self::GuestDied => "the guest's kernel died",
        }
    }

    /// What is wrong with this state.
    pub fn of(judged: &Judged) -> BTreeSet<Self> {
        Self::of_verdict(&judged.verdict)
    }

    pub fn of_verdict(verdict: &Verdict) -> BTreeSet<Self> {
        let found = [
            (Self::Lost, verdict.has(ViolationKind::Lost)),
            (Self::Wrong, verdict.has(ViolationKind::Wrong)),
            (Self::NotMountable, verdict.not_mountable.is_some()),
            (Self::Checker, verdict.checker_complaint.is_some()),
            (Self::Parity, verdict.stale_sectors > 0),
            (Self::GuestDied, verdict.guest_died.is_some()),
        ];
        found.into_iter().filter(|(_, is)| *is).map(|(kind, _)| kind).collect()
    }
}

/// What btrfs prints when its superblock is torn: it writes 4 KiB in place, to disks that write 512 bytes at once.
const TORN_SUPERBLOCK: &str = "superblock checksum mismatch";

/// How a finding is to be taken. What is new comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum News {
    New,
    /// Like the finding in this file.
    Known(&'static str),
    /// The stack does not promise more, for this reason.
    Expected(&'static str),
}

/// What is wrong with this state of the history, each with how it is to be taken.
pub fn found<'a>(history: &'a History, judged: &'a Judged) -> impl Iterator<Item = (Kind, News)> + 'a {
    Kind::of(judged)
        .into_iter()
        .map(|kind| (kind, News::of(history, kind, &judged.verdict)))
}

impl News {
    /// Of such a finding in this state of the history. A known defect is recognised by the stack, the kind of the damage
    /// and where there is one by what mount printed, so another one that looks the same is taken for it.
    fn of(history: &History, kind: Kind, verdict: &Verdict) -> Self {
        // No stack promises that its kernel may die.
        if kind == Kind::GuestDied {
            return match history.has_write_behind {
                true => Self::Known("docs/findings/md-stop-timer.md"),
                false => Self::New,
            };
        }
        if let Promise::NotKept(why) = history.promise() {
            return Self::Expected(why);
        }
        if history.has_ppl && history.has_write_cache() && matches!(kind, Kind::Lost | Kind::Wrong) {
            return Self::Known("docs/findings/ppl-flush.md");
        }
        if history.acts() == Acts::Grow && history.is_of_6_12() {
            return Self::Known("docs/findings/md-reshape-start.md");
        }
        if history.acts() == Acts::Rebuild && history.is_of_6_12() && matches!(history.level, "1" | "10") {
            return Self::Known("docs/findings/md-resync-first.md");
        }
        let is_torn_superblock = history.filesystem == "btrfs"
            && history.has_write_cache()
            && kind == Kind::NotMountable
            && verdict
                .not_mountable
                .as_ref()
                .is_some_and(|said| said.contains(TORN_SUPERBLOCK));
        if is_torn_superblock {
            return Self::Known("docs/power-cuts.md");
        }
        let lost_names = history.filesystem == "btrfs" && kind == Kind::Lost && loses_only(verdict, is_gone);
        if lost_names {
            return Self::Known("docs/findings/btrfs-rename-lost.md");
        }
        let lost_of_sync = history.filesystem == "xfs"
            && history.has_write_cache()
            && kind == Kind::Lost
            && loses_only(verdict, Violation::is_older_than_a_sync);
        if lost_of_sync {
            return Self::Known("docs/findings/xfs-sync.md");
        }
        let is_preflush = history.is_of_6_12()
            && history.has_write_cache()
            && history.level != "single"
            && matches!(history.filesystem, "ext3" | "ext4" | "xfs")
            && (matches!(kind, Kind::Wrong | Kind::NotMountable | Kind::Checker)
                // Without checksums in its journal the replay writes over the filesystem.
                || history.filesystem == "ext3" && kind == Kind::Lost);
        match is_preflush {
            true => Self::Known("docs/findings/md-preflush.md"),
            false => Self::New,
        }
    }
}

/// Whether something was lost, and all that was lost is like this.
fn loses_only(verdict: &Verdict, is_like: impl Fn(&Violation) -> bool) -> bool {
    let mut lost = verdict
        .violations
        .iter()
        .filter(|violation| violation.kind == ViolationKind::Lost)
        .peekable();
    lost.peek().is_some() && lost.all(is_like)
}

/// Whether a file or folder is not there.
fn is_gone(violation: &Violation) -> bool {
    violation.detail.ends_with("it is gone")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(is: impl Fn(&History) -> bool) -> History {
        (1..)
            .map(|number| History::draw(1, number, "6.12"))
            .find(|history| is(history))
            .expect("one of many")
    }

    #[test]
    fn what_a_stack_does_not_promise_is_expected() {
        let risky = history(|history| history.promise() != Promise::Kept);
        assert!(matches!(
            News::of(&risky, Kind::Lost, &Verdict::default()),
            News::Expected(_)
        ));
    }

    #[test]
    fn a_loss_without_a_known_reason_is_new() {
        let safe = history(|history| {
            history.promise() == Promise::Kept
                && !history.has_write_cache()
                && !history.has_write_behind
                && history.level == "1"
        });
        for kind in Kind::ALL {
            assert_eq!(News::of(&safe, kind, &Verdict::default()), News::New);
        }
    }

    #[test]
    fn a_guest_that_dies_is_a_finding_whatever_the_stack_promises() {
        let of = |history: &History| News::of(history, Kind::GuestDied, &Verdict::default());
        let risky = history(|history| history.promise() != Promise::Kept && !history.has_write_behind);
        assert_eq!(of(&risky), News::New);
        let behind = history(|history| history.has_write_behind);
        assert_eq!(of(&behind), News::Known("docs/findings/md-stop-timer.md"));
    }

    #[test]
    fn known_defects_are_those_of_6_12() {
        let is_preflush = |history: &History| {
            history.promise() == Promise::Kept
                && history.has_write_cache()
                && history.level == "1"
                && history.filesystem == "ext4"
        };
        let before = history(is_preflush);
        let known = News::Known("docs/findings/md-preflush.md");
        assert_eq!(News::of(&before, Kind::NotMountable, &Verdict::default()), known);
        assert_eq!(News::of(&before, Kind::Lost, &Verdict::default()), News::New);
        let now = History::draw(1, before.number, "7.3");
        assert_eq!(News::of(&now, Kind::NotMountable, &Verdict::default()), News::New);
    }

    #[test]
    fn a_torn_superblock_of_btrfs_is_known_and_another_failure_to_mount_is_new() {
        let safe = history(|history| {
            history.promise() == Promise::Kept
                && history.has_write_cache()
                && history.filesystem == "btrfs"
                && history.acts() == Acts::None
        });
        let of = |said: &str| {
            let verdict = Verdict {
                not_mountable: Some(said.to_owned()),
                ..Verdict::default()
            };
            News::of(&safe, Kind::NotMountable, &verdict)
        };
        let torn = of("BTRFS error (device md100): superblock checksum mismatch");
        assert_eq!(torn, News::Known("docs/power-cuts.md"));
        assert_eq!(of("BTRFS error (device md100): failed to read log tree"), News::New);
    }

    #[test]
    fn a_cut_amid_a_rebuild_of_mirrors_is_known_of_6_12() {
        let is_rebuild = |history: &History| {
            history.promise() == Promise::Kept && history.level == "10" && history.acts() == Acts::Rebuild
        };
        let found = |history| News::of(history, Kind::Lost, &Verdict::default());
        let before = history(is_rebuild);
        assert_eq!(found(&before), News::Known("docs/findings/md-resync-first.md"));
        assert_eq!(found(&History::draw(1, before.number, "7.3")), News::New);
    }

    #[test]
    fn names_that_btrfs_loses_are_known_and_other_losses_are_new() {
        let safe = history(|history| history.promise() == Promise::Kept && history.filesystem == "btrfs");
        let of = |detail: &str| {
            let verdict = Verdict {
                violations: vec![Violation {
                    kind: ViolationKind::Lost,
                    detail: detail.to_owned(),
                }],
                ..Verdict::default()
            };
            News::of(&safe, Kind::Lost, &verdict)
        };
        let known = News::Known("docs/findings/btrfs-rename-lost.md");
        assert_eq!(of("d62/n66: it is gone"), known);
        assert_ne!(of("d62/n66: at byte 0: older content"), known);
    }

    #[test]
    fn what_xfs_loses_after_a_sync_is_known_and_after_an_fsync_it_is_new() {
        let safe = history(|history| {
            history.promise() == Promise::Kept
                && history.has_write_cache()
                && history.filesystem == "xfs"
                && history.acts() == Acts::None
                && !history.has_ppl
        });
        let of = |details: &[&str]| {
            let lost = |detail: &&str| Violation {
                kind: ViolationKind::Lost,
                detail: (*detail).to_owned(),
            };
            let verdict = Verdict {
                violations: details.iter().map(lost).collect(),
                ..Verdict::default()
            };
            News::of(&safe, Kind::Lost, &verdict)
        };
        let by_sync =
            "n52: at byte 256: older content, but operation 95 wrote there, durably, by sync (2 records in all)";
        let by_fsync = "n53: at byte 0: older content, but operation 95 wrote there, durably";
        assert_eq!(of(&[by_sync]), News::Known("docs/findings/xfs-sync.md"));
        assert_eq!(of(&[by_fsync]), News::New);
        assert_eq!(of(&[by_sync, by_fsync]), News::New);
    }
}
