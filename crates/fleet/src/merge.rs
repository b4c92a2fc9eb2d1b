//! The stores of shards as one store.
//!
//! The new store is written in a temporary folder next to the target, synced, and renamed, so that the target appears
//! complete or not at all.

use crate::Error;
use crate::store_parts::{self, PartsError};
use files::output::folder_of;
use runner::Outlook;
use rustix::fs::FlockOperation;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::{MergeError, Part, Store, StoreError};
use tempfile::TempPath;
use tools::shell_word;

/// Sources and target of a merge.
pub struct MergeOptions {
    pub target: PathBuf,
    pub parts: Vec<PathBuf>,
    /// Merge what there is.
    pub partial: bool,
}

/// Writes the merged store.
pub fn merge(options: &MergeOptions) -> Result<Merged, Error> {
    let target = &options.target;
    let folder = check_target(target)?;
    let mut all = Vec::new();
    for path in &options.parts {
        let of_store = store_parts::read(path)?;
        if of_store.is_empty() {
            return Err(PartsError::NoRun { path: path.clone() }.into());
        }
        all.extend(of_store);
    }
    for other in &all[1..] {
        Part::check_same_study(&all[0], other).map_err(PartsError::NotOne)?;
    }
    // On a host each machine has its own run, in the order of the arguments.
    let mut machines: Vec<_> = Vec::new();
    for part in &all {
        let machine = part.machine()?;
        if !machines.contains(&machine) {
            machines.push(machine);
        }
    }
    remove_left_over(folder);
    let new = tempfile::Builder::new()
        .prefix(PREFIX)
        .tempdir_in(folder)
        .map_err(|error| of_target(target, error))?;
    // The kernel releases the lock however this process ends.
    let lock = File::open(new.path()).map_err(|error| of_target(target, error))?;
    let _ = try_lock(&lock);
    let file = new.path().join("merged.db");
    let mut store = Store::open(&file).map_err(|error| named(target, error))?;
    let mut summary = Merged::default();
    for machine in machines {
        let mut of_machine = Vec::new();
        for part in &all {
            if part.machine()? == machine {
                of_machine.push(part);
            }
        }
        merge_run(options, &mut store, &of_machine, &mut summary)?;
    }
    store.close().map_err(|error| named(target, error))?;
    publish(&file, folder, target)?;
    for words in &summary.missing {
        log::warn!("warning: missing: {words}");
    }
    Ok(summary)
}

fn try_lock(folder: &File) -> rustix::io::Result<()> {
    rustix::fs::flock(folder, FlockOperation::NonBlockingLockExclusive)
}

/// Beginning of the names of folders in which stores are merged.
const PREFIX: &str = ".raidlab-merge-";

/// A new folder is not locked yet.
const LOCKED_AFTER: Duration = Duration::from_secs(60);

/// Removes folders of killed merges. Errors are ignored: this is housekeeping.
fn remove_left_over(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let Ok(there) = entry.metadata() else { continue };
        let is_new = there
            .modified()
            .is_ok_and(|date| date.elapsed().is_ok_and(|age| age < LOCKED_AFTER));
        if is_ours
            && !is_new
            && there.is_dir()
            && File::open(entry.path()).is_ok_and(|lock| try_lock(&lock).is_ok())
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Contents of the merged store.
#[derive(Default)]
pub struct Merged {
    runs: Vec<(Option<String>, String)>,
    done: u64,
    pub failed: u64,
    repeated: u64,
    missing: Vec<String>,
}

impl Merged {
    /// In words.
    pub fn words(&self, options: &MergeOptions) -> String {
        let mut text = format!(
            "{}: {} trials done, {} failed, from {}\n",
            options.target.display(),
            self.done,
            self.failed,
            report::count(options.parts.len(), "store"),
        );
        if self.repeated > 0 {
            text.push_str(&format!(
                "in more than one store, with the same results: {}\n",
                report::count(self.repeated as usize, "trial")
            ));
        }
        for (number, (name, digest)) in self.runs.iter().enumerate() {
            let name = name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
            text.push_str(&match self.runs.len() {
                1 => format!("digest {digest}\n"),
                _ => format!("run {}{name}: digest {digest}\n", number + 1),
            });
        }
        text
    }
}

fn merge_run(
    options: &MergeOptions,
    store: &mut Store,
    parts: &[&Part],
    summary: &mut Merged,
) -> Result<(), Error> {
    let target = &options.target;
    let merged = store
        .merge(parts, &command_line(options))
        .map_err(|error| match error {
            MergeError::Store(error) => named(target, error),
            other => PartsError::NotOne(other).into(),
        })?;
    let run = store.run(merged.id)?;
    let outlook = Outlook::of_run(store, &run)?;
    if outlook.left == 0 {
        let finished = parts.iter().filter_map(|part| part.run.finished_at_unix_s).max();
        store
            .finish_merged(merged.id, finished.unwrap_or_else(prepare::now_unix_s))
            .map_err(|error| named(target, error))?;
    } else {
        let missing = missing(parts, &outlook);
        if !options.partial {
            return Err(PartsError::Missing { missing }.into());
        }
        summary.missing.push(missing);
    }
    summary.done += outlook.done;
    summary.failed += outlook.failed;
    summary.repeated += merged.repeated;
    summary.runs.push((run.name, store.digest(merged.id)?));
    Ok(())
}

/// The shards without a store, those that are not finished, and the number of missing trials.
fn missing(parts: &[&Part], outlook: &Outlook) -> String {
    let mut words = Vec::new();
    let counts: BTreeMap<u32, Vec<u32>> = parts.iter().filter_map(|part| part.run.shard).fold(
        BTreeMap::new(),
        |mut counts: BTreeMap<u32, Vec<u32>>, shard| {
            counts.entry(shard.count()).or_default().push(shard.number());
            counts
        },
    );
    for (count, numbers) in counts {
        let absent = (1..=count).filter(|number| !numbers.contains(number));
        words.extend(absent.map(|number| format!("no store of shard {number}/{count}")));
    }
    for part in parts.iter().filter(|part| part.run.finished_at_unix_s.is_none()) {
        let shard = part
            .run
            .shard
            .map(|shard| format!(" (shard {shard})"))
            .unwrap_or_default();
        let path = part.path.display();
        words.push(match part.snapshot.is_being_written(part.run.id) {
            true => format!("`{path}`{shard} is being written"),
            false => format!("`{path}`{shard} is not finished"),
        });
    }
    let first = outlook
        .first_left
        .as_ref()
        .map(|first| format!(", the first of them trial {} of `{}`", first.index + 1, first.cell.key));
    words.push(format!(
        "{} of {} trials{}",
        outlook.left,
        outlook.known,
        first.unwrap_or_default()
    ));
    words.join("; ")
}

/// The folder of the target.
fn check_target(target: &Path) -> Result<&Path, PartsError> {
    let folder = folder_of(target);
    if !folder.is_dir() {
        return Err(PartsError::NoFolder {
            folder: folder.to_owned(),
        });
    }
    match fs::symlink_metadata(target) {
        Ok(_) => Err(PartsError::TargetExists {
            target: target.to_owned(),
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(folder),
        Err(error) => Err(of_target(target, error)),
    }
}

/// Renames a finished store, unless a file with that name exists by now.
fn publish(file: &Path, folder: &Path, target: &Path) -> Result<(), PartsError> {
    let failed = |error| of_target(target, error);
    File::open(file).and_then(|file| file.sync_all()).map_err(failed)?;
    let path = TempPath::try_from_path(file).map_err(failed)?;
    path.persist_noclobber(target)
        .map_err(|error| match error.error.kind() {
            ErrorKind::AlreadyExists => PartsError::TargetExists {
                target: target.to_owned(),
            },
            _ => of_target(target, error.error),
        })?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

fn of_target(target: &Path, source: std::io::Error) -> PartsError {
    let target = target.to_owned();
    match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => PartsError::Full { target },
        _ => PartsError::Target { target, source },
    }
}

/// Errors of the temporary store are reported with the target's name: its own is gone afterwards.
fn named(target: &Path, error: StoreError) -> Error {
    match error {
        StoreError::Full { .. } => PartsError::Full {
            target: target.to_owned(),
        }
        .into(),
        StoreError::ReadOnly { .. } => StoreError::ReadOnly {
            path: target.to_owned(),
        }
        .into(),
        other => other.into(),
    }
}

fn command_line(options: &MergeOptions) -> String {
    let mut words = vec!["raidlab".to_owned(), "merge".to_owned()];
    words.extend(options.partial.then(|| "--partial".to_owned()));
    let paths = std::iter::once(&options.target).chain(&options.parts);
    words.extend(paths.map(|path| shell_word(&path.display().to_string())));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn the_folder_of_a_killed_merge_does_not_stay_for_ever() {
        let folder = tempfile::tempdir().expect("a folder");
        let made = |name: &str, age: Duration| {
            let path = folder.path().join(name);
            fs::create_dir(&path).expect("made");
            fs::write(path.join("merged.db"), "half").expect("written");
            let file = File::open(&path).expect("a folder");
            file.set_modified(SystemTime::now() - age).expect("ours");
            (path, file)
        };
        let old = Duration::from_secs(3600);
        let (dead, _) = made(".raidlab-merge-dead", old);
        let (alive, lock) = made(".raidlab-merge-alive", old);
        let (new, _) = made(".raidlab-merge-new", Duration::ZERO);
        let (other, _) = made("raidlab-merge-mine", old);
        lock.try_lock().expect("nobody has it");
        remove_left_over(folder.path());
        assert!(!dead.exists());
        assert!(alive.exists() && new.exists() && other.exists());
    }
}
