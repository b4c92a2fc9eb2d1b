//! raidlab's additions to a kernel's source, embedded in the binary: `kernel/` of the repository, and the disk
//! model as compiled by the build script.

use super::{Flavour, Parts};
use filesystems::FilesystemKind;
use include_dir::{Dir, File, include_dir};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static CONFIG: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../kernel/config");
static DRIVER: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../kernel/driver");
static CPU: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../kernel/cpu");
static ZFS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../kernel/zfs");
static PATCHES: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../kernel/patches");
static MODEL: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/model.o"));
/// The sources of the model.
static MODEL_SOURCES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/model.sources"));

static BASE: LazyLock<String> = LazyLock::new(|| with_filesystems("base.config", Flavour::Base));
static MORE: LazyLock<String> = LazyLock::new(|| with_filesystems("more.config", Flavour::More));
static ZFS_CONFIG: LazyLock<String> = LazyLock::new(|| with_filesystems("zfs.config", Flavour::Zfs));

/// Line of a configuration that is replaced by the options of the flavour's filesystems.
const FILESYSTEMS: &str = "#FILESYSTEMS\n";

/// A configuration file, with the kernel options of the flavour's filesystems.
fn with_filesystems(name: &str, flavour: Flavour) -> String {
    let file = CONFIG.get_file(name).expect("kernel/config is part of the repository");
    let kinds = FilesystemKind::ALL.iter().filter(|kind| kind.kernel.flavour == flavour);
    let lines: String = kinds
        .flat_map(|kind| kind.get().kernel.config)
        .map(|line| format!("{line}\n"))
        .collect();
    let text = file.contents_utf8().expect("it is text");
    assert!(
        lines.is_empty() || text.contains(FILESYSTEMS),
        "kernel/config/{name} has a place for filesystems"
    );
    text.replace(FILESYSTEMS, &lines)
}

/// Linux versions that there are patches for, `6.12`.
pub fn versions() -> impl Iterator<Item = &'static str> {
    PATCHES.dirs().filter_map(|dir| dir.path().to_str())
}

/// The set of patches for a version: its own, or that of the newest earlier version.
pub fn patches_for(version: &str) -> Option<&'static str> {
    let wanted = number(version)?;
    versions()
        .filter(|known| number(known).is_some_and(|n| n <= wanted))
        .max_by_key(|known| number(known))
}

/// `(6, 12)` for `6.12`, `6.12.117-raidlab` and `6.12-rc3`.
pub fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.');
    let (major, minor) = (parts.next()?, parts.next()?);
    let digits = minor.find(|c: char| !c.is_ascii_digit()).unwrap_or(minor.len());
    Some((major.parse().ok()?, minor[..digits].parse().ok()?))
}

/// The configuration files in order; options specific to a version come last.
pub fn configs(set: &str, parts: Parts) -> Vec<(&'static str, &'static [u8])> {
    let up_to = Flavour::ALL.into_iter().filter(|other| *other <= parts.flavour);
    let mut configs: Vec<(&str, &[u8])> = up_to
        .map(|flavour| match flavour {
            Flavour::Base => ("base.config", BASE.as_bytes()),
            Flavour::More => ("more.config", MORE.as_bytes()),
            Flavour::Zfs => ("zfs.config", ZFS_CONFIG.as_bytes()),
        })
        .collect();
    let of_version = |file: &&File| file.path().file_stem().is_some_and(|stem| stem == set);
    configs.extend(
        CONFIG
            .files()
            .find(of_version)
            .map(|file| ("version.config", file.contents())),
    );
    if parts.processor {
        configs.push(("cpu.config", processor_file("cpu.config")));
    }
    configs
}

fn processor_file(name: &str) -> &'static [u8] {
    CPU.get_file(name)
        .expect("kernel/cpu is part of the repository")
        .contents()
}

/// Whether there are processor patches for a set.
pub fn has_processor(set: &str) -> bool {
    CPU.get_dir(set).is_some()
}

/// The processor patches, applied after the set's own.
pub fn processor_patches(set: &str) -> Vec<(&'static Path, &'static [u8])> {
    CPU.get_dir(set).map(in_order).unwrap_or_default()
}

/// The files of the processor model by name, without its configuration. `raidlab-cpu.h` is for the whole kernel.
pub fn processor() -> Vec<(&'static Path, &'static [u8])> {
    let mut files = in_order(&CPU);
    files.retain(|(path, _)| *path != Path::new("cpu.config"));
    files
}

/// The patches of a set, in the order in which they apply.
pub fn patches(set: &str) -> Vec<(&'static Path, &'static [u8])> {
    in_order(PATCHES.get_dir(set).expect("the set was found by patches_for"))
}

/// The patches for OpenZFS's source.
pub fn zfs_patches() -> Vec<(&'static Path, &'static [u8])> {
    in_order(&ZFS)
}

fn in_order(dir: &'static Dir) -> Vec<(&'static Path, &'static [u8])> {
    let mut patches: Vec<_> = dir.files().map(|file| (file.path(), file.contents())).collect();
    patches.sort();
    patches
}

/// The driver's files by name, including the disk model.
pub fn driver() -> Vec<(PathBuf, &'static [u8])> {
    let mut files: Vec<_> = DRIVER
        .files()
        .map(|file| (file.path().to_owned(), file.contents()))
        .collect();
    // Kbuild's name for a prebuilt object.
    files.push((PathBuf::from("model.o_shipped"), MODEL));
    files.sort();
    files
}

/// Everything that is added to this flavour with this set of patches; for the model, its sources.
pub fn files(set: &str, parts: Parts) -> Vec<(PathBuf, &'static [u8])> {
    let mut files = driver();
    files.retain(|(path, _)| path.as_os_str() != "model.o_shipped");
    files.push((PathBuf::from("model"), MODEL_SOURCES));
    files.extend(
        patches(set)
            .into_iter()
            .map(|(path, contents)| (path.to_owned(), contents)),
    );
    if parts.processor {
        let of_processor = processor_patches(set).into_iter().chain(processor());
        files.extend(of_processor.map(|(path, contents)| (Path::new("cpu").join(path), contents)));
    }
    if parts.flavour.has_zfs() {
        let patches = zfs_patches().into_iter();
        files.extend(patches.map(|(path, contents)| (Path::new("zfs").join(path), contents)));
    }
    let configs = configs(set, parts).into_iter();
    files.extend(configs.map(|(name, contents)| (PathBuf::from(name), contents)));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The folder of the model's sources must not appear in the object: two folders would give two kernels.
    #[test]
    fn the_model_holds_no_path_of_this_machine() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .nth(2)
            .expect("the workspace");
        let home = std::env::home_dir().expect("the user has one").join(".cargo");
        for folder in [root, &home] {
            let path = folder.as_os_str().as_encoded_bytes();
            assert!(
                !MODEL.windows(path.len()).any(|part| part == path),
                "{}",
                folder.display()
            );
        }
        // The messages contain the remapped names of these folders.
        let stands_for = b"/raidlab/crates/disksim/src";
        assert!(MODEL.windows(stands_for.len()).any(|part| part == stands_for));
    }

    #[test]
    fn a_release_finds_the_patches_of_its_version() {
        assert!(patches_for("6.12").is_some());
        assert_eq!(patches_for("6.12.117-raidlab"), patches_for("6.12"));
        assert_eq!(patches_for("6.12-rc3-raidlab"), patches_for("6.12"));
        assert_eq!(patches_for("2.4.31"), None);
        assert_eq!(patches_for(""), None);
    }
}
