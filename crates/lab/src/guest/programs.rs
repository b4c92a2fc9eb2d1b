//! The programs of guests: this machine's, and those that it need not have.

use crate::guest::{Root, StartError};
use crate::kernel::{BCACHEFS, Cache, Kernel, KernelError};
use crate::protocol::carried::Programs;
use crate::protocol::job::{self, GuestJob};
use filesystems::bcachefs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use study::plan::{Cell, Trial};
use tools::{Tool, Tools};
use trial::Teardown;

/// Programs for guests.
pub struct GuestPrograms {
    bcachefs: Option<Programs>,
    roots: Mutex<BTreeMap<RootKey, Arc<Root>>>,
}

/// What a root depends on: the kernel with its carried programs, and the programs that a trial calls.
type RootKey = (PathBuf, Vec<Tool>);

impl GuestPrograms {
    /// Checks whether all programs that the cells need are available; nothing is written.
    ///
    /// # Errors
    /// Names what is missing.
    pub fn check(cache: &Cache, cells: &[Cell]) -> Result<(), KernelError> {
        if lack_bcachefs(cells) && cache.bcachefs().is_none() {
            Cache::check_fetching()?;
        }
        Ok(())
    }

    /// Fetches the programs that the cells need from Debian's mirror, unless cached; calls `notice` first.
    ///
    /// # Errors
    /// If they cannot be fetched.
    pub fn ready(
        cache: &Cache,
        cells: &[Cell],
        notice: &mut dyn FnMut(&str),
    ) -> Result<GuestPrograms, KernelError> {
        let bcachefs = match lack_bcachefs(cells) {
            true => Some(fetched_bcachefs(cache, notice)?),
            false => None,
        };
        Ok(GuestPrograms {
            bcachefs,
            roots: Mutex::default(),
        })
    }

    /// The root of a trial's guest: the programs that it calls.
    ///
    /// # Errors
    /// If a program or a library cannot be read.
    pub fn root(&self, trial: &Trial, kernel: &Kernel) -> Result<Arc<Root>, RootError> {
        let mut wanted = trial::tools_needed(&trial.cell, Teardown::None);
        let key = (kernel.path.clone(), wanted.clone());
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(root) = roots.get(&key) {
            return Ok(Arc::clone(root));
        }
        let mut carried = kernel.carried()?;
        carried.extend(
            self.of(trial)
                .into_iter()
                .flat_map(|programs| programs.files.iter().cloned()),
        );
        let is_carried = |tool: &Tool| carried.iter().any(|file| file.path.ends_with(tool.program()));
        wanted.retain(|tool| !is_carried(tool));
        let programs: Vec<PathBuf> = Tools::find(&wanted)?.files().map(Path::to_owned).collect();
        let root = Arc::new(Root::new(&programs, &carried)?);
        roots.insert(key, Arc::clone(&root));
        Ok(root)
    }

    /// The programs for a trial's guest: only those that its stack needs.
    pub fn of(&self, trial: &Trial) -> Option<&Programs> {
        self.bcachefs.as_ref().filter(|_| asks_for_bcachefs(&trial.cell))
    }
}

/// A job as a guest reads it, with the files of its kernel and additional programs.
///
/// # Errors
/// If the files cannot be read from the cache.
pub fn encoded(job: &GuestJob, kernel: &Kernel, programs: Option<&Programs>) -> Result<Vec<u8>, KernelError> {
    let mut files = kernel.carried()?;
    files.extend(programs.into_iter().flat_map(|programs| programs.files.iter().cloned()));
    Ok(job::encode(job, &files))
}

/// Why the programs of a guest cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    #[error(transparent)]
    Missing(#[from] tools::MissingTools),
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error(transparent)]
    Start(#[from] StartError),
}

/// bcachefs's program, from the cache or from Debian's mirror.
///
/// # Errors
/// If it cannot be fetched.
pub fn fetched_bcachefs(cache: &Cache, notice: &mut dyn FnMut(&str)) -> Result<Programs, KernelError> {
    if let Some(programs) = cache.bcachefs() {
        return Ok(programs);
    }
    notice(&format!(
        "downloading {BCACHEFS} from Debian's mirror into {}",
        cache.folder().display()
    ));
    cache.fetch(BCACHEFS, &mut |_| {})?;
    cache.bcachefs().ok_or(KernelError::Gone { package: BCACHEFS })
}

/// Whether it is installed on this machine; guests then use that program.
pub fn has_bcachefs() -> bool {
    Tools::find(&[Tool::Filesystem(&bcachefs::BCACHEFS)]).is_ok()
}

fn lack_bcachefs(cells: &[Cell]) -> bool {
    cells.iter().any(asks_for_bcachefs) && !has_bcachefs()
}

fn asks_for_bcachefs(cell: &Cell) -> bool {
    cell.stack
        .filesystem_kinds()
        .any(|kind| kind.maker() == Some(&bcachefs::BCACHEFS))
}
