//! Errors of finding, fetching and building kernels.

use super::flavour::KernelName;
use std::io;
use std::path::PathBuf;

/// Errors of finding, fetching and building kernels.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    #[error("unknown kernel `{name}`: {known}; to use your own tree: `raidlab kernel build /path/to/tree`")]
    Unknown { name: KernelName, known: String },
    #[error("the source of Linux {version} is not installed: `apt-get install linux-source-{version}`")]
    NoSource { version: String },
    #[error(
        "kernel `{name}` was built from {source_path} by another version of raidlab: \
         `raidlab kernel build {source_path} --name {name}` again"
    )]
    Stale { name: KernelName, source_path: String },
    #[error(
        "kernel `{source}` was built without what the study needs ({purpose}): run `raidlab kernel build {source_path} \
         --name {name}`",
        source = name.source, purpose = super::purpose(name.flavour)
    )]
    NoFlavour { name: KernelName, source_path: String },
    #[error(
        "`{name}` cannot be a kernel's name: a name is letters, digits, `-`, `_` and `.`, begins with a letter or a \
         digit, and is no version of Debian's; --name gives one"
    )]
    BadName { name: String },
    #[error(
        "the image of kernel `{name}` was changed during the run: {}; the next run verifies it, and builds it again",
        path.display()
    )]
    Changed { name: String, path: PathBuf },
    #[error(
        "the image of kernel `{name}` is not the one that was built from {source_path}: run \
         `raidlab kernel build {source_path} --name {name}`"
    )]
    NotAsBuilt { name: KernelName, source_path: String },
    #[error("`{path}` is not a kernel tree: it has no {lacks}")]
    NoTree { path: PathBuf, lacks: &'static str },
    #[error(
        "Linux {version} has no processor models yet: a study with `cpu` needs kernel = \"6.12\", or cpu = \"infinite\""
    )]
    NoProcessor { version: String },
    #[error(transparent)]
    Processor(#[from] crate::processor::ProcessorError),
    #[error("no patches for Linux {version}: raidlab has them for {known}")]
    NoPatches { version: String, known: String },
    #[error("{package} is not in this machine's cache yet: `raidlab kernel build {kernel}` gets it from Debian")]
    NotFetched { kernel: KernelName, package: String },
    #[error("Debian's mirror does not offer {package} (searched {tried}); {otherwise}; {why}")]
    NotOffered {
        package: String,
        tried: String,
        otherwise: String,
        why: String,
    },
    #[error("{package} was removed from the cache after its download")]
    Gone { package: &'static str },
    #[error("apt's sources name no mirror of this machine's Debian release to download packages from")]
    NoMirror,
    #[error("OpenZFS {zfs} supports Linux up to {newest}, not {kernel}")]
    TooNewForZfs {
        kernel: String,
        zfs: String,
        newest: String,
    },
    #[error("missing on this machine: {}; `raidlab doctor` shows how to install it", missing.join(", "))]
    Tools { missing: Vec<String> },
    #[error("{step} of Linux {name} failed; from {log}:\n{tail}", log = log.display())]
    Step {
        step: &'static str,
        name: String,
        log: PathBuf,
        tail: String,
    },
    #[error("{step} {name} failed; from {log}:\n{tail}", log = log.display())]
    Package {
        step: &'static str,
        name: String,
        log: PathBuf,
        tail: String,
    },
    #[error("{program} of {package} cannot be run: {why}")]
    Unusable {
        program: &'static str,
        package: &'static str,
        why: String,
    },
    #[error("{what} {path}: {error}", path = path.display())]
    Io {
        what: &'static str,
        path: PathBuf,
        error: io::Error,
    },
}

impl KernelError {
    /// Whether the user named something that does not exist, as opposed to something missing on the machine.
    pub fn is_users_error(&self) -> bool {
        matches!(
            self,
            Self::Unknown { .. }
                | Self::BadName { .. }
                | Self::NoTree { .. }
                | Self::NoPatches { .. }
                | Self::Stale { .. }
                | Self::NoFlavour { .. }
                | Self::TooNewForZfs { .. }
                | Self::NoProcessor { .. }
                | Self::Processor(_)
        )
    }
}
