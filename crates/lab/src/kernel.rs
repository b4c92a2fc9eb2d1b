//! The lab's kernels: built from Debian's source packages or from a developer's tree, and cached in the user's cache
//! folder under a hash of all their sources.

mod bcachefs;
mod build_step;
mod cache;
mod cached_folders;
mod cached_kernels;
mod compile;
mod debian;
mod embedded;
mod error;
mod flavour;
mod package;
mod source;
mod tree;
mod zfs;

pub use build_step::BuildProgress;
pub use cache::Cache;
pub use cached_folders::Kind;
pub use error::KernelError;
pub use filesystems::Flavour;
pub use flavour::{KernelName, Parts, purpose};
pub use source::Source;

use crate::processor::Processors;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use study::stack::MachineSpec;

/// The kernel of a study that names none.
pub const DEFAULT_VERSION: &str = "6.12";

/// Debian's package of bcachefs's program, for [`Cache::fetch`].
pub const BCACHEFS: &str = bcachefs::ORDER.name;

/// A kernel that is ready to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kernel {
    /// `6.12`, or the name given to a developer's tree, with its flavour: a [`KernelName`].
    pub name: String,
    /// Output of `make kernelrelease`: `6.12.117-raidlab`.
    pub release: String,
    /// Hash of source, configuration, patches, driver and disk model; for a developer's tree, of the built image.
    pub key: String,
    /// Origin of the source: a package with its version, or a folder.
    pub source: String,
    /// SHA-256 of the executable. It depends on the compiler, too.
    #[serde(default)]
    pub sha256: String,
    /// The same of the programs that its guests get, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    carried_sha256: Option<String>,
    /// The executable. It is not removed as stale while this value exists.
    pub path: PathBuf,
    #[serde(skip)]
    hold: cached_kernels::Hold,
}

impl Kernel {
    /// The executable, to be run.
    ///
    /// # Errors
    /// If it is not the one that was found. A hard link or new permissions change the file's times, not what it holds.
    pub fn image(&self) -> Result<&Path, KernelError> {
        match self.hold.is_same(&self.path) || cached_kernels::is_as_built(self) {
            true => Ok(&self.path),
            false => Err(KernelError::Changed {
                name: self.name.clone(),
                path: self.path.clone(),
            }),
        }
    }

    /// Programs that its guests get.
    ///
    /// # Errors
    /// If the cache cannot be read.
    pub fn carried(&self) -> Result<Vec<crate::protocol::carried::CarriedFile>, KernelError> {
        let folder = self.path.with_file_name(cached_kernels::CARRIED_FOLDER);
        crate::protocol::carried::read(&folder).map_err(io_error("cannot read", &folder))
    }

    /// Kernel command line arguments that depend on the kernel.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        // From 6.16 on, User-Mode Linux can use seccomp instead of ptrace, where the host allows it; system calls are
        // cheaper.
        if embedded::number(&self.release).is_some_and(|version| version >= (6, 16)) {
            arguments.push("seccomp=auto".to_owned());
        }
        // OpenZFS allocates buffers above this size (default 16 KiB) page by page, each a mapping in the guest's
        // address space, and a process may have 65,530 mappings (vm.max_map_count): 256 MiB of such buffers.
        if KernelName::parse(&self.name).flavour.has_zfs() {
            arguments.push(format!("spl.spl_kmem_cache_slab_limit={}", 1 << 20));
        }
        arguments
    }

    /// The same, with the arguments for the machine's processor in trials with a seed.
    ///
    /// # Errors
    /// If there is no such processor.
    pub fn arguments_on(
        &self,
        machine: &MachineSpec,
        processors: &Processors,
        seed: u64,
    ) -> Result<Vec<String>, KernelError> {
        let mut arguments = self.arguments();
        arguments.extend(processors.arguments(machine, seed)?);
        Ok(arguments)
    }

    /// Whether it has the configuration, patches, driver and disk model of this raidlab.
    fn is_up_to_date(&self) -> bool {
        let parts = KernelName::parse(&self.name).parts();
        embedded::patches_for(&self.release).is_some_and(|set| self.key.ends_with(&own_key(set, parts)))
    }
}

/// What a kernel is built from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    pub source: Source,
    pub parts: Parts,
    /// The packages of OpenZFS, for the flavour that has it.
    zfs: Option<debian::Fetched>,
}

impl Recipe {
    pub fn name(&self) -> KernelName {
        KernelName {
            source: self.source.name.clone(),
            flavour: self.parts.flavour,
            processor: self.parts.processor,
        }
    }

    /// All inputs of the build, in one line.
    fn description(&self) -> String {
        let source = self.source.description();
        match &self.zfs {
            Some(zfs) => format!("{source}, {} {}", zfs::ORDER.name, zfs.version),
            None => source,
        }
    }

    /// Hash of a package's source and of all that raidlab adds to it.
    fn package_key(&self) -> Result<String, KernelError> {
        let source_key = short_hash(&[self.description().as_bytes()]);
        Ok(format!("{source_key}-{}", self.own_key()?))
    }

    /// The contents of a developer's tree can change at any time, so the hash is that of the image.
    fn tree_key(&self, image: &Path) -> Result<String, KernelError> {
        let built = fs::read(image).map_err(io_error("cannot read", image))?;
        Ok(format!("{}-{}", short_hash(&[&built]), self.own_key()?))
    }

    fn own_key(&self) -> Result<String, KernelError> {
        Ok(own_key(self.source.patches()?, self.parts))
    }
}

/// Hash of what raidlab adds: configuration, patches, driver, disk model.
fn own_key(patches: &str, parts: Parts) -> String {
    let files = embedded::files(patches, parts);
    let bytes: Vec<&[u8]> = files
        .iter()
        .flat_map(|(path, contents)| [path.as_os_str().as_encoded_bytes(), contents])
        .collect();
    short_hash(&bytes)
}

fn short_hash(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex::encode(&hash.finalize()[..6])
}

/// Opens a file under whose name others may have put a link, which is not followed, or a pipe, which is not waited for.
fn open_itself(path: &Path, access: OFlags) -> io::Result<File> {
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::from_raw_mode(0o644)).map(File::from)?)
}

fn create_dir(path: &Path) -> Result<(), KernelError> {
    fs::create_dir_all(path).map_err(io_error("cannot create folder", path))
}

fn io_error(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> KernelError {
    let path = path.to_owned();
    move |error| KernelError::Io { what, path, error }
}
