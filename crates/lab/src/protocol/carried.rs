//! Programs that raidlab passes to guests from its cache, because they need not be installed on the host: they
//! follow the guest's job, and its init puts them where `tools` finds them. They contain no path of the host.

use files::read_file::regular_bytes;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The largest program has some megabytes.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// A program or a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedFile {
    /// Path below the carried folder: `sbin/zpool`.
    pub path: PathBuf,
    pub contents: Vec<u8>,
}

/// Programs from packages that need not be installed on this machine, independent of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    /// Name of the program.
    pub name: &'static str,
    /// Debian's packages, each with its version.
    pub packages: Vec<String>,
    pub files: Vec<CarriedFile>,
}

/// Reads all files in the subfolders of a folder, in a fixed order.
pub fn read(folder: &Path) -> io::Result<Vec<CarriedFile>> {
    let mut files = Vec::new();
    for part in sorted(folder)? {
        for path in sorted(&part)? {
            let name = path.strip_prefix(folder).expect("it was read there").to_owned();
            let contents = regular_bytes(&path, FILE_BYTES_MAX)
                .map_err(|error| io::Error::other(format!("`{}` {error}", path.display())))?;
            files.push(CarriedFile { path: name, contents });
        }
    }
    Ok(files)
}

/// Writes the files below a folder.
pub fn lay(files: &[CarriedFile], folder: &Path) -> io::Result<()> {
    for file in files {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(&path, &file.contents)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_they_were_laid() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |path: &str, contents: &[u8]| CarriedFile {
            path: PathBuf::from(path),
            contents: contents.to_vec(),
        };
        let files = [file("lib/libzfs.so.6", b"\x7fELF\n\0"), file("sbin/zpool", b"\n")];
        lay(&files, folder.path()).expect("they are laid");
        let read = read(folder.path()).expect("they are read");
        assert_eq!(read, files);
    }
}
