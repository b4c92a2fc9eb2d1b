//! The temporary folder of one trial.

use files::reason;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Removed when dropped. Its name begins with the PID of its process, so that folders left by killed processes can
/// be distinguished from those in use.
#[derive(Debug)]
pub struct TrialFolder {
    path: PathBuf,
}

impl TrialFolder {
    pub fn new(cache: &Path) -> io::Result<TrialFolder> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let parent = cache.join("trials");
        fs::create_dir_all(&parent).map_err(|error| of(&parent, &error))?;
        remove_left_over(&parent);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{}-{count}", std::process::id()));
        fs::create_dir(&path).map_err(|error| of(&path, &error))?;
        Ok(TrialFolder { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The error with the name of its folder.
fn of(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {}", path.display(), reason(error)))
}

impl Drop for TrialFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes folders of processes that no longer exist.
fn remove_left_over(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name
            .to_str()
            .and_then(|name| name.split('-').next()?.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_with_its_trial_and_takes_left_overs_with_it() {
        let cache = tempfile::tempdir().expect("a folder");
        // No process has such a high PID.
        let left_over = cache.path().join("trials/99999999-0");
        fs::create_dir_all(left_over.join("inner")).expect("a folder");
        let folder = TrialFolder::new(cache.path()).expect("a folder");
        let path = folder.path().to_owned();
        assert!(path.is_dir() && !left_over.exists());
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let cache = tempfile::tempdir().expect("a folder");
        let trials = cache.path().join("trials");
        std::os::unix::fs::symlink("trials", &trials).expect("a link to itself");
        let error = TrialFolder::new(cache.path()).expect_err("no folder");
        assert_eq!(error.to_string(), format!("`{}`: File exists", trials.display()));
    }
}
