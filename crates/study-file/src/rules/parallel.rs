//! How many threads or processes a workload may have in a guest.

use crate::rules::impossible::{Impossible, impossible};
use study::stack::{MachineKind, MachineSpec};
use study::workload::Work;

/// A guest with 256 was seen to work in each way that they are started; with 400, Linux's limit of mappings of a process
/// (`vm.max_map_count`) ends it, and from 1,020 on its limit of open files.
const THREADS_MAX: u32 = 256;

/// Why a guest cannot run them.
pub(crate) fn of_work(machine: &MachineSpec, work: &Work) -> Option<Impossible> {
    let (threads, key) = match work {
        Work::Io(spec) => (spec.jobs, "numjobs"),
        Work::FioFile(spec) => {
            let jobs = spec.sections.iter().map(|section| section.jobs);
            (jobs.fold(0, u32::saturating_add), "numjobs")
        }
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
        "a guest runs at most {THREADS_MAX} threads or processes of a workload, and this one has {threads}"
    );
    impossible(
        &[key],
        reason,
        format!("write `{key} = {THREADS_MAX}` or less; `iodepth` gives more requests in flight"),
    )
}
