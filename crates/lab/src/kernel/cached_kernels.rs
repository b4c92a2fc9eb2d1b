//! Contents of the cache: which kernels it has, which are in use, and which are stale.
//!
//! *Invariant*: a kernel that any raidlab holds is not removed. A user holds a shared lock on its file; removal takes
//! an exclusive lock without waiting. Build folders are changed only under the lock of the whole cache.
//!
//! *Invariant*: a kernel that runs has the SHA-256 of its record: [`verified`] compares them when it is loaded, and
//! [`Kernel::image`] before each guest, if the file's times or its inode are others than then.

use super::Kernel;
use files::read_file::{open_regular, read_regular};
use rustix::fs::FlockOperation;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The executable in a kernel's folder.
const IMAGE: &str = "linux";

/// In the same folder: programs for its guests.
pub const CARRIED_FOLDER: &str = "carried";

/// The kernel's metadata; written last, removed first.
pub const RECORD: &str = "kernel.json";

/// Kernels kept of each name: each version of raidlab has its own, and several may be used in turn.
const KERNELS_KEPT: usize = 4;

/// Build folders kept of each name, nearly a gigabyte each.
const BUILDS_KEPT: usize = 2;

/// A record is a few hundred bytes.
const RECORD_BYTES_MAX: u64 = 1 << 20;

/// An image with all debugging information has some hundred megabytes. A larger file is none.
const IMAGE_BYTES_MAX: u64 = 4 << 30;

/// Hexadecimal digits of a hash in folder names.
const HASH_DIGITS: usize = 12;

/// Prevents a kernel's removal until the last clone is dropped.
#[derive(Clone, Debug, Default)]
pub struct Hold {
    _file: Option<Arc<File>>,
    /// The image as it was found; none for a kernel that was never in a folder.
    image: Option<Image>,
}

/// What changes with every write to a file, and with every other file under its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Image {
    file: (u64, u64),
    size: u64,
    changed: (i64, i64),
}

impl Image {
    fn of(meta: &Metadata) -> Image {
        Image {
            file: (meta.dev(), meta.ino()),
            size: meta.size(),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

impl Hold {
    /// None if it is not a file, or was removed while waiting for the lock.
    fn on(path: &Path) -> Option<Hold> {
        let file = open_regular(path).ok()?;
        // On a filesystem without locks nothing is held, and nothing is removed.
        let locked = rustix::fs::flock(&file, FlockOperation::LockShared).is_ok();
        let (ours, there) = (Image::of(&file.metadata().ok()?), Image::of(&fs::metadata(path).ok()?));
        (ours == there).then(|| Hold {
            _file: locked.then(|| Arc::new(file)),
            image: Some(ours),
        })
    }

    /// Whether the image is the one that was found.
    pub fn is_same(&self, path: &Path) -> bool {
        let now = fs::metadata(path).ok().map(|meta| Image::of(&meta));
        self.image.is_none() || self.image == now
    }
}

/// The kernel in a folder of the cache, held.
pub fn read(folder: &Path) -> Option<Kernel> {
    let path = folder.join(IMAGE);
    let hold = Hold::on(&path)?;
    let record = read_regular(&folder.join(RECORD), RECORD_BYTES_MAX).ok()?;
    let mut kernel: Kernel = serde_json::from_str(&record).ok()?;
    // The cache may have been moved.
    kernel.path = path;
    kernel.hold = hold;
    Some(kernel)
}

/// The kernel in a folder of the cache, if its files are those that were built. Records of earlier versions have no
/// SHA-256, so their kernels are built again.
pub fn verified(folder: &Path) -> Option<Kernel> {
    let kernel = read(folder)?;
    is_as_built(&kernel).then_some(kernel)
}

/// Whether a kernel was kept in the folder and has since been changed, wholly or in part.
pub fn is_damaged(folder: &Path) -> bool {
    folder.join(RECORD).exists() && verified(folder).is_none()
}

/// Whether the kernel's files have the SHA-256 of its record.
pub fn is_as_built(kernel: &Kernel) -> bool {
    let carried = || sha256_of_carried(&kernel.path.with_file_name(CARRIED_FOLDER)).ok();
    sha256(&kernel.path).is_ok_and(|sha256| sha256 == kernel.sha256)
        && carried().is_some_and(|sha256| sha256 == kernel.carried_sha256)
}

fn sha256(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut image = open_regular(path).map_err(io::Error::other)?.take(IMAGE_BYTES_MAX);
    let mut piece = vec![0; 1 << 20];
    loop {
        match image.read(&mut piece)? {
            0 => return Ok(hex::encode(hash.finalize())),
            bytes => hash.update(&piece[..bytes]),
        }
    }
}

/// None without files.
fn sha256_of_carried(folder: &Path) -> io::Result<Option<String>> {
    let files = crate::carried::read(folder)?;
    let mut hash = Sha256::new();
    for file in &files {
        for part in [file.path.as_os_str().as_encoded_bytes(), &file.contents] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    Ok((!files.is_empty()).then(|| hex::encode(hash.finalize())))
}

/// Stores a kernel that was just built, with the files that it carries: their names in guests and their paths here.
pub fn write(
    kernel: &mut Kernel,
    image: &Path,
    carried: &[(PathBuf, PathBuf)],
    folder: &Path,
) -> Result<(), super::KernelError> {
    super::create_dir(folder)?;
    let record_path = folder.join(RECORD);
    // Until the new record is complete, an incomplete kernel is none.
    remove(&record_path)?;
    // What others put there is not carried.
    match fs::remove_dir_all(folder.join(CARRIED_FOLDER)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(super::io_error("cannot replace", &folder.join(CARRIED_FOLDER))(error));
        }
        _ => {}
    }
    for (name, file) in carried {
        let kept = folder.join(CARRIED_FOLDER).join(name);
        super::create_dir(kept.parent().unwrap_or(folder))?;
        put(&kept, file)?;
    }
    kernel.path = folder.join(IMAGE);
    put(&kernel.path, image)?;
    let carried_folder = folder.join(CARRIED_FOLDER);
    kernel.sha256 = sha256(image).map_err(super::io_error("cannot read", image))?;
    kernel.carried_sha256 =
        sha256_of_carried(&carried_folder).map_err(super::io_error("cannot read", &carried_folder))?;
    kernel.hold = Hold::on(&kernel.path).unwrap_or_default();
    let record = serde_json::to_string_pretty(kernel).expect("a kernel's record is plain data");
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        file.write_all(record.as_bytes())?;
        file.as_file().set_permissions(Permissions::from_mode(0o644))?;
        file.as_file().sync_all()?;
        file.persist(&record_path)?;
        sync_folder(folder)?;
        sync_folder(folder.parent().unwrap_or(folder))
    });
    written.map_err(super::io_error("cannot write", &record_path))
}

fn remove(path: &Path) -> Result<(), super::KernelError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(super::io_error("cannot replace", path)(error))
        }
        _ => Ok(()),
    }
}

/// A copy of the file, on the disk when this returns. An existing one may be running: it is replaced, not changed.
fn put(path: &Path, from: &Path) -> Result<(), super::KernelError> {
    let folder = path.parent().unwrap_or(path);
    let copied = tempfile::NamedTempFile::new_in(folder).and_then(|mut fresh| {
        let mut from = File::open(from)?;
        io::copy(&mut from, &mut fresh)?;
        fresh.as_file().set_permissions(from.metadata()?.permissions())?;
        fresh.as_file().sync_all()?;
        fresh.persist(path)?;
        sync_folder(folder)
    });
    copied.map_err(super::io_error("cannot keep the kernel as", path))
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
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
        if let Ok(_lock) = lock(&folder) {
            let _ = fs::remove_file(folder.join(RECORD));
            let _ = fs::remove_dir_all(&folder);
        }
    }
}

/// Locks the kernel of a folder, so that no raidlab begins to use it.
///
/// # Errors
/// If one uses it, or there is none.
pub fn lock(folder: &Path) -> Result<File, Unlocked> {
    let image = open_regular(&folder.join(IMAGE)).map_err(|_| Unlocked::NoImage)?;
    let locked = rustix::fs::flock(&image, FlockOperation::NonBlockingLockExclusive);
    locked.map(|()| image).map_err(|_| Unlocked::InUse)
}

/// Why a kernel is not locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlocked {
    NoImage,
    InUse,
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

/// Links are none.
pub fn folders(parent: &Path) -> Vec<PathBuf> {
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
    use crate::kernel::KernelError;
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
            carried_sha256: None,
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
    fn an_image_with_another_link_or_permission_runs_and_one_with_other_contents_does_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let found = verified(&kernel(folder.path(), "6.12", 0)).expect("it is kept");
        let link = folder.path().join("link");
        fs::hard_link(&found.path, &link).expect("one filesystem");
        fs::set_permissions(&link, Permissions::from_mode(0o755)).expect("ours");
        found.image().expect("what it holds is the same");
        fs::write(&link, "another").expect("ours");
        assert!(matches!(found.image(), Err(KernelError::Changed { .. })));
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
    fn an_image_that_was_swapped_is_not_loaded_under_its_old_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let cached = kernel(folder.path(), "6.12", 0);
        let loaded = verified(&cached).expect("as built");
        loaded.image().expect("unchanged");
        fs::write(cached.join("other"), "1").expect("written");
        fs::rename(cached.join("other"), cached.join(IMAGE)).expect("renamed");
        assert!(verified(&cached).is_none(), "another image of the same size");
        loaded.image().expect_err("swapped since it was loaded");
    }

    #[test]
    fn a_kernel_of_which_nothing_is_known_is_not_loaded() {
        let folder = tempfile::tempdir().expect("a folder");
        let cached = kernel(folder.path(), "6.12", 0);
        let text = fs::read_to_string(cached.join(RECORD)).expect("a record");
        let mut record: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        record.as_object_mut().expect("an object").remove("sha256");
        fs::write(cached.join(RECORD), record.to_string()).expect("written");
        assert!(read(&cached).is_some() && verified(&cached).is_none());
    }

    #[test]
    fn a_program_that_guests_get_with_their_kernel_cannot_be_swapped() {
        let folder = tempfile::tempdir().expect("a folder");
        let cached = kernel(folder.path(), "6.12", 0);
        let zpool = cached.join(CARRIED_FOLDER).join("sbin/zpool");
        fs::create_dir_all(zpool.parent().expect("a folder")).expect("a folder");
        fs::write(&zpool, "another").expect("written");
        assert!(verified(&cached).is_none());
    }

    #[test]
    fn issue_39_d17_pipes_and_devices_in_the_cache_are_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        for (hour, name) in [IMAGE, RECORD].into_iter().enumerate() {
            let cached = kernel(folder.path(), "6.12", hour as u64);
            assert!(!is_damaged(&cached));
            fs::remove_file(cached.join(name)).expect("it is there");
            rustix::fs::mkfifoat(rustix::fs::CWD, cached.join(name), rustix::fs::Mode::RUSR).expect("a pipe");
            assert!(verified(&cached).is_none() && is_damaged(&cached));
        }
        let cached = kernel(folder.path(), "6.12", 2);
        fs::remove_file(cached.join(RECORD)).expect("it is there");
        std::os::unix::fs::symlink("/dev/zero", cached.join(RECORD)).expect("a link");
        assert!(verified(&cached).is_none() && is_damaged(&cached));
        let cached = kernel(folder.path(), "6.12", 3);
        let sbin = cached.join(CARRIED_FOLDER).join("sbin");
        fs::create_dir_all(&sbin).expect("a folder");
        std::os::unix::fs::symlink("/dev/zero", sbin.join("zpool")).expect("a link");
        assert!(verified(&cached).is_none() && is_damaged(&cached));
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
