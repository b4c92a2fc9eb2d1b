//! What raidlab keeps in the user's cache folder, and dropping it: kernels, folders in which they were built, Debian's packages, and
//! stacks that were created once.
//!
//! *Invariant*: nothing is dropped that another raidlab uses or makes.

use crate::kept_stacks::KeptStacks;
use crate::kernel::{BuildProgress, Cache, KernelError, Kind};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A folder of the cache that can be dropped.
#[derive(Clone, Debug)]
pub struct Cached {
    pub kind: Kind,
    /// Its path within the cache: `kernels/6.12-0123456789ab-0123456789ab`.
    pub name: String,
    /// What it is, for a person.
    pub what: String,
    /// Space on the disk.
    pub bytes: u64,
    /// When it was last used, or made.
    pub used: Option<SystemTime>,
    /// Whether this raidlab would use it again.
    pub is_needed: bool,
    path: PathBuf,
}

/// All, by kind and name. `build` identifies this raidlab; `kernels` are the executables of those that it would run.
pub fn list(cache: &Cache, build: &str, kernels: &[PathBuf]) -> Vec<Cached> {
    let mut all = Vec::new();
    for (kind, path) in cache.folders() {
        let folder_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        all.push(Cached {
            kind,
            what: match kind {
                Kind::Kernel => "not a whole kernel".to_owned(),
                Kind::Build => "objects of a kernel, which make its next build quicker".to_owned(),
                Kind::Package => "packages of Debian, for kernels and their guests".to_owned(),
                Kind::Stack => "a stack that was created once".to_owned(),
            },
            bytes: bytes(&path),
            used: fs::metadata(&path).and_then(|meta| meta.modified()).ok(),
            is_needed: match kind {
                Kind::Kernel => kernels.iter().any(|image| image.parent() == Some(&path)),
                // Without a package, nobody knows which kernel is up to date.
                Kind::Package => true,
                Kind::Build | Kind::Stack => false,
            },
            name: format!("{}/{folder_name}", kind.folder()),
            path,
        });
    }
    for kernel in cache.list() {
        if let Some(known) = all.iter_mut().find(|one| kernel.path.parent() == Some(&one.path)) {
            known.what = format!("{}, {}", kernel.release, kernel.source);
        }
    }
    for stack in KeptStacks::of(cache.folder(), build).list() {
        if let Some(known) = all.iter_mut().find(|one| one.path == stack.folder) {
            known.what = format!("created once: {}", stack.label);
            known.used = stack.used;
            known.is_needed = stack.build == build;
        }
    }
    all.sort_by(|one, other| (one.kind, &one.name).cmp(&(other.kind, &other.name)));
    all
}

/// Drops it; false if a raidlab is using it. Waits for one that builds or fetches.
///
/// # Errors
/// If it cannot be removed.
pub fn drop_one(cache: &Cache, one: &Cached, progress: &mut dyn FnMut(BuildProgress)) -> Result<bool, KernelError> {
    cache.remove(one.kind, &one.path, progress)
}

/// Space of all files of a folder. Links are not followed.
fn bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let of_entry = |path: &Path, meta: io::Result<Metadata>| match meta {
        Ok(meta) if meta.is_dir() => bytes(path) + meta.blocks() * 512,
        Ok(meta) => meta.blocks() * 512,
        Err(_) => 0,
    };
    entries.map(|entry| of_entry(&entry.path(), entry.metadata())).sum()
}
