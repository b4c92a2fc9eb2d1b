//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders with generated files.
const SKIPPED: [&str; 5] = ["target", "results", ".git", ".cargo", "snapshots"];

/// The top folder of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("it is crates/xtask").to_owned()
}

/// Every file with one of these extensions: its path from the top, in order, and its text.
pub fn files(extensions: &[&str]) -> Vec<(String, String)> {
    let (root, mut found, mut folders) = (root(), Vec::new(), vec![root()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository").flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let is_skipped = SKIPPED.iter().any(|skipped| name == *skipped);
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if !is_skipped {
                    folders.push(path);
                }
                continue;
            }
            let is_wanted = path
                .extension()
                .is_some_and(|extension| extensions.iter().any(|wanted| extension == *wanted));
            if !is_wanted {
                continue;
            }
            if let Ok(text) = fs::read_to_string(&path) {
                let relative = path.strip_prefix(&root).expect("below the top");
                found.push((relative.display().to_string(), text));
            }
        }
    }
    assert!(found.len() > 3, "these are not all files: {found:?}");
    found.sort();
    found
}
