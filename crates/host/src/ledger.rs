//! The ledger on disk: a line of JSON for each act about to be done and for each one undone, written and synced before
//! the next step. The file is locked as long as a process lives that may act by it.

use crate::disk::Disk;
use crate::undo::Undo;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// Who began, and which disks are his.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    pub version: u32,
    /// Name of the stacks that the session builds.
    pub name: String,
    pub pid: u32,
    /// The kernel's number of this start of the machine: loop devices and mounts do not outlive it.
    pub boot_id: String,
    /// The command that resumes the run.
    pub command: String,
    pub claims: Vec<ClaimedDisk>,
}

/// A disk, and by what it is known again when the machine was started anew and names have changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedDisk {
    pub node: PathBuf,
    pub serial: Option<String>,
    pub wwid: Option<String>,
    pub size_bytes: u64,
}

impl ClaimedDisk {
    pub fn of(disk: &Disk) -> ClaimedDisk {
        ClaimedDisk {
            node: disk.node.clone(),
            serial: disk.serial.clone(),
            wwid: disk.wwid.clone(),
            size_bytes: disk.size_bytes,
        }
    }

    /// Whether a disk is the one that was claimed. One without serial number and world-wide name is known by its node
    /// and size alone.
    pub(crate) fn is(&self, disk: &Disk) -> bool {
        let named = self.serial.is_some() || self.wwid.is_some();
        let same_name = match named {
            true => self.serial == disk.serial && self.wwid == disk.wwid,
            false => self.node == disk.node,
        };
        same_name && self.size_bytes == disk.size_bytes
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Session(Header),
    Intend { entry: u64, undo: Undo },
    Undone { entry: u64 },
}

/// An act that is not undone yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) entry: u64,
    pub(crate) undo: Undo,
}

/// What a ledger says.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) header: Option<Header>,
    /// In the order in which it was done.
    pub(crate) open: Vec<Open>,
    last_entry: u64,
    /// Where the last whole line ends: a process that was killed may have left half a line.
    whole_bytes: u64,
}

impl Contents {
    fn read(file: &mut File) -> io::Result<Contents> {
        let mut text = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.read_to_end(&mut text)?;
        Self::parse(&text)
    }

    fn parse(text: &[u8]) -> io::Result<Contents> {
        let mut contents = Contents::default();
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            if line.last() != Some(&b'\n') {
                break;
            }
            contents.whole_bytes += line.len() as u64;
            match serde_json::from_slice(line).map_err(io::Error::other)? {
                Line::Session(header) => contents.header = Some(header),
                Line::Intend { entry, undo } => {
                    contents.last_entry = contents.last_entry.max(entry);
                    contents.open.push(Open { entry, undo });
                }
                Line::Undone { entry } => contents.open.retain(|open| open.entry != entry),
            }
        }
        Ok(contents)
    }
}

/// A ledger, open for writing.
#[derive(Debug)]
pub(crate) struct DiskLedger {
    file: File,
    last_entry: u64,
}

impl DiskLedger {
    /// Begins a ledger in an empty file.
    pub(crate) fn begin(file: File, header: &Header) -> io::Result<DiskLedger> {
        let mut ledger = DiskLedger { file, last_entry: 0 };
        ledger.append(&Line::Session(header.clone()))?;
        Ok(ledger)
    }

    /// Carries one on: half a line at its end is cut off, for what it would have said was not done.
    pub(crate) fn open(mut file: File) -> io::Result<(DiskLedger, Contents)> {
        let contents = Contents::read(&mut file)?;
        file.set_len(contents.whole_bytes)?;
        file.seek(SeekFrom::End(0))?;
        let last_entry = contents.last_entry;
        Ok((DiskLedger { file, last_entry }, contents))
    }

    pub(crate) fn read(file: &File) -> io::Result<Contents> {
        Contents::read(&mut file.try_clone()?)
    }

    /// Called before an act.
    pub(crate) fn intend(&mut self, undo: &Undo) -> io::Result<u64> {
        let entry = self.last_entry + 1;
        self.append(&Line::Intend {
            entry,
            undo: undo.clone(),
        })?;
        self.last_entry = entry;
        Ok(entry)
    }

    /// Called when an act has been undone.
    pub(crate) fn undone(&mut self, entry: u64) -> io::Result<()> {
        self.append(&Line::Undone { entry })
    }

    fn append(&mut self, line: &Line) -> io::Result<()> {
        let end = self.file.seek(SeekFrom::End(0))?;
        let mut bytes = serde_json::to_vec(line).expect("a line is plain data");
        bytes.push(b'\n');
        let written = self.file.write_all(&bytes).and_then(|()| self.file.sync_data());
        if written.is_err() {
            // What does not count must not stand there, as half a line before the next one.
            let _ = self.file.set_len(end);
        }
        written
    }
}

/// What provisioning writes.
impl stack::Ledger for DiskLedger {
    fn intend(&mut self, undo: &stack::Undo) -> io::Result<u64> {
        self.intend(&Undo::Stack(undo.clone()))
    }

    fn undone(&mut self, entry: u64) -> io::Result<()> {
        self.undone(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            version: 1,
            name: "raidlab-1".to_owned(),
            pid: 1,
            boot_id: "b".to_owned(),
            command: "raidlab run x".to_owned(),
            claims: Vec::new(),
        }
    }

    fn folder(name: &str) -> Undo {
        Undo::Folder { path: name.into() }
    }

    fn begun() -> (tempfile::NamedTempFile, DiskLedger) {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let ledger = DiskLedger::begin(file.reopen().expect("the file"), &header()).expect("written");
        (file, ledger)
    }

    #[test]
    fn what_is_open_is_what_was_not_undone() {
        let (file, mut ledger) = begun();
        let one = ledger.intend(&folder("/one")).expect("written");
        ledger.intend(&folder("/two")).expect("written");
        ledger.undone(one).expect("written");
        let (mut ledger, contents) = DiskLedger::open(file.reopen().expect("the file")).expect("read");
        assert_eq!(contents.header, Some(header()));
        assert_eq!(
            contents.open,
            [Open {
                entry: 2,
                undo: folder("/two")
            }]
        );
        assert_eq!(ledger.intend(&folder("/three")).expect("written"), 3);
    }

    /// Killed in the midst of writing, wherever.
    #[test]
    fn half_a_line_was_not_done() {
        let (file, mut ledger) = begun();
        ledger.intend(&folder("/one")).expect("written");
        let before = std::fs::read(file.path()).expect("read");
        ledger.intend(&folder("/two")).expect("written");
        let after = std::fs::read(file.path()).expect("read");
        for cut in before.len()..after.len() {
            std::fs::write(file.path(), &after[..cut]).expect("written");
            let (mut ledger, contents) = DiskLedger::open(file.reopen().expect("the file")).expect("read");
            assert_eq!(contents.open.len(), 1, "{cut}");
            ledger.intend(&folder("/again")).expect("written");
            let contents = DiskLedger::read(&file.reopen().expect("the file")).expect("whole");
            assert_eq!(contents.open.last().expect("two").undo, folder("/again"));
        }
    }

    #[test]
    fn a_ledger_that_cannot_be_written_stops_the_act() {
        let full = File::options()
            .read(true)
            .write(true)
            .open("/dev/full")
            .expect("Linux has it");
        let mut ledger = DiskLedger {
            file: full,
            last_entry: 0,
        };
        ledger.intend(&folder("/one")).expect_err("no space");
        assert_eq!(ledger.last_entry, 0);
    }

    #[test]
    fn disks_are_known_by_serial_and_size() {
        let claim = ClaimedDisk {
            node: "/dev/sdb".into(),
            serial: Some("S1".to_owned()),
            wwid: None,
            size_bytes: 5,
        };
        let disk = |node: &str, serial: Option<&str>, size_bytes| Disk {
            given: node.into(),
            node: node.into(),
            kernel_name: "sdx".to_owned(),
            number: (8, 0),
            by_id: None,
            model: None,
            serial: serial.map(str::to_owned),
            wwid: None,
            size_bytes,
            read_only: false,
            sysfs: PathBuf::new(),
        };
        assert!(claim.is(&disk("/dev/sdc", Some("S1"), 5)));
        assert!(!claim.is(&disk("/dev/sdb", Some("S2"), 5)));
        assert!(!claim.is(&disk("/dev/sdb", Some("S1"), 6)));
        let nameless = ClaimedDisk { serial: None, ..claim };
        assert!(nameless.is(&disk("/dev/sdb", None, 5)));
        assert!(!nameless.is(&disk("/dev/sdc", None, 5)));
    }
}
