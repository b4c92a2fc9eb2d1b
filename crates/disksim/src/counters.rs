//! Counters of a disk.

/// Totals since the start of the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub reads: u64,
    pub writes: u64,
    pub flushes: u64,
    pub discards: u64,
    pub errors: u64,
    pub sectors_read: u64,
    pub sectors_written: u64,
    /// Time during which at least one request was at the disk.
    pub busy_ns: u64,
    /// Time of seeks, rotational delays and media transfers of the arm, for requests and for cached writes.
    pub seek_ns: u64,
    pub rotation_ns: u64,
    pub transfer_ns: u64,
    /// Reads that were fully, and partly, in the buffer when they arrived.
    pub hits: u64,
    pub partial_hits: u64,
    /// Writes acknowledged from the cache, and media accesses that emptied it.
    pub cached_writes: u64,
    pub destages: u64,
    /// Sectors moved inside a flash drive to make room.
    pub moved_sectors: u64,
    /// Maximum number of requests at the disk at one time.
    pub queue_max: u32,
}

impl Counters {
    /// Name of each of [`values`](Self::values).
    pub const NAMES: [&'static str; 16] = [
        "reads",
        "writes",
        "flushes",
        "sectors_read",
        "sectors_written",
        "busy_ns",
        "seek_ns",
        "rotation_ns",
        "transfer_ns",
        "hits",
        "cached_writes",
        "destages",
        "queue_max",
        "discards",
        "errors",
        "moved_sectors",
    ];

    /// Counters that a trial records for each disk.
    pub fn values(&self) -> [u64; 16] {
        [
            self.reads,
            self.writes,
            self.flushes,
            self.sectors_read,
            self.sectors_written,
            self.busy_ns,
            self.seek_ns,
            self.rotation_ns,
            self.transfer_ns,
            self.hits,
            self.cached_writes,
            self.destages,
            self.queue_max.into(),
            self.discards,
            self.errors,
            self.moved_sectors,
        ]
    }
}
