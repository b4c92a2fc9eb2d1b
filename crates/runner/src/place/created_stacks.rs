//! Stacks that are created once: the contents of their disks, from which trials start on copies. The user's cache keeps them for later
//! runs ([`KeptStacks`]).

use lab::guest::DiskContents;
use lab::kept_stacks::KeptStacks;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use study::event::Event;
use study::plan::Trial;

/// A stack on its disks, put down.
pub(super) struct CreatedStack {
    pub(super) contents: DiskContents,
    /// The calls that created it, and what it is like if it was aged, for each of its trials.
    pub(super) calls: Vec<Event>,
}

/// Empty until somebody has created it; locked while somebody does.
type Slot = Arc<Mutex<Option<Arc<CreatedStack>>>>;

/// The stacks that were created in a run, up to a total size.
pub struct CreatedStacks {
    bytes_max: u64,
    /// Those of earlier runs.
    pub(super) kept: KeptStacks,
    /// What they were created from, the oldest first.
    known: Mutex<Vec<(String, Slot)>>,
}

impl CreatedStacks {
    /// Those that trials have used longest ago are dropped when all together have more than this many bytes.
    pub fn new(bytes_max: u64, kept: KeptStacks) -> Self {
        Self {
            bytes_max,
            kept,
            known: Mutex::default(),
        }
    }

    /// The stack of a trial, which is created if nobody has: two trials that need the same one wait for each other.
    pub(super) fn of<E>(
        &self,
        trial: &Trial,
        create: impl FnOnce() -> Result<CreatedStack, E>,
    ) -> Result<Arc<CreatedStack>, E> {
        let slot = self.slot(trial::creation_key(trial));
        let mut created = locked(&slot);
        if let Some(created) = created.as_ref() {
            return Ok(created.clone());
        }
        let new = Arc::new(create()?);
        *created = Some(new.clone());
        drop(created);
        self.drop_oldest();
        Ok(new)
    }

    fn slot(&self, key: String) -> Slot {
        let mut known = locked(&self.known);
        let slot = match known.iter().position(|(theirs, _)| *theirs == key) {
            Some(place) => known.remove(place).1,
            None => Slot::default(),
        };
        known.push((key, slot.clone()));
        slot
    }

    fn drop_oldest(&self) {
        let mut known = locked(&self.known);
        // One that is being created has no size yet, and waits for nobody here.
        let bytes = |slot: &Slot| {
            let created = slot.try_lock().ok()?;
            created.as_ref().map(|created| created.contents.bytes())
        };
        let mut all: u64 = known.iter().filter_map(|(_, slot)| bytes(slot)).sum();
        let mut place = 0;
        // The newest is used now.
        while all > self.bytes_max && place + 1 < known.len() {
            match bytes(&known[place].1) {
                Some(bytes) => {
                    all = all.saturating_sub(bytes);
                    known.remove(place);
                }
                None => place += 1,
            }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
