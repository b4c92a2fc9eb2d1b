//! Requests and completions of a disk.

/// Bytes of a sector, the unit of all addresses.
pub const SECTOR_BYTES: u64 = 512;

/// Type of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    Read = 0,
    Write = 1,
    /// All acknowledged writes become durable.
    Flush = 2,
    /// The sectors' contents are no longer needed (TRIM).
    Discard = 3,
}

/// A request as the drive's interface receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Identifier from the submitter, unique among the requests in progress at this disk.
    pub tag: u32,
    pub op: Op,
    pub sector: u64,
    /// Length in sectors; 0 for a flush.
    pub sectors: u32,
    /// Force unit access: a write that is durable when it completes.
    pub fua: bool,
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Index of the disk in the world.
    pub disk: u32,
    pub tag: u32,
    pub at_ns: u64,
    pub status: Status,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ok,
    /// This sector, the first such sector of the request, cannot be read or written.
    MediumError {
        sector: u64,
    },
    /// The disk does not answer.
    DeviceGone,
    /// The request reaches past the end of the disk or is malformed.
    Invalid,
}
