//! Background work of a filesystem after a mount, which would disturb a measurement: the lazy initialisation of ext4.

use crate::machine::context::{Context, DiskKind};
use crate::machine::error::Cause;
use crate::machine::executor::Executor;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The kernel thread that, from 0 to 5 s after each mount (the delay is random), reads the block bitmaps of all
/// groups in use and fills the inode tables that mke2fs deferred. It exits when it is done.
const EXT4_THREAD: &str = "ext4lazyinit";

/// On arrays of many terabytes it reads for minutes.
const AT_MOST: Duration = Duration::from_secs(600);
/// The first and the longest pause: each check costs time, and there may be hundreds.
const BETWEEN_LOOKS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// On a host: a thread that has not run for so long sleeps. After each piece of work it pauses for ten times as long as that
/// took, which on a busy machine is minutes, and it does not notice when its last filesystem is unmounted.
const ASLEEP: Duration = Duration::from_secs(120);

/// How often a thread has run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Runs {
    /// Its folder in /proc.
    thread: PathBuf,
    /// `voluntary_ctxt_switches`.
    switches: String,
}

/// A thread that was found asleep.
static SLEEPER: Mutex<Option<Runs>> = Mutex::new(None);

/// Waits until it is done for all filesystems of this machine: a stack may have others on other disks. One thread
/// serves all of them; if others keep it busy for too long, or it sleeps, that is reported.
pub(crate) fn wait(context: &mut Context<'_>) -> Result<(), Cause> {
    let began = Instant::now();
    let (mut pause, longest) = BETWEEN_LOOKS;
    if let Some(thread) = find(EXT4_THREAD, context.access.executor)? {
        context.step_at(&format!("wait for {EXT4_THREAD}"), began);
        let is_real = context.setting.disk_kind == DiskKind::Real;
        let (mut last, mut ran) = (None, began);
        while is_named(&thread, EXT4_THREAD, context.access.executor) {
            if is_real {
                let runs = runs(&thread, context.access.executor);
                if last != runs {
                    (last, ran) = (runs, Instant::now());
                }
                let is_sleeper = last.is_some() && last == *lock();
                if is_sleeper || ran.elapsed() > ASLEEP {
                    *lock() = last;
                    context.provenance("mount.start_up", format!("{EXT4_THREAD} sleeps, and may run again"));
                    return Ok(());
                }
            }
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
    let Some(thread) = find(EXT4_THREAD, executor)? else {
        return Ok(false);
    };
    let sleeper = lock().clone();
    Ok(sleeper.is_none() || sleeper != runs(&thread, executor))
}

fn lock() -> std::sync::MutexGuard<'static, Option<Runs>> {
    SLEEPER.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn runs(thread: &Path, executor: &mut dyn Executor) -> Option<Runs> {
    let status = executor.read(&thread.join("status")).ok()?;
    let switches = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    Some(Runs {
        thread: thread.to_owned(),
        switches: switches.trim().to_owned(),
    })
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
    fn a_thread_that_has_run_is_no_sleeper() {
        let mut tools = Tools::find(&[]).expect("none is missing");
        let executor = &mut System::new(&mut tools);
        let own = Path::new("/proc/thread-self");
        let before = runs(own, executor).expect("/proc is there");
        std::thread::sleep(Duration::from_millis(1));
        assert_ne!(runs(own, executor), Some(before.clone()));
    }

    #[test]
    fn threads_are_known_by_their_names() {
        let mut tools = Tools::find(&[]).expect("none is missing");
        let executor = &mut System::new(&mut tools);
        let own = executor.read(Path::new("/proc/self/comm")).expect("/proc is there");
        assert!(find(&own, executor).expect("/proc is there").is_some());
        assert_eq!(find("no such thread", executor).expect("/proc is there"), None);
    }
}
