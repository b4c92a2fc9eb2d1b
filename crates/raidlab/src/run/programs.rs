//! Programs that guests get because this machine has none installed, whatever their kernel.

use crate::expected::ExpectedError;
use crate::progress::say;
use lab::carried::Programs;
use lab::kernel::{BCACHEFS, Cache};
use study::plan::{Cell, Trial};
use study::stack::FilesystemKind;
use tools::{Tool, Tools};

/// What guests are given.
pub struct GuestPrograms {
    bcachefs: Option<Programs>,
}

impl GuestPrograms {
    /// Says what is missing to have all that the cells ask for; nothing is written.
    pub fn check(cache: &Cache, cells: &[Cell]) -> Result<(), ExpectedError> {
        if lack_bcachefs(cells) && cache.bcachefs().is_none() {
            Cache::check_fetching()?;
        }
        Ok(())
    }

    /// Gets what the cells ask for from Debian's mirror, if it is not in the cache yet.
    pub fn ready(cache: &Cache, cells: &[Cell]) -> Result<GuestPrograms, ExpectedError> {
        let bcachefs = match lack_bcachefs(cells) {
            true => Some(fetched_bcachefs(cache)?),
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
pub fn fetched_bcachefs(cache: &Cache) -> Result<Programs, ExpectedError> {
    if let Some(programs) = cache.bcachefs() {
        return Ok(programs);
    }
    say(&format!(
        "raidlab: getting {BCACHEFS} from Debian's mirror into {}",
        cache.folder().display()
    ));
    cache.fetch(BCACHEFS, &mut |_| {})?;
    cache
        .bcachefs()
        .ok_or_else(|| ExpectedError::Machine(format!("{BCACHEFS} was fetched, and went from the cache again")))
}

/// Whether it is installed on this machine; then guests call that.
pub fn has_bcachefs() -> bool {
    Tools::find(&[Tool::Bcachefs]).is_ok()
}

fn lack_bcachefs(cells: &[Cell]) -> bool {
    cells.iter().any(asks_for_bcachefs) && !has_bcachefs()
}

fn asks_for_bcachefs(cell: &Cell) -> bool {
    let beside = cell.stack.beside.iter().map(|other| other.filesystem.kind);
    std::iter::once(cell.stack.filesystem.kind)
        .chain(beside)
        .any(|kind| kind == FilesystemKind::Bcachefs)
}
