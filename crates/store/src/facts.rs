//! Storage of typed facts: as text in table `provenance`, as in all versions. Only this file knows their keys.

use crate::read::Selection;
use crate::{Result, Store};
use study::event::{Event, Mark};
use study::{
    DiskCounter, DiskCounters, DrawnFigure, Facts, Finding, GuestFile, Load, ProcessorAccount, ProvenanceEntry,
    Recorded, TestDisk, TrialKey,
};

const KERNEL: &str = "kernel";

const DISK: &str = "disk.";
const CONTENTS: &str = "contents";
const NODE: &str = "node";

const GUEST_FILE: &str = "file.";

const FINDING: &str = "power-cut.finding.";
const BEGUN: &str = "power-cut.begun";
const RETURNED: &str = "power-cut.returned";

const DRAWN: &str = "drawn.";

const OTHERS_PROCESSOR_PERCENT: &str = "load.others_processor_percent";
const OTHER_DISKS_MIB_PER_S: &str = "load.other_disks_mib_per_s";
const PRESSURE_CPU_PERCENT: &str = "load.pressure_cpu_percent";
const PRESSURE_IO_PERCENT: &str = "load.pressure_io_percent";
const PRESSURE_MEMORY_PERCENT: &str = "load.pressure_memory_percent";

/// Facts of one trial, by kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialFacts {
    pub disk_counters: Vec<DiskCounters>,
    pub test_disks: Vec<TestDisk>,
    pub guest_files: Vec<GuestFile>,
    pub kernel: Option<String>,
    pub load: Option<Load>,
    pub findings: Vec<Finding>,
    pub drawn: Vec<DrawnFigure>,
    /// Facts that are only displayed.
    pub provenance: Vec<ProvenanceEntry>,
}

impl Store {
    /// Facts of the latest attempt at each trial.
    pub fn facts_of(&self, part: &Selection) -> Result<Facts> {
        let mut facts = Facts::default();
        let rows = self.provenance_of(part)?;
        for of_trial in rows.chunk_by(|one, next| one.trial == next.trial) {
            let trial = of_trial[0].trial;
            let found = TrialFacts::of_rows(of_trial.iter().map(|row| row.entry.clone()));
            facts.disk_counters.extend(recorded(trial, found.disk_counters));
            facts.kernels.extend(recorded(trial, found.kernel));
            facts.loads.extend(recorded(trial, found.load));
            facts.findings.extend(recorded(trial, found.findings));
            facts.drawn.extend(recorded(trial, found.drawn));
            facts.provenance.extend(recorded(trial, found.provenance));
        }
        Ok(facts)
    }
}

fn recorded<T>(trial: TrialKey, entries: impl IntoIterator<Item = T>) -> impl Iterator<Item = Recorded<T>> {
    let entries = entries.into_iter();
    entries.map(move |entry| Recorded { trial, entry })
}

impl TrialFacts {
    /// Facts that are kept as these rows, by this version or an earlier one.
    pub fn of_rows(rows: impl IntoIterator<Item = ProvenanceEntry>) -> Self {
        let mut facts = Self::default();
        for row in rows {
            if let Some((disk, fact)) = row.key.strip_prefix(DISK).and_then(|rest| rest.split_once('.')) {
                match disk.parse() {
                    Ok(place) => facts.add_to_test_disk(place, fact, row.value),
                    Err(_) => facts.add_to_counters(disk, fact, row.value),
                }
                continue;
            }
            if let Some(path) = row.key.strip_prefix(GUEST_FILE) {
                facts.guest_files.push(GuestFile {
                    path: path.to_owned(),
                    sha256: row.value,
                });
                continue;
            }
            if let (Some(figure), Ok(factor)) = (row.key.strip_prefix(DRAWN), row.value.parse()) {
                facts.drawn.push(DrawnFigure {
                    figure: figure.to_owned(),
                    factor,
                });
                continue;
            }
            match row.key.as_str() {
                BEGUN | RETURNED => {}
                finding if finding.starts_with(FINDING) => match row.value.parse() {
                    Ok(finding) => facts.findings.push(finding),
                    Err(_) => facts.provenance.push(row),
                },
                key => {
                    if key == KERNEL {
                        facts.kernel = Some(row.value.clone());
                    }
                    facts.add_to_load(&row);
                    facts.provenance.push(row);
                }
            }
        }
        facts
    }

    fn add_to_load(&mut self, row: &ProvenanceEntry) {
        let set: fn(&mut Load, f64) = match row.key.as_str() {
            OTHERS_PROCESSOR_PERCENT => |load, value| load.others_processor_percent = value,
            OTHER_DISKS_MIB_PER_S => |load, value| load.other_disks_mib_per_s = Some(value),
            PRESSURE_CPU_PERCENT => |load, value| load.pressure_cpu_percent = Some(value),
            PRESSURE_IO_PERCENT => |load, value| load.pressure_io_percent = Some(value),
            PRESSURE_MEMORY_PERCENT => |load, value| load.pressure_memory_percent = Some(value),
            _ => return,
        };
        if let Ok(value) = row.value.parse() {
            set(self.load.get_or_insert_default(), value);
        }
    }

    fn add_to_counters(&mut self, disk: &str, fact: &str, value: String) {
        let all = &mut self.disk_counters;
        let known = all.iter().position(|known| known.disk == disk);
        let known = known.unwrap_or_else(|| {
            all.push(DiskCounters {
                disk: disk.to_owned(),
                ..DiskCounters::default()
            });
            all.len() - 1
        });
        if fact == CONTENTS {
            all[known].contents = Some(value);
        } else if let (Some(counter), Ok(count)) = (DiskCounter::named(fact), value.parse()) {
            all[known].counts.insert(counter, count);
        }
    }

    fn add_to_test_disk(&mut self, place: usize, fact: &str, value: String) {
        let all = &mut self.test_disks;
        let known = all.iter().position(|known| known.place == place);
        let known = known.unwrap_or_else(|| {
            all.push(TestDisk {
                place,
                node: String::new(),
                properties: Vec::new(),
            });
            all.len() - 1
        });
        match fact {
            NODE => all[known].node = value,
            _ => all[known].properties.push(row(fact, value)),
        }
    }
}

/// The rows in which the fact of an event is kept; none if it has none.
pub(crate) fn rows(event: &Event) -> Vec<ProvenanceEntry> {
    match event {
        Event::Provenance { key, value } => vec![row(key, value.clone())],
        Event::DiskCounters(disk) => of_counters(disk),
        Event::TestDisk(disk) => of_test_disk(disk),
        Event::GuestFiles { files } => {
            let of_file = |file: &GuestFile| row(&format!("{GUEST_FILE}{}", file.path), file.sha256.clone());
            files.iter().map(of_file).collect()
        }
        Event::Load(load) => of_load(load),
        Event::Processor(account) => of_processor(account),
        Event::Operation(operation) => {
            let key = match operation.mark {
                Mark::Begun => BEGUN,
                Mark::Returned => RETURNED,
            };
            vec![row(key, format!("{} {}", operation.number, operation.at_ns))]
        }
        Event::Finding { state, number, finding } => {
            vec![row(&format!("{FINDING}{state}.{number}"), finding.to_string())]
        }
        _ => Vec::new(),
    }
}

fn of_counters(disk: &DiskCounters) -> Vec<ProvenanceEntry> {
    let of_disk = |fact: &str, value| row(&format!("{DISK}{}.{fact}", disk.disk), value);
    let counts = disk.counts.iter();
    let counts = counts.map(|(counter, count)| of_disk(counter.name(), count.to_string()));
    let contents = disk.contents.iter().map(|digest| of_disk(CONTENTS, digest.clone()));
    counts.chain(contents).collect()
}

fn of_test_disk(disk: &TestDisk) -> Vec<ProvenanceEntry> {
    let of_disk = |fact: &str, value: &String| row(&format!("{DISK}{}.{fact}", disk.place), value.clone());
    let properties = disk.properties.iter();
    let properties = properties.map(|property| of_disk(&property.key, &property.value));
    std::iter::once(of_disk(NODE, &disk.node)).chain(properties).collect()
}

fn of_load(load: &Load) -> Vec<ProvenanceEntry> {
    let tenths = |value: f64| format!("{value:.1}");
    let values = [
        (OTHERS_PROCESSOR_PERCENT, Some(tenths(load.others_processor_percent))),
        (
            OTHER_DISKS_MIB_PER_S,
            load.other_disks_mib_per_s.map(|rate| format!("{rate:.2}")),
        ),
        (PRESSURE_CPU_PERCENT, load.pressure_cpu_percent.map(tenths)),
        (PRESSURE_IO_PERCENT, load.pressure_io_percent.map(tenths)),
        (PRESSURE_MEMORY_PERCENT, load.pressure_memory_percent.map(tenths)),
    ];
    let known = values.into_iter();
    known.filter_map(|(key, value)| Some(row(key, value?))).collect()
}

fn of_processor(account: &ProcessorAccount) -> Vec<ProvenanceEntry> {
    let whole_ns = account.charged_ns.max(1) as f64;
    let seconds = |ns: f64| format!("{:.6}", ns / 1e9);
    let percent = |ns: u64| format!("{:.2}", 100.0 * ns as f64 / whole_ns);
    let counts: Vec<String> = account
        .counts
        .iter()
        .map(|(cost, count)| format!("{cost} {count}"))
        .collect();
    vec![
        row("processor.charged_s", seconds(whole_ns)),
        row("processor.paid_by_another_percent", percent(account.paid_by_another_ns)),
        row("processor.passed_for_all_percent", percent(account.passed_for_all_ns)),
        row(
            "processor.waited_for_core_s",
            seconds(account.waited_for_core_ns as f64),
        ),
        row("processor.counts", counts.join(", ")),
    ]
}

fn row(key: &str, value: String) -> ProvenanceEntry {
    ProvenanceEntry {
        key: key.to_owned(),
        value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(events: &[Event]) -> TrialFacts {
        TrialFacts::of_rows(events.iter().flat_map(rows))
    }

    #[test]
    fn a_fact_is_read_as_it_was_kept() {
        let counters = DiskCounters {
            disk: "vda".to_owned(),
            counts: DiskCounter::ALL.into_iter().zip(1..).collect(),
            contents: Some("b0b".to_owned()),
        };
        let disk = TestDisk {
            place: 1,
            node: "sdb".to_owned(),
            properties: vec![row("loop.direct_io", "1".to_owned())],
        };
        let file = GuestFile {
            path: "/lib/libc.so.6".to_owned(),
            sha256: "c0de".to_owned(),
        };
        let kernel = row("kernel", "6.12".to_owned());
        let events = [
            Event::DiskCounters(counters.clone()),
            Event::TestDisk(disk.clone()),
            Event::GuestFiles {
                files: vec![file.clone()],
            },
            Event::Provenance {
                key: kernel.key.clone(),
                value: kernel.value.clone(),
            },
        ];
        let facts = kept(&events);
        assert_eq!(facts.disk_counters, [counters]);
        assert_eq!(facts.test_disks, [disk]);
        assert_eq!(facts.guest_files, [file]);
        assert_eq!(facts.kernel.as_ref(), Some(&kernel.value));
        assert_eq!(facts.provenance, [kernel]);
    }

    /// Version 0.1.0 had fewer counters.
    #[test]
    fn rows_of_an_earlier_version_are_read() {
        let rows = [("disk.vda.reads", "12"), ("disk.vda.contents", "b0b")];
        let facts = TrialFacts::of_rows(rows.map(|(key, value)| row(key, value.to_owned())));
        let [disk] = facts.disk_counters.as_slice() else {
            panic!("{facts:?}")
        };
        assert_eq!(disk.counts.get(&DiskCounter::Reads), Some(&12));
        assert_eq!(disk.counts.get(&DiskCounter::MovedSectors), None);
        assert_eq!(disk.contents.as_deref(), Some("b0b"));
    }
}
