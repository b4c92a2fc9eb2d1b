//! Programs that are passed to guests because they are not installed on this machine, independent of the kernel.

use crate::carried::Programs;
use crate::kernel::{BCACHEFS, Cache, KernelError};
use filesystems::bcachefs;
use study::plan::{Cell, Trial};
use tools::{Tool, Tools};

/// Programs for guests.
pub struct GuestPrograms {
    bcachefs: Option<Programs>,
}

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
        Ok(GuestPrograms { bcachefs })
    }

    /// The programs for a trial's guest: only those that its stack needs.
    pub fn of(&self, trial: &Trial) -> Option<&Programs> {
        self.bcachefs.as_ref().filter(|_| asks_for_bcachefs(&trial.cell))
    }
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
    let group_stacks = cell.stack.group_stacks.iter().map(|other| other.filesystem.kind);
    std::iter::once(cell.stack.filesystem.kind)
        .chain(group_stacks)
        .any(|kind| kind.maker() == Some(&bcachefs::BCACHEFS))
}
