//! The oracle: valid states after a power cut, derived from the operations that had started and returned.
//!
//! Only the guarantees of POSIX count: fsync of a file makes its data and size durable, fsync of a directory its
//! entries, sync everything. Later changes may be present or missing, in any order. So a violation never depends on
//! the conventions of one filesystem; guarantees beyond POSIX are not all checked.

use super::operation::{Operation, Operations, RECORD_BYTES, folder_of, parse, record};
use std::collections::BTreeMap;

/// Progress of the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Log {
    /// Number of operations that had started, in order.
    pub begun: usize,
    /// Number of them that had returned.
    pub returned: usize,
}

/// The state of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Folder,
    File(Vec<u8>),
    /// It exists but cannot be read.
    Unreadable(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViolationKind {
    /// Acknowledged as durable, but missing (or present again).
    Lost,
    /// Contents that were never written there.
    Wrong,
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Violation {
    pub kind: ViolationKind,
    /// What is lost, where known defects differ in it.
    pub loss: Option<Loss>,
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// A file or folder is not there.
    Name,
    /// A file has older content, and sync(2) alone acknowledged what was written.
    OlderThanSync,
}

impl Violation {
    fn new(kind: ViolationKind, detail: String) -> Self {
        Self {
            kind,
            loss: None,
            detail,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Nothing,
    Folder,
    File(u32),
}

/// The call that made something durable.
#[derive(Clone, Copy, Debug)]
enum Durably {
    Fsync,
    Sync,
}

/// The durable value, permitted alternatives, and all earlier values.
#[derive(Clone, Debug)]
struct Value<T> {
    now: T,
    before: Vec<T>,
    ever: Vec<T>,
    /// Durable because of a sync of everything, not of an fsync.
    by_sync: bool,
}

impl<T: Copy + PartialEq> Value<T> {
    fn new(now: T) -> Self {
        Self {
            now,
            before: Vec::new(),
            ever: vec![now],
            by_sync: false,
        }
    }

    fn set(&mut self, now: T) {
        self.by_sync = false;
        self.before.push(self.now);
        self.now = now;
        self.ever.push(now);
    }

    fn durable(&mut self, by: Durably) {
        match by {
            Durably::Fsync => self.by_sync = false,
            Durably::Sync => self.by_sync |= !self.before.is_empty(),
        }
        self.before.clear();
    }

    fn may_be(&self, value: T) -> bool {
        self.now == value || self.before.contains(&value)
    }

    fn all(&self) -> impl Iterator<Item = T> + '_ {
        self.before.iter().copied().chain([self.now])
    }
}

/// A record is 0 if nothing was written, otherwise the number of the writing operation plus one.
#[derive(Clone, Debug)]
struct File {
    /// Size in records.
    size: Value<u64>,
    records: Vec<Value<u32>>,
}

/// The permitted states.
pub struct History {
    names: BTreeMap<String, Value<Bound>>,
    files: BTreeMap<u32, File>,
}

impl History {
    pub fn new(operations: &Operations, log: Log) -> Self {
        let mut history = Self {
            names: BTreeMap::new(),
            files: BTreeMap::new(),
        };
        for (number, operation) in operations.all.iter().enumerate().take(log.begun) {
            history.apply(number, operation, number < log.returned);
        }
        history
    }

    fn bind(&mut self, name: &str, to: Bound) {
        self.names
            .entry(name.to_owned())
            .or_insert_with(|| Value::new(Bound::Nothing))
            .set(to);
    }

    fn apply(&mut self, number: usize, operation: &Operation, returned: bool) {
        match operation {
            Operation::Create { name, file } => {
                let empty = File {
                    size: Value::new(0),
                    records: Vec::new(),
                };
                self.files.insert(*file, empty);
                self.bind(name, Bound::File(*file));
            }
            Operation::Write {
                file, first, records, ..
            } => {
                let Some(file) = self.files.get_mut(file) else { return };
                let end = first + records;
                let length = file.records.len().max(end as usize);
                file.records.resize_with(length, || Value::new(0));
                let written = &mut file.records[*first as usize..end as usize];
                written.iter_mut().for_each(|record| record.set(number as u32 + 1));
                let size = file.size.now.max(end);
                file.size.set(size);
            }
            Operation::Truncate { file, records, .. } => {
                let Some(file) = self.files.get_mut(file) else { return };
                file.size.set(*records);
                let cut = file.records.iter_mut().skip(*records as usize);
                cut.filter(|record| record.now != 0).for_each(|record| record.set(0));
            }
            Operation::Rename { from, to } => {
                let moved = self.names.get(from).map_or(Bound::Nothing, |value| value.now);
                self.bind(from, Bound::Nothing);
                self.bind(to, moved);
            }
            Operation::Link { from, to } => {
                let linked = self.names.get(from).map_or(Bound::Nothing, |value| value.now);
                self.bind(to, linked);
            }
            Operation::Unlink { name } | Operation::RemoveFolder { name } => self.bind(name, Bound::Nothing),
            Operation::MakeFolder { name } => self.bind(name, Bound::Folder),
            Operation::Fsync { file, .. } if returned => {
                if let Some(file) = self.files.get_mut(file) {
                    file.durable(Durably::Fsync);
                }
            }
            Operation::FsyncFolder { name } if returned => {
                let of_it = self.names.iter_mut().filter(|(path, _)| folder_of(path) == name);
                of_it.for_each(|(_, value)| value.durable(Durably::Fsync));
            }
            Operation::Sync if returned => {
                self.names.values_mut().for_each(|value| value.durable(Durably::Sync));
                self.files.values_mut().for_each(|file| file.durable(Durably::Sync));
            }
            Operation::Fsync { .. } | Operation::FsyncFolder { .. } | Operation::Sync => {}
        }
    }

    /// All violations.
    pub fn judge(&self, found: &BTreeMap<String, Found>) -> Vec<Violation> {
        let mut all = Vec::new();
        for name in found.keys().filter(|name| !self.names.contains_key(*name)) {
            let detail = format!("{name}: no file ever had this name");
            all.push(Violation::new(ViolationKind::Wrong, detail));
        }
        for (name, value) in &self.names {
            if self.goes_with_its_folder(name, found) {
                continue;
            }
            if let Some(violation) = self.judge_name(value, found.get(name)) {
                let detail = format!("{name}: {}", violation.detail);
                all.push(Violation { detail, ..violation });
            }
        }
        all
    }

    /// The parent folder is gone, which is valid or reported separately.
    fn goes_with_its_folder(&self, name: &str, found: &BTreeMap<String, Found>) -> bool {
        let folder = folder_of(name);
        !folder.is_empty() && !found.contains_key(folder)
    }

    fn judge_name(&self, value: &Value<Bound>, found: Option<&Found>) -> Option<Violation> {
        let lost = |detail: &str| Some(Violation::new(ViolationKind::Lost, detail.to_owned()));
        let wrong = |detail: &str| Some(Violation::new(ViolationKind::Wrong, detail.to_owned()));
        match found {
            None if value.may_be(Bound::Nothing) => None,
            None => lost("it is gone").map(|violation| Violation {
                loss: Some(Loss::Name),
                ..violation
            }),
            Some(Found::Folder) if value.may_be(Bound::Folder) => None,
            Some(Found::Folder) if value.ever.contains(&Bound::Folder) => lost("the folder is there again"),
            Some(Found::Folder) => wrong("it is a folder"),
            Some(Found::Unreadable(why)) => wrong(&format!("it cannot be read: {why}")),
            Some(Found::File(bytes)) => {
                let files = |bound| match bound {
                    Bound::File(file) => Some((file, self.files.get(&file)?)),
                    _ => None,
                };
                let judged = value
                    .all()
                    .filter_map(files)
                    .map(|(number, file)| file.judge(number, bytes));
                match judged.min_by_key(|bad| bad.count) {
                    Some(Bad { count: 0, .. }) => None,
                    Some(bad) => Some(bad.first),
                    // No file may be here. Was one?
                    None if value.ever.iter().any(|bound| matches!(bound, Bound::File(_))) => {
                        lost("it is there again")
                    }
                    None => wrong("it is a file"),
                }
            }
        }
    }
}

/// How contents differ from all permitted ones.
struct Bad {
    /// Number of records.
    count: u64,
    /// The first of the worst kind.
    first: Violation,
}

impl File {
    fn durable(&mut self, by: Durably) {
        self.size.durable(by);
        self.records.iter_mut().for_each(|record| record.durable(by));
    }

    fn judge(&self, number: u32, bytes: &[u8]) -> Bad {
        let mut bad = Bad {
            count: 0,
            first: Violation::new(ViolationKind::Lost, String::new()),
        };
        let (min, max) = self
            .size
            .all()
            .fold((u64::MAX, 0), |(min, max), size| (size.min(min), size.max(max)));
        let size = bytes.len() as u64;
        let unit = RECORD_BYTES as u64;
        if size < min * unit {
            let detail = format!("it has {size} bytes, but at least {} are durable", min * unit);
            bad.add(min - size / unit, Violation::new(ViolationKind::Lost, detail));
        } else if size > max * unit {
            let most = max * unit;
            let detail = format!("it has {size} bytes, but was durably truncated to {most} or fewer");
            bad.add(size / unit - max, Violation::new(ViolationKind::Lost, detail));
        }
        let nothing = Value::new(0);
        for (at, found) in bytes.chunks(RECORD_BYTES).enumerate().take(max as usize) {
            let may = self.records.get(at).unwrap_or(&nothing);
            if let Some(violation) = judge_record(may, number, at as u64, found) {
                let detail = format!("at byte {}: {}", at * RECORD_BYTES, violation.detail);
                bad.add(1, Violation { detail, ..violation });
            }
        }
        if bad.count > 1 {
            bad.first.detail += &format!(" ({} records of {RECORD_BYTES} bytes in all)", bad.count);
        }
        bad
    }
}

impl Bad {
    /// Wrong data is worse than lost data, and the first of the worst kind is shown.
    fn add(&mut self, count: u64, violation: Violation) {
        if self.count == 0 || violation.kind > self.first.kind {
            self.first = violation;
        }
        self.count += count;
    }
}

fn judge_record(may: &Value<u32>, file: u32, at: u64, found: &[u8]) -> Option<Violation> {
    let is = |version: u32| match version {
        0 => found.iter().all(|byte| *byte == 0),
        _ => record(version as usize - 1, file, at).starts_with(found),
    };
    if is(may.now) || may.before.iter().any(|version| is(*version)) {
        return None;
    }
    let wanted = match may.now {
        0 => "nothing was written there".to_owned(),
        version => format!("operation {} wrote there", version - 1),
    };
    if may.ever.iter().any(|version| is(*version)) {
        let by = if may.by_sync { "durably, by sync" } else { "durably" };
        return Some(Violation {
            kind: ViolationKind::Lost,
            loss: may.by_sync.then_some(Loss::OlderThanSync),
            detail: format!("older content, but {wanted}, {by}"),
        });
    }
    let what = match parse(found) {
        Some((operation, of, place)) => format!(
            "what operation {operation} wrote to file {of} at byte {}",
            place * RECORD_BYTES as u64
        ),
        None if found.iter().all(|byte| *byte == 0) => "zeros".to_owned(),
        None => "what no operation wrote".to_owned(),
    };
    Some(Violation::new(ViolationKind::Wrong, format!("{what}, but {wanted}")))
}

#[cfg(test)]
mod tests;
