//! Programs that guests get from the cache, because the machine's own root need not have them: they are handed to a
//! guest after its job, and its init lays them where `tools` finds them. No path of the host comes with them.

use crate::job::GuestJob;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A program or a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// `sbin/zpool`, below the folder of what is carried.
    pub path: PathBuf,
    pub contents: Vec<u8>,
}

/// Programs of packages that the machine need not have, whatever the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    /// That of the program.
    pub name: &'static str,
    /// Debian's packages, each with its version.
    pub packages: Vec<String>,
    pub files: Vec<File>,
}

/// A job as a guest reads it: JSON on one line, and then the files, if there are any.
pub fn encode(job: &GuestJob, files: &[File]) -> Vec<u8> {
    let mut text = serde_json::to_vec(job).expect("a job is plain data");
    if !files.is_empty() {
        text.push(b'\n');
        text.extend(postcard::to_allocvec(files).expect("files are plain data"));
    }
    text
}

/// What [`encode`] made.
pub fn decode(bytes: &[u8]) -> io::Result<(GuestJob, Vec<File>)> {
    // Within JSON a line ends only between its words, and `encode` ends none.
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let job = serde_json::from_slice(&bytes[..end]).map_err(io::Error::other)?;
    let files = match bytes.get(end + 1..) {
        Some(rest) if !rest.is_empty() => postcard::from_bytes(rest).map_err(io::Error::other)?,
        _ => Vec::new(),
    };
    Ok((job, files))
}

/// Reads all files of a folder's folders, in an order that is always the same.
pub fn read(folder: &Path) -> io::Result<Vec<File>> {
    let mut files = Vec::new();
    for part in sorted(folder)? {
        for path in sorted(&part)? {
            let name = path.strip_prefix(folder).expect("it was read there").to_owned();
            let contents = fs::read(&path)?;
            files.push(File { path: name, contents });
        }
    }
    Ok(files)
}

/// Lays them below a folder.
pub fn lay(files: &[File], folder: &Path) -> io::Result<()> {
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
    use crate::job::Program;

    #[test]
    fn a_job_and_its_files_come_back() {
        let job = GuestJob::Program(Program {
            path: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".to_owned(), "one\ntwo".to_owned()],
        });
        let folder = tempfile::tempdir().expect("a folder");
        let file = |path: &str, contents: &[u8]| File {
            path: PathBuf::from(path),
            contents: contents.to_vec(),
        };
        let files = [file("lib/libzfs.so.6", b"\x7fELF\n\0"), file("sbin/zpool", b"\n")];
        lay(&files, folder.path()).expect("they are laid");
        let read = read(folder.path()).expect("they are read");
        assert_eq!(read, files);
        for files in [&files[..], &[]] {
            let (back, carried) = decode(&encode(&job, files)).expect("it is whole");
            assert_eq!(serde_json::to_value(&back).ok(), serde_json::to_value(&job).ok());
            assert_eq!(carried, files);
        }
        let whole = encode(&job, &files);
        assert!(decode(&whole[..whole.len() - 1]).is_err(), "half of a file is none");
    }
}
