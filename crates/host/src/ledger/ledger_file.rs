//! The ledger on disk: a line of JSON for each act about to be done and for each one undone, written and synced before
//! the next step. The file is locked while a process lives that may use it.

use crate::device::device_number::DeviceNumber;
use crate::device::disk::Disk;
use crate::device::identity::Identity;
use crate::device::sysfs;
use crate::ledger::undo::HostUndo;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The supported version of the ledger's format.
pub(crate) const VERSION: u32 = 2;

/// The session that wrote it, and its disks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    pub version: u32,
    /// Name of the stacks that the session builds.
    pub name: String,
    pub pid: u32,
    /// The kernel's boot ID: loop devices and mounts do not survive a reboot.
    pub boot_id: String,
    /// The command that resumes the run.
    pub command: String,
    pub claims: Vec<ClaimedDisk>,
}

/// A disk of a run, with the whole disk and all devices below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedDisk {
    pub identity: Identity,
    pub numbers: Vec<DeviceNumber>,
}

impl ClaimedDisk {
    pub fn of(disk: &Disk) -> ClaimedDisk {
        ClaimedDisk {
            identity: Identity::of(disk),
            numbers: disk.claimed_numbers(),
        }
    }

    /// Whether two claims are on the same hardware: by another path, on another partition, or on a device below.
    pub(crate) fn collides(&self, other: &ClaimedDisk) -> bool {
        let same = |one: &Option<String>, two: &Option<String>| one.is_some() && one == two;
        let (one, two) = (&self.identity, &other.identity);
        let same_disk = same(&one.wwid, &two.wwid) || (one.wwid.is_none() && same(&one.serial, &two.serial));
        same_disk || self.numbers.iter().any(|number| other.numbers.contains(number))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Session(Header),
    Intend {
        entry: u64,
        undo: HostUndo,
    },
    /// Identity of the object that the act made, once known.
    Made {
        entry: u64,
        undo: HostUndo,
    },
    /// The signatures that distinguish what it made from others of the same type.
    Identified {
        entry: u64,
        identity: String,
    },
    Undone {
        entry: u64,
    },
}

/// An act that is not undone yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) entry: u64,
    pub(crate) undo: HostUndo,
    /// The signatures of its device after the act.
    pub(crate) identity: Option<String>,
}

/// The contents of a ledger.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) header: Option<Header>,
    /// In order of time.
    pub(crate) open: Vec<Open>,
    last_entry: u64,
    /// End of the last complete line: a killed process may have left a partial line.
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
            if contents.header.is_none() {
                check_version(line)?;
            }
            match serde_json::from_slice(line).map_err(io::Error::other)? {
                Line::Session(header) => contents.header = Some(header),
                Line::Intend { entry, undo } => {
                    contents.last_entry = contents.last_entry.max(entry);
                    contents.open.push(Open {
                        entry,
                        undo,
                        identity: None,
                    });
                }
                Line::Made { entry, undo } => {
                    for open in contents.open.iter_mut().filter(|open| open.entry == entry) {
                        open.undo = undo.clone();
                    }
                }
                Line::Identified { entry, identity } => {
                    for open in contents.open.iter_mut().filter(|open| open.entry == entry) {
                        open.identity = Some(identity.clone());
                    }
                }
                Line::Undone { entry } => contents.open.retain(|open| open.entry != entry),
            }
        }
        Ok(contents)
    }
}

/// A ledger of an unknown version is not parsed further.
fn check_version(line: &[u8]) -> io::Result<()> {
    #[derive(Deserialize)]
    struct First {
        session: Version,
    }
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let first: First = serde_json::from_slice(line).map_err(io::Error::other)?;
    match first.session.version {
        VERSION => Ok(()),
        other => Err(io::Error::other(format!(
            "its version is {other}, and this raidlab supports version {VERSION}: undo it with the raidlab that wrote it"
        ))),
    }
}

/// A ledger, open for writing.
#[derive(Debug)]
pub(crate) struct DiskLedger {
    file: File,
    last_entry: u64,
}

impl DiskLedger {
    /// Starts a ledger in an empty file.
    pub(crate) fn begin(file: File, header: &Header) -> io::Result<DiskLedger> {
        let mut ledger = DiskLedger { file, last_entry: 0 };
        ledger.append(&Line::Session(header.clone()))?;
        Ok(ledger)
    }

    /// Opens an existing ledger: an incomplete line at its end is cut off, because its act was not done.
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
    pub(crate) fn intend(&mut self, undo: &HostUndo) -> io::Result<u64> {
        let entry = self.last_entry + 1;
        self.append(&Line::Intend {
            entry,
            undo: undo.clone(),
        })?;
        self.last_entry = entry;
        Ok(entry)
    }

    /// Called after an act, when it is known what it made.
    pub(crate) fn made(&mut self, entry: u64, undo: &HostUndo) -> io::Result<()> {
        self.append(&Line::Made {
            entry,
            undo: undo.clone(),
        })
    }

    /// Called after an act that made signatures on a device.
    pub(crate) fn identified(&mut self, entry: u64, identity: &str) -> io::Result<()> {
        self.append(&Line::Identified {
            entry,
            identity: identity.to_owned(),
        })
    }

    /// Called when an act has been undone.
    pub(crate) fn undone(&mut self, entry: u64) -> io::Result<()> {
        self.append(&Line::Undone { entry })
    }

    fn append(&mut self, line: &Line) -> io::Result<()> {
        let end = self.file.seek(SeekFrom::End(0))?;
        let mut bytes = serde_json::to_vec(line).map_err(io::Error::other)?;
        bytes.push(b'\n');
        let written = self.file.write_all(&bytes).and_then(|()| self.file.sync_data());
        if written.is_err() {
            // A failed write must leave no partial line before the next one.
            let _ = self.file.set_len(end);
        }
        written
    }
}

pub(crate) fn boot_id() -> String {
    sysfs::text(Path::new("/proc/sys/kernel/random/boot_id")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            version: VERSION,
            name: "raidlab-1".to_owned(),
            pid: 1,
            boot_id: "b".to_owned(),
            command: "raidlab run x".to_owned(),
            claims: Vec::new(),
        }
    }

    fn folder(name: &str) -> HostUndo {
        HostUndo::Folder { path: name.into() }
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
                undo: folder("/two"),
                identity: None,
            }]
        );
        assert_eq!(ledger.intend(&folder("/three")).expect("written"), 3);
    }

    #[test]
    fn what_was_made_is_what_is_undone() {
        let (file, mut ledger) = begun();
        let entry = ledger.intend(&folder("/one")).expect("written");
        ledger.made(entry, &folder("/two")).expect("written");
        ledger.identified(entry, "ext4 u 0x438").expect("written");
        let contents = DiskLedger::read(&file.reopen().expect("the file")).expect("read");
        let identity = Some("ext4 u 0x438".to_owned());
        assert_eq!(
            contents.open,
            [Open {
                entry,
                undo: folder("/two"),
                identity
            }]
        );
    }

    /// Killed at any point of a write.
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

    fn claim(serial: Option<&str>, wwid: Option<&str>, numbers: &[(u32, u32)]) -> ClaimedDisk {
        let numbers: Vec<DeviceNumber> = numbers
            .iter()
            .map(|&(major, minor)| DeviceNumber { major, minor })
            .collect();
        ClaimedDisk {
            identity: Identity {
                node: "/dev/sdb".into(),
                serial: serial.map(str::to_owned),
                wwid: wwid.map(str::to_owned),
                size_bytes: 5,
                number: numbers[0],
                sequence: None,
                foundation: Vec::new(),
            },
            numbers,
        }
    }

    #[test]
    fn a_partition_of_a_claimed_disk_and_another_path_to_it_collide() {
        let disk = claim(Some("S1"), None, &[(8, 16)]);
        assert!(disk.collides(&claim(Some("S1"), None, &[(8, 17), (8, 16)])));
        assert!(disk.collides(&claim(Some("S1"), None, &[(8, 32)])));
        assert!(!disk.collides(&claim(Some("S2"), None, &[(8, 32)])));
        let path = claim(Some("S"), Some("naa.5000"), &[(8, 48)]);
        assert!(path.collides(&claim(Some("S"), Some("naa.5000"), &[(65, 0)])));
        // Two namespaces of one NVMe disk have its serial number.
        assert!(!path.collides(&claim(Some("S"), Some("naa.5001"), &[(65, 0)])));
        let nameless = claim(None, None, &[(7, 0)]);
        assert!(!nameless.collides(&claim(None, None, &[(7, 1)])));
        assert!(nameless.collides(&claim(None, None, &[(253, 0), (7, 0)])));
    }

    #[test]
    fn a_ledger_of_an_unknown_version_is_not_acted_upon() {
        for version in [0, 1, 3] {
            let line = format!("{{\"session\":{{\"version\":{version},\"name\":\"x\"}}}}\n");
            let error = Contents::parse(line.as_bytes()).expect_err("unknown");
            assert!(
                error.to_string().contains(&format!("its version is {version}")),
                "{error}"
            );
        }
        Contents::parse(b"{\"intend\":{\"entry\":1,\"undo\":{\"folder\":{\"path\":\"/x\"}}}}\n")
            .expect_err("no header");
    }
}
