//! Configures and compiles a tree, with progress and a log.

use super::build_step::{self, BuildProgress, run_logged};
use super::tree::Tree;
use super::{Flavour, KernelError};
use std::path::PathBuf;
use std::process::Command;
use tools::host_program;

/// Approximate number of steps of a build from scratch: only for the progress bar.
const fn steps(flavour: Flavour) -> u64 {
    match flavour {
        Flavour::Base => 1330,
        Flavour::More => 1630,
        Flavour::Zfs => 1960,
    }
}

/// The programs that a build calls.
const TOOLS: &[&str] = &["make", "gcc", "ld", "flex", "bison", "bc", "patch", "tar", "xz", "perl"];

/// The programs that are missing, all at once.
pub fn check_tools() -> Result<(), KernelError> {
    build_step::check(TOOLS)
}

/// Compiles a prepared tree; returns its release and the image.
pub fn compile(
    tree: &Tree,
    name: &str,
    flavour: Flavour,
    progress: &mut dyn FnMut(BuildProgress),
) -> Result<(String, PathBuf), KernelError> {
    progress(BuildProgress::Configuring);
    configure(tree, name)?;

    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut build = make(tree);
    build.arg(format!("-j{jobs}")).arg("linux");
    let mut done = 0;
    run_logged(&mut build, "compiling", name, &tree.log, &mut |line| {
        if line.starts_with("  CC ") || line.starts_with("  AR ") {
            done += 1;
            progress(BuildProgress::Compiling {
                done,
                all: steps(flavour).max(done),
            });
        }
    })?;
    let output = make(tree).args(["--silent", "kernelrelease"]).output();
    let release = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    Ok((release.unwrap_or_default(), tree.path.join("linux")))
}

/// Builds what is needed to compile programs against the tree's headers.
pub fn prepare(tree: &Tree, name: &str) -> Result<(), KernelError> {
    configure(tree, name)?;
    run_logged(make(tree).arg("prepare"), "preparing", name, &tree.log, &mut |_| {})
}

fn configure(tree: &Tree, name: &str) -> Result<(), KernelError> {
    let mut configure = make(tree);
    configure.env("KCONFIG_ALLCONFIG", &tree.config).arg("allnoconfig");
    run_logged(&mut configure, "configuring", name, &tree.log, &mut |_| {})
}

fn make(tree: &Tree) -> Command {
    let mut make = host_program("make");
    make.arg("ARCH=um").arg("-C").arg(&tree.path);
    // The same source gives the same kernel on any machine.
    make.env("KBUILD_BUILD_TIMESTAMP", "2026-11-21")
        .env("KBUILD_BUILD_VERSION", "1");
    make.env("KBUILD_BUILD_USER", "raidlab")
        .env("KBUILD_BUILD_HOST", "raidlab");
    // If raidlab was started by make, its flags and job tokens must not be passed on.
    make.env_remove("MAKEFLAGS")
        .env_remove("MFLAGS")
        .env_remove("MAKELEVEL")
        .env("LC_ALL", "C");
    make
}
