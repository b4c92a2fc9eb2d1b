//! The front end of a disk: admission of requests, rejection of invalid ones, failure of the disk.
//!
//! The inside of a drive is in [`hard_disk`](crate::hard_disk) and [`flash`](crate::flash).

use crate::completion_queue::Finishes;
use crate::counters::Counters;
use crate::description::{Device, DiskDescription};
use crate::faults::{Faults, Slow};
use crate::flash::FlashDrive;
use crate::hard_disk::{Drive, Surroundings};
use crate::link::Links;
use crate::request::{Completion, Op, Request, Status};
use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// State of a disk.
pub struct Disk {
    body: Body,
    sectors: u64,
    depth: u32,
    flush_alone: bool,
    finishes: Finishes,
    faults: Faults,
    counters: Counters,
    /// Requests that the drive has not received yet, in order.
    outside: VecDeque<Request>,
    inside: u32,
    /// A flush that runs alone.
    flushing: Option<u32>,
    busy_since_ns: u64,
    /// Time until which it accepts no request; 0 if it does.
    hangs_until_ns: u64,
    ignores_flushes: bool,
    next_ns: u64,
}

enum Body {
    Mechanical(Box<Drive>),
    Flash(Box<FlashDrive>),
}

impl Disk {
    /// The description must have been checked.
    pub fn new(description: &DiskDescription) -> Self {
        let (body, depth, flush_alone) = match &description.device {
            Device::Mechanical(model) => {
                let drive = Drive::new(model, description.sectors, description.seed, &description.links);
                (
                    Body::Mechanical(Box::new(drive)),
                    model.queue.depth,
                    model.queue.flush_alone,
                )
            }
            Device::Flash(model) => {
                let drive = FlashDrive::new(model, description.sectors, description.seed, &description.links);
                (Body::Flash(Box::new(drive)), model.queue_depth, model.flush_alone)
            }
        };
        let mut disk = Disk {
            body,
            sectors: description.sectors,
            depth: depth.max(1),
            flush_alone,
            finishes: Finishes::default(),
            faults: description.faults.clone(),
            counters: Counters::default(),
            outside: VecDeque::with_capacity(64),
            inside: 0,
            flushing: None,
            busy_since_ns: 0,
            hangs_until_ns: 0,
            ignores_flushes: false,
            next_ns: u64::MAX,
        };
        disk.plan();
        disk
    }

    /// Time of the next event; [`u64::MAX`] if there is none.
    pub fn next_ns(&self) -> u64 {
        self.next_ns
    }

    pub fn counters(&self) -> Counters {
        self.counters
    }

    pub fn delay(&mut self, slow: Option<Slow>) {
        self.faults.slow = slow;
    }

    /// Accepts no request until this time; with `dies`, every request fails from then on.
    pub fn hang(&mut self, until_ns: u64, dies: bool) {
        self.hangs_until_ns = until_ns;
        if dies {
            self.faults.dies_at_ns = Some(until_ns);
        }
        self.plan();
    }

    /// From now on it completes each flush at once without writing anything.
    pub fn ignore_flushes(&mut self) {
        self.ignores_flushes = true;
    }

    pub fn ignores_flushes(&self) -> bool {
        self.ignores_flushes
    }

    /// Ranges that would be lost in a power cut.
    pub fn volatile(&self, now_ns: u64) -> Box<dyn Iterator<Item = (u64, u32)> + '_> {
        match &self.body {
            Body::Mechanical(drive) => Box::new(drive.volatile()),
            Body::Flash(drive) => Box::new(drive.volatile(now_ns)),
        }
    }

    /// Submits a request to the disk.
    pub fn submit(&mut self, now_ns: u64, request: Request, links: &mut Links) {
        if self.inside == 0 && self.outside.is_empty() {
            self.busy_since_ns = now_ns;
        }
        self.outside.push_back(request);
        let waiting = self.outside.len() as u32 + self.inside;
        self.counters.queue_max = self.counters.queue_max.max(waiting);
        self.admit(now_ns, links);
        self.plan();
    }

    /// Processes what is due at `now_ns`; returns a completion if there is one. More may follow at the same time.
    pub fn step(&mut self, now_ns: u64, links: &mut Links) -> Option<Completion> {
        if self.faults.dies_at_ns.is_some_and(|dies| dies <= now_ns) {
            self.die(now_ns);
        }
        if self.hangs_until_ns != 0 && self.hangs_until_ns <= now_ns {
            self.hangs_until_ns = 0;
            self.admit(now_ns, links);
        }
        let mut completion = None;
        if self.finishes.next_ns().is_some_and(|ns| ns <= now_ns) {
            if let Some(finish) = self.finishes.pop() {
                completion = Some(Completion {
                    disk: 0,
                    tag: finish.tag,
                    at_ns: now_ns,
                    status: finish.status,
                });
                self.left(now_ns, finish.tag);
                self.admit(now_ns, links);
            }
        } else {
            let (body, mut around) = self.split(links);
            match body {
                Body::Mechanical(drive) => drive.process(now_ns, &mut around),
                Body::Flash(drive) => drive.process(now_ns, &mut around),
            }
        }
        self.plan();
        completion
    }

    fn split<'a>(&'a mut self, links: &'a mut Links) -> (&'a mut Body, Surroundings<'a>) {
        let around = Surroundings {
            finishes: &mut self.finishes,
            links,
            faults: &mut self.faults,
            counters: &mut self.counters,
        };
        (&mut self.body, around)
    }

    /// Admits requests as far as queue depth and flushes allow.
    fn admit(&mut self, now_ns: u64, links: &mut Links) {
        while self.flushing.is_none() && now_ns >= self.hangs_until_ns {
            let Some(request) = self.outside.front().copied() else {
                return;
            };
            let alone = self.flush_alone && request.op == Op::Flush;
            if self.inside >= if alone { 1 } else { self.depth } {
                return;
            }
            self.outside.pop_front();
            self.inside += 1;
            if alone {
                self.flushing = Some(request.tag);
            }
            self.enter(now_ns, &request, links);
        }
    }

    fn enter(&mut self, now_ns: u64, request: &Request, links: &mut Links) {
        if self.faults.gone(now_ns) {
            self.finishes.push(now_ns, request.tag, Status::DeviceGone);
            return;
        }
        if !self.makes_sense(request) {
            self.counters.errors += 1;
            self.finishes.push(now_ns, request.tag, Status::Invalid);
            return;
        }
        self.count(request);
        if self.ignores_flushes && request.op == Op::Flush {
            let takes_ns = match &self.body {
                Body::Mechanical(drive) => drive.command_ns(),
                Body::Flash(drive) => drive.command_ns(),
            };
            return self.finishes.push(now_ns + takes_ns, request.tag, Status::Ok);
        }
        let (body, mut around) = self.split(links);
        match body {
            Body::Mechanical(drive) => drive.arrive(now_ns, request, &mut around),
            Body::Flash(drive) => drive.arrive(now_ns, request, &mut around),
        }
    }

    fn makes_sense(&self, request: &Request) -> bool {
        let inside = request
            .sector
            .checked_add(u64::from(request.sectors))
            .is_some_and(|end| end <= self.sectors);
        match request.op {
            Op::Flush => true,
            Op::Read | Op::Write | Op::Discard => inside && request.sectors > 0,
        }
    }

    fn count(&mut self, request: &Request) {
        let sectors = u64::from(request.sectors);
        match request.op {
            Op::Read => {
                self.counters.reads += 1;
                self.counters.sectors_read += sectors;
            }
            Op::Write => {
                self.counters.writes += 1;
                self.counters.sectors_written += sectors;
            }
            Op::Flush => self.counters.flushes += 1,
            Op::Discard => self.counters.discards += 1,
        }
    }

    fn left(&mut self, now_ns: u64, tag: u32) {
        self.inside = self.inside.saturating_sub(1);
        if self.flushing == Some(tag) {
            self.flushing = None;
        }
        if self.inside == 0 && self.outside.is_empty() {
            self.counters.busy_ns += now_ns.saturating_sub(self.busy_since_ns);
        }
    }

    /// Ends all requests in progress when the disk dies.
    fn die(&mut self, now_ns: u64) {
        let finishes = &mut self.finishes;
        let mut tags = VecDeque::new();
        finishes.cut(now_ns, |tag| tags.push_back(tag));
        match &mut self.body {
            Body::Mechanical(drive) => drive.drop_all(|tag| tags.push_back(tag)),
            Body::Flash(drive) => drive.drop_all(|tag| tags.push_back(tag)),
        }
        for tag in tags {
            self.counters.errors += 1;
            finishes.push(now_ns, tag, Status::DeviceGone);
        }
        // From here on `gone` applies; the time of death has passed.
        self.faults.dies_at_ns = Some(0);
    }

    fn plan(&mut self) {
        let body_ns = match &self.body {
            Body::Mechanical(drive) => drive.next_ns(),
            Body::Flash(drive) => drive.next_ns(),
        };
        let dies_ns = self.faults.dies_at_ns.filter(|&ns| ns > 0);
        let answers_ns = (self.hangs_until_ns != 0).then_some(self.hangs_until_ns);
        let events = [self.finishes.next_ns(), body_ns, dies_ns, answers_ns];
        let next = events.into_iter().flatten().min();
        self.next_ns = next.unwrap_or(u64::MAX);
    }
}
