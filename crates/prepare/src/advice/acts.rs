//! Acts that cannot end during the workload: computes the minimum duration of a rebuild, a check or a reshape.

use super::disks::Disks;
use disksim::request::SECTOR_BYTES;
use std::time::Duration;
use study::act::{Act, ActKind, Due};
use study::metric::MEBIBYTE;
use study::plan::Cell;
use study::stack::{Bitmap, Keeper};
use study::workload::Work;
use study_file::describe_size;

/// md's default `sync_speed_max`, KiB/s, and `sync_speed_min`, to which it slows down next to other requests.
const SPEED_MAX_KIB_S: u32 = 200_000;
const SPEED_MIN_KIB_S: u32 = 1_000;

/// Whether all acts of the cell end within its work, by the fastest rebuild that its disks allow and by md's slowest.
pub(super) fn of_cell(cell: &Cell, disks: &Disks) -> Option<String> {
    let (Work::Io(io), [_, ..]) = (&cell.workload.work, cell.acts.as_slice()) else {
        return None;
    };
    // Others write what is in use only.
    let count = cell.member_count();
    if cell.stack.keeper(count) != Some(Keeper::Md) {
        return None;
    }
    let array = &cell.stack.array;
    let disk_bytes = disks.model.sectors * SECTOR_BYTES;
    let member_bytes = array.member_size_bytes.unwrap_or(disk_bytes);
    let mebibytes = member_bytes as f64 / MEBIBYTE;
    let of_disks = disks.sustained_mb_s()? * 1e6 / MEBIBYTE;
    let fastest = of_disks.min(f64::from(array.sync_speed_max.unwrap_or(SPEED_MAX_KIB_S)) / 1024.0);
    let slowest = f64::from(array.sync_speed_min.unwrap_or(SPEED_MIN_KIB_S)) / 1024.0;
    let ends_s = Duration::from_nanos(io.runtime_ns? + io.ramp_ns).as_secs_f64();
    let (latest, whole) = last_end(cell, mebibytes / fastest)?;
    if latest > ends_s {
        return Some(format!(
            "`{}` ends after {ends_s} s, but its acts end after {latest:.0} s at the earliest: each member has {}, and is \
             read or written at {fastest:.0} MiB/s at most; use a longer `runtime`, or `size = \"{}\"` in `array`",
            cell.workload.name,
            describe_size(member_bytes),
            study_file::format_size(fitting_bytes(member_bytes, ends_s / latest))
        ));
    }
    // An act that waits for a rebuild is done only if that ends in time.
    let waits = cell.acts.iter().any(|act| act.due == Due::ResyncDone);
    let is_limited = io.rate_iops.is_some() || io.rate_bytes_s.is_some() || io.think_ns > 0;
    let (under_load, _) = last_end(cell, mebibytes / slowest.min(fastest))?;
    (waits && !is_limited && under_load > ends_s).then(|| {
        format!(
            "`{}` ends after {ends_s} s, and an act waits for the resync: md slows it down to {slowest:.0} MiB/s \
             (`sync_speed_min`) next to the work, at which {} of {} take until {under_load:.0} s; use a longer `runtime`, \
             a smaller `size`, or a higher `sync_speed_min` in `array`",
            cell.workload.name,
            match whole {
                1 => "one pass".to_owned(),
                passes => format!("{passes} passes"),
            },
            describe_size(member_bytes),
        )
    })
}

/// When the last pass over all members ends if each takes `pass_s`, and the number of passes; `None` without any.
fn last_end(cell: &Cell, pass_s: f64) -> Option<(f64, u32)> {
    let (mut idle_from, mut last_act, mut passes) = (0.0_f64, 0.0_f64, 0);
    for act in &cell.acts {
        let at = match act.due {
            Due::AtNs(at_ns) => Duration::from_nanos(at_ns).as_secs_f64(),
            Due::After { .. } => last_act,
            Due::ResyncDone => idle_from.max(last_act),
        };
        last_act = at;
        if is_whole_pass(act, cell) {
            passes += 1;
            idle_from = idle_from.max(at) + pass_s;
        }
    }
    (passes > 0).then_some((idle_from, passes))
}

/// Whether md goes over whole members after an act.
fn is_whole_pass(act: &Act, cell: &Cell) -> bool {
    let array = &cell.stack.array;
    match act.kind {
        ActKind::Check | ActKind::Repair | ActKind::Grow | ActKind::Replace | ActKind::Add => true,
        ActKind::ReAdd => array.bitmap == Bitmap::None,
        ActKind::Fail => array.spares > 0,
        _ => false,
    }
}

/// A member of which the acts go over in this share of the time, as a round number.
fn fitting_bytes(member_bytes: u64, share: f64) -> u64 {
    let most = (member_bytes as f64 * share / 2.0).max(1.0) as u64;
    (most + 1).next_power_of_two() / 2
}

#[cfg(test)]
mod tests {
    use crate::advice::of;

    fn warnings(array: &str, io: &str, acts: &str) -> String {
        let study = format!(
            "[disks]\nmodel = \"wd-500gb-2007\"\ncount = 4\n[[stack]]\narray = {{ {array} }}\nfs = {{ type = \"raw\" }}\n\
             [[workload]]\nname = \"w\"\nio = {{ size = \"1M\", direct = true, runtime = \"60s\", {io} }}\n{acts}"
        );
        of(&study_file::read(&study, "a.toml", &study_file::Known::default()).expect("a study")).join("\n")
    }

    const REBUILD: &str = "[[act]]\nat = \"1s\"\ndo = \"fail\"\ndisk = 1\n";

    /// Issue 39, A4: a whole disk of 500 GB is not rebuilt in a minute.
    #[test]
    fn a_rebuild_that_cannot_end_within_the_work_is_warned_of() {
        let large = warnings("level = 5, spares = 1, bitmap = \"none\"", "rate_iops = 10", REBUILD);
        assert!(large.contains("ends after 60 s, but its acts end after"), "{large}");
        assert!(large.contains("each member has 465.8 GiB"), "{large}");
        let small = warnings(
            "level = 5, size = \"1G\", spares = 1, bitmap = \"none\"",
            "rate_iops = 10",
            REBUILD,
        );
        assert!(!small.contains("its acts end"), "{small}");
    }

    /// cases/act-guard-voids-all: 512 MiB at 1 MiB/s next to requests without a limit.
    #[test]
    fn an_act_that_waits_for_a_rebuild_under_load_is_warned_of() {
        let acts = format!(
            "{REBUILD}[[act]]\nat = \"2s\"\ndo = \"remove\"\ndisk = 1\n[[act]]\nat = \"3s\"\ndo = \"re-add\"\ndisk = 1\n\
             [[act]]\nwhen = \"resync done\"\ndo = \"check\"\n"
        );
        let array = "level = 6, size = \"512M\", bitmap = \"none\"";
        let said = warnings(array, "", &acts);
        assert!(said.contains("md slows it down to 1 MiB/s"), "{said}");
        assert!(
            !warnings(array, "rate_iops = 10", &acts).contains("slows"),
            "the work leaves time"
        );
    }
}
