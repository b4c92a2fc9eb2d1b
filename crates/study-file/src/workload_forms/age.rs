//! `age = { … }`: how the filesystem of a workload is aged before it is measured.

use crate::axes::Point;
use crate::rules::impossible::{Impossible, impossible};
use crate::syntax::unit::describe_size;
use study::stack::{MachineKind, MachineSpec, StackSpec};
use study::workload::{AgeProfile, AgeSpec, Work};

const MIB: u64 = 1 << 20;
const TIB: u64 = 1 << 40;

/// One per cent of a smaller filesystem is less than a file.
const SMALLEST_BYTES: u64 = 128 * MIB;

/// Hours of wall time, and as many bytes in memory or on the disk of the lab's cache.
const WRITTEN_BYTES_MAX: u64 = TIB;

/// The age at a point of the axes of a workload that has one.
pub(super) fn age(point: &Point) -> AgeSpec {
    let profile = point.text("profile").and_then(|word| AgeProfile::from_name(&word));
    AgeSpec {
        fill_percent: point.small("fill").min(100) as u8,
        turnover: point.small("turnover"),
        profile: profile.unwrap_or(AgeProfile::Agrawal),
        overwrite_percent: point.small("overwrites").min(100) as u8,
        seed: point.small("age_seed"),
    }
}

/// All reasons why a filesystem cannot be aged for this work. `room_bytes`: the size of its array, if known.
pub(super) fn check(
    machine: &MachineSpec,
    stack: &StackSpec,
    work: &Work,
    age: &AgeSpec,
    room_bytes: Option<u64>,
) -> Vec<Impossible> {
    const ABOUT: &[&str] = &["fill", "size", "type"];
    let mut all = Vec::new();
    if stack.filesystem.kind.is_raw() {
        let reason = "`age` ages a filesystem, but this stack has none".to_owned();
        let help = "leave `age` out, or give the stack a filesystem, such as fs = { type = \"ext4\" }";
        return impossible(ABOUT, reason, help).into_iter().collect();
    }
    if age.fill_percent == 0 {
        let reason = "`fill` of `age` is 0 %, and every filesystem has metadata".to_owned();
        all.extend(impossible(
            ABOUT,
            reason,
            "write fill = \"1 %\" or more, or leave `age` out",
        ));
    }
    if age.turnover == 0 && age.overwrite_percent > 0 {
        let reason =
            "`overwrites` is a share of what is written again, and with `turnover = 0` nothing is".to_owned();
        let help = "write `turnover = 1` or more, or leave `overwrites` out";
        all.extend(impossible(&["overwrites", "turnover"], reason, help));
    }
    if matches!(work, Work::PowerCut(_)) {
        let reason = "a power cut is explored on a new filesystem, whose files are all known".to_owned();
        all.extend(impossible(ABOUT, reason, "leave `age` out"));
    }
    let Some(room) = room_bytes else { return all };
    if room < SMALLEST_BYTES {
        let reason = format!("a filesystem of {} is too small to be aged", describe_size(room));
        let help = format!("use an array of {} or more", describe_size(SMALLEST_BYTES));
        all.extend(impossible(&["size", "fill"], reason, help));
    }
    let written = age.written_bytes(room);
    if machine.kind == MachineKind::Lab && written > WRITTEN_BYTES_MAX {
        let reason = format!("ageing would write {} into the lab's memory", describe_size(written));
        let help = format!(
            "write at most {}, with a smaller `size` of the array or less `turnover`",
            describe_size(WRITTEN_BYTES_MAX)
        );
        all.extend(impossible(&["turnover", "fill", "size"], reason, help));
    }
    all
}
