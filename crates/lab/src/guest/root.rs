//! The root filesystem of a guest: the programs that its trial calls, the libraries that these need, empty folders, and nothing
//! else of this machine.
//!
//! A guest whose root is this machine's own (hostfs) sees other files, attributes and orders of entries on each machine, and its
//! programs take memory from the workload as they are read. Here the driver (`kernel/driver/root.c`) fills a filesystem in
//! memory from one image. Only the contents of the files can differ between two machines, and [`Root::files`] names them.

mod ld_cache;
mod libraries;

use super::memory_file::memfd;
use super::{StartError, init, starting};
use crate::protocol::carried;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use study::GuestFile;
use tools::CARRIED;

/// Folder of all programs; the first one of `tools::SEARCH_PATH`.
const PROGRAMS: &str = "/usr/sbin";

/// Folder of all libraries.
const LIBRARIES: &str = "/lib";

/// Where programs find libraries, by name.
const LD_CACHE: &str = "/etc/ld.so.cache";

/// Created empty, each after the one that it is in. The kernel makes `/dev`, too.
const FOLDERS: [&str; 16] = [
    "/dev",
    "/etc",
    "/lib",
    "/lib64",
    "/mnt",
    "/proc",
    "/root",
    "/run",
    "/sys",
    "/tmp",
    "/usr",
    "/usr/sbin",
    "/var",
    "/var/lib",
    "/var/tmp",
    "/var/log",
];

/// Symbolic links: every folder that a program may name another one in.
const LINKS: [(&str, &str); 7] = [
    ("/bin", "usr/sbin"),
    ("/sbin", "usr/sbin"),
    ("/usr/bin", "sbin"),
    ("/usr/lib", "../lib"),
    ("/etc/mtab", "../proc/self/mounts"),
    ("/var/run", "../run"),
    ("/var/lock", "../run"),
];

/// Files that do not come from this machine.
const TEXTS: [(&str, &str); 2] = [
    (
        "/etc/passwd",
        "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    ),
    ("/etc/group", "root:x:0:\nnogroup:x:65534:\n"),
];

/// Memory for the files of a root is a multiple of this, so that it does not depend on the size of a program.
const MEMORY_BYTES: u64 = 32 << 20;

const PAGE_BYTES: u64 = 4096;

/// `struct rl_root_entry`.
const ENTRY_BYTES: u64 = 256;
const NAME_BYTES: usize = 232;

const FOLDER_MODE: u64 = 0o040_755;
const FILE_MODE: u64 = 0o100_755;
const LINK_MODE: u64 = 0o120_777;

/// A root filesystem, shared by all guests that call the same programs.
#[derive(Debug)]
pub struct Root {
    image: OwnedFd,
    memory_bytes: u64,
    files: Vec<GuestFile>,
}

impl Root {
    /// A root with these programs of this machine, and with programs and libraries that it need not have.
    ///
    /// # Errors
    /// If a program or one of its libraries cannot be read.
    pub fn new(programs: &[PathBuf], carried: &[carried::CarriedFile]) -> Result<Root, StartError> {
        let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        files.extend(TEXTS.map(|(path, text)| (path.to_owned(), text.into())));
        files.insert(init::NAME.to_owned(), init::loader());
        let found = libraries::with_libraries(programs, carried)
            .map_err(starting("cannot read the programs and libraries of a guest"))?;
        for (name, contents) in found.programs {
            files.insert(format!("{PROGRAMS}/{name}"), contents);
        }
        let names: Vec<String> = found.libraries.keys().cloned().collect();
        for (name, contents) in found.libraries {
            files.insert(format!("{LIBRARIES}/{name}"), contents);
        }
        files.insert(LD_CACHE.to_owned(), ld_cache::bytes(&names, Path::new(LIBRARIES)));
        files.extend(found.interpreters);
        for file in carried {
            let path = Path::new(CARRIED).join(&file.path);
            files.insert(path.to_string_lossy().into_owned(), file.contents.clone());
        }
        Self::of_files(&files).map_err(starting("cannot write the root of a guest"))
    }

    fn of_files(files: &BTreeMap<String, Vec<u8>>) -> io::Result<Root> {
        let mut entries: Vec<(u64, &str, &[u8])> =
            FOLDERS.iter().map(|path| (FOLDER_MODE, *path, &[][..])).collect();
        let folders = more_folders(files.keys());
        entries.extend(folders.iter().map(|path| (FOLDER_MODE, path.as_str(), &[][..])));
        entries.extend(LINKS.iter().map(|(path, target)| (LINK_MODE, *path, target.as_bytes())));
        entries.extend(
            files
                .iter()
                .map(|(path, contents)| (FILE_MODE, path.as_str(), &contents[..])),
        );

        let image = File::from(memfd("root").map_err(|error| error.error)?);
        let pages: u64 = files
            .values()
            .map(|contents| (contents.len() as u64).div_ceil(PAGE_BYTES))
            .sum();
        let memory_bytes = (pages * PAGE_BYTES).next_multiple_of(MEMORY_BYTES);
        image.write_all_at(&[memory_bytes, entries.len() as u64].map(u64::to_le_bytes).concat(), 0)?;
        let mut offset = 16 + entries.len() as u64 * ENTRY_BYTES;
        for (index, (mode, path, contents)) in entries.iter().enumerate() {
            if path.len() >= NAME_BYTES {
                return Err(io::Error::other(format!("{path}: longer than {NAME_BYTES} bytes")));
            }
            let mut entry = [*mode, offset, contents.len() as u64].map(u64::to_le_bytes).concat();
            entry.extend(path.as_bytes());
            entry.resize(ENTRY_BYTES as usize, 0);
            image.write_all_at(&entry, 16 + index as u64 * ENTRY_BYTES)?;
            image.write_all_at(contents, offset)?;
            offset += contents.len() as u64;
        }
        let hashed = |(path, contents): (&String, &Vec<u8>)| GuestFile {
            path: path.clone(),
            sha256: hex::encode(Sha256::digest(contents)),
        };
        Ok(Root {
            image: image.into(),
            memory_bytes,
            files: files.iter().map(hashed).collect(),
        })
    }

    /// Its files, by path.
    pub fn files(&self) -> &[GuestFile] {
        &self.files
    }

    /// Memory of a guest for it, in addition to its machine's RAM.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// The guest's end.
    pub(super) fn end(&self) -> Result<(i32, OwnedFd), StartError> {
        let image = self.image.try_clone();
        Ok((
            112,
            image.map_err(starting("cannot duplicate the descriptor of the guest's root"))?,
        ))
    }
}

/// The folders of files that are not in [`FOLDERS`], each after the one that it is in.
fn more_folders<'a>(paths: impl Iterator<Item = &'a String>) -> BTreeSet<String> {
    paths
        .flat_map(|path| Path::new(path).ancestors().skip(1))
        .map(|folder| folder.to_string_lossy().into_owned())
        .filter(|folder| folder != "/" && !FOLDERS.contains(&folder.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_has_a_program_with_all_that_it_needs() {
        let root = Root::new(&[PathBuf::from("/bin/ls")], &[]).expect("this machine has ls");
        let paths: Vec<&str> = root.files().iter().map(|file| file.path.as_str()).collect();
        for expected in [
            "/usr/sbin/ls",
            "/lib/libc.so.6",
            "/lib64/ld-linux-x86-64.so.2",
            LD_CACHE,
        ] {
            assert!(paths.contains(&expected), "{expected} is not in {paths:?}");
        }
        let again = Root::new(&[PathBuf::from("/bin/ls")], &[]).expect("as before");
        assert_eq!(root.files(), again.files());
    }

    #[test]
    fn folders_precede_what_is_in_them() {
        let paths = ["/srv/raidlab/sbin/zpool".to_owned(), "/etc/passwd".to_owned()];
        let more: Vec<String> = more_folders(paths.iter()).into_iter().collect();
        assert_eq!(more, ["/srv", "/srv/raidlab", "/srv/raidlab/sbin"]);
        for (index, folder) in FOLDERS.iter().enumerate() {
            let parent = Path::new(folder)
                .parent()
                .and_then(Path::to_str)
                .expect("an absolute path");
            assert!(parent == "/" || FOLDERS[..index].contains(&parent), "{folder}");
        }
    }
}
