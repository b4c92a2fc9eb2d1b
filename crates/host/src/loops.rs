//! Files behind loop devices, for where no disks are to spare.

use crate::ledger::DiskLedger;
use crate::sysfs;
use crate::undo::Undo;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tools::{Invocation, Recorder, Tool, Tools};

/// A sparse file of this size, and a loop device on it; each act goes into the ledger first. Direct I/O if the
/// filesystem below can do that, so that nothing is cached twice.
pub(crate) fn attach(
    file: &Path,
    bytes: u64,
    ledger: &mut DiskLedger,
    tools: &Tools,
    recorder: &mut dyn Recorder,
) -> Result<PathBuf, String> {
    let intend = |ledger: &mut DiskLedger, undo: Undo| {
        ledger
            .intend(&undo)
            .map(drop)
            .map_err(|error| format!("could not write the ledger: {error}"))
    };
    intend(ledger, Undo::File { path: file.to_owned() })?;
    let made = File::options().write(true).create_new(true).mode(0o600).open(file);
    made.and_then(|made| made.set_len(bytes))
        .map_err(|error| format!("could not make {}: {error}", file.display()))?;
    intend(ledger, Undo::Loop { file: file.to_owned() })?;
    let call = attaching(file);
    let printed = tools.run(&call, recorder).map_err(|error| error.to_string())?.stdout;
    let node = PathBuf::from(printed.trim());
    // Reading what the page cache of the file holds would be no reading.
    let direct = Invocation::new(Tool::Losetup).arg("--direct-io=on").arg(&node);
    let _ = tools.run(&direct, recorder);
    Ok(node)
}

/// The call that attaches a file to the next free loop device, and prints which.
pub fn attaching(file: &Path) -> Invocation {
    Invocation::new(Tool::Losetup)
        .args(["--find", "--show", "--nooverlap"])
        .arg(file)
        .limit(Duration::from_secs(60))
}

/// Detaches a file from its loop device, if it has one.
pub(crate) fn detach(file: &Path, tools: &Tools, recorder: &mut dyn Recorder) -> Result<(), String> {
    for node in devices_of(file) {
        let call = Invocation::new(Tool::Losetup).arg("--detach").arg(&node);
        tools.run(&call, recorder).map_err(|error| error.to_string())?;
    }
    // The kernel only marks a device that is in use, and detaches it with its last user.
    for _ in 0..100 {
        if devices_of(file).is_empty() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let nodes: Vec<String> = devices_of(file).iter().map(|node| node.display().to_string()).collect();
    Err(format!("{} is still in use", nodes.join(", ")))
}

fn devices_of(file: &Path) -> Vec<PathBuf> {
    let wanted = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let is_it = |device: &PathBuf| {
        let backing = sysfs::text(&device.join("loop/backing_file")).unwrap_or_default();
        Path::new(backing.strip_suffix(" (deleted)").unwrap_or(&backing)) == wanted
    };
    sysfs::entries(Path::new("/sys/block"))
        .into_iter()
        .filter(is_it)
        .map(|device| Path::new("/dev").join(sysfs::name(&device)))
        .collect()
}
