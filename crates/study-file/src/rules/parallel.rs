//! How many threads or processes a workload may have in a guest.

use crate::rules::impossible::{Impossible, impossible};
use std::collections::HashMap;
use study::stack::{MachineKind, MachineSpec};
use study::workload::{FioSection, Work};

/// 300 were seen to work in a guest; with 400, Linux's limit of mappings of a process (`vm.max_map_count`) ended it, and from
/// 1,020 on its limit of open files.
const THREADS_MAX: u32 = 300;

/// Why a guest cannot run them.
pub(crate) fn of_work(machine: &MachineSpec, work: &Work) -> Option<Impossible> {
    let (threads, key) = match work {
        Work::Io(spec) => (spec.jobs, "numjobs"),
        Work::FioFile(spec) => (together(&spec.sections), "numjobs"),
        Work::Bonnie(spec) if spec.seekers > spec.processes => (spec.seekers, "seekers"),
        Work::Bonnie(spec) => (spec.processes, "processes"),
        Work::Iozone(spec) => (spec.processes, "processes"),
        Work::Server(spec) => (spec.clients, "clients"),
        Work::Tree(_) | Work::PowerCut(_) | Work::Imported(_) => return None,
    };
    if machine.kind != MachineKind::Lab || threads <= THREADS_MAX {
        return None;
    }
    let reason = format!(
        "raidlab runs at most {THREADS_MAX} threads or processes of a workload in a guest, and this one has {threads} at a time"
    );
    let help = match work {
        Work::Io(_) => format!("write `{key} = {THREADS_MAX}` or less; `iodepth` gives more requests in flight"),
        Work::FioFile(_) => {
            format!("use a smaller `{key}`, `stonewall` or `wait_for`; `iodepth` gives more requests in flight")
        }
        _ => format!("write `{key} = {THREADS_MAX}` or less"),
    };
    impossible(&[key], reason, help)
}

/// The most jobs that run at the same time: a section with `stonewall` waits for all sections before it, one with `wait_for`
/// for the section that it names.
fn together(sections: &[FioSection]) -> u32 {
    let mut most = 0;
    let mut rest = sections;
    while !rest.is_empty() {
        let others = rest.iter().skip(1);
        let end = 1 + others.take_while(|section| !has_stonewall(section)).count();
        let (group, after) = rest.split_at(end);
        most = most.max(group_together(group));
        rest = after;
    }
    most
}

/// The same, of sections that only `wait_for` can order.
fn group_together(group: &[FioSection]) -> u32 {
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (place, section) in group.iter().enumerate() {
        places.entry(&section.name).or_insert(place);
    }
    // Jobs that run once a section has ended, those that wait for them included. A section waits for one before it.
    let mut after = vec![0_u32; group.len()];
    let mut first = 0_u32;
    for (place, section) in group.iter().enumerate().rev() {
        let jobs = section.jobs.max(after[place]);
        let waits_for = option(section, "wait_for").and_then(|name| places.get(name));
        let sum = match waits_for {
            Some(&earlier) if earlier < place => &mut after[earlier],
            _ => &mut first,
        };
        *sum = sum.saturating_add(jobs);
    }
    first
}

fn has_stonewall(section: &FioSection) -> bool {
    option(section, "stonewall").is_some_and(|value| value != "0")
}

fn option<'a>(section: &'a FioSection, wanted: &str) -> Option<&'a str> {
    let named = section.options.iter().find(|(name, _)| name == wanted)?;
    Some(&named.1)
}
