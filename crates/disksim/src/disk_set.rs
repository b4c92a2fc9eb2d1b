//! All disks of a machine, and what they share.

pub use crate::check::Invalid;
pub use crate::counters::Counters;
pub use crate::description::{Description, DiskDescription};

use crate::disk::Disk;
use crate::faults::Slow;
use crate::ide_channel::Channels;
use crate::link::Links;
use crate::request::{Completion, Request, Status};
use alloc::vec::Vec;

/// State of all disks.
pub struct World {
    disks: Vec<Disk>,
    links: Links,
    channels: Channels,
    now_ns: u64,
    next_ns: u64,
    next_disk: usize,
    /// Requests that completed during submission, or that can never complete.
    early: Vec<Completion>,
}

impl World {
    /// Creates the disks at time 0, idle and with empty caches.
    pub fn new(description: &Description) -> Result<World, Invalid> {
        crate::check::description(description)?;
        let mut world = World {
            disks: description.disks.iter().map(Disk::new).collect(),
            links: Links::new(&description.links),
            channels: Channels::new(description),
            now_ns: 0,
            next_ns: u64::MAX,
            next_disk: 0,
            early: Vec::with_capacity(8),
        };
        world.plan();
        Ok(world)
    }

    /// Number of disks.
    pub fn disks(&self) -> usize {
        self.disks.len()
    }

    /// Submits a request to a disk at `now_ns`, which must not be before any earlier time.
    pub fn submit(&mut self, disk: usize, now_ns: u64, request: Request) {
        let now_ns = self.pass(now_ns);
        if disk >= self.disks.len() {
            let disk = disk.min(u32::MAX as usize) as u32;
            self.early.push(Completion {
                disk,
                tag: request.tag,
                at_ns: now_ns,
                status: Status::DeviceGone,
            });
        } else if let Some(request) = self.channels.claim(disk, request) {
            self.disks[disk].submit(now_ns, request, &mut self.links);
        }
        self.plan();
    }

    /// Time of the next event for [`advance`](Self::advance); `None` if nothing happens without another request.
    pub fn next_event_ns(&self) -> Option<u64> {
        if !self.early.is_empty() {
            return Some(self.now_ns);
        }
        (self.next_ns < u64::MAX).then_some(self.next_ns)
    }

    /// Advances to `now_ns` and appends completions in the order of time.
    pub fn advance(&mut self, now_ns: u64, done: &mut Vec<Completion>) {
        self.pass(now_ns);
        done.append(&mut self.early);
    }

    /// From `now_ns` on each media access of a disk takes this much longer; 0 ends that.
    pub fn delay(&mut self, disk: usize, now_ns: u64, access_ns: u64) {
        let from_ns = self.pass(now_ns);
        if let Some(disk) = self.disks.get_mut(disk) {
            disk.delay((access_ns > 0).then_some(Slow { from_ns, access_ns }));
        }
    }

    /// From `now_ns` on a disk accepts no request for this long, and with `dies` none afterwards.
    pub fn hang(&mut self, disk: usize, now_ns: u64, for_ns: u64, dies: bool) {
        let from_ns = self.pass(now_ns);
        if let Some(disk) = self.disks.get_mut(disk) {
            disk.hang(from_ns.saturating_add(for_ns), dies);
        }
        self.plan();
    }

    /// From `now_ns` on a disk completes each flush at once without writing anything.
    pub fn ignore_flushes(&mut self, disk: usize, now_ns: u64) {
        self.pass(now_ns);
        if let Some(disk) = self.disks.get_mut(disk) {
            disk.ignore_flushes();
        }
    }

    /// Whether a disk completes flushes without writing anything.
    pub fn ignores_flushes(&self, disk: usize) -> bool {
        self.disks.get(disk).is_some_and(Disk::ignores_flushes)
    }

    /// Counters of a disk.
    pub fn counters(&self, disk: usize) -> Counters {
        self.disks.get(disk).map(Disk::counters).unwrap_or_default()
    }

    /// Acknowledged sectors of a disk that would be lost in a power cut now: first sector, length. A range that is
    /// being written is included completely.
    pub fn volatile(&self, disk: usize) -> impl Iterator<Item = (u64, u32)> + '_ {
        let now_ns = self.now_ns;
        self.disks.get(disk).into_iter().flat_map(move |d| d.volatile(now_ns))
    }

    /// Processes all events up to a time. Time never goes back, whatever the caller passes.
    fn pass(&mut self, now_ns: u64) -> u64 {
        while self.next_ns <= now_ns {
            let at_ns = self.next_ns.max(self.now_ns);
            self.now_ns = at_ns;
            let index = self.next_disk;
            if let Some(mut completion) = self.disks[index].step(at_ns, &mut self.links) {
                completion.disk = index as u32;
                self.early.push(completion);
                if let Some((disk, request)) = self.channels.release(index) {
                    self.disks[disk].submit(at_ns, request, &mut self.links);
                }
            }
            self.plan();
        }
        self.now_ns = self.now_ns.max(now_ns);
        self.now_ns
    }

    fn plan(&mut self) {
        self.next_ns = u64::MAX;
        for (index, disk) in self.disks.iter().enumerate() {
            if disk.next_ns() < self.next_ns {
                (self.next_ns, self.next_disk) = (disk.next_ns(), index);
            }
        }
    }
}
