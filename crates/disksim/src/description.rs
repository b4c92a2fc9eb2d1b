//! Descriptions of disks in plain integers, as the lab passes them to the guest's kernel.
//!
//! All values are whole nanoseconds, picoseconds or sectors, so that results do not depend on rounding. The source of
//! the figures (catalogue, DiskSim's files) is not known here.

use crate::contents::Survival;
use crate::faults::Faults;
use crate::flash::Flash;
use crate::link::LinkDescription;
use crate::shingled::Shingled;
use alloc::boxed::Box;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Description of a world.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Description {
    /// Buses, channels and adapters that disks share.
    pub links: Vec<LinkDescription>,
    pub disks: Vec<DiskDescription>,
}

/// One disk of a world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DiskDescription {
    /// Capacity; may be less than the model's, never more.
    pub sectors: u64,
    /// Seed of the disk's random choices, such as the position of its platters at time 0.
    pub seed: u64,
    pub device: Device,
    /// Links that the disk is attached to, nearest first: indices into [`Description::links`].
    pub links: Vec<u32>,
    pub faults: Faults,
    /// How its cache behaves in a power cut.
    pub survival: Survival,
}

/// The disk's technology.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Device {
    Mechanical(Box<Mechanical>),
    Flash(Box<Flash>),
}

/// A disk with platters and an arm.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mechanical {
    pub revolution_ns: u64,
    pub heads: u32,
    pub layout: Layout,
    /// Logical sectors of 512 bytes per physical sector: 8 on a disk with 4 KiB sectors that emulates small ones
    /// (512e). Partial writes read the physical sector first. A power of two.
    pub physical_sectors: u32,
    /// Seek time by distance, linear between points. Ascending, the first usually at one cylinder.
    pub seek: Vec<SeekPoint>,
    pub head_switch_ns: u64,
    /// Additional delay of a write after a seek or head switch. Negative in drives whose reads wait longer, as in
    /// some with read-ahead; the total is never below zero.
    pub write_settle_ns: i64,
    pub overheads: Overheads,
    pub buffer: Buffer,
    pub write_cache: WriteCache,
    pub queue: Queue,
    pub interface: Interface,
    /// Its tracks overlap.
    pub shingled: Option<Shingled>,
}

/// A point of the seek curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeekPoint {
    pub cylinders: u32,
    pub seek_ns: u64,
}

/// Placement of sectors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Layout {
    pub mapping: Mapping,
    pub sparing: Sparing,
    /// Outermost first.
    pub zones: Vec<Zone>,
}

/// Order in which the tracks of a cylinder are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mapping {
    /// Every cylinder from the first head to the last.
    Cylinders,
    /// Serpentine, so that a cylinder switch keeps the head; a zone begins with the first head.
    SerpentineByZone,
    /// Serpentine over the whole disk: even cylinders ascend.
    Serpentine,
}

/// Placement of spare sectors, and how far a slipped sector shifts those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sparing {
    None,
    /// Whole tracks at the end of a zone; slips and defects count tracks.
    Tracks,
    PerTrack,
    PerCylinder,
    PerCylinderFront,
    /// As `PerCylinder`, but slips shift sectors up to the end of the zone.
    PerCylinderSlipToEnd,
    PerCylinderFrontSlipToEnd,
    EndOfDisk,
    PerRange {
        cylinders: u32,
    },
    PerZone,
    PerZoneSlipToEnd,
}

/// Cylinders with the same number of sectors on each track.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Zone {
    pub first_cylinder: u32,
    pub last_cylinder: u32,
    pub track_sectors: u32,
    /// Angle of the zone's first sector, in 2^-64 of a revolution.
    pub offset_angle: u64,
    /// Angle between the end of a track and the start of the next, in 2^-64 of a revolution.
    pub track_skew_angle: u64,
    pub cylinder_skew_angle: u64,
    /// Sectors at the start of the zone that hold no data.
    pub reserved_sectors: u32,
    /// Spare sectors of each sparing unit (tracks for [`Sparing::Tracks`]).
    pub spares: u32,
    /// Sectors (or tracks) skipped at formatting, counted from the zone's start; ascending.
    pub slips: Vec<u64>,
    /// Remapped sectors (or tracks): source, target; ascending by source.
    pub defects: Vec<(u64, u64)>,
}

/// Overheads of the drive's processor, in addition to mechanics and transfer, in DiskSim's terms.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Overheads {
    /// Applies first, to every request.
    pub request_ns: u64,
    pub read_hit_after_read_ns: u64,
    pub read_hit_after_write_ns: u64,
    pub read_miss_after_read_ns: u64,
    pub read_miss_after_write_ns: u64,
    /// A write that is acknowledged from the cache.
    pub write_hit_after_read_ns: u64,
    pub write_hit_after_write_ns: u64,
    /// A write that is acknowledged from the media.
    pub write_miss_after_read_ns: u64,
    pub write_miss_after_write_ns: u64,
    pub read_completion_ns: u64,
    pub write_completion_ns: u64,
    pub data_preparation_ns: u64,
    pub first_reselect_ns: u64,
    pub other_reselect_ns: u64,
    pub read_disconnect_after_read_ns: u64,
    pub read_disconnect_after_write_ns: u64,
    pub write_disconnect_ns: u64,
    /// A non-sequential write waits at least this long for the media.
    pub write_positioning_min_ns: u64,
    pub extra_write_disconnect: Option<ExtraWriteDisconnect>,
}

/// A drive that disconnects from the bus between a write's command and its data, if it follows another write.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ExtraWriteDisconnect {
    pub command_ns: u64,
    pub disconnect_ns: u64,
    pub pause_ns: u64,
    pub second_disconnect_ns: u64,
    pub seek_delay_ns: u64,
}

/// The buffer's segments and read-ahead.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Buffer {
    pub segments: u32,
    pub segment_sectors: u32,
    /// Data stays readable after the request that read it.
    pub caching: bool,
    pub read_ahead: ReadAhead,
    /// Sectors that must be read ahead before the arm may do other work.
    pub read_ahead_min_sectors: u32,
    /// A read hit restarts the read-ahead.
    pub read_ahead_on_hit: bool,
    /// Sectors before the requested ones are kept if they pass under the head first.
    pub read_free_sectors: bool,
    /// Sectors are read in the order in which they pass, not in ascending order.
    pub read_on_arrival: bool,
    pub write_on_arrival: bool,
    /// A read of sectors that the head will reach on its track during read-ahead does not end the read-ahead: the
    /// sectors in between are read and kept.
    pub keeps_gaps: bool,
    /// Read-ahead only after reads that continue an earlier one, or that its read-ahead would have come to.
    pub adaptive_read_ahead: bool,
    /// Data that was sent to the host, and sectors before it, are not served again.
    pub drops_delivered: bool,
    /// A request for the sector that is being read ahead counts as a hit.
    pub almost_hits: bool,
    /// A read that is fully in the buffer does not wait for the arm.
    pub hits_while_busy: bool,
    pub hits_on_written: bool,
    /// Read-ahead stops at once, not at the end of a sector or seek.
    pub stop_in_sector: bool,
    pub write_stops_read_ahead: bool,
    /// A partial hit transfers the available sectors at once.
    pub partial_hit_at_once: bool,
    /// Percentage of a read that must be in the buffer before the transfer starts.
    pub read_watermark_percent: u32,
    /// The watermark is a percentage of the request, not of the segment.
    pub watermark_of_request: bool,
    pub hold_bus_for_read: bool,
}

/// Extent of the read-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadAhead {
    None,
    ToEndOfTrack,
    ToEndOfCylinder,
    /// This many sectors past the request.
    Sectors(u32),
    /// Until the segment, including the request, is full.
    FillSegment,
    /// One track ahead of a stream: to the end of the track, and of the next if the stream came from the previous one.
    TrackAhead,
}

/// Write cache: writes that are acknowledged before they are on the media.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct WriteCache {
    pub enabled: bool,
    /// Maximum number of waiting extents.
    pub extents_max: u32,
    /// Maximum number of waiting sectors.
    pub sectors_max: u32,
    /// Each extent has a segment of the buffer and stays readable there.
    pub in_segments: bool,
    /// One segment is reserved for writes.
    pub own_segment: bool,
    /// Data is accepted while the arm is busy.
    pub accept_while_busy: bool,
    /// Adjacent writes are merged.
    pub combine: bool,
    pub destage: Destage,
    /// In the order of sectors (C-LOOK), not by the queue's policy.
    pub destage_in_platter_order: bool,
    /// Sectors written at once, so that reads are not starved.
    pub destage_sectors_max: u32,
}

/// When cached writes go to the media.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Destage {
    /// In turn with other requests.
    InTurn,
    /// After this idle time, or when room is needed.
    WhenIdle { after_ns: u64 },
}

/// Command queue of the drive.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Queue {
    /// Requests known to the drive; others wait outside.
    pub depth: u32,
    pub policy: Policy,
    /// A request older than this is served first, regardless of the policy.
    pub age_max_ns: u64,
    /// This many of the newest requests stay in order of arrival before the policy may choose them: a queue with no
    /// more than that is served in order.
    pub unsorted_newest: u32,
    /// For [`Policy::Sptf`]: a sector that passes sooner than this after the seek counts as missed.
    pub rotation_margin_ns: u64,
    /// A flush is a non-queued command (ATA): it waits for those before it and delays those after it.
    pub flush_alone: bool,
    pub seek_early: SeekEarly,
}

/// The order in which the arm serves requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Policy {
    /// In order of arrival.
    Fcfs,
    /// Shortest seek first.
    Sstf,
    /// Shortest positioning time first: seek and rotation.
    Sptf,
    /// Ascending over the disk, then from the start again (C-LOOK).
    Elevator,
}

/// When the arm may start the next seek.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SeekEarly {
    /// After the completion reached the host.
    No,
    /// After the media access of the last sector.
    AfterMedia,
}

/// The drive's own interface.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Interface {
    /// Time of a sector on the wire.
    pub read_sector_ps: u64,
    pub write_sector_ps: u64,
}
