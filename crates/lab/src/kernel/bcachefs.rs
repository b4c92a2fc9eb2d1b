//! The bcachefs program for guests. Debian stable has none, and that of a later suite is linked with libraries of
//! that suite, so they and their dynamic loader are included.

use super::debian::{Fetched, Order};
use super::{KernelError, io_error};
use crate::protocol::carried::{CarriedFile, Programs};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use trial::CARRIED;

/// Only experimental still has it since it was removed from the stable suites. Libraries of a stable suite are
/// preferred, because they seldom change.
pub const ORDER: Order = Order {
    name: "bcachefs-tools",
    others: &[],
    libraries: Some(|name| name.starts_with("lib") || name == "zlib1g"),
    component: "main",
    suites: &["{}", "trixie+sid+experimental", "sid+experimental"],
    check: |root| needed(root).map(drop),
    otherwise: "install it on this machine, or select stacks without bcachefs with `--only`",
};

const PROGRAM: &str = "bcachefs";
const LOADER: &str = "ld-linux-x86-64.so.2";

/// Folder of program, loader and libraries in a guest. No other program uses it: the host's programs have their own
/// loader, which does not fit these libraries.
const FOLDER: &str = "bcachefs";

/// The files for a guest.
pub fn programs(fetched: &Fetched) -> Result<Programs, KernelError> {
    let own = Path::new(CARRIED).join(FOLDER);
    let own = own.display();
    let script =
        format!("#!/bin/sh\nexec {own}/{LOADER} --inhibit-cache --library-path {own} {own}/{PROGRAM} \"$@\"\n");
    let mut files = vec![CarriedFile {
        path: Path::new("sbin").join(PROGRAM),
        contents: script.into_bytes(),
    }];
    for (name, path) in needed(&fetched.root)? {
        let contents = fs::read(&path).map_err(io_error("cannot read", &path))?;
        let path = Path::new(FOLDER).join(name);
        files.push(CarriedFile { path, contents });
    }
    Ok(Programs {
        name: PROGRAM,
        packages: fetched.packages.clone(),
        files,
    })
}

/// Program, loader and libraries with the names under which they are loaded: the loader lists the libraries and
/// checks that all of them exist.
fn needed(root: &Path) -> Result<Vec<(String, PathBuf)>, KernelError> {
    let unusable = |why: String| KernelError::Unusable {
        program: PROGRAM,
        package: ORDER.name,
        why,
    };
    let libraries = root.join(format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH));
    let (program, loader) = (root.join("usr/sbin").join(PROGRAM), libraries.join(LOADER));
    let output = Command::new(&loader)
        .args(["--inhibit-cache", "--library-path"])
        .arg(&libraries)
        .arg("--list")
        .arg(&program)
        .env_clear()
        .output()
        .map_err(|error| unusable(format!("{}: {error}", loader.display())))?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        return Err(unusable(String::from_utf8_lossy(&said).trim().to_owned()));
    }
    let listed = String::from_utf8_lossy(&output.stdout);
    let mut needed = vec![(PROGRAM.to_owned(), program), (LOADER.to_owned(), loader)];
    for (name, path) in listed.lines().filter_map(library) {
        if !path.starts_with(root) {
            return Err(unusable(format!(
                "it is linked with {name}, which is not in its packages"
            )));
        }
        if !name.ends_with(LOADER) {
            needed.push((name.to_owned(), path.to_owned()));
        }
    }
    needed.sort();
    Ok(needed)
}

/// Name and file in a line of the loader's list.
fn library(line: &str) -> Option<(&str, &Path)> {
    let (name, found) = line.trim().split_once(" => ")?;
    let (path, _) = found.rsplit_once(" (")?;
    Some((name, Path::new(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_lists_libraries() {
        assert_eq!(library("\tlinux-vdso.so.1 (0x00007fbbabb35000)"), None);
        assert_eq!(
            library("\tlibc.so.6 => /root dir/libc.so.6 (0x00007fbbab2a4000)"),
            Some(("libc.so.6", Path::new("/root dir/libc.so.6")))
        );
    }

    #[test]
    fn a_root_without_the_program_is_no_good() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = needed(folder.path()).expect_err("it is empty");
        assert!(
            error.to_string().contains("bcachefs of bcachefs-tools cannot be run"),
            "{error}"
        );
    }
}
