//! The time to rebuild a whole disk, from the rebuild of the part that the array uses.

use crate::disks::Models;
use disksim::catalogue::Model;
use disksim::request::SECTOR_BYTES;
use disksim::show::show;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use study::event::Sample;
use study::metric::{MEBIBYTE, Metric};
use study::plan::Trial;
use study::stack::{DiskGroup, Keeper};

const HOUR_S: f64 = 3600.0;

/// The disk of which an array uses a part.
#[derive(Clone, Debug)]
pub struct WholeDisk {
    bytes: f64,
    /// Used by the array, from its start.
    member_bytes: f64,
    /// Lower of reading and writing in MiB/s, at equal distances from the first sector to the last.
    rates: Vec<f64>,
    /// md's `sync_speed_max` in MiB/s; infinite without md.
    limit: f64,
}

/// md's default of `sync_speed_max` (`speed_limit_max` in proc(5)), in KiB/s.
const LIMIT_KIB_S: u32 = 200_000;

impl WholeDisk {
    /// Only for a trial that may rebuild a disk.
    pub fn of(trial: &Trial, models: &Models) -> Option<Self> {
        let cell = &trial.cell;
        let group = cell
            .machine
            .only_group(&cell.stack.array)
            .filter(|_| !cell.acts.is_empty())?;
        let model = models.of_seed(group, &cell.machine, trial.seed).ok()?;
        let bytes = model.sectors * SECTOR_BYTES;
        Some(Self {
            bytes: bytes as f64,
            member_bytes: cell.stack.array.member_size_bytes.unwrap_or(bytes).min(bytes) as f64,
            rates: match cell.machine.changes_models() {
                true => of_places(&model)?,
                false => rates(group, &model)?,
            },
            limit: match cell.stack.keeper(cell.member_count()) {
                Some(Keeper::Md) => f64::from(cell.stack.array.sync_speed_max.unwrap_or(LIMIT_KIB_S)) / 1024.0,
                _ => f64::INFINITY,
            },
        })
    }

    /// The time to rebuild the whole disk, which a study rarely waits for, from the rate of a rebuild.
    pub fn rebuild_time(&self, sample: &Sample) -> Option<Sample> {
        let rate = (sample.metric == Metric::RebuildRate).then_some(sample.value)?;
        Some(Sample {
            test: sample.test.clone(),
            metric: Metric::TimeToRebuildDisk,
            value: self.rebuild_s(rate)? / HOUR_S,
        })
    }

    /// In each zone the same share of what the disk sustains, or of md's limit if that is less, as was measured in those of
    /// the array.
    fn rebuild_s(&self, measured_mib_s: f64) -> Option<f64> {
        let of_array = self.pass_s(self.member_bytes);
        let share = (self.member_bytes / MEBIBYTE / measured_mib_s) / of_array;
        let whole_s = self.pass_s(self.bytes) * share;
        (whole_s.is_finite() && whole_s > 0.0).then_some(whole_s)
    }

    /// Seconds to read or write the first bytes at full rate, or at md's limit.
    fn pass_s(&self, bytes: f64) -> f64 {
        let pieces = self.rates.len().saturating_sub(1).max(1) as f64;
        let piece_bytes = self.bytes / pieces;
        let mut begin = 0.0;
        let each = self.rates.windows(2).map(|ends| {
            let part = (bytes - begin).clamp(0.0, piece_bytes);
            // Linear between the two places.
            let end_rate = ends[0] + (ends[1] - ends[0]) * part / piece_bytes;
            begin += piece_bytes;
            part / MEBIBYTE / f64::midpoint(ends[0], end_rate).min(self.limit)
        });
        each.sum()
    }
}

/// Hours to read or write the whole disk once, at what it sustains in each zone: a resync or a rebuild takes at least that.
/// `None` if the model cannot be simulated.
pub fn pass_hours(group: &DiskGroup, model: &Model) -> Option<f64> {
    let bytes = (model.sectors * SECTOR_BYTES) as f64;
    let disk = WholeDisk {
        bytes,
        member_bytes: bytes,
        rates: rates(group, model)?,
        limit: f64::INFINITY,
    };
    Some(disk.pass_s(bytes) / HOUR_S)
}

/// Computed once per model.
fn rates(group: &DiskGroup, model: &Model) -> Option<Vec<f64>> {
    type Key = (String, Option<String>);
    static KNOWN: Mutex<BTreeMap<Key, Option<Vec<f64>>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known
        .entry((group.model.clone(), group.model_sha256.clone()))
        .or_insert_with(|| of_places(model))
        .clone()
}

fn of_places(model: &Model) -> Option<Vec<f64>> {
    let places = show(model).ok()?.streaming;
    let rate = |read: f64, write: f64| read.min(write) * 1e6 / MEBIBYTE;
    let rates = places.iter().map(|place| rate(place.read_mb_s, place.write_mb_s));
    Some(rates.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 39, A4: 6.87 s for a member of 1 GiB.
    #[test]
    fn a_small_member_does_not_hide_the_hours_of_the_whole_disk() {
        let study = "[disks]\nmodel = \"wd-500gb-2007\"\ncount = 3\n[[stack]]\n\
                     array = { level = 5, size = \"1G\" }\n[[workload]]\nname = \"w\"\n\
                     io = { runtime = \"60s\" }\n[[act]]\nat = \"1s\"\ndo = \"fail\"\ndisk = 1\n";
        let trial = Trial {
            cell: crate::disks::test_study::plan(study).cells.remove(0),
            index: 0,
            seed: 1,
        };
        let disk = WholeDisk::of(&trial, &Models::default()).expect("a model");
        let sample = |value: f64| Sample {
            test: "rebuild".into(),
            metric: Metric::RebuildRate,
            value,
        };
        let hours = |rate: f64| disk.rebuild_time(&sample(rate)).expect("a rate").value;
        let at_full_rate = 1024.0 / disk.pass_s(f64::from(1 << 30));
        // The inner zones have about half the rate of the outer ones.
        let if_all_were_outer = disk.bytes / MEBIBYTE / at_full_rate / HOUR_S;
        assert!(
            (1.2..1.7).contains(&(hours(at_full_rate) / if_all_were_outer)),
            "{} of {if_all_were_outer}",
            hours(at_full_rate)
        );
        assert!((hours(at_full_rate / 2.0) / hours(at_full_rate) - 2.0).abs() < 1e-9);
        let whole = WholeDisk {
            member_bytes: disk.bytes,
            ..disk.clone()
        };
        let direct_s = whole.bytes / MEBIBYTE / 50.0;
        assert!((whole.rebuild_s(50.0).expect("a rate") / direct_s - 1.0).abs() < 1e-9);
    }

    /// The inner zones of a disk are slower than md's limit, which the outer ones reach: 8 TB took 14.7 h, now 12.8 h.
    #[test]
    fn issue_39_a_rebuild_at_mds_limit_is_not_slowed_down_by_it_twice() {
        let disk = WholeDisk {
            bytes: 4.0 * 1024.0 * MEBIBYTE,
            member_bytes: 1024.0 * MEBIBYTE,
            rates: vec![200.0, 200.0, 200.0, 50.0, 50.0],
            limit: 100.0,
        };
        let seconds = |rate: f64| disk.rebuild_s(rate).expect("a rate");
        let places = 1024.0 / 100.0 * 2.0 + 1024.0 / 100.0 + 1024.0 / 50.0;
        assert!((seconds(100.0) / places - 1.0).abs() < 1e-9, "{}", seconds(100.0));
        assert!((seconds(50.0) / places - 2.0).abs() < 1e-9, "{}", seconds(50.0));
    }

    /// 16 TB at 261 MB/s outside and 120 MB/s inside, on average 190: 23 h.
    #[test]
    fn a_pass_over_a_large_disk_takes_a_day() {
        let study = "[disks]\nmodel = \"seagate-exos-x16-16tb\"\ncount = 3\n[[stack]]\narray = { level = 5 }\n\
                     [[workload]]\nname = \"w\"\nio = { runtime = \"60s\" }\n";
        let cell = crate::disks::test_study::plan(study).cells.remove(0);
        let group = cell.machine.first_member(&cell.stack.array).expect("disks");
        let model = Models::default().find(group).expect("a model");
        let hours = pass_hours(group, &model).expect("hours");
        assert!((21.0..27.0).contains(&hours), "{hours} h");
    }
}
