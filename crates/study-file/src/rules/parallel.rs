//! How many threads or processes a workload may have in a guest.

use crate::rules::impossible::{Impossible, impossible};
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
            format!("use a smaller `{key}`, or `stonewall`; `iodepth` gives more requests in flight")
        }
        _ => format!("write `{key} = {THREADS_MAX}` or less"),
    };
    impossible(&[key], reason, help)
}

/// The most jobs that run at the same time: a section with `stonewall` waits for those before it.
fn together(sections: &[FioSection]) -> u32 {
    let waits = |section: &FioSection| {
        let mut options = section.options.iter();
        options.any(|(name, value)| matches!(name.as_str(), "stonewall" | "wait_for") && value != "0")
    };
    let (mut most, mut jobs) = (0, 0_u32);
    for section in sections {
        jobs = if waits(section) {
            section.jobs
        } else {
            jobs.saturating_add(section.jobs)
        };
        most = most.max(jobs);
    }
    most
}
