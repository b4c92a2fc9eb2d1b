//! The processors of this machine on which a thread may run.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;

/// The processors that this process may use.
pub fn processors() -> Vec<usize> {
    let allowed = sched_getaffinity(None);
    allowed.map_or_else(
        |_| vec![0],
        |set| (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect(),
    )
}

/// Binds the calling thread, if a processor is given. It only makes a system call, so that it may be called between
/// fork and exec.
pub(crate) fn bind(processor: Option<usize>) -> io::Result<()> {
    if let Some(processor) = processor {
        let mut only = CpuSet::new();
        only.set(processor);
        sched_setaffinity(None, &only)?;
    }
    Ok(())
}
