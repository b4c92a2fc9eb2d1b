//! Map from places on a disk to block numbers: a tree of small nodes, empty until something is written.
//!
//! A node is one cache line of 16 numbers: of child nodes, or of blocks at the lowest level. So dense contents cost
//! 4.3 bytes per block, and a single block on an empty 12 TB disk costs eight nodes, half a kilobyte.

use super::Full;
use super::chunked::Chunked;
use core::cell::Cell;
use core::ops::Range;

const FANOUT: usize = 16;
const FANOUT_LOG2: u32 = FANOUT.ilog2();

/// Numbers of the children, 0 for none.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Node([u32; FANOUT]);

/// The nodes of all disks; number 0 means none, number N is entry N - 1.
#[derive(Default)]
pub struct Nodes {
    nodes: Chunked<Node>,
    /// The first free node; each free node has the number of the next one in its first slot.
    free: u32,
    mapped_blocks: u64,
}

impl Nodes {
    #[inline]
    fn slot(&self, node: u32, slot: usize) -> u32 {
        self.nodes[node - 1].0[slot]
    }

    fn allocate(&mut self) -> Result<u32, Full> {
        if self.free == 0 {
            return Ok(self.nodes.push(Node([0; FANOUT]))? + 1);
        }
        let node = self.free;
        self.free = self.slot(node, 0);
        self.nodes[node - 1].0[0] = 0;
        Ok(node)
    }

    /// Frees a node whose slots are all 0.
    fn release(&mut self, node: u32) {
        self.nodes[node - 1].0[0] = self.free;
        self.free = node;
    }

    /// Number of mapped blocks on all disks.
    pub fn mapped(&self) -> u64 {
        self.mapped_blocks
    }

    pub fn metadata_bytes(&self) -> usize {
        self.nodes.metadata_bytes()
    }
}

/// One disk's tree.
pub struct Index {
    root: u32,
    /// Number of levels above the leaves.
    height: u32,
    /// The last leaf, and the blocks it covers (their number / 16): most accesses are near the previous one.
    recent: Cell<(u64, u32)>,
}

const NONE_RECENT: (u64, u32) = (u64::MAX, 0);

impl Index {
    pub fn new(blocks: u64) -> Index {
        let bits = u64::BITS - blocks.saturating_sub(1).leading_zeros();
        let height = bits.div_ceil(FANOUT_LOG2).max(1) - 1;
        Index {
            root: 0,
            height,
            recent: Cell::new(NONE_RECENT),
        }
    }

    /// The block number at a place, 0 for none.
    #[inline]
    pub fn get(&self, nodes: &Nodes, block: u64) -> u32 {
        let (group, recent) = self.recent.get();
        let bottom = if group == block >> FANOUT_LOG2 {
            recent
        } else {
            self.descend(nodes, block)
        };
        if bottom == 0 {
            0
        } else {
            nodes.slot(bottom, slot_of(block, 0))
        }
    }

    /// The leaf of a block, 0 if there is none.
    fn descend(&self, nodes: &Nodes, block: u64) -> u32 {
        let mut node = self.root;
        for level in (1..=self.height).rev() {
            if node == 0 {
                return 0;
            }
            node = nodes.slot(node, slot_of(block, level));
        }
        if node != 0 {
            self.recent.set((block >> FANOUT_LOG2, node));
        }
        node
    }

    /// Sets the block number at a place (0 for none), whatever was there before.
    #[inline]
    pub fn set(&mut self, nodes: &mut Nodes, block: u64, id: u32) -> Result<(), Full> {
        let (group, recent) = self.recent.get();
        let bottom = if group == block >> FANOUT_LOG2 {
            recent
        } else {
            self.grow(nodes, block)?
        };
        let slot = &mut nodes.nodes[bottom - 1].0[slot_of(block, 0)];
        nodes.mapped_blocks += u64::from(id != 0);
        nodes.mapped_blocks -= u64::from(*slot != 0);
        *slot = id;
        Ok(())
    }

    /// The leaf of a block, created with all missing nodes above it.
    fn grow(&mut self, nodes: &mut Nodes, block: u64) -> Result<u32, Full> {
        if self.root == 0 {
            self.root = nodes.allocate()?;
        }
        let mut node = self.root;
        for level in (1..=self.height).rev() {
            let slot = slot_of(block, level);
            let mut below = nodes.slot(node, slot);
            if below == 0 {
                below = nodes.allocate()?;
                nodes.nodes[node - 1].0[slot] = below;
            }
            node = below;
        }
        self.recent.set((block >> FANOUT_LOG2, node));
        Ok(node)
    }

    /// Empties a range and calls `taken` with each block number in it.
    pub fn clear(&mut self, nodes: &mut Nodes, range: Range<u64>, taken: &mut dyn FnMut(u64, u32)) {
        self.recent.set(NONE_RECENT);
        if self.root != 0 && !range.is_empty() && clear_below(nodes, self.root, self.height, 0, &range, taken) {
            nodes.release(self.root);
            self.root = 0;
        }
    }

    /// Calls `show` with every place and its block number, in the order of places.
    pub fn for_each(&self, nodes: &Nodes, show: &mut dyn FnMut(u64, u32)) {
        if self.root != 0 {
            show_below(nodes, self.root, self.height, 0, show);
        }
    }
}

#[inline]
fn slot_of(block: u64, level: u32) -> usize {
    (block >> (level * FANOUT_LOG2)) as usize % FANOUT
}

/// Empties the part of `range` below a node that begins at block `first`; returns whether the node is now empty.
fn clear_below(
    nodes: &mut Nodes,
    node: u32,
    level: u32,
    first: u64,
    range: &Range<u64>,
    taken: &mut dyn FnMut(u64, u32),
) -> bool {
    let span = 1 << (level * FANOUT_LOG2);
    for slot in 0..FANOUT {
        let below = nodes.slot(node, slot);
        let start = first + slot as u64 * span;
        if below == 0 || start >= range.end || start + span <= range.start {
            continue;
        }
        if level == 0 {
            taken(start, below);
            nodes.mapped_blocks -= 1;
        } else if clear_below(nodes, below, level - 1, start, range, taken) {
            nodes.release(below);
        } else {
            continue;
        }
        nodes.nodes[node - 1].0[slot] = 0;
    }
    nodes.nodes[node - 1].0.iter().all(|&below| below == 0)
}

fn show_below(nodes: &Nodes, node: u32, level: u32, first: u64, show: &mut dyn FnMut(u64, u32)) {
    let span = 1 << (level * FANOUT_LOG2);
    for slot in 0..FANOUT {
        let start = first + slot as u64 * span;
        match nodes.slot(node, slot) {
            0 => {}
            id if level == 0 => show(start, id),
            below => show_below(nodes, below, level - 1, start, show),
        }
    }
}
