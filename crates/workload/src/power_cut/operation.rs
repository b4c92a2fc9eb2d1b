//! The operations, drawn from a seed, and the contents of their files.

use crate::random::{Random, hash};
use std::collections::BTreeMap;
use std::fmt;
use study::workload::PowerCutSpec;

/// Bytes of a record, the unit of contents: every write starts and ends at a record boundary.
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
    /// Adds a name to a file.
    Link {
        from: String,
        to: String,
    },
    Unlink {
        name: String,
    },
    MakeFolder {
        name: String,
    },
    RemoveFolder {
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
            Self::Link { from, to: new } => write!(to, "link {from} to {new}"),
            Self::Unlink { name } => write!(to, "unlink {name}"),
            Self::MakeFolder { name } => write!(to, "mkdir {name}"),
            Self::RemoveFolder { name } => write!(to, "rmdir {name}"),
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
    /// Number of operations before the power may be cut; the last of these is a sync.
    pub prepared: usize,
}

/// Files that are never touched after the preparation, and files that exist from the start.
const UNTOUCHED: u32 = 16;
const EARLY: u32 = 8;
const EARLY_RECORDS: u64 = (48 << 10) / RECORD_BYTES as u64;
const RECORDS_MAX: u64 = (256 << 10) / RECORD_BYTES as u64;
/// Maximum records of the files for operations on names.
const SMALL_RECORDS: u64 = 64;
/// Files that are created in a row. btrfs writes new names to its trees in the background from 128 on.
const MANY: u32 = 160;

/// The parent folder of a path.
pub fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A record of a file, which identifies the operation, file and place. It is never zero and unique within a trial.
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

/// Decodes a record: operation, file and place. `None` if it is not a record.
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
    /// Numbers of the files that may be touched, by name.
    files: BTreeMap<String, u32>,
    /// Records of each file, by its number.
    sizes: Vec<u64>,
    folders: Vec<String>,
    /// Names that no file has any more, oldest first.
    free: Vec<String>,
}

impl Operations {
    /// Draws the operations of a trial, including the preparation.
    pub fn draw(seed: u64, spec: &PowerCutSpec) -> Self {
        let mut drawing = Drawing {
            random: Random::new(seed, 0x7077_6375),
            all: Vec::new(),
            files: BTreeMap::new(),
            sizes: Vec::new(),
            folders: vec![String::new()],
            free: Vec::new(),
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
        let end = prepared + spec.operations as usize;
        while drawing.all.len() < end {
            match spec.namespace {
                false => drawing.one(),
                true => drawing.one_of_names(),
            }
        }
        drawing.all.truncate(end);
        let all = Self {
            all: drawing.all,
            prepared,
        };
        match spec.left_out.is_empty() {
            true => all,
            false => all.without(&spec.left_out),
        }
    }
}

impl Drawing {
    fn create(&mut self, name: String) {
        let file = self.sizes.len() as u32;
        self.sizes.push(0);
        self.free.retain(|free| *free != name);
        self.files.insert(name.clone(), file);
        self.all.push(Operation::Create { name, file });
    }

    fn write(&mut self, name: &str, first: u64, records: u64) {
        let Some(&file) = self.files.get(name) else {
            return;
        };
        let size = &mut self.sizes[file as usize];
        *size = (*size).max(first + records);
        self.all.push(Operation::Write {
            name: name.to_owned(),
            file,
            first,
            records,
        });
    }

    fn truncate(&mut self, name: String, file: u32, records: u64) {
        self.sizes[file as usize] = records;
        self.all.push(Operation::Truncate { name, file, records });
    }

    fn unlink(&mut self, name: String) {
        self.files.remove(&name);
        self.free.push(name.clone());
        self.all.push(Operation::Unlink { name });
    }

    /// A name, its file, and the file's size in records.
    fn any_file(&mut self) -> Option<(String, u32, u64)> {
        let number = self.random.below((self.files.len() as u64).max(1)) as usize;
        let (name, &file) = self.files.iter().nth(number)?;
        Some((name.clone(), file, self.sizes[file as usize]))
    }

    fn any_folder(&mut self) -> String {
        let number = self.random.below(self.folders.len() as u64) as usize;
        self.folders[number].clone()
    }

    /// A name that was never used, in any folder.
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
                self.truncate(name, file, records);
            }
            65..72 => self.rename(name),
            72..77 => self.unlink(name),
            _ => self.all.push(Operation::Fsync { name, file }),
        }
    }

    /// To a new name, or over another file.
    fn rename(&mut self, from: String) {
        let to = match (self.random.below(2), self.any_file()) {
            (0, Some((other, ..))) if other != from => other,
            _ => self.new_name(),
        };
        self.rename_to(from, to);
    }

    fn rename_to(&mut self, from: String, to: String) {
        // rename(2) does nothing if both names are links to the same file.
        if self.files.get(&from) == self.files.get(&to) {
            return;
        }
        if let Some(moved) = self.files.remove(&from) {
            self.free.retain(|free| *free != to);
            self.free.push(from.clone());
            self.files.insert(to.clone(), moved);
            self.all.push(Operation::Rename { from, to });
        }
    }

    /// A free name; half of the time one that a file had before.
    fn free_name(&mut self) -> String {
        let number = self.random.below(2 * self.free.len() as u64) as usize;
        match self.free.get(number) {
            Some(name) => name.clone(),
            // Most are in the first folder, so that others are sometimes empty.
            None if self.random.below(3) > 0 => format!("n{}", self.all.len()),
            None => self.new_name(),
        }
    }

    /// Empty files in the first folder, as if unpacked from an archive: more than a filesystem keeps in memory
    /// before it starts writing.
    fn create_many(&mut self) {
        for _ in 0..MANY {
            self.create(format!("n{}", self.all.len()));
        }
    }

    /// Removes an empty folder, if there is one, and creates a file with its name.
    fn remove_folder(&mut self) {
        let is_in = |name: &String, folder: &String| folder_of(name) == folder;
        let is_empty = |folder: &&String| !folder.is_empty() && !self.files.keys().any(|name| is_in(name, folder));
        let Some(name) = self.folders.iter().find(is_empty).cloned() else {
            return;
        };
        self.folders.retain(|folder| *folder != name);
        self.free.retain(|free| !is_in(free, &name));
        self.all.push(Operation::RemoveFolder { name: name.clone() });
        self.save(name);
    }

    /// A new file; three in four are made durable at once, and most of these with their names.
    fn save(&mut self, name: String) {
        self.create(name.clone());
        let records = self.random.below(SMALL_RECORDS);
        if records > 0 {
            self.write(&name, 0, records);
        }
        let durable = self.random.below(4);
        let folder = folder_of(&name).to_owned();
        if let (1.., Some(&file)) = (durable, self.files.get(&name)) {
            self.all.push(Operation::Fsync { name, file });
        }
        if durable > 1 {
            self.all.push(Operation::FsyncFolder { name: folder });
        }
    }

    /// Mostly operations on names: small files, links, reused names, truncated files.
    fn one_of_names(&mut self) {
        let kind = self.random.below(100);
        if kind == 0 {
            return self.create_many();
        }
        if kind < 20 {
            let name = self.free_name();
            return self.save(name);
        }
        if kind < 26 {
            let name = format!("d{}", self.all.len());
            self.folders.push(name.clone());
            return self.all.push(Operation::MakeFolder { name });
        }
        if kind < 30 {
            return self.remove_folder();
        }
        if kind < 32 {
            return self.all.push(Operation::Sync);
        }
        if kind < 40 {
            let name = self.any_folder();
            return self.all.push(Operation::FsyncFolder { name });
        }
        let Some((name, file, size)) = self.any_file() else {
            return;
        };
        match kind {
            40..50 => {
                let records = 1 + self.random.below(SMALL_RECORDS);
                self.write(&name, size.min(RECORDS_MAX), records);
            }
            50..57 => self.truncate(name, file, 0),
            57..67 => {
                let to = self.free_name();
                self.free.retain(|free| *free != to);
                self.files.insert(to.clone(), file);
                self.all.push(Operation::Link { from: name, to });
            }
            67..71 => {
                let to = self.free_name();
                self.rename_to(name, to);
            }
            71..84 => self.unlink(name),
            _ => self.all.push(Operation::Fsync { name, file }),
        }
    }
}
