//! The source of a kernel: Debian's package, or a developer's tree.

use super::debian::{self, Order};
use super::{KernelError, embedded};
use std::fs;
use std::path::{Path, PathBuf};

/// A kernel's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// `6.12`, or the name of a developer's tree.
    pub name: String,
    /// `VERSION.PATCHLEVEL` of its Makefile.
    pub version: String,
    pub origin: Origin,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `/usr/src/linux-source-….tar.xz` of this version of Debian's package.
    Package { archive: PathBuf, package_version: String },
    /// An unpacked tree, which is copied and never written to.
    Tree { path: PathBuf },
}

impl Source {
    /// Debian's source package for a version, if installed or cached.
    pub fn debian(version: &str, packages: &Path) -> Option<Source> {
        if !looks_like_version(version) {
            return None;
        }
        let installed = PathBuf::from(archive_of(version));
        let (archive, package_version) = match fs::metadata(&installed) {
            Ok(data) => {
                let size = data.len();
                let package_version = package_version(version).unwrap_or_else(|| format!("{size} bytes"));
                (installed, package_version)
            }
            Err(_) => {
                let fetched = debian::fetched(packages, &package_of(version))?;
                let archive = fetched.root.join(archive_of(version).trim_start_matches('/'));
                (archive, fetched.version)
            }
        };
        let origin = Origin::Package {
            archive,
            package_version,
        };
        Some(Source {
            name: version.to_owned(),
            version: version.to_owned(),
            origin,
        })
    }

    /// A developer's tree; its name is the folder's unless given.
    pub fn tree(path: &Path, name: Option<&str>) -> Result<Source, KernelError> {
        let lacking = |lacks| KernelError::NoTree {
            path: path.to_owned(),
            lacks,
        };
        let makefile = fs::read_to_string(path.join("Makefile")).map_err(|_| lacking("Makefile"))?;
        let version = makefile_version(&makefile).ok_or_else(|| lacking("VERSION in its Makefile"))?;
        if !path.join("arch/um").is_dir() {
            return Err(lacking("arch/um"));
        }
        let path = path.canonicalize().map_err(super::io_error("cannot read", path))?;
        let folder = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.map(str::to_owned).or(folder).unwrap_or_else(|| version.clone());
        // The name becomes that of a folder in the cache and the kernel's name in studies.
        if !is_name(&name) {
            return Err(KernelError::BadName { name });
        }
        Ok(Source {
            name,
            version,
            origin: Origin::Tree { path },
        })
    }

    pub fn is_package(&self) -> bool {
        matches!(self.origin, Origin::Package { .. })
    }

    /// Description in one line, for messages and for the hash.
    pub fn description(&self) -> String {
        match &self.origin {
            Origin::Package { package_version, .. } => {
                format!("linux-source-{} {package_version}", self.version)
            }
            Origin::Tree { path } => path.display().to_string(),
        }
    }

    /// The set of patches for it.
    pub fn patches(&self) -> Result<&'static str, KernelError> {
        embedded::patches_for(&self.version).ok_or_else(|| KernelError::NoPatches {
            version: self.version.clone(),
            known: embedded::versions().collect::<Vec<_>>().join(", "),
        })
    }
}

pub fn looks_like_version(name: &str) -> bool {
    name.split('.').count() == 2 && name.split('.').all(|part| part.parse::<u32>().is_ok())
}

/// Debian's package of a version's source.
pub fn package_of(version: &str) -> String {
    format!("linux-source-{version}")
}

/// The newest kernels are in later suites than this machine's.
pub fn order(package: &str) -> Order<'_> {
    Order {
        name: package,
        others: &[],
        libraries: None,
        component: "main",
        suites: &["{}-backports", "trixie-backports", "sid"],
        check: |_| Ok(()),
        otherwise: "to use your own tree: `raidlab kernel build /path/to/tree`",
    }
}

fn archive_of(version: &str) -> String {
    format!("/usr/src/{}.tar.xz", package_of(version))
}

fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_plain) && !looks_like_version(name)
}

fn package_version(version: &str) -> Option<String> {
    let output = tools::host_program("dpkg-query")
        .args(["--show", "--showformat=${Version}", &package_of(version)])
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn makefile_version(makefile: &str) -> Option<String> {
    let value = |key: &str| {
        makefile
            .lines()
            .find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='))
            .map(str::trim)
    };
    Some(format!("{}.{}", value("VERSION")?, value("PATCHLEVEL")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_makefile_says_the_version() {
        let makefile = "# SPDX\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\n";
        assert_eq!(makefile_version(makefile).as_deref(), Some("6.12"));
        assert_eq!(makefile_version("all:\n"), None);
    }

    #[test]
    fn a_name_stays_in_the_cache_and_is_no_version() {
        for name in ["linux-next", "v6.12.1", "mine_2"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "..", "../x", "a/b", ".hidden", "6.12", "a b"] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn a_folder_without_a_kernel_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = Source::tree(folder.path(), None).expect_err("no kernel there");
        assert!(error.to_string().contains("has no Makefile"), "{error}");
    }
}
