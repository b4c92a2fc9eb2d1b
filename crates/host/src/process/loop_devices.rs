//! Files behind loop devices, for machines without spare disks.

use crate::device::loop_status::{Backing, Loop};
use crate::device::sysfs;
use crate::ledger::ledger_file::DiskLedger;
use crate::ledger::undo::{HostUndo, Inode};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tools::{Invocation, Recorder, Tool, Tools};

/// Creates a sparse file of this size and attaches a loop device; each act is written to the ledger first. Uses direct
/// I/O if the filesystem below supports it, so that nothing is cached twice.
pub(crate) fn attach(
    file: &Path,
    bytes: u64,
    ledger: &mut DiskLedger,
    tools: &Tools,
    recorder: &mut dyn Recorder,
) -> Result<PathBuf, String> {
    make(file, bytes, ledger).map_err(|error| format!("could not make {}: {error}", file.display()))?;
    ledger
        .intend(&HostUndo::Loop { file: file.to_owned() })
        .map_err(|error| format!("could not write the ledger: {error}"))?;
    let call = attaching(file);
    let printed = tools.run(&call, recorder).map_err(|error| error.to_string())?.stdout;
    let node = PathBuf::from(printed.trim());
    // Otherwise reads would come from the page cache of the file.
    let direct = Invocation::new(Tool::Losetup).arg("--direct-io=on").arg(&node);
    let _ = tools.run(&direct, recorder);
    Ok(node)
}

/// Once the file exists, its inode is recorded in the ledger.
fn make(path: &Path, bytes: u64, ledger: &mut DiskLedger) -> io::Result<()> {
    let undo = |made: Option<Inode>| HostUndo::File {
        path: path.to_owned(),
        made,
    };
    let entry = ledger.intend(&undo(None))?;
    let file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    ledger.made(entry, &undo(Some(inode(&file.metadata()?))))?;
    file.set_len(bytes)
}

fn inode(meta: &fs::Metadata) -> Inode {
    Inode {
        device: meta.dev(),
        number: meta.ino(),
    }
}

/// Removes a file that was made; false if the name now belongs to another file. A file without a recorded inode is the
/// run's if it is empty.
pub(crate) fn remove(path: &Path, made: Option<Inode>) -> Result<bool, String> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error.to_string()),
    };
    let is_ours = meta.is_file()
        && match made {
            Some(made) => inode(&meta) == made,
            None => meta.len() == 0,
        };
    match is_ours {
        true => fs::remove_file(path).map(|()| true).map_err(|error| error.to_string()),
        false => Ok(false),
    }
}

/// The call that attaches a file to the next free loop device and prints its name. ZFS pools are made on partitions,
/// which the kernel scans on a loop device only on request.
pub fn attaching(file: &Path) -> Invocation {
    Invocation::new(Tool::Losetup)
        .args(["--find", "--show", "--nooverlap", "--partscan"])
        .arg(file)
        .limit(Duration::from_secs(60))
}

/// Detaches a file from its loop device, if it has one.
pub(crate) fn detach(file: &Path, tools: &Tools, recorder: &mut dyn Recorder) -> Result<(), String> {
    for node in devices_of(file) {
        let call = Invocation::new(Tool::Losetup).arg("--detach").arg(&node);
        tools.run(&call, recorder).map_err(|error| error.to_string())?;
    }
    // The kernel only marks a device that is in use, and detaches it when its last user closes it.
    for _ in 0..100 {
        if devices_of(file).is_empty() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let nodes: Vec<String> = devices_of(file).iter().map(|node| node.display().to_string()).collect();
    Err(format!("{} is still in use", nodes.join(", ")))
}

/// The devices of a file according to the kernel; if the file was removed, by its name.
pub(crate) fn devices_of(file: &Path) -> Vec<PathBuf> {
    let meta = fs::metadata(file).ok();
    let wanted = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let is_it = |device: &PathBuf| match &meta {
        Some(meta) => {
            let backing = Backing::File {
                device: meta.dev(),
                inode: meta.ino(),
            };
            Loop::at(device).is_ok_and(|this| this.is_some_and(|this| this.backing == backing))
        }
        None => {
            let backing = sysfs::text(&device.join("loop/backing_file")).unwrap_or_default();
            backing
                .strip_suffix(" (deleted)")
                .is_some_and(|backing| Path::new(backing) == wanted)
        }
    };
    sysfs::entries(Path::new("/sys/block"))
        .into_iter()
        .filter(is_it)
        .map(|device| Path::new("/dev").join(sysfs::name(&device)))
        .collect()
}
