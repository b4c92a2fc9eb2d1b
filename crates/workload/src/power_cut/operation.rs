//! The operations, drawn from a seed, and the contents of their files.

use crate::random::{Random, hash};
use std::collections::BTreeMap;
use std::fmt;

/// Bytes of a record, the unit of contents: every write starts and ends at one.
pub const RECORD_BYTES: usize = 16;

/// Paths are relative to the folder of the workload, which is the empty path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    Create {
        name: String,
        file: u32,
    },
    Write {
        name: String,
        file: u32,
        first: u64,
        records: u64,
    },
    Truncate {
        name: String,
        file: u32,
        records: u64,
    },
    Rename {
        from: String,
        to: String,
    },
    Unlink {
        name: String,
    },
    MakeFolder {
        name: String,
    },
    Fsync {
        name: String,
        file: u32,
    },
    FsyncFolder {
        name: String,
    },
    Sync,
}

impl fmt::Display for Operation {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |records: &u64| records * RECORD_BYTES as u64;
        match self {
            Self::Create { name, .. } => write!(to, "create {name}"),
            Self::Write {
                name, first, records, ..
            } => write!(to, "write {} bytes at {} of {name}", bytes(records), bytes(first)),
            Self::Truncate { name, records, .. } => write!(to, "truncate {name} to {} bytes", bytes(records)),
            Self::Rename { from, to: new } => write!(to, "rename {from} to {new}"),
            Self::Unlink { name } => write!(to, "unlink {name}"),
            Self::MakeFolder { name } => write!(to, "mkdir {name}"),
            Self::Fsync { name, .. } => write!(to, "fsync {name}"),
            Self::FsyncFolder { name } if name.is_empty() => write!(to, "fsync the folder of all"),
            Self::FsyncFolder { name } => write!(to, "fsync the folder {name}"),
            Self::Sync => write!(to, "sync"),
        }
    }
}

/// All operations of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operations {
    pub all: Vec<Operation>,
    /// So many of them come before the power is cut; the last of these is a sync.
    pub prepared: usize,
}

/// Files that are never touched after the preparation, and files that exist from the start.
const UNTOUCHED: u32 = 16;
const EARLY: u32 = 8;
const EARLY_RECORDS: u64 = (48 << 10) / RECORD_BYTES as u64;
const RECORDS_MAX: u64 = (256 << 10) / RECORD_BYTES as u64;

/// A record of a file: which operation wrote it, where. Never zeros. No two records of a trial are equal.
pub fn record(operation: usize, file: u32, at: u64) -> [u8; RECORD_BYTES] {
    let version = operation as u32 + 1;
    let mut bytes = [0; RECORD_BYTES];
    bytes[..4].copy_from_slice(&version.to_le_bytes());
    bytes[4..8].copy_from_slice(&file.to_le_bytes());
    bytes[8..12].copy_from_slice(&(at as u32).to_le_bytes());
    let check = hash(u64::from(version), u64::from(file), at) as u32;
    bytes[12..].copy_from_slice(&check.to_le_bytes());
    bytes
}

/// What a record says: operation, file and place. None for anything that is no record.
pub fn parse(bytes: &[u8]) -> Option<(usize, u32, u64)> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let (version, file, at) = (word(0)?, word(4)?, u64::from(word(8)?));
    let operation = version.checked_sub(1)? as usize;
    (record(operation, file, at) == *bytes).then_some((operation, file, at))
}

/// The files and folders while operations are drawn.
struct Drawing {
    random: Random,
    all: Vec<Operation>,
    /// Number and records of each file that may be touched.
    files: BTreeMap<String, (u32, u64)>,
    folders: Vec<String>,
    next: u32,
}

impl Operations {
    /// `count` operations after those that prepare.
    pub fn draw(seed: u64, count: u32) -> Self {
        let mut drawing = Drawing {
            random: Random::new(seed, 0x7077_6375),
            all: Vec::new(),
            files: BTreeMap::new(),
            folders: vec![String::new()],
            next: 0,
        };
        for number in 0..UNTOUCHED + EARLY {
            let untouched = number < UNTOUCHED;
            let name = format!("{}{number}", if untouched { 'u' } else { 'f' });
            drawing.create(name.clone());
            drawing.write(&name, 0, EARLY_RECORDS);
            if untouched {
                drawing.files.remove(&name);
            }
        }
        drawing.all.push(Operation::Sync);
        let prepared = drawing.all.len();
        while drawing.all.len() < prepared + count as usize {
            drawing.one();
        }
        drawing.all.truncate(prepared + count as usize);
        Self {
            all: drawing.all,
            prepared,
        }
    }
}

impl Drawing {
    fn create(&mut self, name: String) {
        let file = self.next;
        self.next += 1;
        self.files.insert(name.clone(), (file, 0));
        self.all.push(Operation::Create { name, file });
    }

    fn write(&mut self, name: &str, first: u64, records: u64) {
        let Some((file, size)) = self.files.get_mut(name) else {
            return;
        };
        *size = (*size).max(first + records);
        self.all.push(Operation::Write {
            name: name.to_owned(),
            file: *file,
            first,
            records,
        });
    }

    fn any_file(&mut self) -> Option<(String, u32, u64)> {
        let number = self.random.below((self.files.len() as u64).max(1)) as usize;
        let (name, &(file, size)) = self.files.iter().nth(number)?;
        Some((name.clone(), file, size))
    }

    fn any_folder(&mut self) -> String {
        let number = self.random.below(self.folders.len() as u64) as usize;
        self.folders[number].clone()
    }

    /// A name that no file had before, in any folder.
    fn new_name(&mut self) -> String {
        let folder = self.any_folder();
        let name = format!("n{}", self.all.len());
        if folder.is_empty() {
            name
        } else {
            format!("{folder}/{name}")
        }
    }

    fn one(&mut self) {
        let kind = self.random.below(100);
        if kind < 12 {
            let name = self.new_name();
            let records = 1 + self.random.below(1024);
            self.create(name.clone());
            return self.write(&name, 0, records);
        }
        if kind < 15 {
            let name = format!("d{}", self.all.len());
            self.folders.push(name.clone());
            return self.all.push(Operation::MakeFolder { name });
        }
        if kind < 18 {
            return self.all.push(Operation::Sync);
        }
        if kind < 24 {
            let name = self.any_folder();
            return self.all.push(Operation::FsyncFolder { name });
        }
        let Some((name, file, size)) = self.any_file() else {
            return;
        };
        match kind {
            24..45 => {
                let records = 1 + self.random.below(size.clamp(1, 1024));
                let first = self.random.below((size.saturating_sub(records)).max(1));
                self.write(&name, first, records);
            }
            45..60 if size < RECORDS_MAX => {
                let records = 1 + self.random.below(1024);
                self.write(&name, size, records);
            }
            60..65 => {
                let records = self.random.below(size + 1);
                self.files.insert(name.clone(), (file, records));
                self.all.push(Operation::Truncate { name, file, records });
            }
            65..72 => self.rename(name),
            72..77 => {
                self.files.remove(&name);
                self.all.push(Operation::Unlink { name });
            }
            _ => self.all.push(Operation::Fsync { name, file }),
        }
    }

    /// To a new name, or over another file.
    fn rename(&mut self, from: String) {
        let to = match (self.random.below(2), self.any_file()) {
            (0, Some((other, ..))) if other != from => other,
            _ => self.new_name(),
        };
        if let Some(moved) = self.files.remove(&from) {
            self.files.insert(to.clone(), moved);
            self.all.push(Operation::Rename { from, to });
        }
    }
}
