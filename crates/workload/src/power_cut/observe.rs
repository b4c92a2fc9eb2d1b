//! Reads all files after a power cut.

use super::Found;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// All names below a folder, with paths relative to it.
pub fn observe(base: &Path) -> BTreeMap<String, Found> {
    let mut found = BTreeMap::new();
    visit(base, "", &mut found);
    found
}

fn visit(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Found>) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // The folder of the operations is lost with its contents.
        Err(error) if prefix.is_empty() && error.kind() == ErrorKind::NotFound => return,
        Err(error) => {
            found.insert(
                prefix.trim_end_matches('/').to_owned(),
                Found::Unreadable(error.to_string()),
            );
            return;
        }
    };
    for entry in entries {
        let (name, seen) = match entry {
            Err(error) => (format!("{prefix}?"), Found::Unreadable(error.to_string())),
            Ok(entry) => {
                let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
                let seen = match fs::symlink_metadata(entry.path()) {
                    Ok(data) if data.is_dir() => Found::Folder,
                    Ok(data) if data.is_file() => read(&entry.path()),
                    Ok(_) => Found::Unreadable("neither a file nor a folder".to_owned()),
                    Err(error) => Found::Unreadable(error.to_string()),
                };
                if seen == Found::Folder {
                    visit(&entry.path(), &format!("{name}/"), found);
                }
                (name, seen)
            }
        };
        found.entry(name).or_insert(seen);
    }
}

/// A corrupt size must not exhaust the memory: files of this workload are smaller.
fn read(path: &Path) -> Found {
    const BYTES_MAX: u64 = 16 << 20;
    match fs::metadata(path) {
        Ok(data) if data.len() > BYTES_MAX => Found::Unreadable(format!("it has {} bytes", data.len())),
        _ => fs::read(path).map_or_else(|error| Found::Unreadable(error.to_string()), Found::File),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_folder_is_empty_and_no_name_of_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(observe(&folder.path().join("work")).is_empty());
        fs::write(folder.path().join("work"), b"a file now").expect("written");
        assert_eq!(
            observe(&folder.path().join("work")).len(),
            1,
            "a folder that cannot be read is seen"
        );
    }
}
