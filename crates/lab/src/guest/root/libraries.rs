//! Which libraries programs need, found as the dynamic linker finds them.

use crate::carried::File;
use elf::ElfBytes;
use elf::abi::{DT_NEEDED, DT_RPATH, DT_RUNPATH, EM_X86_64, PT_INTERP};
use elf::endian::LittleEndian;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders of libraries on this machine: Debian's, then those of other distributions.
const SEARCHED: [&str; 6] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// Loaded by the C library when a thread ends or is cancelled; no program names it.
const OF_THREADS: &str = "libgcc_s.so.1";

/// Programs, and what they need.
#[derive(Debug, Default)]
pub struct Found {
    /// By the name of the file.
    pub programs: BTreeMap<String, Vec<u8>>,
    /// By the name by which programs ask for it.
    pub libraries: BTreeMap<String, Vec<u8>>,
    /// Dynamic linkers, by their path.
    pub interpreters: BTreeMap<String, Vec<u8>>,
}

/// What a file says of itself.
#[derive(Debug, Default)]
struct Needs {
    interpreter: Option<String>,
    libraries: Vec<String>,
    folders: Vec<String>,
}

/// The programs of this machine and those of raidlab's cache, with their libraries. A library that the cache has is not taken
/// from this machine.
pub fn with_libraries(programs: &[PathBuf], carried: &[File]) -> io::Result<Found> {
    let mut found = Found::default();
    for file in carried {
        let group = match file.path.starts_with("lib") {
            true => &mut found.libraries,
            false => &mut found.programs,
        };
        group.insert(name(&file.path), file.contents.clone());
    }
    for program in programs {
        found.programs.insert(name(program), read(program)?);
    }
    let users = found.programs.iter().chain(&found.libraries);
    let users: Vec<(PathBuf, Needs)> = users
        .map(|(name, contents)| Ok((PathBuf::from(name), needs(Path::new(name), contents)?)))
        .collect::<io::Result<_>>()?;
    for (user, needs) in &users {
        add(&mut found, needs, user)?;
    }
    if !found.libraries.is_empty()
        && let Some(path) = search(OF_THREADS, &[])
    {
        found.libraries.insert(OF_THREADS.to_owned(), read(&path)?);
    }
    Ok(found)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Adds the libraries that a file needs, and those that these need.
fn add(found: &mut Found, needs: &Needs, user: &Path) -> io::Result<()> {
    if let Some(interpreter) = &needs.interpreter
        && !found.interpreters.contains_key(interpreter)
    {
        found
            .interpreters
            .insert(interpreter.clone(), read(Path::new(interpreter))?);
    }
    for name in &needs.libraries {
        let is_linker = found.interpreters.keys().any(|path| Path::new(path).ends_with(name));
        if is_linker || found.libraries.contains_key(name) {
            continue;
        }
        let missing = || io::Error::other(format!("{} needs {name}, which is not on this machine", user.display()));
        let path = search(name, &needs.folders).ok_or_else(missing)?;
        let contents = read(&path)?;
        let of_library = self::needs(&path, &contents)?;
        found.libraries.insert(name.clone(), contents);
        add(found, &of_library, &path)?;
    }
    Ok(())
}

/// The file of a library on this machine.
fn search(name: &str, folders: &[String]) -> Option<PathBuf> {
    let folders = folders.iter().map(String::as_str).chain(SEARCHED);
    folders
        .map(|folder| Path::new(folder).join(name))
        .find(|path| is_for_this_machine(path))
}

/// Whether it is a file of 64-bit x86: other architectures' libraries have the same names.
fn is_for_this_machine(path: &Path) -> bool {
    let mut head = [0; 20];
    fs::File::open(path)
        .and_then(|mut file| io::Read::read_exact(&mut file, &mut head))
        .is_ok()
        && head.starts_with(b"\x7fELF\x02\x01")
        && u16::from_le_bytes([head[18], head[19]]) == EM_X86_64
}

/// A file that is no ELF file, such as a script, needs nothing.
fn needs(path: &Path, contents: &[u8]) -> io::Result<Needs> {
    if !contents.starts_with(b"\x7fELF") {
        return Ok(Needs::default());
    }
    parsed(contents).map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
}

fn parsed(contents: &[u8]) -> Result<Needs, elf::ParseError> {
    let file = ElfBytes::<LittleEndian>::minimal_parse(contents)?;
    let mut needs = Needs::default();
    let interpreter = file
        .segments()
        .and_then(|segments| segments.iter().find(|s| s.p_type == PT_INTERP));
    if let Some(interpreter) = interpreter {
        let text = String::from_utf8_lossy(file.segment_data(&interpreter)?);
        needs.interpreter = Some(text.trim_end_matches('\0').to_owned());
    }
    let common = file.find_common_data()?;
    let (Some(dynamic), Some(strings)) = (common.dynamic, common.dynsyms_strs) else {
        return Ok(needs);
    };
    for entry in dynamic.iter() {
        let text = || strings.get(entry.d_val() as usize).map(str::to_owned);
        match entry.d_tag {
            DT_NEEDED => needs.libraries.push(text()?),
            DT_RPATH | DT_RUNPATH => needs.folders.extend(text()?.split(':').map(str::to_owned)),
            _ => {}
        }
    }
    Ok(needs)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_libraries_are_found() {
        let found =
            with_libraries(&[PathBuf::from("/sbin/mke2fs")], &[]).expect("e2fsprogs is essential on Debian");
        // Only libblkid needs it.
        assert!(
            found.libraries.contains_key("libblkid.so.1"),
            "{:?}",
            found.libraries.keys()
        );
        assert!(found.interpreters.contains_key("/lib64/ld-linux-x86-64.so.2"));
    }

    #[test]
    fn a_script_needs_nothing() {
        let needs = needs(Path::new("script"), b"#!/bin/sh\n").expect("it is no ELF file");
        assert!(needs.interpreter.is_none() && needs.libraries.is_empty());
    }
}
