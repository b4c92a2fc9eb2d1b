//! The open files with which a guest starts, under the numbers of `kernel/driver/raidlab.h`.

use super::contents::{DiskContents, SPILL};
use super::memory_file::{Ends, memory, sized};
use super::{Config, StartError, StatesUse, starting};
use rustix::mm::{MapFlags, ProtFlags};
use std::cell::Cell;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of the heartbeat page of the guest's driver.
const HEARTBEAT_BYTES: u64 = 4096;

/// The guest's heartbeat (`struct rl_heartbeat`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heartbeat {
    /// Virtual time since the kernel started.
    pub virtual_ns: u64,
    /// Requests that reached the disks.
    pub requests: u64,
    /// The disks could not store what was written: the memory budget is used up and the trial's folder is full.
    pub no_room: bool,
    /// It ended because the power was cut, as [`Config::power_cut`] says.
    pub power_cut: bool,
}

/// Our end of a pipe that the guest writes to.
pub struct Heard {
    pub fd: OwnedFd,
    /// The guest closed its end: no data will come, and poll would return at once.
    pub closed: Cell<bool>,
}

/// The lab's ends.
pub struct Files {
    /// Events from the init.
    pub events: Heard,
    /// Console output.
    pub console: Heard,
    heartbeat: NonNull<AtomicU64>,
    /// The contents that do not fit into memory, on the disk of the guest's folder.
    spill: Option<OwnedFd>,
    /// The disks' contents, if they are needed for this guest only.
    _own_contents: Option<DiskContents>,
}

/// Space that guests leave on the disk of their folder: at most this number of bytes, or this fraction of a small disk.
const DISK_RESERVE_BYTES: u64 = 512 << 20;
const DISK_RESERVE_SHARE: u64 = 20;

impl Files {
    /// Returns the lab's ends, the guest's ends, and the guest's end of a console without input.
    pub fn create(config: &Config<'_>) -> Result<(Files, Ends, OwnedFd), StartError> {
        let disks = memory("disks", config.disks)?;
        let job = memory("job", config.job)?;
        let (events, events_end) = pipe()?;
        let (console, console_end) = pipe()?;
        let heartbeat_file = sized("heartbeat", HEARTBEAT_BYTES)?;
        let heartbeat = map_heartbeat(&heartbeat_file)?;
        let mut numbered = vec![(100, disks), (101, job), (102, events_end), (105, heartbeat_file)];
        let mut own_contents = None;
        numbered.extend(match (&config.states, config.contents) {
            (Some(StatesUse::Keep(states, _) | StatesUse::Take(states)), _) => states.ends()?,
            (None, Some(contents)) => contents.ends()?,
            (None, None) => own_contents
                .insert(DiskContents::of_spare(
                    config.spare,
                    config.memory_budget_bytes,
                    config.folder,
                )?)
                .data_ends()?,
        });
        numbered.extend(config.init.ends()?);
        if let Some(root) = config.root {
            numbered.push(root.end()?);
        }
        let cuts = match config.states {
            Some(StatesUse::Keep(_, cuts)) => cuts,
            Some(StatesUse::Take(_)) => &[],
            None => config.power_cut.as_slice(),
        };
        if !cuts.is_empty() {
            let words = cuts
                .iter()
                .flat_map(|cut| [cut.at_ns.to_le_bytes(), cut.seed.to_le_bytes()]);
            numbered.push((110, memory("power cuts", &words.flatten().collect::<Vec<u8>>())?));
        }
        if let Some(trace) = config.trace {
            let trace = trace
                .try_clone()
                .map_err(starting("cannot duplicate the descriptor of the trace file"))?;
            numbered.push((106, trace.into()));
        }
        let heard = |fd| Heard {
            fd,
            closed: Cell::new(false),
        };
        let spill = numbered.iter().find(|(number, _)| *number == SPILL);
        let files = Files {
            events: heard(events),
            console: heard(console),
            heartbeat,
            spill: spill.and_then(|(_, spill)| spill.try_clone().ok()),
            _own_contents: own_contents,
        };
        Ok((files, numbered, console_end))
    }

    /// Whether the guest fills the disk of its folder so that others would have no space.
    pub fn is_disk_short(&self) -> bool {
        let Some(spill) = &self.spill else { return false };
        let is_used = rustix::fs::fstat(spill).is_ok_and(|there| there.st_blocks > 0);
        let space = rustix::fs::fstatvfs(spill);
        is_used
            && space.is_ok_and(|space| is_short(space.f_bavail * space.f_frsize, space.f_blocks * space.f_frsize))
    }

    pub fn heartbeat(&self) -> Heartbeat {
        // SAFETY: the page stays mapped as long as `self` lives, and holds at least four words.
        let words = unsafe { std::slice::from_raw_parts(self.heartbeat.as_ptr(), 4) };
        Heartbeat {
            virtual_ns: words[0].load(Ordering::Relaxed),
            requests: words[1].load(Ordering::Relaxed),
            no_room: words[2].load(Ordering::Relaxed) != 0,
            power_cut: words[3].load(Ordering::Relaxed) != 0,
        }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // SAFETY: mapped by `map_heartbeat`, and no longer used.
        let _ = unsafe { rustix::mm::munmap(self.heartbeat.as_ptr().cast(), HEARTBEAT_BYTES as usize) };
    }
}

fn is_short(free_bytes: u64, all_bytes: u64) -> bool {
    free_bytes < DISK_RESERVE_BYTES.min(all_bytes / DISK_RESERVE_SHARE)
}

fn map_heartbeat(file: &OwnedFd) -> Result<NonNull<AtomicU64>, StartError> {
    // SAFETY: a new mapping at an address that the kernel chooses.
    let page = unsafe {
        rustix::mm::mmap(
            std::ptr::null_mut(),
            HEARTBEAT_BYTES as usize,
            ProtFlags::READ,
            MapFlags::SHARED,
            file,
            0,
        )
    };
    let page = page.map_err(|error| starting("cannot map the guest's heartbeat")(error.into()))?;
    Ok(NonNull::new(page.cast()).expect("a mapping is not at 0"))
}

fn pipe() -> Result<(OwnedFd, OwnedFd), StartError> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|error| starting("cannot make a pipe")(error.into()))
}

#[cfg(test)]
mod tests {
    use super::is_short;

    #[test]
    fn guests_leave_space_on_the_disk_for_others() {
        const GIB: u64 = 1 << 30;
        assert!(is_short(GIB / 4, 1000 * GIB) && !is_short(GIB, 1000 * GIB));
        // A disk that is smaller than the reserve of a large one can be used.
        assert!(!is_short(GIB / 4, GIB) && is_short(GIB / 40, GIB));
    }
}
