//! Work of the disks: utilisation, requests, bytes per byte of the test, and how their mechanics spent the trial.

use crate::input::{Input, TrialState};
use crate::words::figure::number;
use serde::Serialize;
use stats::WorkloadResults;
use std::collections::HashMap;
use study::metric::Metric;
use study::{CellId, DiskCounter, DiskCounters, TrialKey};

#[derive(Serialize)]
pub(super) struct Disks {
    tests: Vec<TestRow>,
    trials: Vec<TrialRow>,
}

/// One test on one stack: medians of trials, all member disks together.
#[derive(Serialize)]
struct TestRow {
    test: String,
    stack: String,
    /// Utilisation during the test: mean of all members, and the busiest one; `–` if unknown.
    busy: String,
    busiest: String,
    reads: String,
    read_kib: String,
    writes: String,
    write_kib: String,
    /// Bytes at the disks per byte of the test; `–` if the test has no throughput.
    read_factor: String,
    write_factor: String,
    /// The test only writes, and its reads were needed to compute parity.
    is_read_modify_write: bool,
}

/// The mechanics of simulated disks during whole trials of one stack.
#[derive(Serialize)]
struct TrialRow {
    stack: String,
    seek: String,
    rotation: String,
    transfer: String,
}

/// The values of a test in one trial.
type Values = HashMap<Metric, f64>;

pub(super) fn disks(input: &Input, workload: &WorkloadResults) -> Disks {
    let mut of_trials: HashMap<(CellId, &str), Vec<(TrialKey, Values)>> = HashMap::new();
    for one in input.samples.iter().filter(|one| one.counts()) {
        let trials = of_trials.entry((one.trial.cell, one.entry.test.as_str())).or_default();
        match trials.iter_mut().find(|(trial, _)| *trial == one.trial) {
            Some((_, values)) => _ = values.insert(one.entry.metric, one.entry.value),
            None => trials.push((one.trial, HashMap::from([(one.entry.metric, one.entry.value)]))),
        }
    }
    let cells = || {
        let all = input.plan.cells.iter();
        all.filter(|cell| cell.workload.name == workload.name && cell.replicate == 0)
    };
    let tests = workload.tests.iter().chain(&workload.counts);
    let tests = tests.flat_map(|test| {
        cells().filter_map(|cell| {
            let trials = of_trials.get(&(cell.id, test.name.as_str()))?;
            let modifies = cell.stack.array.has_parity() && cell.workload.work.only_writes(&test.name).is_some();
            test_row(&test.name, &cell.stack_label, modifies, trials)
        })
    });
    Disks {
        tests: tests.collect(),
        trials: cells()
            .filter_map(|cell| trial_row(input, cell.id, &cell.stack_label))
            .collect(),
    }
}

/// `modifies`: the test writes, and reads at the disks are the rest of its stripes.
fn test_row(test: &str, stack: &str, modifies: bool, trials: &[(TrialKey, Values)]) -> Option<TestRow> {
    let of = |figure: &dyn Fn(&Values) -> Option<f64>| {
        study::median(trials.iter().filter_map(|(_, values)| figure(values)))
    };
    let get = |metric: Metric| move |values: &Values| values.get(&metric).copied();
    let reads = of(&get(Metric::DeviceReads))?;
    let writes = of(&get(Metric::DeviceWrites))?;
    let size = |bytes: Metric, requests: Metric| {
        let each = move |values: &Values| {
            let requests = values.get(&requests).copied().filter(|requests| *requests > 0.0)?;
            Some(values.get(&bytes)? * 1024.0 / requests)
        };
        of(&each).map_or_else(|| "–".to_owned(), |kib| number(kib, usize::from(kib < 100.0)))
    };
    let factor = |bytes: Metric| {
        let each = move |values: &Values| {
            let moved = stats::moved(|metric| values.get(&metric).copied())?;
            (moved > 0.0).then_some(values.get(&bytes)? / moved)
        };
        of(&each)
    };
    let factor_words = |factor: Option<f64>| factor.map_or_else(|| "–".to_owned(), |factor| number(factor, 2));
    let read_factor = factor(Metric::DeviceRead);
    let share = |metric: Metric| of(&get(metric)).map_or_else(|| "–".to_owned(), |share| percent(share / 100.0));
    Some(TestRow {
        test: test.to_owned(),
        stack: stack.to_owned(),
        busy: share(Metric::DeviceBusy),
        busiest: share(Metric::DeviceBusiest),
        reads: number(reads, 0),
        read_kib: size(Metric::DeviceRead, Metric::DeviceReads),
        writes: number(writes, 0),
        write_kib: size(Metric::DeviceWritten, Metric::DeviceWrites),
        is_read_modify_write: modifies && read_factor.is_some_and(|factor| factor >= stats::PARITY_READ_MIN),
        read_factor: factor_words(read_factor),
        write_factor: factor_words(factor(Metric::DeviceWritten)),
    })
}

/// `7.5 %`, `43 %`.
fn percent(share: f64) -> String {
    format!("{} %", number(share * 100.0, usize::from(share < 0.1)))
}

fn trial_row(input: &Input, cell: CellId, stack: &str) -> Option<TrialRow> {
    let is_done = |key: TrialKey| {
        let trial = input.trials.iter().find(|trial| trial.key == key);
        trial.is_some_and(|trial| trial.state == TrialState::Done)
    };
    let of_cell = input.facts.disk_counters.iter().filter(|row| row.trial.cell == cell);
    let of_done: Vec<&DiskCounters> = of_cell.filter(|row| is_done(row.trial)).map(|row| &row.entry).collect();
    let total = |counter: DiskCounter| {
        let counts = of_done.iter().filter_map(|disk| disk.counts.get(&counter));
        counts.sum::<u64>() as f64
    };
    let spent = [DiskCounter::SeekNs, DiskCounter::RotationNs, DiskCounter::TransferNs].map(total);
    let moving: f64 = spent.iter().sum();
    let [seek, rotation, transfer] = spent.map(|spent| percent(spent / moving));
    (moving > 0.0).then(|| TrialRow {
        stack: stack.to_owned(),
        seek,
        rotation,
        transfer,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(index: u32, values: &[(Metric, f64)]) -> (TrialKey, Values) {
        let key = TrialKey {
            cell: CellId::default(),
            index,
            seed: 1,
        };
        (key, values.iter().copied().collect())
    }

    /// A small write to RAID 5 reads old data and parity and writes both: two bytes read and two written for one.
    #[test]
    fn a_read_modify_write_has_a_factor_of_two_and_two() {
        let one = |index, throughput| {
            trial(
                index,
                &[
                    (Metric::Throughput, throughput),
                    (Metric::Duration, 4.0),
                    (Metric::DeviceReads, 512.0),
                    (Metric::DeviceRead, throughput * 8.0),
                    (Metric::DeviceWrites, 512.0),
                    (Metric::DeviceWritten, throughput * 8.0),
                    (Metric::DeviceBusy, 40.0 * throughput),
                    (Metric::DeviceBusiest, 7.5),
                ],
            )
        };
        let trials = [one(0, 1.0), one(1, 2.0)];
        let row = test_row("randwrite", "RAID 5", true, &trials).expect("a row");
        assert_eq!((row.busy.as_str(), row.busiest.as_str()), ("60 %", "7.5 %"));
        assert!(row.is_read_modify_write);
        // Reads of a copy are the test's own.
        assert!(
            !test_row("copy", "RAID 5", false, &trials)
                .expect("a row")
                .is_read_modify_write
        );
        assert_eq!((row.read_factor.as_str(), row.write_factor.as_str()), ("2.00", "2.00"));
        // The disks' counters also have the ramp: as much again.
        let mut with_ramp = trials;
        for ((_, values), ramp_mib) in with_ramp.iter_mut().zip([4.0, 8.0]) {
            values.insert(Metric::RampMoved, ramp_mib);
        }
        let ramped = test_row("randwrite", "RAID 5", true, &with_ramp).expect("a row");
        assert_eq!(ramped.read_factor, "1.00");
        // 8 and 16 MiB in 512 requests.
        assert_eq!((row.reads.as_str(), row.read_kib.as_str()), ("512", "24.0"));
    }

    #[test]
    fn a_test_without_throughput_has_no_factor() {
        let one = trial(0, &[(Metric::DeviceReads, 0.0), (Metric::DeviceWrites, 3.0)]);
        let row = test_row("delete", "RAID 1", false, &[one]).expect("a row");
        assert_eq!((row.read_factor.as_str(), row.read_kib.as_str()), ("–", "–"));
        assert_eq!(
            (row.busy.as_str(), row.busiest.as_str()),
            ("–", "–"),
            "of an earlier store"
        );
        assert!(test_row("delete", "RAID 1", false, &[trial(0, &[])]).is_none());
    }
}
