//! The lab's kernels: built from Debian's source packages, or from a developer's own tree, and kept in the user's
//! cache folder under a hash of everything that went into them.

mod compile;
mod embedded;
mod kept;
mod source;
mod tree;

pub use compile::Progress;
pub use source::Source;

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The kernel that a study gets when it names none.
pub const DEFAULT_VERSION: &str = "6.12";

/// A kernel that is ready to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kernel {
    /// `6.12`, or the name given to a developer's tree.
    pub name: String,
    /// What `make kernelrelease` says: `6.12.117-raidlab`.
    pub release: String,
    /// Hash of source, configuration, patches, driver and disk model; for a developer's tree, of what was built.
    pub key: String,
    /// Where the source was: a package with its version, or a folder.
    pub source: String,
    /// The executable. It is not removed as stale while this value lives.
    pub path: PathBuf,
    #[serde(skip)]
    hold: kept::Hold,
}

impl Kernel {
    /// Whether it has the configuration, patches, driver and disk model of this raidlab.
    fn is_up_to_date(&self) -> bool {
        embedded::patches_for(&self.release).is_some_and(|set| self.key.ends_with(&own_key(set)))
    }
}

/// Why there is no kernel.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    #[error("no kernel `{name}`: {known}; to use a tree of your own: `raidlab kernel build /path/to/tree`")]
    Unknown { name: String, known: String },
    #[error("the source of Linux {version} is not installed: `apt-get install linux-source-{version}`")]
    NoSource { version: String },
    #[error(
        "kernel `{name}` was built from {source_path} by another version of raidlab: \
         `raidlab kernel build {source_path} --name {name}` again"
    )]
    Stale { name: String, source_path: String },
    #[error(
        "`{name}` cannot be a kernel's name: a name is letters, digits, `-`, `_` and `.`, begins with a letter or a \
         digit, and is no version of Debian's; --name gives one"
    )]
    BadName { name: String },
    #[error("`{path}` is no kernel tree: it has no {lacks}")]
    NoTree { path: PathBuf, lacks: &'static str },
    #[error("no patches for Linux {version}: raidlab has them for {known}")]
    NoPatches { version: String, known: String },
    #[error("missing on this machine: {}; `raidlab doctor` says how to mend it", missing.join(", "))]
    Tools { missing: Vec<String> },
    #[error("{step} of Linux {name} failed; from {log}:\n{tail}", log = log.display())]
    Step {
        step: &'static str,
        name: String,
        log: PathBuf,
        tail: String,
    },
    #[error("{what} {path}: {error}", path = path.display())]
    Io {
        what: &'static str,
        path: PathBuf,
        error: io::Error,
    },
}

impl KernelError {
    /// Whether the user named something that does not exist, rather than the machine lacking something.
    pub fn is_users_mistake(&self) -> bool {
        matches!(
            self,
            Self::Unknown { .. }
                | Self::BadName { .. }
                | Self::NoTree { .. }
                | Self::NoPatches { .. }
                | Self::Stale { .. }
        )
    }
}

/// The user's cache of kernels.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// `$XDG_CACHE_HOME/raidlab`, or `~/.cache/raidlab`.
    pub fn of_user() -> Cache {
        let folder = std::env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))
            .unwrap_or_else(|| PathBuf::from("/var/cache"));
        Cache::at(folder.join("raidlab"))
    }

    pub fn at(folder: PathBuf) -> Cache {
        Cache { folder }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All kernels that are ready, by name; the oldest of a name first.
    pub fn list(&self) -> Vec<Kernel> {
        kept::all(&self.kernels())
    }

    /// The kernel of that name if it is ready and up to date; what would have to be built if not. Of a developer's
    /// tree, the one built last.
    pub fn find(&self, name: &str) -> Result<Result<Kernel, Source>, KernelError> {
        if let Some(source) = Source::debian(name) {
            let key = package_key(&source)?;
            return Ok(kept::read(&self.kernel_folder(name, &key)).ok_or(source));
        }
        // A tree of the developer's; or its package is no longer there, and what was built of it still runs.
        let mut built = self.list();
        built.retain(|kernel| kernel.name == name);
        let newest = built.last().cloned();
        match (built.into_iter().rfind(Kernel::is_up_to_date), newest) {
            (Some(kernel), _) => Ok(Ok(kernel)),
            (None, _) if source::looks_like_version(name) && embedded::patches_for(name).is_some() => {
                Err(KernelError::NoSource {
                    version: name.to_owned(),
                })
            }
            (None, Some(stale)) => Err(KernelError::Stale {
                name: name.to_owned(),
                source_path: stale.source,
            }),
            (None, None) => Err(KernelError::Unknown {
                name: name.to_owned(),
                known: self.known(),
            }),
        }
    }

    /// Whether the kernel of that name is ready or can be built here. Nothing is written.
    pub fn check(&self, name: &str) -> Result<(), KernelError> {
        match self.find(name)? {
            Ok(_) => Ok(()),
            Err(_) => compile::check_tools(),
        }
    }

    /// What a study may call for: versions that raidlab has patches for, the default first, and kernels that are
    /// built.
    pub fn names(&self) -> Vec<String> {
        let mut names = vec![DEFAULT_VERSION.to_owned()];
        names.extend(embedded::versions().map(str::to_owned));
        names.extend(self.list().into_iter().map(|kernel| kernel.name));
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    fn known(&self) -> String {
        format!("there is {}", self.names().join(", "))
    }

    /// Builds the kernel and keeps it. Another raidlab that builds at the same time is waited for.
    pub fn build(&self, source: &Source, progress: &mut dyn FnMut(Progress)) -> Result<Kernel, KernelError> {
        compile::check_tools()?;
        create_dir(&self.folder)?;
        let lock_path = self.folder.join("lock");
        let lock = File::create(&lock_path).map_err(io_error("cannot create", &lock_path))?;
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            progress(Progress::Waiting);
            rustix::fs::flock(&lock, FlockOperation::LockExclusive)
                .map_err(|error| io_error("cannot lock", &lock_path)(error.into()))?;
        }
        if source.is_package()
            && let Some(kernel) = kept::read(&self.kernel_folder(&source.name, &package_key(source)?))
        {
            return Ok(kernel);
        }
        let builds = self.folder.join("build");
        let tree = tree::prepare(source, &builds, progress)?;
        let (release, image) = compile::compile(&tree, &source.name, progress)?;
        let key = match source.is_package() {
            true => package_key(source)?,
            false => tree_key(source, &image)?,
        };
        let mut kernel = Kernel {
            name: source.name.clone(),
            release,
            source: source.description(),
            path: PathBuf::new(),
            hold: kept::Hold::default(),
            key,
        };
        let folder = self.kernel_folder(&source.name, &kernel.key);
        kept::write(&mut kernel, &image, &folder)?;
        kept::remove_stale_kernels(&self.kernels());
        kept::remove_stale_builds(&builds, tree::LOG, tree::WHOLE);
        Ok(kernel)
    }

    fn kernels(&self) -> PathBuf {
        self.folder.join("kernels")
    }

    fn kernel_folder(&self, name: &str, key: &str) -> PathBuf {
        self.kernels().join(format!("{name}-{key}"))
    }
}

/// Hash of a package's source and of all that raidlab adds to it.
fn package_key(source: &Source) -> Result<String, KernelError> {
    let source_key = short_hash(&[source.description().as_bytes()]);
    Ok(format!("{source_key}-{}", own_key(source.patches()?)))
}

/// A tree changes without telling, so the hash is that of what was made of it.
fn tree_key(source: &Source, image: &Path) -> Result<String, KernelError> {
    let built = fs::read(image).map_err(io_error("cannot read", image))?;
    Ok(format!("{}-{}", short_hash(&[&built]), own_key(source.patches()?)))
}

/// Hash of what raidlab adds: configuration, patches, driver, disk model.
fn own_key(patches: &str) -> String {
    let parts = embedded::files(patches);
    let bytes: Vec<&[u8]> = parts
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
    hash.finalize()
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn create_dir(path: &Path) -> Result<(), KernelError> {
    fs::create_dir_all(path).map_err(io_error("cannot create folder", path))
}

fn io_error(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> KernelError {
    let path = path.to_owned();
    move |error| KernelError::Io { what, path, error }
}
