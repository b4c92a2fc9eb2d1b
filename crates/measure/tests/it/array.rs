//! Simulates an array of a model's disks. Chunks, parity and copies are placed as in md (left-symmetric, near 2);
//! there is no stripe cache, no filesystem and no CPU time.

use disksim::catalogue::Model;
use disksim::description::Description;
use disksim::disk_set::World;
use disksim::request::{Completion, Op, Request};

const CHUNK: u64 = 1024;
const DISKS: u64 = 4;
const SMALL: u64 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Five,
    Ten,
}

/// A part of a disk.
#[derive(Clone, Copy)]
struct Part {
    disk: usize,
    sector: u64,
}

/// Performance of an array: random 4 KiB requests per second at depth 16, and a stream with 32 chunks in flight.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    pub reads_per_s: f64,
    pub writes_per_s: f64,
    pub stream_mb_s: f64,
}

impl Figures {
    pub fn of(model: &Model, level: Level) -> Self {
        let small = |op: Op| {
            let mut array = Array::new(model, level);
            // Fill the caches first.
            array.small(op, 4000);
            let from_ns = array.now_ns;
            array.small(op, 8000);
            8000.0 / (array.now_ns - from_ns) as f64 * 1e9
        };
        Figures {
            reads_per_s: small(Op::Read),
            writes_per_s: small(Op::Write),
            stream_mb_s: Array::new(model, level).stream_mb_s(),
        }
    }
}

/// A request to the array and its remaining work.
#[derive(Clone)]
struct Work {
    waits_for: u32,
    /// Issued when all of these are done.
    then: Vec<(Op, Part)>,
}

struct Array {
    world: World,
    level: Level,
    now_ns: u64,
    chunks: u64,
    works: Vec<Work>,
    random: u64,
    done: Vec<Completion>,
}

impl Array {
    fn new(model: &Model, level: Level) -> Self {
        let disks = (0..DISKS).map(|seed| model.description(seed + 1)).collect();
        let links = Vec::new();
        Array {
            world: World::new(&Description { links, disks }).expect("a sound model"),
            level,
            now_ns: 0,
            chunks: model.sectors / CHUNK,
            works: Vec::new(),
            random: 11,
            done: Vec::new(),
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 16) % limit
    }

    /// Sectors of data.
    fn data_chunks(&self) -> u64 {
        match self.level {
            Level::Five => self.chunks * (DISKS - 1),
            Level::Ten => self.chunks * DISKS / 2,
        }
    }

    /// Where a data chunk and its parity or copy are.
    fn place(&self, chunk: u64, offset: u64) -> [Part; 2] {
        let at = |disk: u64, row: u64| Part {
            disk: disk as usize,
            sector: row * CHUNK + offset,
        };
        match self.level {
            Level::Five => {
                let (row, column) = (chunk / (DISKS - 1), chunk % (DISKS - 1));
                let parity = DISKS - 1 - row % DISKS;
                [at((parity + 1 + column) % DISKS, row), at(parity, row)]
            }
            Level::Ten => {
                let (row, pair) = (chunk / (DISKS / 2), chunk % (DISKS / 2) * 2);
                [at(pair, row), at(pair + 1, row)]
            }
        }
    }

    fn submit(&mut self, tag: u32, op: Op, part: Part, sectors: u64) {
        let request = Request {
            tag,
            op,
            sector: part.sector,
            sectors: sectors as u32,
            fua: false,
        };
        self.world.submit(part.disk, self.now_ns, request);
    }

    /// Issues a random request.
    fn begin(&mut self, tag: u32, op: Op) {
        let chunk = self.below(self.data_chunks());
        let offset = self.below(CHUNK / SMALL) * SMALL;
        let parts = self.place(chunk, offset);
        let writes = parts.map(|part| (Op::Write, part)).to_vec();
        let (now, then) = match (op, self.level) {
            (Op::Write, Level::Five) => (parts.map(|part| (Op::Read, part)).to_vec(), writes),
            (Op::Write, Level::Ten) => (writes, Vec::new()),
            // md reads the copy whose head is nearer, or whose disk is idle; here the choice is random.
            (_, Level::Ten) => (vec![(Op::Read, parts[self.below(2) as usize])], Vec::new()),
            (_, Level::Five) => (vec![(Op::Read, parts[0])], Vec::new()),
        };
        self.works[tag as usize] = Work {
            waits_for: now.len() as u32,
            then,
        };
        for (op, part) in now {
            self.submit(tag, op, part, SMALL);
        }
    }

    fn next(&mut self) -> Completion {
        while self.done.is_empty() {
            self.now_ns = self.world.next_event_ns().expect("a request is under way");
            self.world.advance(self.now_ns, &mut self.done);
        }
        self.done.remove(0)
    }

    fn small(&mut self, op: Op, count: u32) {
        const DEPTH: u32 = 16;
        let empty = Work {
            waits_for: 0,
            then: Vec::new(),
        };
        self.works = vec![empty; DEPTH as usize];
        let (mut begun, mut ended) = (0, 0);
        while begun < DEPTH {
            self.begin(begun, op);
            begun += 1;
        }
        while ended < count {
            let tag = self.next().tag;
            let work = &mut self.works[tag as usize];
            work.waits_for -= 1;
            if work.waits_for > 0 {
                continue;
            }
            let then = std::mem::take(&mut work.then);
            work.waits_for = then.len() as u32;
            if then.is_empty() {
                ended += 1;
                if begun < count {
                    begun += 1;
                    self.begin(tag, op);
                }
            }
            for (op, part) in then {
                self.submit(tag, op, part, SMALL);
            }
        }
    }

    /// Reads whole chunks sequentially from the first sector.
    fn stream_mb_s(&mut self) -> f64 {
        const AHEAD: u64 = 32;
        const COUNT: u64 = 3000;
        let read = |array: &mut Self, chunk: u64| {
            let part = array.place(chunk, 0)[0];
            array.submit(0, Op::Read, part, CHUNK);
        };
        (0..AHEAD).for_each(|chunk| read(self, chunk));
        let mut from_ns = 0;
        for i in 0..COUNT {
            self.next();
            if i == COUNT / 3 {
                from_ns = self.now_ns;
            }
            read(self, i + AHEAD);
        }
        ((COUNT - 1 - COUNT / 3) * CHUNK * 512) as f64 / (self.now_ns - from_ns) as f64 * 1e3
    }
}
