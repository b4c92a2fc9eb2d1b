//! OpenZFS in the kernel: Debian's source of the module, added to the kernel's tree like its `copy-builtin` does,
//! and the programs of the same version, which are passed to guests.

use super::build_step::{BuildProgress, run_logged};
use super::compile;
use super::debian::{Fetched, Order};
use super::tree::Tree;
use super::{KernelError, Source, create_dir, embedded, io_error, short_hash};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Backports first: the version in Debian stable is too old for the lab's kernels.
pub const ORDER: Order = Order {
    name: "zfs-dkms",
    others: &["zfsutils-linux"],
    libraries: Some(|name| name.starts_with("lib") && name.ends_with("linux")),
    component: "contrib",
    suites: &["{}-backports", "{}"],
    check: |_| Ok(()),
    otherwise: "select stacks without ZFS with `--only`",
};

/// The programs used in a guest.
const PROGRAMS: &[&str] = &["zpool", "zfs"];

/// Libraries that they are linked with, from the same packages.
const LIBRARIES: &[&str] = &["libzfs.so.", "libzfs_core.so.", "libnvpair.so.", "libuutil.so."];

const KCONFIG: &str = "config ZFS
	bool \"ZFS filesystem support\"
	depends on EFI_PARTITION
	select ZLIB_INFLATE
	select ZLIB_DEFLATE
";

/// Records the version and patches that were added to a tree.
const MARK: &str = "fs/zfs/raidlab-version";

/// Adds it to a tree before configuration; repeated only if something changed.
pub fn put(
    tree: &Tree,
    zfs: &Fetched,
    kernel: &Source,
    progress: &mut dyn FnMut(BuildProgress),
) -> Result<(), KernelError> {
    let name = kernel.name.as_str();
    let mark = mark(zfs);
    let mark_path = tree.path.join(MARK);
    if !fs::read_to_string(&mark_path).is_ok_and(|there| there == mark) {
        let source = source(zfs)?;
        progress(BuildProgress::Probing);
        let work = tree.path.with_file_name("zfs");
        for folder in [&work, &tree.path.join("fs/zfs"), &tree.path.join("include/zfs")] {
            if folder.exists() {
                fs::remove_dir_all(folder).map_err(io_error("cannot remove", folder))?;
            }
        }
        copy(&source, &work, tree, name)?;
        for (file, text) in embedded::zfs_patches() {
            tree.patch(&work, file, text, name)?;
        }
        ask_the_kernel(&work, tree, name)?;
        copy(&work.join("include"), &tree.path.join("include/zfs"), tree, name)?;
        copy(&work.join("module"), &tree.path.join("fs/zfs"), tree, name)?;
        let revision = format!("#define ZFS_META_GITREV \"zfs-{}\"\n", zfs.version);
        write(&tree.path.join("include/zfs/zfs_gitrev.h"), &revision)?;
        copy(
            &work.join("zfs_config.h"),
            &tree.path.join("include/zfs/zfs_config.h"),
            tree,
            name,
        )?;
        write(&tree.path.join("fs/zfs/Kconfig"), KCONFIG)?;
        write(&mark_path, &mark)?;
    }
    let kconfig = "source \"fs/zfs/Kconfig\"\n";
    add_line(
        &tree.path.join("fs/Kconfig"),
        kconfig,
        Some("source \"fs/ext2/Kconfig\"\n"),
    )?;
    add_line(&tree.path.join("fs/Makefile"), "obj-$(CONFIG_ZFS) += zfs/\n", None)
}

/// Programs and libraries for a guest, with their names there: `sbin/zpool`, `lib/libzfs.so.6`.
pub fn carried(zfs: &Fetched) -> Vec<(PathBuf, PathBuf)> {
    let mut files = Vec::new();
    for folder in ["sbin", "usr/sbin"] {
        let there = |program: &&&str| zfs.root.join(folder).join(program).is_file();
        let named = |program: &&str| (Path::new("sbin").join(program), zfs.root.join(folder).join(program));
        files.extend(PROGRAMS.iter().filter(there).map(named));
    }
    for folder in ["lib", "usr/lib"] {
        let folder = zfs
            .root
            .join(folder)
            .join(format!("{}-linux-gnu", std::env::consts::ARCH));
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // A library is loaded by the name of its symlink, `libzfs.so.6`.
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_link && LIBRARIES.iter().any(|library| name.starts_with(library)) {
                files.push((Path::new("lib").join(name), entry.path()));
            }
        }
    }
    files.sort();
    files
}

/// `configure` checks features of the kernel's headers; no part of the kernel need be compiled for it.
fn ask_the_kernel(work: &Path, tree: &Tree, name: &str) -> Result<(), KernelError> {
    compile::prepare(tree, name)?;
    let mut configure = Command::new("./configure");
    configure.env("PATH", tools::search_path());
    configure.args(["--with-config=kernel", "--enable-linux-builtin"]);
    configure.arg(format!("--with-linux={}", tree.path.display()));
    configure.arg(format!("--with-linux-obj={}", tree.path.display()));
    configure.env("ARCH", "um").env("KERNEL_ARCH", "um").current_dir(work);
    run_logged(&mut configure, "configuring OpenZFS", name, &tree.log, &mut |_| {})
}

fn source(zfs: &Fetched) -> Result<PathBuf, KernelError> {
    let parent = zfs.root.join("usr/src");
    let entries = fs::read_dir(&parent).map_err(io_error("cannot read", &parent))?;
    let mut folders = entries.flatten().map(|entry| entry.path());
    let source = folders.find(|path| path.join("META").exists());
    source.ok_or(KernelError::NoTree {
        path: parent,
        lacks: "source of OpenZFS",
    })
}

/// Checks the kernel's version against the newest that OpenZFS's META file names.
pub fn check_version(zfs: &Fetched, kernel: &str) -> Result<(), KernelError> {
    let source = source(zfs)?;
    let meta = fs::read_to_string(source.join("META")).unwrap_or_default();
    let value = |key: &str| meta.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    let (Some(newest), Some(version)) = (value("Linux-Maximum:"), value("Version:")) else {
        return Ok(());
    };
    match (embedded::number(kernel), embedded::number(newest)) {
        (Some(ours), Some(theirs)) if ours > theirs => Err(KernelError::TooNewForZfs {
            kernel: kernel.to_owned(),
            zfs: version.to_owned(),
            newest: newest.to_owned(),
        }),
        _ => Ok(()),
    }
}

fn mark(zfs: &Fetched) -> String {
    let patches = embedded::zfs_patches();
    let texts: Vec<&[u8]> = patches.iter().map(|(_, text)| *text).collect();
    format!("{} {}\n", zfs.version, short_hash(&texts))
}

fn copy(from: &Path, to: &Path, tree: &Tree, name: &str) -> Result<(), KernelError> {
    if let Some(parent) = to.parent() {
        create_dir(parent)?;
    }
    let mut cp = tools::host_program("cp");
    cp.args(["--recursive", "--preserve=mode,timestamps"]).arg(from).arg(to);
    run_logged(&mut cp, "copying OpenZFS", name, &tree.log, &mut |_| {})
}

/// Inserts a line before another, or at the end; does nothing if it exists.
fn add_line(path: &Path, line: &str, before: Option<&str>) -> Result<(), KernelError> {
    let text = fs::read_to_string(path).map_err(io_error("cannot read", path))?;
    if text.contains(line) {
        return Ok(());
    }
    let at = before.and_then(|other| text.find(other)).unwrap_or(text.len());
    write(path, &format!("{}{line}{}", &text[..at], &text[at..]))
}

fn write(path: &Path, text: &str) -> Result<(), KernelError> {
    fs::write(path, text).map_err(io_error("cannot write", path))
}
