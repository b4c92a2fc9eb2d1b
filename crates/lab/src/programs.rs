//! Programs that guests get because this machine has none installed, whatever their kernel.

use crate::carried::Programs;
use crate::kernel::{BCACHEFS, Cache, KernelError};
use filesystems::bcachefs;
use study::plan::{Cell, Trial};
use tools::{Tool, Tools};

/// What guests are given.
pub struct GuestPrograms {
    bcachefs: Option<Programs>,
}

impl GuestPrograms {
    /// Looks whether all that the cells ask for can be had; nothing is written.
    ///
    /// # Errors
    /// Says what is missing.
    pub fn check(cache: &Cache, cells: &[Cell]) -> Result<(), KernelError> {
        if lack_bcachefs(cells) && cache.bcachefs().is_none() {
            Cache::check_fetching()?;
        }
        Ok(())
    }

    /// Gets what the cells ask for from Debian's mirror, if it is not in the cache yet; calls `notice` first.
    ///
    /// # Errors
    /// When it cannot be had.
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

    /// What the guest of a trial gets: only what it asks for itself.
    pub fn of(&self, trial: &Trial) -> Option<&Programs> {
        self.bcachefs.as_ref().filter(|_| asks_for_bcachefs(&trial.cell))
    }
}

/// bcachefs's program, from the cache or from Debian's mirror.
///
/// # Errors
/// When it cannot be had.
pub fn fetched_bcachefs(cache: &Cache, notice: &mut dyn FnMut(&str)) -> Result<Programs, KernelError> {
    if let Some(programs) = cache.bcachefs() {
        return Ok(programs);
    }
    notice(&format!(
        "getting {BCACHEFS} from Debian's mirror into {}",
        cache.folder().display()
    ));
    cache.fetch(BCACHEFS, &mut |_| {})?;
    cache.bcachefs().ok_or(KernelError::Gone { package: BCACHEFS })
}

/// Whether it is installed on this machine; then guests call that.
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
