//! The folder in which a kernel is built: source unpacked or copied, patches applied, driver added. It is kept, so
//! that after a change of the driver, the disk model or the configuration only the changes are recompiled. Its name
//! contains a hash of source and patches: other sources or patches get other folders. All flavours of a kernel are
//! built in it in turn, and each recompiles only what differs.

use super::build_step::{BuildProgress, run_logged};
use super::source::{Origin, Source};
use super::{KernelError, Parts, Recipe, create_dir, embedded, io_error, open_itself, short_hash};
use rustix::fs::OFlags;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tools::host_program;

/// Path of the driver in a kernel's tree.
const DRIVER: &str = "arch/um/drivers/raidlab";
/// Folder of the processor model's files, and its header, which the whole kernel includes.
const PROCESSOR: &str = "arch/um/drivers/raidlab-cpu";
const HEADERS: &str = "arch/um/include/linux";

/// Output of the build's programs; its date is that of the last build.
pub const LOG: &str = "build.log";

/// Ends the names of patches that save wall time and change no figure: one that does not apply to a tree is left out.
const OPTIONAL: &str = ".optional.patch";

/// Marks a package as completely unpacked and patched.
pub const WHOLE: &str = "unpacked";

/// Parts of Debian's archive that are not unpacked: sources for hardware that User-Mode Linux never has. Their
/// Kconfig files and Makefiles are needed by Kbuild.
const NOT_UNPACKED: &[&str] = &[
    "*/drivers/gpu/*.[ch]",
    "*/drivers/net/ethernet/*.[ch]",
    "*/drivers/net/wireless/*.[ch]",
    "*/drivers/media/*.[ch]",
    "*/drivers/staging/*.[ch]",
    "*/drivers/infiniband/*.[ch]",
    "*/drivers/scsi/*.[ch]",
    "*/drivers/usb/*.[ch]",
    "*/sound/*.[ch]",
    "*/Documentation/*.rst",
    "*/Documentation/*.yaml",
    "*/Documentation/*.svg",
    "*/tools/testing/*",
    "*/tools/perf/*",
    "*/arch/*/boot/dts/*",
];

/// A tree that is ready to be configured and compiled.
pub struct Tree {
    pub path: PathBuf,
    /// Log file of the build's programs.
    pub log: PathBuf,
    pub config: PathBuf,
}

impl Tree {
    /// Applies a patch to a folder of the build folder.
    pub fn patch(&self, folder: &Path, file: &Path, text: &[u8], name: &str) -> Result<(), KernelError> {
        let copy = self.path.with_file_name(file.file_name().expect("a patch is a file"));
        fs::write(&copy, text).map_err(io_error("cannot write", &copy))?;
        let patch = || {
            let mut patch = host_program("patch");
            patch.args(["--strip=1", "--forward", "--batch", "--no-backup-if-mismatch"]);
            patch.arg("--directory").arg(folder).arg("--input").arg(&copy);
            patch
        };
        let is_optional = copy.to_string_lossy().ends_with(OPTIONAL);
        if is_optional
            && !patch()
                .arg("--dry-run")
                .output()
                .is_ok_and(|tried| tried.status.success())
        {
            let log = fs::OpenOptions::new().append(true).create(true).open(&self.log);
            let _ =
                log.and_then(|mut log| writeln!(log, "left out, because it does not apply: {}", file.display()));
            return Ok(());
        }
        run_logged(&mut patch(), "patching", name, &self.log, &mut |_| {})
    }
}

/// Updates the build folder of this source.
pub fn prepare(
    recipe: &Recipe,
    build: &Path,
    progress: &mut dyn FnMut(BuildProgress),
) -> Result<Tree, KernelError> {
    let source = &recipe.source;
    let set = source.patches()?;
    let folder = build.join(folder_name(source, set, recipe.parts));
    create_dir(&folder)?;
    let tree = Tree {
        path: folder.join("tree"),
        log: folder.join(LOG),
        config: folder.join("raidlab.config"),
    };
    fs::write(&tree.log, "").map_err(io_error("cannot write", &tree.log))?;
    match &source.origin {
        Origin::Package { archive, .. } => {
            let whole = folder.join(WHOLE);
            if !whole.exists() {
                progress(BuildProgress::Unpacking);
                unpack(&tree, &source.name, archive)?;
                apply(&tree, &source.name, set, recipe.parts)?;
                fs::write(&whole, source.description()).map_err(io_error("cannot write", &whole))?;
            }
        }
        Origin::Tree { path } => {
            progress(BuildProgress::Copying);
            copy_changed(path, &tree.path)?;
            // The patched files were just copied again.
            apply(&tree, &source.name, set, recipe.parts)?;
        }
    }
    put_driver(&tree)?;
    if recipe.parts.processor {
        put_processor(&tree)?;
    }
    put_config(&tree, set, recipe.parts)?;
    Ok(tree)
}

/// The same name for the same source with the same patches.
fn folder_name(source: &Source, set: &str, parts: Parts) -> String {
    let mut hashed = vec![source.description().into_bytes()];
    if source.is_package() {
        hashed.extend(NOT_UNPACKED.iter().map(|pattern| pattern.as_bytes().to_vec()));
    }
    for (path, text) in patches(set, parts) {
        hashed.push(path.as_os_str().as_encoded_bytes().to_vec());
        hashed.push(text.to_vec());
    }
    let hashed: Vec<&[u8]> = hashed.iter().map(Vec::as_slice).collect();
    // With a processor model nearly every file is compiled differently: in a shared folder, each build would
    // recompile everything.
    let processor = if parts.processor { "+cpu" } else { "" };
    format!("{}{processor}-{}", source.name, short_hash(&hashed))
}

fn unpack(tree: &Tree, name: &str, archive: &Path) -> Result<(), KernelError> {
    if tree.path.exists() {
        fs::remove_dir_all(&tree.path).map_err(io_error("cannot remove", &tree.path))?;
    }
    create_dir(&tree.path)?;
    let mut tar = host_program("tar");
    // The packages are compressed in blocks: on all processors, with xz 5.4 or later.
    tar.env("XZ_DEFAULTS", "--threads=0");
    tar.arg("--extract")
        .arg("--file")
        .arg(archive)
        .arg("--directory")
        .arg(&tree.path);
    tar.args(["--strip-components=1", "--use-compress-program=xz -T0", "--wildcards"]);
    tar.args(NOT_UNPACKED.iter().map(|pattern| format!("--exclude={pattern}")));
    run_logged(&mut tar, "unpacking", name, &tree.log, &mut |_| {})
}

fn patches(set: &str, parts: Parts) -> Vec<(&'static Path, &'static [u8])> {
    let mut patches = embedded::patches(set);
    if parts.processor {
        patches.extend(embedded::processor_patches(set));
    }
    patches
}

fn apply(tree: &Tree, name: &str, set: &str, parts: Parts) -> Result<(), KernelError> {
    for (file, text) in patches(set, parts) {
        tree.patch(&tree.path, file, text, name)?;
    }
    Ok(())
}

fn put_driver(tree: &Tree) -> Result<(), KernelError> {
    let folder = folder_in(tree, DRIVER)?;
    for (file, contents) in embedded::driver() {
        write_if_changed(&folder.join(file), contents)?;
    }
    Ok(())
}

fn put_processor(tree: &Tree) -> Result<(), KernelError> {
    for (file, contents) in embedded::processor() {
        let for_all = file == Path::new("raidlab-cpu.h");
        let folder = folder_in(tree, if for_all { HEADERS } else { PROCESSOR })?;
        write_if_changed(&folder.join(file), contents)?;
    }
    Ok(())
}

/// A folder of the tree. Where a developer's tree has a symbolic link, the folder that it points to is not the tree's.
fn folder_in(tree: &Tree, path: &str) -> Result<PathBuf, KernelError> {
    let mut folder = tree.path.clone();
    for part in Path::new(path) {
        folder.push(part);
        make_folder(&folder)?;
    }
    Ok(folder)
}

fn put_config(tree: &Tree, set: &str, parts: Parts) -> Result<(), KernelError> {
    let whole: Vec<&[u8]> = embedded::configs(set, parts)
        .into_iter()
        .map(|(_, part)| part)
        .collect();
    write_if_changed(&tree.config, &whole.concat())
}

/// Keeps the file's date if nothing changed, so that nothing is recompiled needlessly.
fn write_if_changed(path: &Path, contents: &[u8]) -> Result<(), KernelError> {
    if is_file(path) && fs::read(path).is_ok_and(|old| old == contents) {
        return Ok(());
    }
    remove(path)
        .and_then(|()| File::create_new(path)?.write_all(contents))
        .map_err(io_error("cannot write", path))
}

/// Copies the changes since the last time, with their dates; build products are not copied, and pipes, sockets and
/// devices are skipped.
///
/// *Invariant*: nothing is written outside the copy, which may have symbolic links that the source no longer has.
fn copy_changed(from: &Path, to: &Path) -> Result<(), KernelError> {
    make_folder(to)?;
    for entry in fs::read_dir(from).map_err(io_error("cannot read", from))?.flatten() {
        let (source, name) = (entry.path(), entry.file_name());
        let target = to.join(&name);
        let kind = entry.file_type().map_err(io_error("cannot read", &source))?;
        if is_product(&name.to_string_lossy(), from, kind.is_dir()) {
            continue;
        } else if kind.is_dir() {
            copy_changed(&source, &target)?;
        } else if kind.is_symlink() {
            let link = fs::read_link(&source).map_err(io_error("cannot read", &source))?;
            remove(&target)
                .and_then(|()| symlink(link, &target))
                .map_err(io_error("cannot write", &target))?;
        } else if kind.is_file() && differs(&source, &target) {
            copy_with_date(&source, &target).map_err(io_error("cannot copy to", &target))?;
        }
    }
    Ok(())
}

/// A folder that is no symbolic link to another one.
fn make_folder(path: &Path) -> Result<(), KernelError> {
    if fs::symlink_metadata(path).is_ok_and(|there| !there.is_dir()) {
        remove(path).map_err(io_error("cannot replace", path))?;
    }
    create_dir(path)
}

/// Removes what has this name in the copy, and not what it points to.
fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|there| there.is_file())
}

/// Whether a file is a build product. Each `include` contains a folder `linux`, which is not a product.
fn is_product(name: &str, folder: &Path, is_folder: bool) -> bool {
    let generated = matches!(name, "generated" | "config") && folder.ends_with("include");
    let suffixes = [".o", ".a", ".cmd", ".ko", ".mod"];
    generated
        || matches!(name, ".git" | ".config" | ".config.old")
        || !is_folder && matches!(name, "vmlinux" | "linux")
        || suffixes.iter().any(|suffix| name.ends_with(suffix))
}

fn differs(source: &Path, target: &Path) -> bool {
    let (Ok(a), Ok(b)) = (fs::symlink_metadata(source), fs::symlink_metadata(target)) else {
        return true;
    };
    !b.is_file() || a.len() != b.len() || a.modified().ok() != b.modified().ok()
}

fn copy_with_date(source: &Path, target: &Path) -> io::Result<()> {
    // It may have become a link or a pipe since its folder was read.
    let mut from = open_itself(source, OFlags::RDONLY)?;
    let there = from.metadata()?;
    if !there.is_file() {
        return Err(io::Error::other("the source is no longer a file"));
    }
    remove(target)?;
    let mut to = File::create_new(target)?;
    io::copy(&mut from, &mut to)?;
    to.set_permissions(there.permissions())?;
    to.set_modified(there.modified()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_copied_and_what_a_compilation_left_is_not() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let paths = [
            "include/linux/list.h",
            "include/generated/utsrelease.h",
            "mm/slub.c",
            "mm/slub.o",
            "linux",
            ".config",
        ];
        for path in paths {
            let path = from.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        copy_changed(from.path(), to.path()).unwrap();
        let copied: Vec<&str> = paths.into_iter().filter(|path| to.path().join(path).exists()).collect();
        assert_eq!(copied, ["include/linux/list.h", "mm/slub.c"]);
    }

    /// `tree-copy` has `x`, a symbolic link to a folder of the owner that the source had when it was last copied.
    #[test]
    fn a_link_that_the_source_no_longer_has_is_not_written_through() {
        let root = tempfile::tempdir().unwrap();
        let [from, to, owner] = ["tree", "copy", "owner"].map(|name| root.path().join(name));
        fs::create_dir_all(&from).unwrap();
        fs::create_dir_all(&owner).unwrap();
        for name in ["f", "g"] {
            fs::write(owner.join(name), "the owner's").unwrap();
        }
        symlink(&owner, from.join("folder")).unwrap();
        symlink(owner.join("g"), from.join("file")).unwrap();
        copy_changed(&from, &to).unwrap();
        for link in ["folder", "file"] {
            fs::remove_file(from.join(link)).unwrap();
        }
        fs::create_dir(from.join("folder")).unwrap();
        fs::write(from.join("folder/f"), "new").unwrap();
        fs::write(from.join("file"), "new").unwrap();
        copy_changed(&from, &to).unwrap();
        for name in ["f", "g"] {
            assert_eq!(fs::read_to_string(owner.join(name)).unwrap(), "the owner's", "{name}");
        }
        assert_eq!(fs::read_to_string(to.join("folder/f")).unwrap(), "new");
        // And back: a folder where the source has a link or a file.
        fs::remove_dir_all(from.join("folder")).unwrap();
        symlink(&owner, from.join("folder")).unwrap();
        fs::remove_file(from.join("file")).unwrap();
        fs::create_dir(from.join("file")).unwrap();
        copy_changed(&from, &to).unwrap();
        assert!(to.join("folder").is_symlink() && to.join("file").is_dir());
    }

    #[test]
    fn a_pipe_in_a_tree_is_skipped() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let pipe = from.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        fs::write(from.path().join("file"), "text").unwrap();
        copy_changed(from.path(), to.path()).unwrap();
        assert!(to.path().join("file").exists() && !to.path().join("pipe").exists());
    }

    #[test]
    fn a_link_in_the_place_of_the_driver_is_not_written_through() {
        let (root, owner) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let tree = Tree {
            path: root.path().to_owned(),
            log: root.path().join("log"),
            config: root.path().join("config"),
        };
        fs::create_dir_all(root.path().join(DRIVER).parent().unwrap()).unwrap();
        symlink(owner.path(), root.path().join(DRIVER)).unwrap();
        put_driver(&tree).unwrap();
        assert_eq!(fs::read_dir(owner.path()).unwrap().count(), 0);
        assert!(root.path().join(DRIVER).join("disk.c").is_file());
    }

    /// Own trees are of any version: a patch that only saves wall time must not keep one from being built.
    #[test]
    fn an_optional_patch_that_does_not_apply_is_left_out_and_any_other_is_an_error() {
        if requirements::met(requirements::program("patch", "patch")).is_none() {
            return;
        }
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("tree");
        fs::create_dir(&path).unwrap();
        let tree = Tree {
            log: root.path().join("log"),
            config: root.path().join("config"),
            path,
        };
        let text = b"--- a/file\n+++ b/file\n@@ -1 +1 @@\n-old\n+new\n";
        let patched = |contents: &str, name: &str| {
            fs::write(tree.path.join("file"), contents).unwrap();
            let outcome = tree.patch(&tree.path, Path::new(name), text, "tree");
            (outcome.is_ok(), fs::read_to_string(tree.path.join("file")).unwrap())
        };
        let optional = "1-x.optional.patch";
        assert_eq!(patched("old\n", "1-x.patch"), (true, "new\n".to_owned()));
        assert_eq!(patched("old\n", optional), (true, "new\n".to_owned()));
        assert_eq!(patched("other\n", optional), (true, "other\n".to_owned()));
        assert!(!patched("other\n", "1-x.patch").0);
    }
}
