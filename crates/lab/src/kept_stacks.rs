//! Stacks that are created once, kept in the user's cache for later runs: the contents of their disks, and the calls that created them.
//!
//! *Invariant*: what is loaded has the SHA-256 of its record, and its record is that of its key, which names everything that the
//! contents depend on.

use crate::guest::DiskContents;
use files::read_file::{open_regular, read_regular};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use study::event::Event;

/// In a stack's folder; written last, removed first.
pub(crate) const RECORD: &str = "stack.json";

const CONTENTS: &str = "contents";

/// A call has some hundred bytes.
const RECORD_BYTES_MAX: u64 = 16 << 20;

/// Hexadecimal digits of a key's hash in the names of folders.
const HASH_DIGITS: usize = 24;

/// Size of all stacks together.
const BYTES_MAX: u64 = 2 << 30;

/// What stays free of the cache's disk when a stack is kept: that is for the run's own files.
const FREE_BYTES_MIN: u64 = 4 << 30;

/// The stacks in a folder. Failures to keep one are no failures of a run: it is created again.
#[derive(Clone, Debug)]
pub struct KeptStacks {
    folder: PathBuf,
    build: String,
    bytes_max: u64,
    free_bytes_min: u64,
}

/// What is known of a kept stack.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    key: String,
    /// For a person who lists the cache.
    label: String,
    /// raidlab's build.
    build: String,
    sha256: String,
    calls: Vec<Event>,
}

/// A kept stack in a list.
#[derive(Clone, Debug)]
pub struct KeptStack {
    pub folder: PathBuf,
    pub label: String,
    /// raidlab's build, which alone uses it.
    pub build: String,
    /// When it was last created or loaded.
    pub used: Option<SystemTime>,
}

impl KeptStacks {
    /// Those of a cache's folder, for this build of raidlab.
    pub fn of(cache: &Path, build: &str) -> Self {
        Self {
            folder: cache.join("stacks"),
            build: build.to_owned(),
            bytes_max: BYTES_MAX,
            free_bytes_min: FREE_BYTES_MIN,
        }
    }

    /// The stack with this key, if it was kept and nothing has changed it. Data beyond the budget goes to an unnamed file in `folder`.
    pub fn load(&self, key: &str, memory_budget_bytes: u64, folder: &Path) -> Option<(DiskContents, Vec<Event>)> {
        let place = self.place(key);
        let record = read(&place).filter(|record| record.key == key)?;
        let mut file = open_regular(&place.join(CONTENTS)).ok()?;
        let contents = DiskContents::read_from(&mut file, &record.sha256, memory_budget_bytes, folder);
        // The date of the last use.
        let now = File::options().write(true).open(place.join(RECORD));
        let _ = now.and_then(|record| record.set_modified(SystemTime::now()));
        Some((contents.ok()??, record.calls))
    }

    /// Keeps a stack if there is room, and drops those that were used longest ago. It is made in `folder`, which is on the same disk.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(
        &self,
        key: &str,
        label: &str,
        contents: &DiskContents,
        calls: &[Event],
        folder: &Path,
    ) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let bytes = contents.bytes();
        let disk = rustix::fs::statvfs(&self.folder)?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if bytes > self.bytes_max || free.saturating_sub(bytes) < self.free_bytes_min {
            return Ok(());
        }
        let fresh = tempfile::tempdir_in(folder)?;
        let mut file = File::create_new(fresh.path().join(CONTENTS))?;
        let record = Record {
            key: key.to_owned(),
            label: label.to_owned(),
            build: self.build.clone(),
            sha256: contents.write_to(&mut file)?,
            calls: calls.to_vec(),
        };
        fs::write(fresh.path().join(RECORD), serde_json::to_vec(&record)?)?;
        // Another run may have been quicker, or it is damaged.
        let place = self.place(key);
        remove(&place);
        fs::rename(fresh.path(), &place)?;
        // It is no temporary folder any more.
        let _ = fresh.keep();
        self.drop_oldest();
        Ok(())
    }

    /// All, those used longest ago first.
    pub fn list(&self) -> Vec<KeptStack> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut all: Vec<KeptStack> = entries
            .filter_map(|entry| {
                let folder = entry.path();
                let record = read(&folder)?;
                let used = fs::metadata(folder.join(RECORD)).and_then(|meta| meta.modified());
                Some(KeptStack {
                    folder,
                    label: record.label,
                    build: record.build,
                    used: used.ok(),
                })
            })
            .collect();
        all.sort_by_key(|stack| stack.used);
        all
    }

    fn drop_oldest(&self) {
        let all = self.list();
        let bytes = |stack: &KeptStack| fs::metadata(stack.folder.join(CONTENTS)).map_or(0, |meta| meta.len());
        let mut left: u64 = all.iter().map(bytes).sum();
        for stack in &all {
            if left <= self.bytes_max {
                break;
            }
            left -= bytes(stack);
            remove(&stack.folder);
        }
    }

    fn place(&self, key: &str) -> PathBuf {
        let hash = hex::encode(Sha256::digest(key));
        self.folder.join(&hash[..HASH_DIGITS])
    }
}

fn read(folder: &Path) -> Option<Record> {
    let record = read_regular(&folder.join(RECORD), RECORD_BYTES_MAX).ok()?;
    serde_json::from_str(&record).ok()
}

/// The record first: without it there is no stack.
fn remove(folder: &Path) {
    let _ = fs::remove_file(folder.join(RECORD));
    let _ = fs::remove_dir_all(folder);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const BUDGET: u64 = disksim::contents::SEGMENT_BYTES as u64;

    fn keep(stacks: &KeptStacks, key: &str, folder: &Path) {
        let contents = DiskContents::of_test(BUDGET, folder, &[1; 8192]);
        let kept = stacks.keep(key, "RAID 5 ext4", &contents, &[], folder);
        kept.expect("there is room");
    }

    /// Tests do not depend on how full this machine's disk is.
    fn stacks_of(folder: &Path) -> KeptStacks {
        KeptStacks {
            free_bytes_min: 0,
            ..KeptStacks::of(folder, "1")
        }
    }

    fn loaded(stacks: &KeptStacks, key: &str) -> bool {
        let folder = std::env::temp_dir();
        stacks.load(key, BUDGET, &folder).is_some()
    }

    #[test]
    fn a_stack_is_found_by_its_whole_key_and_unchanged() {
        let folder = tempfile::tempdir().expect("a folder");
        let stacks = stacks_of(folder.path());
        assert!(!loaded(&stacks, "one"));
        keep(&stacks, "one", folder.path());
        assert!(loaded(&stacks, "one") && !loaded(&stacks, "two"));
        let place = stacks.place("one");
        // The hash is that of a name; the record has the key.
        fs::rename(&place, stacks.place("two")).expect("ours");
        assert!(!loaded(&stacks, "two"));
        fs::rename(stacks.place("two"), &place).expect("ours");
        let mut bytes = fs::read(place.join(CONTENTS)).expect("there");
        bytes[30] ^= 1;
        fs::write(place.join(CONTENTS), bytes).expect("ours");
        assert!(!loaded(&stacks, "one"));
        keep(&stacks, "one", folder.path());
        assert!(loaded(&stacks, "one"));
    }

    #[test]
    fn a_full_disk_is_left_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let stacks = KeptStacks {
            free_bytes_min: u64::MAX,
            ..KeptStacks::of(folder.path(), "1")
        };
        keep(&stacks, "one", folder.path());
        assert!(!loaded(&stacks, "one"));
    }

    #[test]
    fn the_stacks_used_last_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let stacks = KeptStacks {
            bytes_max: 40_000,
            ..stacks_of(folder.path())
        };
        let names = ["one", "two", "three", "four", "five"];
        for (hour, name) in names.into_iter().enumerate() {
            keep(&stacks, name, folder.path());
            let record = File::options()
                .write(true)
                .open(stacks.place(name).join(RECORD))
                .expect("ours");
            record
                .set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(3600 * (hour as u64 + 1)))
                .expect("ours");
            if name == "three" {
                assert!(loaded(&stacks, "one"));
            }
        }
        assert_eq!(names.map(|name| loaded(&stacks, name)), [true, false, true, true, true]);
        let entries = fs::read_dir(&stacks.folder).expect("a folder").count();
        assert_eq!(entries, 4, "nothing else is left");
    }
}
