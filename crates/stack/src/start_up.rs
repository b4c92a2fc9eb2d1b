//! What a filesystem goes on doing by itself once it is mounted, and would do in the middle of a measurement.

use crate::context::Context;
use crate::error::Cause;
use std::fs;
use std::time::{Duration, Instant};
use study::stack::FilesystemKind;

/// The kernel's thread that, from 0 to 5 s after each mount (the delay is random), reads the block bitmaps of all groups
/// that are in use and fills the inode tables that mke2fs left for later. It ends when there is nothing left to do.
const EXT4_THREAD: &str = "ext4lazyinit";

/// On arrays of many terabytes it reads for minutes.
const AT_MOST: Duration = Duration::from_secs(600);
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Waits until it is over, and says so if it does not end: other filesystems of the machine are looked after by the same
/// thread.
pub(crate) fn wait(kind: FilesystemKind, context: &mut Context<'_>) -> Result<(), Cause> {
    if !matches!(kind, FilesystemKind::Ext2 | FilesystemKind::Ext3 | FilesystemKind::Ext4) {
        return Ok(());
    }
    let began = Instant::now();
    while has_thread(EXT4_THREAD)? {
        if began.elapsed() > AT_MOST {
            let words = format!("{EXT4_THREAD} still at work {} s after mounting", AT_MOST.as_secs());
            context.provenance("mount.start_up", words);
            return Ok(());
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    // What it asked for last may be under way.
    std::thread::sleep(BETWEEN_LOOKS);
    Ok(())
}

fn has_thread(name: &str) -> Result<bool, Cause> {
    let processes = fs::read_dir("/proc").map_err(Cause::system("read /proc"))?;
    Ok(processes.filter_map(Result::ok).any(|process| {
        // A process that ended meanwhile has no name any more.
        fs::read_to_string(process.path().join("comm")).is_ok_and(|found| found.trim_end() == name)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_known_by_their_names() {
        let own = fs::read_to_string("/proc/self/comm").expect("/proc is there");
        assert!(has_thread(own.trim_end()).expect("/proc is there"));
        assert!(!has_thread("no such thread").expect("/proc is there"));
    }
}
