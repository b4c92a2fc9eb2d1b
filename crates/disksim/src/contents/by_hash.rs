//! Map from the hash of a block's content to candidate blocks.
//!
//! A linear hash table: it grows by one bucket at a time, so no insertion waits for a full rehash. A bucket is one
//! cache line, and its 16-bit tags avoid nearly all needless comparisons of blocks.

use super::Full;
use super::chunked::Chunked;

const BUCKET_ENTRIES: usize = 10;
/// Average number of entries per bucket above which the table grows. More would make overflow buckets common.
const FILL_MAX: u32 = 6;

#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Bucket {
    /// 0 in empty slots.
    ids: [u32; BUCKET_ENTRIES],
    tags: [u16; BUCKET_ENTRIES],
    /// The next overflow bucket, 0 for none; number N is entry N - 1.
    next: u32,
}

/// The table.
#[derive(Default)]
pub struct ByHash {
    buckets: Chunked<Bucket>,
    overflow: Chunked<Bucket>,
    /// The first free overflow bucket.
    free: u32,
    entries: u32,
    /// One less than the smallest power of two that is not below the number of buckets.
    mask: u32,
}

/// Location of a bucket.
#[derive(Clone, Copy)]
enum At {
    Table(u32),
    Overflow(u32),
}

impl ByHash {
    /// The first entry with this hash for which `wanted` is true.
    #[inline]
    pub fn find(&self, hash: u64, mut wanted: impl FnMut(u32) -> bool) -> Option<u32> {
        if self.buckets.len() == 0 {
            return None;
        }
        let mut bucket = &self.buckets[self.home(hash)];
        loop {
            for slot in 0..BUCKET_ENTRIES {
                let id = bucket.ids[slot];
                if bucket.tags[slot] == tag(hash) && id != 0 && wanted(id) {
                    return Some(id);
                }
            }
            if bucket.next == 0 {
                return None;
            }
            bucket = &self.overflow[bucket.next - 1];
        }
    }

    /// Adds an entry. Call [`grow`](Self::grow) once the hashes of all entries are known again.
    pub fn insert(&mut self, hash: u64, id: u32) -> Result<(), Full> {
        if self.buckets.len() == 0 {
            self.buckets.push(Bucket::default())?;
        }
        self.place(self.home(hash), hash, id)?;
        self.entries += 1;
        Ok(())
    }

    /// Removes an entry, which must exist.
    pub fn remove(&mut self, hash: u64, id: u32) {
        let mut at = At::Table(self.home(hash));
        loop {
            let bucket = self.bucket(at);
            // The tag matters: a block whose content changes briefly has two entries.
            let held = bucket
                .ids
                .iter()
                .zip(&bucket.tags)
                .position(|held| held == (&id, &tag(hash)));
            if let Some(slot) = held {
                bucket.ids[slot] = 0;
                self.entries -= 1;
                return;
            }
            debug_assert_ne!(bucket.next, 0, "an entry that was never inserted");
            if bucket.next == 0 {
                return;
            }
            at = At::Overflow(bucket.next);
        }
    }

    /// Adds a bucket if the table is full enough; `hash_of` returns the hash under which an entry was inserted.
    #[inline]
    pub fn grow(&mut self, hash_of: impl Fn(u32) -> u64) {
        if self.entries / FILL_MAX > self.buckets.len() {
            self.split(hash_of);
        }
    }

    pub fn metadata_bytes(&self) -> usize {
        self.buckets.metadata_bytes() + self.overflow.metadata_bytes()
    }

    #[inline]
    fn home(&self, hash: u64) -> u32 {
        let bucket = hash as u32 & self.mask;
        if bucket < self.buckets.len() {
            bucket
        } else {
            bucket & (self.mask >> 1)
        }
    }

    fn bucket(&mut self, at: At) -> &mut Bucket {
        match at {
            At::Table(number) => &mut self.buckets[number],
            At::Overflow(number) => &mut self.overflow[number - 1],
        }
    }

    /// Puts an entry into a chain of buckets, and extends the chain if no slot is free.
    fn place(&mut self, home: u32, hash: u64, id: u32) -> Result<(), Full> {
        let mut at = At::Table(home);
        loop {
            let bucket = self.bucket(at);
            if let Some(slot) = bucket.ids.iter().position(|&held| held == 0) {
                bucket.ids[slot] = id;
                bucket.tags[slot] = tag(hash);
                return Ok(());
            }
            at = match bucket.next {
                0 => self.lengthen(at)?,
                next => At::Overflow(next),
            };
        }
    }

    fn lengthen(&mut self, last: At) -> Result<At, Full> {
        let number = match self.free {
            0 => self.overflow.push(Bucket::default())? + 1,
            number => {
                self.free = self.overflow[number - 1].next;
                self.overflow[number - 1] = Bucket::default();
                number
            }
        };
        self.bucket(last).next = number;
        Ok(At::Overflow(number))
    }

    /// Adds one bucket and moves to it the entries that now belong there.
    fn split(&mut self, hash_of: impl Fn(u32) -> u64) {
        let Ok(new) = self.buckets.push(Bucket::default()) else {
            return; // Without memory the table is slower, not wrong.
        };
        self.mask = self.buckets.len().next_power_of_two() - 1;
        let parent = new & (self.mask >> 1);
        let mut old = core::mem::take(&mut self.buckets[parent]);
        loop {
            for id in old.ids.into_iter().filter(|&id| id != 0) {
                let hash = hash_of(id);
                // Cannot fail: both chains together need no more overflow buckets than were freed before.
                let placed = self.place(self.home(hash), hash, id);
                debug_assert!(placed.is_ok());
            }
            let next = old.next;
            if next == 0 {
                return;
            }
            old = self.overflow[next - 1];
            self.overflow[next - 1].next = self.free;
            self.free = next;
        }
    }
}

/// The part of a hash that a bucket stores; contains none of the bits that select the bucket.
#[inline]
fn tag(hash: u64) -> u16 {
    (hash >> 48) as u16
}
