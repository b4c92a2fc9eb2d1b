//! External programs and kernels that a filesystem needs.

use serde::{Deserialize, Serialize};

/// An external program.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Program {
    /// File name of the program.
    pub file: &'static str,
    /// The Debian package.
    pub package: &'static str,
    /// The Debian suite of that package, if it differs from that of the other packages.
    pub suite: Option<&'static str>,
    /// The argument that makes it print its version and exit.
    pub version_argument: &'static str,
    /// Environment variables that keep local configuration out.
    pub environment: &'static [(&'static str, &'static str)],
    /// Provided by raidlab in lab guests, so the host need not have it.
    pub is_carried: bool,
}

impl Program {
    /// A program of a package in Debian stable that prints its version with `--version`.
    pub const fn new(file: &'static str, package: &'static str) -> Self {
        Self {
            file,
            package,
            suite: None,
            version_argument: "--version",
            environment: &[],
            is_carried: false,
        }
    }

    /// The same, with another argument for the version.
    pub const fn version_argument(self, version_argument: &'static str) -> Self {
        Self {
            version_argument,
            ..self
        }
    }
}

/// Features of a lab kernel; each flavour includes the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    /// md and the filesystems of most studies (`kernel/config/base.config`).
    #[default]
    Base,
    /// Device mapper, and filesystems that few studies use (`more.config`).
    More,
    /// OpenZFS, which is not part of Linux and comes from its own package.
    Zfs,
}

impl Flavour {
    pub const ALL: [Self; 3] = [Self::Base, Self::More, Self::Zfs];

    /// Suffix of the kernel's name.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Base => "",
            Self::More => "+more",
            Self::Zfs => "+zfs",
        }
    }

    pub const fn has_zfs(self) -> bool {
        matches!(self, Self::Zfs)
    }
}
