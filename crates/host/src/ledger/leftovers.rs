//! Data of finished runs on disks, which belongs to nobody. A disk that still has these contents need not be
//! released again. Kept until the next reboot.

use crate::device::blank_check::Fingerprint;
use crate::device::disk::Disk;
use crate::device::identity::Identity;
use crate::ledger::root_files;
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// On a tmpfs: lost at reboot.
const FILE: &str = "/run/raidlab.left";
const RECORDS_MAX: usize = 1000;

#[derive(Serialize, Deserialize)]
struct Record {
    identity: Identity,
    fingerprint: Fingerprint,
}

/// The fingerprint that a finished run left on a disk, if known.
pub(crate) fn on(disk: &Disk) -> Option<Fingerprint> {
    let file = root_files::open(Path::new(FILE)).ok()??;
    let records = read(&file).ok()?;
    let identity = Identity::of(disk);
    let of_disk = records
        .into_iter()
        .rfind(|record| record.identity.check(&identity).is_ok())?;
    Some(of_disk.fingerprint)
}

/// Records what a finished run leaves. If that fails, the disk must be released again.
pub(crate) fn note(identity: &Identity, fingerprint: &Fingerprint) -> io::Result<()> {
    // The owner of an existing file is checked below.
    drop(File::options().create_new(true).write(true).mode(0o600).open(FILE));
    update(|records| {
        records.retain(|record| record.identity.number != identity.number);
        records.push(Record {
            identity: identity.clone(),
            fingerprint: fingerprint.clone(),
        });
        let surplus = records.len().saturating_sub(RECORDS_MAX);
        records.drain(..surplus);
    })
}

/// Removes the record of a disk that is about to be written to.
pub(crate) fn forget(identity: &Identity) -> io::Result<()> {
    update(|records| records.retain(|record| record.identity.number != identity.number))
}

fn update(change: impl FnOnce(&mut Vec<Record>)) -> io::Result<()> {
    let Some(mut file) = root_files::open(Path::new(FILE))? else {
        return Ok(());
    };
    rustix::fs::flock(&file, FlockOperation::LockExclusive)?;
    let mut records = read(&file).unwrap_or_default();
    change(&mut records);
    let text = serde_json::to_vec(&records).map_err(io::Error::other)?;
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&text)
}

fn read(mut file: &File) -> io::Result<Vec<Record>> {
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut text)?;
    serde_json::from_slice(&text).map_err(io::Error::other)
}
