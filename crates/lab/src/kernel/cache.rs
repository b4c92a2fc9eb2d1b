//! The user's cache of kernels: which are ready, which must be built, and building them. Kernels that were installed
//! with the program are used first.

use super::build_step::BuildProgress;
use super::compile;
use super::{
    BCACHEFS, DEFAULT_VERSION, Flavour, Kernel, KernelError, KernelName, Parts, Recipe, Source, bcachefs,
    cached_kernels, create_dir, debian, embedded, io_error, open_itself, source, tree, zfs,
};
use crate::protocol::carried::Programs;
use etcetera::base_strategy::{BaseStrategy, Xdg};
use rustix::fs::{FlockOperation, OFlags};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// A process's number has fewer digits.
const PID_BYTES_MAX: u64 = 32;

/// The user's cache of kernels.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    /// Folder of kernels that a package installed; they are only read.
    installed: Option<PathBuf>,
}

fn check_processor(version: &str, patches: &str, parts: Parts) -> Result<(), KernelError> {
    match parts.processor && !embedded::has_processor(patches) {
        true => Err(KernelError::NoProcessor {
            version: version.to_owned(),
        }),
        false => Ok(()),
    }
}

impl Cache {
    /// `$XDG_CACHE_HOME/raidlab`, or `~/.cache/raidlab`.
    pub fn of_user() -> Cache {
        let folder = Xdg::new().map_or_else(|_| PathBuf::from("/var/cache"), |user| user.cache_dir());
        // The programs that build a kernel are started in other folders.
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        Cache {
            installed: std::env::current_exe()
                .ok()
                .and_then(|program| installed_with(&program)),
            ..Cache::at(folder.join("raidlab"))
        }
    }

    /// Without installed kernels.
    pub fn at(folder: PathBuf) -> Cache {
        Cache {
            folder,
            installed: None,
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All kernels that are ready: installed ones, then those of the cache by name; of each name the oldest first.
    pub fn list(&self) -> Vec<Kernel> {
        let mut all = self.installed.as_deref().map(cached_kernels::all).unwrap_or_default();
        all.extend(cached_kernels::all(&self.kernels()));
        all
    }

    /// The installed kernel of that name, if it was built with this raidlab's configuration, patches, driver and disk
    /// model. Its source may be another version of Debian's package than the one on this machine.
    pub fn installed(&self, name: &KernelName) -> Option<Kernel> {
        let installed = cached_kernels::all(self.installed.as_deref()?);
        installed.into_iter().rfind(|kernel| {
            kernel.name == name.to_string() && kernel.is_up_to_date() && cached_kernels::is_as_built(kernel)
        })
    }

    /// The kernel of that name if it is ready and up to date, otherwise the recipe to build it. Of a developer's tree,
    /// the kernel built last.
    pub fn find(&self, name: &KernelName) -> Result<Result<Kernel, Recipe>, KernelError> {
        if let Some(kernel) = self.installed(name) {
            return Ok(Ok(kernel));
        }
        if let Some(source) = Source::debian(&name.source, &self.packages()) {
            let recipe = self.recipe(source, name.parts())?;
            let folder = self.kernel_folder(name, &recipe.package_key()?);
            return Ok(cached_kernels::verified(&folder).ok_or(recipe));
        }
        // A developer's tree, or its package was removed but its kernel still runs.
        let all = self.list();
        let mut built = all.clone();
        built.retain(|kernel| kernel.name == name.to_string());
        let newest = built.last().cloned();
        if let Some(kernel) = built.into_iter().rfind(Kernel::is_up_to_date) {
            return match cached_kernels::is_as_built(&kernel) {
                true => Ok(Ok(kernel)),
                false => Err(KernelError::NotAsBuilt {
                    name: name.clone(),
                    source_path: kernel.source,
                }),
            };
        }
        if let Some(patches) = embedded::patches_for(&name.source)
            && source::looks_like_version(&name.source)
        {
            let version = name.source.clone();
            check_processor(&version, patches, name.parts())?;
            return Err(match version == DEFAULT_VERSION {
                true => KernelError::NoSource { version },
                false => KernelError::NotFetched {
                    kernel: name.clone(),
                    package: source::package_of(&version),
                },
            });
        }
        if let Some(stale) = newest {
            return Err(KernelError::Stale {
                name: name.clone(),
                source_path: stale.source,
            });
        }
        let sibling = |kernel: &Kernel| KernelName::parse(&kernel.name).source == name.source;
        Err(match all.into_iter().rfind(sibling) {
            Some(sibling) => KernelError::NoFlavour {
                name: name.clone(),
                source_path: sibling.source,
            },
            None => KernelError::Unknown {
                name: name.clone(),
                known: self.known(),
            },
        })
    }

    /// The recipe for a source.
    ///
    /// # Errors
    /// If a package has to be fetched first, or there is no processor model for this version.
    pub fn recipe(&self, source: Source, parts: Parts) -> Result<Recipe, KernelError> {
        check_processor(&source.version, source.patches()?, parts)?;
        let mut recipe = Recipe {
            source,
            parts,
            zfs: None,
        };
        if parts.flavour.has_zfs() {
            let package = zfs::ORDER.name;
            let zfs = debian::fetched(&self.packages(), package).ok_or_else(|| KernelError::NotFetched {
                kernel: recipe.name(),
                package: package.to_owned(),
            })?;
            zfs::check_version(&zfs, &recipe.source.version)?;
            recipe.zfs = Some(zfs);
        }
        Ok(recipe)
    }

    /// Fetches a package that [`Cache::find`] or [`Cache::recipe`] reported missing from Debian's mirror.
    pub fn fetch(&self, package: &str, progress: &mut dyn FnMut(BuildProgress)) -> Result<(), KernelError> {
        debian::check_tools()?;
        let _lock = self.lock(progress)?;
        let order = match [zfs::ORDER, bcachefs::ORDER]
            .into_iter()
            .find(|order| order.name == package)
        {
            Some(order) => order,
            None => source::order(package),
        };
        let is_whole = |fetched: debian::Fetched| (order.check)(&fetched.root).is_ok();
        if debian::fetched(&self.packages(), package).is_some_and(is_whole) {
            return Ok(());
        }
        debian::fetch(&self.packages(), &order).map(drop)
    }

    /// bcachefs's program for guests, if it was fetched completely: [`BCACHEFS`] is the package.
    pub fn bcachefs(&self) -> Option<Programs> {
        bcachefs::programs(&debian::fetched(&self.packages(), BCACHEFS)?).ok()
    }

    /// Whether packages can probably be fetched on this machine; nothing is downloaded.
    ///
    /// # Errors
    /// If programs that this needs are missing.
    pub fn check_fetching() -> Result<(), KernelError> {
        debian::check_tools()
    }

    /// Whether the kernel of that name is ready or can be built here. Nothing is written.
    pub fn check(&self, name: &KernelName) -> Result<(), KernelError> {
        match self.find(name) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => compile::check_tools(),
            Err(KernelError::NotFetched { .. }) => debian::check_tools().and_then(|()| compile::check_tools()),
            Err(error) => Err(error),
        }
    }

    /// Refuses what no source has, whatever is fetched or built: a processor model for this version. Reads no files.
    pub fn check_name(name: &KernelName) -> Result<(), KernelError> {
        match embedded::patches_for(&name.source).filter(|_| source::looks_like_version(&name.source)) {
            Some(patches) => check_processor(&name.source, patches, name.parts()),
            None => Ok(()),
        }
    }

    /// Names for `kernel` in a study: versions that raidlab has patches for, the default first, and developer's trees
    /// with a built kernel. The flavour is derived from the stack.
    pub fn names(&self) -> Vec<String> {
        let mut names = vec![DEFAULT_VERSION.to_owned()];
        names.extend(embedded::versions().map(str::to_owned));
        let built = self.list();
        names.extend(built.iter().map(|kernel| KernelName::parse(&kernel.name).source));
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    /// Every kernel that can be built from Debian's sources; those with a processor model have the same names with
    /// `+cpu`.
    pub fn versions() -> Vec<KernelName> {
        let flavours = |version: &str| {
            let source = version.to_owned();
            Flavour::ALL.map(|flavour| KernelName {
                source: source.clone(),
                flavour,
                processor: false,
            })
        };
        // Each OpenZFS supports Linux up to a version that its META file states.
        let is_likely = |name: &KernelName| !name.flavour.has_zfs() || name.source == DEFAULT_VERSION;
        embedded::versions().flat_map(flavours).filter(is_likely).collect()
    }

    fn known(&self) -> String {
        let mut known: Vec<String> = Cache::versions().iter().map(KernelName::to_string).collect();
        for kernel in self.list() {
            if !known.contains(&kernel.name) {
                known.push(kernel.name);
            }
        }
        format!("available are {}", known.join(", "))
    }

    /// Builds the kernel and caches it. Waits for another raidlab that is building.
    pub fn build(&self, recipe: &Recipe, progress: &mut dyn FnMut(BuildProgress)) -> Result<Kernel, KernelError> {
        compile::check_tools()?;
        let _lock = self.lock(progress)?;
        let (source, name) = (&recipe.source, recipe.name());
        if source.is_package()
            && let Some(kernel) = cached_kernels::verified(&self.kernel_folder(&name, &recipe.package_key()?))
        {
            return Ok(kernel);
        }
        let builds = self.folder.join("build");
        let tree = tree::prepare(recipe, &builds, progress)?;
        if let Some(zfs) = &recipe.zfs {
            zfs::put(&tree, zfs, source, progress)?;
        }
        let (release, image) = compile::compile(&tree, &name.to_string(), recipe.parts.flavour, progress)?;
        let key = match source.is_package() {
            true => recipe.package_key()?,
            false => recipe.tree_key(&image)?,
        };
        let mut kernel = Kernel {
            name: name.to_string(),
            release,
            source: recipe.description(),
            sha256: String::new(),
            carried_sha256: None,
            path: PathBuf::new(),
            hold: cached_kernels::Hold::default(),
            key,
        };
        let folder = self.kernel_folder(&name, &kernel.key);
        let carried = recipe.zfs.as_ref().map(zfs::carried).unwrap_or_default();
        cached_kernels::write(&mut kernel, &image, &carried, &folder)?;
        cached_kernels::remove_stale_kernels(&self.kernels());
        cached_kernels::remove_stale_builds(&builds, tree::LOG, tree::WHOLE);
        Ok(kernel)
    }

    /// The folder of the recipe's kernel if there is one whose files are not those that were built.
    pub fn damaged(&self, recipe: &Recipe) -> Option<PathBuf> {
        let key = recipe.source.is_package().then(|| recipe.package_key().ok())??;
        let folder = self.kernel_folder(&recipe.name(), &key);
        cached_kernels::is_damaged(&folder).then_some(folder)
    }

    /// Held until dropped: one raidlab at a time builds and fetches.
    pub(super) fn lock(&self, progress: &mut dyn FnMut(BuildProgress)) -> Result<File, KernelError> {
        create_dir(&self.folder)?;
        let path = self.folder.join("lock");
        let lock = open_itself(&path, OFlags::WRONLY | OFlags::CREATE);
        let mut lock = lock.map_err(io_error("cannot create", &path))?;
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            progress(BuildProgress::Waiting { pid: holder(&path) });
            rustix::fs::flock(&lock, FlockOperation::LockExclusive)
                .map_err(|error| io_error("cannot lock", &path)(error.into()))?;
        }
        // Its number, for those who wait.
        let written = lock
            .set_len(0)
            .and_then(|()| lock.rewind())
            .and_then(|()| writeln!(lock, "{}", std::process::id()));
        written.map_err(io_error("cannot write", &path))?;
        Ok(lock)
    }

    fn packages(&self) -> PathBuf {
        self.folder.join("packages")
    }

    fn kernels(&self) -> PathBuf {
        self.folder.join("kernels")
    }

    fn kernel_folder(&self, name: &KernelName, key: &str) -> PathBuf {
        self.kernels().join(format!("{name}-{key}"))
    }
}

/// The process that wrote its number into the lock file.
fn holder(lock: &Path) -> Option<u32> {
    let file = open_itself(lock, OFlags::RDONLY).ok()?;
    let mut said = String::new();
    file.take(PID_BYTES_MAX).read_to_string(&mut said).ok()?;
    said.trim().parse().ok()
}

/// Where a package puts kernels for a program: /usr/lib/raidlab/kernels for /usr/bin/raidlab.
fn installed_with(program: &Path) -> Option<PathBuf> {
    Some(program.parent()?.with_file_name("lib").join("raidlab/kernels"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    #[test]
    fn kernels_are_installed_in_the_same_hierarchy_as_the_program() {
        for (program, kernels) in [
            ("/usr/bin/raidlab", Some("/usr/lib/raidlab/kernels")),
            ("/usr/local/bin/raidlab", Some("/usr/local/lib/raidlab/kernels")),
            ("/", None),
        ] {
            assert_eq!(installed_with(Path::new(program)), kernels.map(PathBuf::from));
        }
    }

    /// A kernel's record, as a package has it. Its key is of the given configuration, patches, driver and disk model.
    fn install(kernels: &Path, own_key: &str) {
        let key = format!("0123456789ab-{own_key}");
        let folder = kernels.join(format!("6.12-{key}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("linux"), "an image").expect("a file");
        let sha256 = hex::encode(Sha256::digest("an image"));
        let record = format!(
            r#"{{"name": "6.12", "release": "6.12.117-raidlab", "key": "{key}", "source": "linux-source-6.12 6.12.117-1",
            "sha256": "{sha256}", "path": "/usr/lib/raidlab/kernels/linux"}}"#
        );
        std::fs::write(folder.join("kernel.json"), record).expect("a file");
    }

    /// Issue 39, C13: it waited for somebody.
    #[test]
    fn a_build_that_waits_says_for_whom() {
        let root = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(root.path().to_owned());
        let held = cache.lock(&mut |_| panic!("nobody builds")).expect("a lock");
        let (sender, receiver) = std::sync::mpsc::channel();
        let waits = std::thread::spawn(move || {
            let lock = cache.lock(&mut |progress| sender.send(progress).expect("the test listens"));
            drop(lock.expect("a lock, later"));
        });
        let pid = Some(std::process::id());
        assert_eq!(receiver.recv(), Ok(BuildProgress::Waiting { pid }));
        drop(held);
        waits.join().expect("it ends");
    }

    #[test]
    fn a_pipe_or_a_link_as_lock_file_is_refused_and_not_waited_for() {
        let cache = Cache::at(tempfile::tempdir().expect("a folder").keep());
        let lock = cache.folder().join("lock");
        drop(cache.lock(&mut |_| ()).expect("a new file"));
        drop(cache.lock(&mut |_| ()).expect("the same file"));
        std::fs::remove_file(&lock).expect("it is there");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &lock,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .expect("a pipe");
        cache.lock(&mut |_| ()).expect_err("a pipe");
        std::fs::remove_file(&lock).expect("it is there");
        let other = cache.folder().join("other");
        std::fs::write(&other, "mine").expect("a file");
        std::os::unix::fs::symlink(&other, &lock).expect("a link");
        cache.lock(&mut |_| ()).expect_err("a link");
        assert_eq!(std::fs::read_to_string(&other).expect("it is there"), "mine");
        std::fs::remove_dir_all(cache.folder()).expect("ours");
    }

    #[test]
    fn an_installed_kernel_of_this_raidlab_is_used_and_another_is_not() {
        let root = tempfile::tempdir().expect("a folder");
        let cache = Cache {
            folder: root.path().join("cache"),
            installed: Some(root.path().join("installed")),
        };
        let name = KernelName::parse("6.12");
        install(&root.path().join("installed"), "ba9876543210");
        assert!(cache.installed(&name).is_none(), "it is of another raidlab");
        assert!(!matches!(cache.find(&name), Ok(Ok(_))));
        install(
            &root.path().join("installed"),
            &crate::kernel::own_key("6.12", name.parts()),
        );
        let found = cache.find(&name).expect("nothing is wrong").expect("it is installed");
        assert!(found.path.starts_with(root.path().join("installed")));
        assert!(cache.installed(&KernelName::parse("6.12+more")).is_none());
        assert!(!cache.folder().exists(), "nothing was written");
        std::fs::write(&found.path, "another").expect("a file");
        assert!(cache.installed(&name).is_none(), "its image was swapped");
    }
}
