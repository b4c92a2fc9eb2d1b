//! Contents of the cache: which kernels it has, which are in use, and which are stale.
//!
//! *Invariant*: a kernel that any raidlab holds is not removed. A user holds a shared lock on its file; removal takes
//! an exclusive lock without waiting. Build folders are changed only under the lock of the whole cache.

use super::Kernel;
use rustix::fs::FlockOperation;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The executable in a kernel's folder.
const IMAGE: &str = "linux";

/// In the same folder: programs for its guests.
pub const CARRIED: &str = "carried";

/// The kernel's metadata; written last, removed first.
const RECORD: &str = "kernel.json";

/// Kernels kept of each name: each version of raidlab has its own, and several may be used in turn.
const KERNELS_KEPT: usize = 4;

/// Build folders kept of each name, nearly a gigabyte each.
const BUILDS_KEPT: usize = 2;

/// Hexadecimal digits of a hash in folder names.
const HASH_DIGITS: usize = 12;

/// Prevents a kernel's removal until the last clone is dropped.
#[derive(Clone, Debug, Default)]
pub struct Hold {
    _file: Option<Arc<File>>,
}

impl Hold {
    /// None if the file does not exist, or was removed while waiting for the lock.
    fn on(path: &Path) -> Option<Hold> {
        let file = File::open(path).ok()?;
        // On a filesystem without locks nothing is held, and nothing is removed.
        let locked = rustix::fs::flock(&file, FlockOperation::LockShared).is_ok();
        let (ours, there) = (file.metadata().ok()?, fs::metadata(path).ok()?);
        ((ours.dev(), ours.ino()) == (there.dev(), there.ino())).then(|| Hold {
            _file: locked.then(|| Arc::new(file)),
        })
    }
}

/// The kernel in a folder of the cache, held.
pub fn read(folder: &Path) -> Option<Kernel> {
    let path = folder.join(IMAGE);
    let hold = Hold::on(&path)?;
    let record = fs::read_to_string(folder.join(RECORD)).ok()?;
    let mut kernel: Kernel = serde_json::from_str(&record).ok()?;
    // The cache may have been moved.
    kernel.path = path;
    kernel.hold = hold;
    Some(kernel)
}

/// Stores a kernel that was just built, with the files that it carries: their names in guests and their paths here.
pub fn write(
    kernel: &mut Kernel,
    image: &Path,
    carried: &[(PathBuf, PathBuf)],
    folder: &Path,
) -> Result<(), super::KernelError> {
    super::create_dir(folder)?;
    for (name, file) in carried {
        let kept = folder.join(CARRIED).join(name);
        super::create_dir(kept.parent().unwrap_or(folder))?;
        fs::copy(file, &kept).map_err(super::io_error("cannot write", &kept))?;
    }
    let contents = fs::read(image).map_err(super::io_error("cannot read", image))?;
    kernel.sha256 = hex::encode(Sha256::digest(contents));
    kernel.path = folder.join(IMAGE);
    // Written under another name first: the existing one may be running.
    let fresh = folder.join("linux.new");
    fs::copy(image, &fresh).map_err(super::io_error("cannot keep the kernel as", &fresh))?;
    fs::rename(&fresh, &kernel.path).map_err(super::io_error("cannot keep the kernel as", &kernel.path))?;
    kernel.hold = Hold::on(&kernel.path).unwrap_or_default();
    let record = serde_json::to_string_pretty(kernel).expect("a kernel's record is plain data");
    let record_path = folder.join(RECORD);
    fs::write(&record_path, record).map_err(super::io_error("cannot write", &record_path))
}

/// All kernels of a folder by name, each name's from the oldest to the newest.
pub fn all(kernels: &Path) -> Vec<Kernel> {
    let built = |kernel: &Kernel| date(&kernel.path.with_file_name(RECORD));
    let mut all: Vec<Kernel> = folders(kernels).iter().filter_map(|folder| read(folder)).collect();
    all.sort_by_cached_key(|kernel| (kernel.name.clone(), built(kernel), kernel.key.clone()));
    all
}

/// Removes the oldest kernels that nobody holds. Errors are ignored: this is housekeeping.
pub fn remove_stale_kernels(kernels: &Path) {
    let name = |folder: &Path| {
        let (rest, _) = split_hash(folder.file_name()?.to_str()?)?;
        split_hash(rest).map(|(name, _)| name.to_owned())
    };
    for folder in stale(kernels, KERNELS_KEPT, name, RECORD) {
        let Ok(image) = File::open(folder.join(IMAGE)) else {
            continue;
        };
        if rustix::fs::flock(&image, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = fs::remove_file(folder.join(RECORD));
            let _ = fs::remove_dir_all(&folder);
        }
    }
}

/// Removes the least recently used build folders. The date of the file `mark` is that of the last use; a folder without
/// the file `whole` is incomplete.
pub fn remove_stale_builds(builds: &Path, mark: &str, whole: &str) {
    let name = |folder: &Path| {
        let (name, _) = split_hash(folder.file_name()?.to_str()?)?;
        Some(name.to_owned())
    };
    for folder in stale(builds, BUILDS_KEPT, name, mark) {
        let _ = fs::remove_file(folder.join(whole));
        let _ = fs::remove_dir_all(&folder);
    }
}

/// All but the newest folders of each name. Folders with other names are left alone.
fn stale(parent: &Path, kept: usize, name: impl Fn(&Path) -> Option<String>, mark: &str) -> Vec<PathBuf> {
    let mut by_name: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for folder in folders(parent) {
        if let Some(name) = name(&folder) {
            by_name.entry(name).or_default().push(folder);
        }
    }
    let oldest = |mut folders: Vec<PathBuf>| {
        folders.sort_by_cached_key(|folder| date(&folder.join(mark)));
        folders.truncate(folders.len().saturating_sub(kept));
        folders
    };
    by_name.into_values().flat_map(oldest).collect()
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.filter(is_folder).map(|entry| entry.path()).collect()
}

fn date(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

/// `6.12` and `0123456789ab` of `6.12-0123456789ab`.
fn split_hash(name: &str) -> Option<(&str, &str)> {
    let (name, hash) = name.rsplit_once('-')?;
    let is_hash = hash.len() == HASH_DIGITS && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then_some((name, hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A kernel of this name, built `hour` hours after the first.
    fn kernel(kernels: &Path, name: &str, hour: u64) -> PathBuf {
        let key = format!("0123456789ab-{hour:012x}");
        let folder = kernels.join(format!("{name}-{key}"));
        let image = kernels.join("image");
        fs::create_dir_all(kernels).expect("a folder");
        fs::write(&image, hour.to_string()).expect("an image");
        let mut kernel = Kernel {
            name: name.to_owned(),
            release: "6.12.1".to_owned(),
            key,
            source: "nowhere".to_owned(),
            sha256: String::new(),
            path: PathBuf::new(),
            hold: Hold::default(),
        };
        write(&mut kernel, &image, &[], &folder).expect("it is kept");
        set_date(&folder.join(RECORD), hour);
        folder
    }

    fn set_date(path: &Path, hour: u64) {
        let date = SystemTime::UNIX_EPOCH + Duration::from_secs(3600 * (hour + 1));
        let file = File::options().write(true).open(path).expect("it is there");
        file.set_modified(date).expect("and ours");
    }

    #[test]
    fn the_newest_kernels_of_each_name_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let ours: Vec<PathBuf> = (0..6).rev().map(|hour| kernel(folder.path(), "6.12", hour)).collect();
        let other = kernel(folder.path(), "my-tree", 0);
        let strangers = ["notes", "6.12", "6.12-short", "6.12-0123456789ab"].map(|name| folder.path().join(name));
        for stranger in &strangers {
            fs::create_dir(stranger).expect("a folder");
        }
        remove_stale_kernels(folder.path());
        let left = |paths: &[PathBuf]| paths.iter().map(|path| path.exists()).collect::<Vec<_>>();
        assert_eq!(left(&ours), [true, true, true, true, false, false]);
        assert!(other.exists() && strangers.iter().all(|stranger| stranger.exists()));
        let hours: Vec<_> = all(folder.path())
            .into_iter()
            .map(|kernel| fs::read_to_string(kernel.path))
            .collect();
        assert_eq!(
            hours.into_iter().flatten().collect::<String>(),
            "23450",
            "by name, the oldest first"
        );
    }

    #[test]
    fn a_kernel_in_use_is_not_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let all: Vec<PathBuf> = (0..6).map(|hour| kernel(folder.path(), "6.12", hour)).collect();
        let held = read(&all[0]).expect("it is there");
        let twin = held.clone();
        drop(held);
        remove_stale_kernels(folder.path());
        assert!(all[0].exists() && !all[1].exists());
        drop(twin);
        // A program that another test starts has the lock, too, until its exec(2).
        for _ in 0..100 {
            remove_stale_kernels(folder.path());
            if !all[0].exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("nobody holds it any more");
    }

    #[test]
    fn a_kernel_that_is_being_removed_is_not_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let gone = kernel(folder.path(), "6.12", 0);
        fs::remove_file(gone.join(RECORD)).expect("it is there");
        assert!(read(&gone).is_none());
    }

    #[test]
    fn the_build_folders_used_last_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let builds = [
            "6.12-00000000000a",
            "6.12-00000000000b",
            "6.12-00000000000c",
            "mine-00000000000a",
        ];
        for (hour, build) in builds.iter().enumerate() {
            let build = folder.path().join(build);
            fs::create_dir(&build).expect("a folder");
            fs::write(build.join("log"), "").expect("a log");
            set_date(&build.join("log"), hour as u64);
        }
        set_date(&folder.path().join(builds[0]).join("log"), 9);
        remove_stale_builds(folder.path(), "log", "whole");
        let left = builds.map(|build| folder.path().join(build).exists());
        assert_eq!(left, [true, false, true, true]);
    }
}
