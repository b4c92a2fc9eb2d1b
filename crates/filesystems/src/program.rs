//! External programs and kernels that a filesystem needs.

use serde::{Deserialize, Serialize};

/// An external program.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Program {
    /// The name of its file.
    pub file: &'static str,
    /// Debian's package that has it.
    pub package: &'static str,
    /// Where Debian has that package, if not in the suite of all others.
    pub suite: Option<&'static str>,
    /// The argument that makes it print its version and exit.
    pub version_argument: &'static str,
    /// Variables that keep this machine's own settings out of what it does.
    pub environment: &'static [(&'static str, &'static str)],
    /// Guests of the lab get it from raidlab, so that their host need not have it.
    pub is_carried: bool,
    /// It names its threads, so that /proc has files of them, or looks at them there.
    pub has_threads: bool,
}

impl Program {
    /// A program of a package of Debian's stable release that prints its version when given `--version`.
    pub const fn new(file: &'static str, package: &'static str) -> Self {
        Self {
            file,
            package,
            suite: None,
            version_argument: "--version",
            environment: &[],
            is_carried: false,
            has_threads: false,
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

/// What a kernel of the lab has, each with all of the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    /// md and the filesystems of most studies (`kernel/config/base.config`).
    #[default]
    Base,
    /// Device mapper, and filesystems that few studies ask for (`more.config`).
    More,
    /// OpenZFS, which is no part of Linux and comes from a package of its own.
    Zfs,
}

impl Flavour {
    pub const ALL: [Self; 3] = [Self::Base, Self::More, Self::Zfs];

    /// What it adds to a kernel's name.
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
