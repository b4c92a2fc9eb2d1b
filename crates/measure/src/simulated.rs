//! A `disksim` disk as a target: tests measure disks with known parameters, and an SSD's parameters are fitted by
//! simulating the same steps.

use crate::{Error, Extent, ReadableDisk, RequestKind, Timing, Writable};
use disksim::description::{Description, DiskDescription};
use disksim::disk_set::World;
use disksim::request::{self, Completion, Request, Status};

/// A simulated disk without host overhead.
pub struct SimulatedDisk {
    world: World,
    sectors: u64,
    now_ns: u64,
    done: Vec<Completion>,
}

impl SimulatedDisk {
    /// A new disk.
    ///
    /// # Errors
    /// If the description is invalid.
    pub fn new(disk: DiskDescription) -> Result<Self, Error> {
        let sectors = disk.sectors;
        let description = Description {
            links: Vec::new(),
            disks: vec![disk],
        };
        let world = World::new(&description).map_err(|invalid| Error::Model(invalid.reason.to_owned()))?;
        Ok(SimulatedDisk {
            world,
            sectors,
            now_ns: 0,
            done: Vec::new(),
        })
    }

    /// The same disk, limited to its first sectors.
    pub(crate) fn within(self, sectors: u64) -> Self {
        SimulatedDisk { sectors, ..self }
    }

    /// The simulated time.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn serve(
        &mut self,
        count: usize,
        depth: u32,
        request: impl Fn(usize) -> (request::Op, Extent),
    ) -> Result<Vec<Timing>, Error> {
        let mut timings = vec![Timing { from_ns: 0, to_ns: 0 }; count];
        let (mut next, mut under_way) = (0, 0);
        while next < count || under_way > 0 {
            while next < count && under_way < depth {
                let (op, Extent { sector, sectors }) = request(next);
                timings[next].from_ns = self.now_ns;
                let request = Request {
                    tag: next as u32,
                    op,
                    sector,
                    sectors,
                    fua: false,
                };
                self.world.submit(0, self.now_ns, request);
                (next, under_way) = (next + 1, under_way + 1);
            }
            let Some(at_ns) = self.world.next_event_ns() else {
                return Err(Error::Stopped("requests of the simulated disk never end".to_owned()));
            };
            self.now_ns = at_ns;
            let mut done = std::mem::take(&mut self.done);
            self.world.advance(at_ns, &mut done);
            for completion in done.drain(..) {
                under_way -= 1;
                let index = completion.tag as usize;
                timings[index].to_ns = completion.at_ns;
                if let Status::MediumError { sector } = completion.status {
                    return Err(Error::Unreadable {
                        sector,
                        sectors: request(index).1.sectors,
                        why: "medium error".to_owned(),
                    });
                }
            }
            self.done = done;
        }
        Ok(timings)
    }
}

impl ReadableDisk for SimulatedDisk {
    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn read(&mut self, reads: &[Extent], depth: u32) -> Result<Vec<Timing>, Error> {
        self.serve(reads.len(), depth, |index| (request::Op::Read, reads[index]))
    }

    fn pause(&mut self, ms: u64) {
        let until_ns = self.now_ns + ms * 1_000_000;
        let mut done = Vec::new();
        while let Some(at_ns) = self.world.next_event_ns().filter(|&at_ns| at_ns <= until_ns) {
            self.world.advance(at_ns, &mut done);
        }
        self.world.advance(until_ns, &mut done);
        self.now_ns = until_ns;
    }
}

impl Writable for SimulatedDisk {
    fn write(&mut self, writes: &[Extent], depth: u32) -> Result<Vec<Timing>, Error> {
        self.serve(writes.len(), depth, |index| (request::Op::Write, writes[index]))
    }

    fn mix(&mut self, requests: &[(RequestKind, Extent)], depth: u32) -> Result<Vec<Timing>, Error> {
        let request = |index: usize| {
            let (op, extent) = requests[index];
            let op = match op {
                RequestKind::Read => request::Op::Read,
                RequestKind::Write => request::Op::Write,
            };
            (op, extent)
        };
        self.serve(requests.len(), depth, request)
    }

    fn flush(&mut self) -> Result<Timing, Error> {
        let all = Extent { sector: 0, sectors: 0 };
        let timings = self.serve(1, 1, |_| (request::Op::Flush, all))?;
        timings
            .first()
            .copied()
            .ok_or_else(|| Error::Stopped("a flush ended without a time".to_owned()))
    }
}
