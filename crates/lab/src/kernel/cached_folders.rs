//! The folders of the cache, whatever is in them.

use super::cached_kernels::{self, Unlocked};
use super::{BuildProgress, Cache, KernelError, io_error, tree};
use std::fs;
use std::path::{Path, PathBuf};

/// What a folder of the cache is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Kernel,
    Build,
    Package,
    Stack,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Kernel, Kind::Build, Kind::Package, Kind::Stack];

    /// The folder of all such folders.
    pub fn folder(self) -> &'static str {
        match self {
            Kind::Kernel => "kernels",
            Kind::Build => "build",
            Kind::Package => "packages",
            Kind::Stack => "stacks",
        }
    }
}

impl Cache {
    /// All folders, in no order.
    pub fn folders(&self) -> Vec<(Kind, PathBuf)> {
        let of_kind = |kind: Kind| {
            let folders = cached_kernels::folders(&self.folder().join(kind.folder()));
            folders.into_iter().map(move |folder| (kind, folder))
        };
        Kind::ALL.into_iter().flat_map(of_kind).collect()
    }

    /// Removes a folder; false if a raidlab uses it. Waits for one that builds or fetches.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(
        &self,
        kind: Kind,
        folder: &Path,
        progress: &mut dyn FnMut(BuildProgress),
    ) -> Result<bool, KernelError> {
        // One that uses a stack has its files open, and one that makes a stack makes it elsewhere.
        let _lock = match kind {
            Kind::Build | Kind::Package => Some(self.lock(progress)?),
            Kind::Kernel => match cached_kernels::lock(folder) {
                Err(Unlocked::InUse) => return Ok(false),
                locked => locked.ok(),
            },
            Kind::Stack => None,
        };
        for first in [cached_kernels::RECORD, tree::WHOLE, crate::kept_stacks::RECORD] {
            let _ = fs::remove_file(folder.join(first));
        }
        fs::remove_dir_all(folder).map_err(io_error("cannot remove", folder))?;
        Ok(true)
    }
}
