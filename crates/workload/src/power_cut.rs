//! Small operations on a filesystem until a power cut, and the check of what survived.
//!
//! The operations ([`Operations`]) follow from the seed alone. One thread does them in order in the folder
//! `MOUNT/work`; the first ones prepare files and end with a sync. Each one is logged by an event before and after,
//! which takes no virtual time, so the log is known up to the cut. [`History`] knows which states are valid after
//! it.
//!
//! The workload itself does not cut the power: the lab runs it again for each cut.

mod left_out;
mod observe;
mod operation;
mod oracle;

pub use observe::observe;
pub use operation::{Operation, Operations, RECORD_BYTES};
pub use oracle::{Found, History, Log, Loss, Violation, ViolationKind};

use crate::environment::Host;
use crate::random::hash;
use crate::{Engine, Target, WorkloadError};
use operation::record;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;
use study::event::{Event, Mark, OperationMark};
use study::workload::PowerCutSpec;
use tools::Tool;

/// The folder of the operations.
pub const FOLDER: &str = "work";

impl Engine for PowerCutSpec {
    fn tool(&self) -> Option<Tool> {
        None
    }

    fn run(&self, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError> {
        let mount_point = target.mount_point.ok_or_else(|| {
            WorkloadError::Spec("power cuts need a filesystem, and this stack has none".to_owned())
        })?;
        let base = mount_point.join(FOLDER);
        fs::create_dir(&base).map_err(WorkloadError::at("create", &base))?;
        let operations = Operations::draw(seed, self);
        host.step("power-cut");
        let mut progress = None;
        for (number, operation) in operations.all.iter().enumerate() {
            if number == operations.prepared {
                if self.ignore_flush {
                    // Earlier data is on the disks: the preparation ended with a sync.
                    host.ignore_flushes()
                        .map_err(WorkloadError::host("let the disks ignore flushes"))?;
                }
                host.begin_acts().map_err(WorkloadError::host("begin the acts"))?;
                progress = host.progress();
                if let Some(progress) = &progress {
                    progress.begin_test(0, 1, (operations.all.len() - operations.prepared) as u64);
                }
            }
            if number >= operations.prepared {
                if let Some(progress) = &progress {
                    progress.reach((number - operations.prepared) as u64);
                }
                pause(hash(seed, 1, number as u64));
            }
            say(Mark::Begun, number, host);
            perform(number, operation, &base)
                .map_err(WorkloadError::at("do an operation of the power cut in", &base))?;
            say(Mark::Returned, number, host);
        }
        Ok(())
    }
}

/// Gives background writes time now and then.
fn pause(number: u64) {
    if number.is_multiple_of(4) {
        std::thread::sleep(Duration::from_millis(number / 4 % 20));
    }
}

fn say(mark: Mark, number: usize, host: &mut dyn Host) {
    let at_ns = since_boot_ns();
    host.event(Event::Operation(OperationMark { number, mark, at_ns }));
}

/// Without rustix, which needs more of the vDSO than User-Mode Linux has since 7.x.
fn since_boot_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes the structure that it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn perform(number: usize, operation: &Operation, base: &Path) -> io::Result<()> {
    let open = |name: &str| File::options().read(true).write(true).open(base.join(name));
    match operation {
        Operation::Create { name, .. } => File::create_new(base.join(name)).map(drop),
        Operation::Write {
            name,
            file,
            first,
            records,
        } => {
            let bytes: Vec<u8> = (*first..first + records)
                .flat_map(|at| record(number, *file, at))
                .collect();
            open(name)?.write_all_at(&bytes, first * RECORD_BYTES as u64)
        }
        Operation::Truncate { name, records, .. } => open(name)?.set_len(records * RECORD_BYTES as u64),
        Operation::Rename { from, to } => fs::rename(base.join(from), base.join(to)),
        Operation::Link { from, to } => fs::hard_link(base.join(from), base.join(to)),
        Operation::Unlink { name } => fs::remove_file(base.join(name)),
        Operation::MakeFolder { name } => fs::create_dir(base.join(name)),
        Operation::RemoveFolder { name } => fs::remove_dir(base.join(name)),
        Operation::Fsync { name, .. } => open(name)?.sync_all(),
        Operation::FsyncFolder { name } => File::open(base.join(name))?.sync_all(),
        Operation::Sync => Ok(rustix::fs::syncfs(File::open(base)?)?),
    }
}
