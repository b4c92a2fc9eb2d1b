//! Acts on a trial's array while the workload runs: a member fails, is removed or added again; the array is
//! checked.

use crate::phase::Phase;
use crate::stack::{Keeper, Level, StackSpec};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of act, in md's own terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActKind {
    /// `mdadm --fail`
    Fail,
    /// `mdadm --remove`
    Remove,
    /// `mdadm --zero-superblock`, then `mdadm --add`: added as a new disk.
    Add,
    /// `mdadm --re-add`; without a bitmap `mdadm --add`, because md rejects a re-add then.
    ReAdd,
    /// `mdadm --replace`: a spare takes over from a working member.
    Replace,
    /// `mdadm --grow --raid-devices`: a spare becomes an additional member.
    Grow,
    /// `check` to `sync_action`
    Check,
    /// `repair` to `sync_action`
    Repair,
    /// From then on each access to the disk's media takes longer, as with retries or a failing head.
    Slow,
    /// The disk does not respond for some time, or never again.
    Hang,
    /// Sectors of the disk change without an error.
    Corrupt,
    /// `fstrim`: the filesystem discards its free space.
    Fstrim,
}

impl ActKind {
    pub const ALL: [Self; 12] = [
        Self::Fail,
        Self::Remove,
        Self::Add,
        Self::ReAdd,
        Self::Replace,
        Self::Grow,
        Self::Check,
        Self::Repair,
        Self::Slow,
        Self::Hang,
        Self::Corrupt,
        Self::Fstrim,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Remove => "remove",
            Self::Add => "add",
            Self::ReAdd => "re-add",
            Self::Replace => "replace",
            Self::Grow => "grow",
            Self::Check => "check",
            Self::Repair => "repair",
            Self::Slow => "slow",
            Self::Hang => "hang",
            Self::Corrupt => "corrupt",
            Self::Fstrim => "fstrim",
        }
    }

    /// Whether it affects one member; otherwise it affects the whole array.
    pub const fn is_of_a_disk(self) -> bool {
        !matches!(self, Self::Grow | Self::Check | Self::Repair | Self::Fstrim)
    }

    /// Whether it needs a layer with copies or parity.
    pub const fn needs_redundancy(self) -> bool {
        !matches!(self, Self::Fstrim)
    }

    /// Why it cannot be done on any host, for a stack whose copies are managed by `keeper`.
    pub fn why_not_on_host(self, stack: &StackSpec, keeper: Keeper) -> Option<String> {
        let word = self.word();
        match (self, keeper) {
            (Self::Slow | Self::Hang | Self::Corrupt, _) => Some(format!("`{word}` needs a simulated disk")),
            (Self::Grow, _) => Some(
                "`grow` is supported in the lab only: on a host mdadm may hand the reshape over to a systemd service"
                    .to_owned(),
            ),
            (Self::Check | Self::Repair, Keeper::Btrfs) => Some(format!(
                "`{word}` of btrfs is supported in the lab only: on a host its scrub leaves files in /var/lib/btrfs"
            )),
            (Self::Check | Self::Repair | Self::Fstrim, _) => None,
            (Self::Remove, Keeper::Md) if stack.array.integrity.is_some() => {
                Some("on a host `remove` is not supported with dm-integrity, because its device would stay \
                    open".to_owned())
            }
            // With these formats the data begins at the start of the disk, so the disk appears to contain the
            // array's filesystem.
            (Self::Remove, Keeper::Md) if matches!(stack.array.metadata.as_deref(), Some("1.0" | "0.90")) => {
                Some("on a host `remove` is not supported with metadata 1.0 and 0.90, because a removed member looks \
                    like another program's filesystem".to_owned())
            }
            (_, Keeper::Md) => None,
            _ => Some(format!(
                "on a host `{word}` is supported on md arrays only, not on {}",
                keeper.name()
            )),
        }
    }
}

/// When an act is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Due {
    /// Nanoseconds since the measured workload began, by the clock of the trial's machine.
    AtNs(u64),
    /// When this percentage of the workload is done.
    After { percent: u8 },
    /// After the previous act, as soon as md neither rebuilds nor checks.
    ResyncDone,
}

/// What `corrupt` changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Corrupted {
    /// Offset of the first sector in bytes: with md from the start of the member's data, after the superblock; with
    /// btrfs and ZFS from the first data on the disk that belongs to raidlab's file of [`KNOWN_FILE_BYTES`].
    pub offset_bytes: u64,
    /// Number of 512-byte sectors.
    pub sectors: u64,
}

/// Size of the file that `corrupt` changes on btrfs and ZFS.
pub const KNOWN_FILE_BYTES: u64 = 64 << 20;

/// The test of `fstrim`.
pub const FSTRIM: &str = "fstrim";

/// Test names of the first `corrupt` acts.
pub const CORRUPTIONS: [&str; 9] = [
    "corrupt",
    "corrupt 2",
    "corrupt 3",
    "corrupt 4",
    "corrupt 5",
    "corrupt 6",
    "corrupt 7",
    "corrupt 8",
    "corrupt 9",
];

/// An act and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    pub due: Due,
    #[serde(rename = "do")]
    pub kind: ActKind,
    /// The member, counted from 1 as in `bus`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<u32>,
    /// For `slow`: additional time of each media access; for `hang`: how long the disk does not respond. In
    /// nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrupted: Option<Corrupted>,
    /// For `grow`: the new level of the array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
}

impl Act {
    /// Whether the array has one member less from then on.
    pub fn takes_a_member(&self) -> bool {
        self.kind == ActKind::Fail || self.is_for_ever()
    }

    /// Whether the disk never responds again.
    pub fn is_for_ever(&self) -> bool {
        self.kind == ActKind::Hang && self.delay_ns.is_none()
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.word())?;
        if let Some(disk) = self.disk {
            write!(f, " disk {disk}")?;
        }
        match (self.kind, self.delay_ns) {
            (ActKind::Hang, Some(delay_ns)) => write!(f, " for {} s", delay_ns as f64 / 1e9)?,
            (ActKind::Hang, None) => f.write_str(" for ever")?,
            (_, Some(delay_ns)) => write!(f, " by {} ms", delay_ns as f64 / 1e6)?,
            (_, None) => {}
        }
        if let Some(level) = self.level {
            write!(f, " to {}", level.facts().name)?;
        }
        if let Some(corrupted) = self.corrupted {
            write!(
                f,
                ": {} sectors from byte {}",
                corrupted.sectors, corrupted.offset_bytes
            )?;
        }
        match self.due {
            Due::AtNs(at_ns) => write!(f, " at {} s", at_ns as f64 / 1e9),
            Due::After { percent } => write!(f, " after {percent} % of the work"),
            Due::ResyncDone => f.write_str(" when the resync is done"),
        }
    }
}

/// Tests in addition to those of the workload, if these acts are done: phases, then md's operations.
pub fn tests(acts: &[Act]) -> Vec<&'static str> {
    let has = |kinds: &[ActKind]| acts.iter().any(|act| kinds.contains(&act.kind));
    let corruptions = acts.iter().filter(|act| act.kind == ActKind::Corrupt).count();
    let takes_a_member = acts.iter().any(Act::takes_a_member);
    let rebuilds = takes_a_member || has(&[ActKind::Replace]);
    [
        (Phase::Healthy.name(), !acts.is_empty()),
        (Phase::Degraded.name(), takes_a_member),
        (Phase::Rebuilding.name(), rebuilds),
        (Phase::Rebuilt.name(), rebuilds || has(&[ActKind::Grow])),
        (Phase::Checking.name(), has(&[ActKind::Check, ActKind::Repair])),
        (Phase::Reshaping.name(), has(&[ActKind::Grow])),
        (Phase::Limping.name(), has(&[ActKind::Slow, ActKind::Hang])),
        (Phase::Trimming.name(), has(&[ActKind::Fstrim])),
        ("rebuild", rebuilds),
        ("reshape", has(&[ActKind::Grow])),
        ("check", has(&[ActKind::Check])),
        ("repair", has(&[ActKind::Repair])),
        (FSTRIM, has(&[ActKind::Fstrim])),
    ]
    .into_iter()
    .filter_map(|(test, is_there)| is_there.then_some(test))
    .chain(CORRUPTIONS.into_iter().take(corruptions))
    .collect()
}
