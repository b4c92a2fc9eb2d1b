//! Reduces operations: removes some, and those that depend on them.

use super::operation::{Operation, Operations, folder_of};
use std::collections::{BTreeMap, BTreeSet};

/// The files that exist while operations are done.
#[derive(Default)]
struct There {
    /// File numbers by name.
    names: BTreeMap<String, u32>,
    /// Records of each file.
    sizes: BTreeMap<u32, u64>,
    folders: BTreeSet<String>,
}

impl Operations {
    /// Removes these operations (counted from 0) and those that would then fail or do something else. The sync at
    /// the end of the preparation stays.
    pub(super) fn without(self, left_out: &[u32]) -> Self {
        let mut there = There::default();
        there.folders.insert(String::new());
        let (mut all, mut prepared) = (Vec::new(), 0);
        for (number, operation) in self.all.into_iter().enumerate() {
            let ends_preparation = number + 1 == self.prepared;
            let is_wanted = ends_preparation || !left_out.contains(&(number as u32));
            if is_wanted && there.takes(&operation) {
                all.push(operation);
            }
            if ends_preparation {
                prepared = all.len();
            }
        }
        Self { all, prepared }
    }
}

impl There {
    /// Applies the operation; false if it would not do what it was drawn for.
    fn takes(&mut self, operation: &Operation) -> bool {
        let is_free = |there: &Self, name: &str| {
            !there.names.contains_key(name)
                && !there.folders.contains(name)
                && there.folders.contains(folder_of(name))
        };
        match operation {
            Operation::Create { name, file } => {
                let possible = is_free(self, name);
                if possible {
                    self.names.insert(name.clone(), *file);
                    self.sizes.insert(*file, 0);
                }
                possible
            }
            Operation::Write {
                name,
                file,
                first,
                records,
            } => {
                let size = self.sizes.get(file).copied().unwrap_or(0);
                let possible = self.is(name, *file) && *first <= size;
                if possible {
                    self.sizes.insert(*file, size.max(first + records));
                }
                possible
            }
            Operation::Truncate { name, file, records } => {
                let possible = self.is(name, *file) && self.sizes.get(file) >= Some(records);
                if possible {
                    self.sizes.insert(*file, *records);
                }
                possible
            }
            Operation::Fsync { name, file } => self.is(name, *file),
            Operation::Rename { from, to } => {
                let other = self.names.get(to) != self.names.get(from);
                let possible = other && self.names.contains_key(from) && self.folders.contains(folder_of(to));
                if let (true, Some(file)) = (possible && !self.folders.contains(to), self.names.remove(from)) {
                    self.names.insert(to.clone(), file);
                    return true;
                }
                false
            }
            Operation::Link { from, to } => match (self.names.get(from).copied(), is_free(self, to)) {
                (Some(file), true) => {
                    self.names.insert(to.clone(), file);
                    true
                }
                _ => false,
            },
            Operation::Unlink { name } => self.names.remove(name).is_some(),
            Operation::MakeFolder { name } => is_free(self, name) && self.folders.insert(name.clone()),
            Operation::RemoveFolder { name } => {
                let is_empty = !self
                    .names
                    .keys()
                    .chain(&self.folders)
                    .any(|path| folder_of(path) == name);
                is_empty && !name.is_empty() && self.folders.remove(name)
            }
            Operation::FsyncFolder { name } => self.folders.contains(name),
            Operation::Sync => true,
        }
    }

    fn is(&self, name: &str, file: u32) -> bool {
        self.names.get(name) == Some(&file)
    }
}
