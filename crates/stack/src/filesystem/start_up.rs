//! Background work of a filesystem after a mount, which would disturb a measurement.

use crate::machine::context::Context;
use crate::machine::error::Cause;
use crate::machine::executor::Executor;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The kernel thread that, from 0 to 5 s after each mount (the delay is random), reads the block bitmaps of all
/// groups in use and fills the inode tables that mke2fs deferred. It exits when it is done.
const EXT4_THREAD: &str = "ext4lazyinit";

/// On arrays of many terabytes it reads for minutes.
const AT_MOST: Duration = Duration::from_secs(600);
/// The first and the longest pause: each check costs time, and there may be hundreds.
const BETWEEN_LOOKS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// Waits until it is done for all filesystems of this machine: a stack may have others on other disks. One thread
/// serves all of them; if others keep it busy for too long, that is reported.
pub(crate) fn wait(context: &mut Context<'_>) -> Result<(), Cause> {
    let began = Instant::now();
    let (mut pause, longest) = BETWEEN_LOOKS;
    if let Some(thread) = find(EXT4_THREAD, context.access.executor)? {
        while is_named(&thread, EXT4_THREAD, context.access.executor) {
            if began.elapsed() > AT_MOST {
                let words = format!("{EXT4_THREAD} still running {} s after mounting", AT_MOST.as_secs());
                context.provenance("mount.start_up", words);
                return Ok(());
            }
            std::thread::sleep(pause);
            pause = longest.min(pause * 2);
        }
        // Its last request may be in flight.
        std::thread::sleep(BETWEEN_LOOKS.0);
    }
    Ok(())
}

/// Whether it is running for any filesystem of this machine.
pub(crate) fn is_under_way(executor: &mut dyn Executor) -> Result<bool, Cause> {
    find(EXT4_THREAD, executor).map(|thread| thread.is_some())
}

/// The folder of a process with this name in /proc.
fn find(name: &str, executor: &mut dyn Executor) -> Result<Option<PathBuf>, Cause> {
    let processes = executor.entries(Path::new("/proc"))?;
    Ok(processes.into_iter().find(|process| is_named(process, name, executor)))
}

fn is_named(process: &Path, name: &str, executor: &mut dyn Executor) -> bool {
    // A process that has exited has no name any more.
    executor.read(&process.join("comm")).is_ok_and(|found| found == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::executor::System;
    use tools::Tools;

    #[test]
    fn threads_are_known_by_their_names() {
        let mut tools = Tools::find(&[]).expect("none is missing");
        let executor = &mut System::new(&mut tools);
        let own = executor.read(Path::new("/proc/self/comm")).expect("/proc is there");
        assert!(find(&own, executor).expect("/proc is there").is_some());
        assert_eq!(find("no such thread", executor).expect("/proc is there"), None);
    }
}
