//! Which libraries programs need, found as the dynamic linker finds them.

use crate::protocol::carried::CarriedFile;
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

/// Programs and their dependencies.
#[derive(Debug, Default)]
pub struct Found {
    /// By the name of the file.
    pub programs: BTreeMap<String, Vec<u8>>,
    /// By the name by which programs ask for it.
    pub libraries: BTreeMap<String, Vec<u8>>,
    /// Dynamic linkers, by their path.
    pub interpreters: BTreeMap<String, Vec<u8>>,
}

/// The dependencies that a file names.
#[derive(Debug, Default)]
struct Needs {
    /// The interpreter of a script.
    shell: Option<PathBuf>,
    interpreter: Option<String>,
    libraries: Vec<String>,
    folders: Vec<String>,
}

/// The programs of this machine, and the libraries that they and the carried programs need, except those that are carried, too.
/// Files that are carried in other folders than `sbin` and `lib` bring their own.
pub fn with_libraries(programs: &[PathBuf], carried: &[CarriedFile]) -> io::Result<Found> {
    let mut found = Found::default();
    let own: Vec<String> = carried.iter().map(|file| name(&file.path)).collect();
    for file in carried
        .iter()
        .filter(|file| ["sbin", "lib"].iter().any(|folder| file.path.starts_with(folder)))
    {
        add(&mut found, &needs(&file.path, &file.contents)?, &file.path, &own)?;
    }
    for program in programs {
        add_program(&mut found, program)?;
    }
    if !found.libraries.is_empty()
        && let Some(path) = search(OF_THREADS, &[])
    {
        found.libraries.insert(OF_THREADS.to_owned(), read(&path)?);
    }
    Ok(found)
}

fn add_program(found: &mut Found, program: &Path) -> io::Result<()> {
    let contents = read(program)?;
    add(found, &needs(program, &contents)?, program, &[])?;
    found.programs.insert(name(program), contents);
    Ok(())
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Adds the shell and the libraries that a file needs, and those that these need, except `own`.
fn add(found: &mut Found, needs: &Needs, user: &Path, own: &[String]) -> io::Result<()> {
    if let Some(interpreter) = &needs.interpreter
        && !found.interpreters.contains_key(interpreter)
    {
        found
            .interpreters
            .insert(interpreter.clone(), read(Path::new(interpreter))?);
    }
    if let Some(shell) = &needs.shell {
        add_program(found, shell)?;
    }
    for name in &needs.libraries {
        let is_linker = found.interpreters.keys().any(|path| Path::new(path).ends_with(name));
        if is_linker || own.contains(name) || found.libraries.contains_key(name) {
            continue;
        }
        let missing = || io::Error::other(format!("{} needs {name}, which is not on this machine", user.display()));
        let path = search(name, &needs.folders).ok_or_else(missing)?;
        let contents = read(&path)?;
        let of_library = self::needs(&path, &contents)?;
        found.libraries.insert(name.clone(), contents);
        add(found, &of_library, &path, own)?;
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

/// A file that is neither an ELF file nor a script needs nothing.
fn needs(path: &Path, contents: &[u8]) -> io::Result<Needs> {
    if !contents.starts_with(b"\x7fELF") {
        let line = contents
            .split(|byte| *byte == b'\n')
            .next()
            .and_then(|line| line.strip_prefix(b"#!"));
        let line = line.map(|line| String::from_utf8_lossy(line).into_owned());
        return Ok(Needs {
            shell: line.and_then(|line| line.split_whitespace().next().map(PathBuf::from)),
            ..Needs::default()
        });
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

    fn carried(path: &str, contents: &[u8]) -> CarriedFile {
        CarriedFile {
            path: PathBuf::from(path),
            contents: contents.to_vec(),
        }
    }

    #[test]
    fn a_carried_script_has_its_shell() {
        let script = carried("sbin/bcachefs", b"#!/bin/sh\nexec true\n");
        let found = with_libraries(&[], &[script]).expect("this machine has a shell");
        assert!(found.programs.contains_key("sh"), "{:?}", found.programs.keys());
    }

    #[test]
    fn a_carried_program_has_its_carried_libraries_and_those_of_this_machine() {
        let mke2fs = fs::read("/sbin/mke2fs").expect("e2fsprogs is essential on Debian");
        let files = [carried("sbin/mke2fs", &mke2fs), carried("lib/libext2fs.so.2", b"")];
        let found = with_libraries(&[], &files).expect("the others are here");
        assert!(!found.libraries.contains_key("libext2fs.so.2"), "it is carried");
        assert!(
            found.libraries.contains_key("libc.so.6"),
            "{:?}",
            found.libraries.keys()
        );
    }
}
