//! Compares the store of contents with a plain copy into a radix tree of pages, as in Linux's memory-backed
//! `null_blk`. Interleaved pairs; ratios above 1 mean that the store is slower.
//!
//! `cargo bench -p disksim --bench contents [-- MiB [pairs]]`

use disksim::contents::{SEGMENT_BYTES, Segments, Store};
use std::cell::RefCell;
use std::hint::black_box;
use std::ptr::NonNull;
use std::rc::Rc;
use std::time::{Duration, Instant};

const REQUEST_BYTES: usize = 1 << 20;
const PAGE_BYTES: usize = 4096;
const DISK_SECTORS: u64 = 12_000_000_000_000 / 512;

/// Memory that is touched beforehand and reused in every round, so that page faults do not affect the comparison.
struct Arena(Vec<Vec<u8>>);

impl Arena {
    fn segment(&mut self, index: usize) -> NonNull<u8> {
        while self.0.len() <= index {
            self.0.push(vec![1; SEGMENT_BYTES + 64]);
        }
        let segment = &mut self.0[index];
        let skip = segment.as_ptr().align_offset(64);
        NonNull::new(segment[skip..].as_mut_ptr()).expect("a vector's memory is not null")
    }
}

struct Shared(Rc<RefCell<Arena>>);

// SAFETY: a separate vector for each index, never resized, and kept by the arena until all rounds are done; one store
// uses it at a time.
unsafe impl Segments for Shared {
    fn map(&mut self, index: usize) -> Option<NonNull<u8>> {
        Some(self.0.borrow_mut().segment(index))
    }
}

/// Pages in a tree of nodes of 64, as the kernel's xarray keeps them.
struct Pages {
    root: Node,
    arena: Rc<RefCell<Arena>>,
    used_bytes: usize,
}

#[derive(Default)]
struct Node {
    below: Vec<Option<Box<Node>>>,
    pages: Vec<Option<NonNull<u8>>>,
}

const LEVELS: u32 = 6;

impl Pages {
    fn page(&mut self, number: u64) -> &mut Option<NonNull<u8>> {
        let mut node = &mut self.root;
        for level in (1..LEVELS).rev() {
            node.below.resize_with(64, || None);
            node = node.below[(number >> (6 * level)) as usize % 64].get_or_insert_with(Box::default);
        }
        node.pages.resize(64, None);
        &mut node.pages[number as usize % 64]
    }

    fn add_page(&mut self, number: u64) -> NonNull<u8> {
        let segment = self.arena.borrow_mut().segment(self.used_bytes / SEGMENT_BYTES);
        // SAFETY: stays inside the segment.
        let page = unsafe { segment.add(self.used_bytes % SEGMENT_BYTES) };
        self.used_bytes += PAGE_BYTES;
        *self.page(number) = Some(page);
        page
    }

    fn write(&mut self, sector: u64, data: &[u8]) {
        for (number, piece) in (sector / 8..).zip(data.chunks(PAGE_BYTES)) {
            let page = match *self.page(number) {
                Some(page) => page,
                None => self.add_page(number),
            };
            // SAFETY: the page is ours and `PAGE_BYTES` long; a piece is not longer.
            unsafe { page.as_ptr().copy_from_nonoverlapping(piece.as_ptr(), piece.len()) };
        }
    }

    fn read(&mut self, sector: u64, out: &mut [u8]) {
        for (number, piece) in (sector / 8..).zip(out.chunks_mut(PAGE_BYTES)) {
            match *self.page(number) {
                // SAFETY: as in `write`.
                Some(page) => unsafe { page.as_ptr().copy_to_nonoverlapping(piece.as_mut_ptr(), piece.len()) },
                None => piece.fill(0),
            }
        }
    }
}

/// Contents of each request's buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Data {
    Random,
    Zeros,
    /// The same block in every place.
    OneBlock,
    /// The same MiB of random data in every request, like fio without `refill_buffers`.
    OneBuffer,
}

fn fill(data: Data, request: u64, buffer: &mut [u8]) {
    let seed = if data == Data::Random { request + 1 } else { 1 };
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for word in buffer.chunks_exact_mut(8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        word.copy_from_slice(&state.to_le_bytes());
    }
    match data {
        Data::Zeros => buffer.fill(0),
        Data::OneBlock => {
            (1..REQUEST_BYTES / PAGE_BYTES).for_each(|n| buffer.copy_within(..PAGE_BYTES, n * PAGE_BYTES))
        }
        Data::Random | Data::OneBuffer => {}
    }
}

/// Both sides of the comparison.
struct Sides {
    store: Store,
    pages: Pages,
}

impl Sides {
    fn new(arenas: &[Rc<RefCell<Arena>>; 2]) -> Sides {
        let mut store = Store::new(Box::new(Shared(arenas[0].clone())));
        store.add_disk(DISK_SECTORS);
        Sides {
            store,
            pages: Pages {
                root: Node::default(),
                arena: arenas[1].clone(),
                used_bytes: 0,
            },
        }
    }

    /// Time of one side for a request at `at_bytes`, in pieces of this size.
    fn time(&mut self, ours: bool, write: bool, at_bytes: u64, buffer: &mut [u8], piece_bytes: usize) -> Duration {
        let start = Instant::now();
        for (piece, bytes) in buffer.chunks_mut(piece_bytes).enumerate() {
            let sector = (at_bytes + (piece * piece_bytes) as u64) / 512;
            match (ours, write) {
                (true, true) => self.store.write(0, sector, bytes).expect("there is room"),
                (true, false) => self.store.read(0, sector, bytes).expect("it is on the disk"),
                (false, true) => self.pages.write(sector, bytes),
                (false, false) => self.pages.read(sector, bytes),
            }
        }
        let spent = start.elapsed();
        black_box(buffer);
        spent
    }

    /// One pass over the disk with alternating sides: times of the store and of the pages.
    fn pass(&mut self, requests: u64, piece_bytes: usize, data: Option<(Data, u64)>) -> [Duration; 2] {
        let mut buffer = vec![0; REQUEST_BYTES];
        let mut spent = [Duration::ZERO; 2];
        for request in 0..requests {
            if let Some((data, offset)) = data {
                fill(data, request + offset, &mut buffer);
            }
            let ours_first = request % 2 == 0;
            for ours in [ours_first, !ours_first] {
                let at_bytes = request * REQUEST_BYTES as u64;
                spent[usize::from(!ours)] += self.time(ours, data.is_some(), at_bytes, &mut buffer, piece_bytes);
            }
        }
        spent
    }
}

const PASSES: [&str; 5] = ["write", "write anew", "write the same", "read", "read a hole"];

/// The times of one pair of passes.
fn round(arenas: &[Rc<RefCell<Arena>>; 2], requests: u64, piece_bytes: usize, data: Data) -> [[Duration; 2]; 5] {
    let mut sides = Sides::new(arenas);
    let written = [0, 1 << 40, 1 << 40].map(|offset| sides.pass(requests, piece_bytes, Some((data, offset))));
    let read = sides.pass(requests, piece_bytes, None);
    let hole = Sides::new(arenas).pass(requests, piece_bytes, None);
    [written[0], written[1], written[2], read, hole]
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let mut numbers = std::env::args().filter_map(|argument| argument.parse::<u64>().ok());
    let requests = numbers.next().unwrap_or(256);
    let pairs = numbers.next().unwrap_or(5);
    let arenas = [(); 2].map(|()| Rc::new(RefCell::new(Arena(Vec::new()))));
    for index in 0..(requests as usize * REQUEST_BYTES).div_ceil(SEGMENT_BYTES) + 1 {
        arenas.iter().for_each(|arena| _ = arena.borrow_mut().segment(index));
    }
    println!("{requests} MiB, {pairs} pairs, medians: GB/s of the store and of pages, ratio of their times");
    for (data, piece_bytes) in [
        (Data::Random, REQUEST_BYTES),
        (Data::Random, PAGE_BYTES),
        (Data::Zeros, REQUEST_BYTES),
        (Data::OneBlock, REQUEST_BYTES),
        (Data::OneBlock, PAGE_BYTES),
        (Data::OneBuffer, REQUEST_BYTES),
    ] {
        let rounds: Vec<_> = (0..pairs)
            .map(|_| round(&arenas, requests, piece_bytes, data))
            .collect();
        for (n, name) in PASSES.into_iter().enumerate() {
            let speed = |time: Duration| (requests * REQUEST_BYTES as u64) as f64 / time.as_secs_f64() / 1e9;
            println!(
                "{:9} {:4} KiB {name:14} {:6.2} {:6.2} {:6.2}",
                format!("{data:?}"),
                piece_bytes / 1024,
                median(rounds.iter().map(|round| speed(round[n][0])).collect()),
                median(rounds.iter().map(|round| speed(round[n][1])).collect()),
                median(
                    rounds
                        .iter()
                        .map(|round| round[n][0].div_duration_f64(round[n][1]))
                        .collect()
                ),
            );
        }
    }
}
