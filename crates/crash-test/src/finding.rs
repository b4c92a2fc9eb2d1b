//! The findings in a history, and whether they are expected, known or new.

use crate::random_study::{Acts, History, Promise};
use lab::power_cut::JudgedState;
use study::FindingKind;
use trial::power_cut::{Loss, StateVerdict, ViolationKind};

/// The kinds of findings, as printed during a session.
pub const fn words(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Lost => "acknowledged, but lost",
        FindingKind::Wrong => "wrong data",
        FindingKind::NotMountable => "not mountable",
        FindingKind::Checker => "the filesystem's checker complains",
        FindingKind::Parity => "copies or parity disagree",
        FindingKind::GuestDied => "the guest's kernel died",
    }
}

/// btrfs's message about a torn superblock: it writes 4 KiB in place, to disks that write 512 bytes atomically.
const TORN_SUPERBLOCK: &str = "superblock checksum mismatch";

/// Classification of a finding. New ones come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum News {
    New,
    /// Like the finding in this file.
    Known(&'static str),
    /// The stack makes no such promise, for this reason.
    Expected(&'static str),
}

/// The defects of this state of the history, each with its classification.
pub fn found<'a>(history: &'a History, judged: &'a JudgedState) -> impl Iterator<Item = (FindingKind, News)> + 'a {
    judged
        .verdict
        .kinds()
        .into_iter()
        .map(|kind| (kind, News::of(history, kind, &judged.verdict)))
}

impl News {
    /// Classifies such a finding in this state of the history. A known defect is recognised by the stack, the kind
    /// of damage and, if there is one, mount's message, so another defect that looks the same is mistaken for it.
    fn of(history: &History, kind: FindingKind, verdict: &StateVerdict) -> Self {
        // No stack excuses a kernel crash.
        if kind == FindingKind::GuestDied {
            return match history.has_write_behind {
                true => Self::Known("docs/findings/md-stop-timer.md"),
                false => Self::New,
            };
        }
        if let Promise::NotKept(why) = history.promise() {
            return Self::Expected(why);
        }
        if history.has_ppl && history.has_write_cache() && matches!(kind, FindingKind::Lost | FindingKind::Wrong) {
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
            && kind == FindingKind::NotMountable
            && verdict
                .not_mountable
                .as_ref()
                .is_some_and(|said| said.contains(TORN_SUPERBLOCK));
        if is_torn_superblock {
            return Self::Known("docs/power-cuts.md");
        }
        let lost_names =
            history.filesystem == "btrfs" && kind == FindingKind::Lost && loses_only(verdict, Loss::Name);
        if lost_names {
            return Self::Known("docs/findings/btrfs-rename-lost.md");
        }
        let lost_of_sync = history.filesystem == "xfs"
            && history.has_write_cache()
            && kind == FindingKind::Lost
            && loses_only(verdict, Loss::OlderThanSync);
        if lost_of_sync {
            return Self::Known("docs/findings/xfs-sync.md");
        }
        let is_preflush = history.is_of_6_12()
            && history.has_write_cache()
            && history.level != "single"
            && matches!(history.filesystem, "ext3" | "ext4" | "xfs")
            && (matches!(kind, FindingKind::Wrong | FindingKind::NotMountable | FindingKind::Checker)
                // Without checksums in its journal, the replay overwrites the filesystem.
                || history.filesystem == "ext3" && kind == FindingKind::Lost);
        match is_preflush {
            true => Self::Known("docs/findings/md-preflush.md"),
            false => Self::New,
        }
    }
}

/// Whether something was lost, and all that was lost is of this kind.
fn loses_only(verdict: &StateVerdict, loss: Loss) -> bool {
    let violations = verdict.violations.iter();
    let mut lost = violations.filter(|one| one.kind == ViolationKind::Lost).peekable();
    lost.peek().is_some() && lost.all(|one| one.loss == Some(loss))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trial::power_cut::Violation;

    fn lost(losses: &[Option<Loss>]) -> StateVerdict {
        let violation = |loss: &Option<Loss>| Violation {
            kind: ViolationKind::Lost,
            loss: *loss,
            detail: String::new(),
        };
        StateVerdict {
            violations: losses.iter().map(violation).collect(),
            ..StateVerdict::default()
        }
    }

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
            News::of(&risky, FindingKind::Lost, &StateVerdict::default()),
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
        for kind in FindingKind::ALL {
            assert_eq!(News::of(&safe, kind, &StateVerdict::default()), News::New);
        }
    }

    #[test]
    fn a_guest_that_dies_is_a_finding_whatever_the_stack_promises() {
        let of = |history: &History| News::of(history, FindingKind::GuestDied, &StateVerdict::default());
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
        assert_eq!(
            News::of(&before, FindingKind::NotMountable, &StateVerdict::default()),
            known
        );
        assert_eq!(
            News::of(&before, FindingKind::Lost, &StateVerdict::default()),
            News::New
        );
        let now = History::draw(1, before.number, "7.3");
        assert_eq!(
            News::of(&now, FindingKind::NotMountable, &StateVerdict::default()),
            News::New
        );
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
            let verdict = StateVerdict {
                not_mountable: Some(said.to_owned()),
                ..StateVerdict::default()
            };
            News::of(&safe, FindingKind::NotMountable, &verdict)
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
        let found = |history| News::of(history, FindingKind::Lost, &StateVerdict::default());
        let before = history(is_rebuild);
        assert_eq!(found(&before), News::Known("docs/findings/md-resync-first.md"));
        assert_eq!(found(&History::draw(1, before.number, "7.3")), News::New);
    }

    #[test]
    fn names_that_btrfs_loses_are_known_and_other_losses_are_new() {
        let safe = history(|history| history.promise() == Promise::Kept && history.filesystem == "btrfs");
        let of = |loss| News::of(&safe, FindingKind::Lost, &lost(&[loss]));
        let known = News::Known("docs/findings/btrfs-rename-lost.md");
        assert_eq!(of(Some(Loss::Name)), known);
        assert_ne!(of(None), known);
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
        let of = |losses: &[Option<Loss>]| News::of(&safe, FindingKind::Lost, &lost(losses));
        let (by_sync, by_fsync) = (Some(Loss::OlderThanSync), None);
        assert_eq!(of(&[by_sync]), News::Known("docs/findings/xfs-sync.md"));
        assert_eq!(of(&[by_fsync]), News::New);
        assert_eq!(of(&[by_sync, by_fsync]), News::New);
    }
}
