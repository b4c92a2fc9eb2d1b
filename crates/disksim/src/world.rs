//! All disks of a machine, and what they share.

pub use crate::check::Invalid;
pub use crate::counters::Counters;
pub use crate::description::{Description, DiskDescription};

use crate::channel::Channels;
use crate::disk::Disk;
use crate::link::Links;
use crate::request::{Completion, Request, Status};
use alloc::vec::Vec;

/// The disks in their state at some moment.
pub struct World {
    disks: Vec<Disk>,
    links: Links,
    channels: Channels,
    now_ns: u64,
    next_ns: u64,
    next_disk: usize,
    /// What completed while a request was submitted, or can never complete.
    early: Vec<Completion>,
}

impl World {
    /// Builds the disks, all idle and their caches empty, at time 0.
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

    /// How many disks there are.
    pub fn disks(&self) -> usize {
        self.disks.len()
    }

    /// A request reaches a disk at `now_ns`, which must not be before any time given earlier.
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

    /// When [`advance`](Self::advance) has something to do next; `None` if never without another request.
    pub fn next_event_ns(&self) -> Option<u64> {
        if !self.early.is_empty() {
            return Some(self.now_ns);
        }
        (self.next_ns < u64::MAX).then_some(self.next_ns)
    }

    /// Lets time pass until `now_ns` and appends what completed, in the order of its time.
    pub fn advance(&mut self, now_ns: u64, done: &mut Vec<Completion>) {
        self.pass(now_ns);
        done.append(&mut self.early);
    }

    /// What a disk did so far.
    pub fn counters(&self, disk: usize) -> Counters {
        self.disks.get(disk).map(Disk::counters).unwrap_or_default()
    }

    /// Sectors of a disk that were acknowledged and would be lost if the power went now: first sector, length.
    /// Ranges that the head is just writing are among them as a whole.
    pub fn volatile(&self, disk: usize) -> impl Iterator<Item = (u64, u32)> + '_ {
        let now_ns = self.now_ns;
        self.disks.get(disk).into_iter().flat_map(move |d| d.volatile(now_ns))
    }

    /// Works off all events up to a moment. Time never goes back, whatever the caller says.
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
