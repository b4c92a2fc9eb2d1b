//! What disks are made of, as plain integers: what the lab hands to the guest's kernel.
//!
//! Everything is in whole nanoseconds, picoseconds or sectors, so that nothing depends on how a machine rounds.
//! Where the figures come from (catalogue, DiskSim's files) is not known here.

use crate::faults::Faults;
use crate::flash::Flash;
use crate::link::LinkDescription;
use crate::shingled::Shingled;
use alloc::boxed::Box;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What a world is made of.
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
    /// Seed of the disk's random choices, such as where its platters stand at time 0.
    pub seed: u64,
    pub device: Device,
    /// What the disk hangs on, nearest first: indices into [`Description::links`].
    pub links: Vec<u32>,
    pub faults: Faults,
}

/// How the disk keeps its data.
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
    /// Time to move the arm, by distance; linear between points. Ascending, the first usually at one cylinder.
    pub seek: Vec<SeekPoint>,
    pub head_switch_ns: u64,
    /// What a write waits longer than a read after the arm or the head changed. Negative in drives whose reads wait
    /// longer, as some of those with read-ahead do; a movement never takes less than no time.
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

/// Which sector lies where.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Layout {
    pub mapping: Mapping,
    pub sparing: Sparing,
    /// Outermost first.
    pub zones: Vec<Zone>,
}

/// In which order the tracks of a cylinder are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mapping {
    /// Every cylinder from the first head to the last.
    Cylinders,
    /// Back and forth, so that a cylinder switch keeps the head; a zone begins with the first head.
    SerpentineByZone,
    /// Back and forth over the whole disk: even cylinders ascend.
    Serpentine,
}

/// Where spare sectors lie and how far a slipped sector pushes those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sparing {
    None,
    /// Whole tracks at the end of a zone; slips and defects count tracks.
    Tracks,
    PerTrack,
    PerCylinder,
    PerCylinderFront,
    /// As `PerCylinder`, but slips push to the end of the zone.
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
    /// Where the zone's first sector stands, in 2^-64 of a revolution.
    pub offset_angle: u64,
    /// What lies between the ends of one track and the start of the next, in 2^-64 of a revolution.
    pub track_skew_angle: u64,
    pub cylinder_skew_angle: u64,
    /// Sectors at the start of the zone that hold no data.
    pub reserved_sectors: u32,
    /// Spare sectors of each sparing unit (tracks for [`Sparing::Tracks`]).
    pub spares: u32,
    /// Sectors (or tracks) left out when the disk was formatted, counted from the zone's start; ascending.
    pub slips: Vec<u64>,
    /// Sectors (or tracks) that moved elsewhere: where from, where to; ascending by the first.
    pub defects: Vec<(u64, u64)>,
}

/// What the drive's processor takes, besides mechanics and transfer. DiskSim's terms.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Overheads {
    /// Before anything else, for every request.
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
    /// A write that does not follow its predecessor waits at least this for the media.
    pub write_positioning_min_ns: u64,
    pub extra_write_disconnect: Option<ExtraWriteDisconnect>,
}

/// A drive that lets go of the bus between a write's command and its data, when it follows another write.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ExtraWriteDisconnect {
    pub command_ns: u64,
    pub disconnect_ns: u64,
    pub pause_ns: u64,
    pub second_disconnect_ns: u64,
    pub seek_delay_ns: u64,
}

/// The buffer's segments and what is read ahead into them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Buffer {
    pub segments: u32,
    pub segment_sectors: u32,
    /// Data stays readable after the request that brought it.
    pub caching: bool,
    pub read_ahead: ReadAhead,
    /// Sectors that must be read ahead before the arm may do something else.
    pub read_ahead_min_sectors: u32,
    /// A read that is found in the buffer starts the read-ahead again.
    pub read_ahead_on_hit: bool,
    /// Sectors before the wanted ones are kept if they pass on the way.
    pub read_free_sectors: bool,
    /// Sectors are taken in the order in which they pass, not in theirs.
    pub read_on_arrival: bool,
    pub write_on_arrival: bool,
    /// A read of sectors to which the head comes on its track while it reads ahead does not end the read-ahead: what
    /// lies between is read and kept.
    pub keeps_gaps: bool,
    /// Only reads that go on where an earlier one ended are read ahead of.
    pub adaptive_read_ahead: bool,
    /// Data that went to the host, and what lies before it, is not served again.
    pub drops_delivered: bool,
    /// The sector that is being read ahead when it is asked for counts as found.
    pub almost_hits: bool,
    /// A read that is wholly in the buffer does not wait for the arm's work.
    pub hits_while_busy: bool,
    pub hits_on_written: bool,
    /// Read-ahead stops at once, not at the end of a sector or of a seek.
    pub stop_in_sector: bool,
    pub write_stops_read_ahead: bool,
    /// A partly found read transfers what is there at once.
    pub partial_hit_at_once: bool,
    /// Percent of a read that has to be in the buffer before the transfer starts.
    pub read_watermark_percent: u32,
    /// The watermark is a part of the request, not of the segment.
    pub watermark_of_request: bool,
    pub hold_bus_for_read: bool,
}

/// How far a drive reads on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadAhead {
    None,
    ToEndOfTrack,
    ToEndOfCylinder,
    /// This far past the request.
    Sectors(u32),
    /// Until the segment is full, with the request in it.
    FillSegment,
    /// One track ahead of a stream: to the end of the track, and of the next one if the stream came from the one before.
    TrackAhead,
}

/// Writes that are acknowledged before they are on the media.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct WriteCache {
    pub enabled: bool,
    /// Extents that can wait.
    pub extents_max: u32,
    /// Sectors that can wait.
    pub sectors_max: u32,
    /// Extents live in the buffer's segments, one each, and stay readable there.
    pub in_segments: bool,
    /// One segment is for writes alone.
    pub own_segment: bool,
    /// Data is taken in while the arm works on something else.
    pub accept_while_busy: bool,
    /// Adjacent writes become one.
    pub combine: bool,
    pub destage: Destage,
    /// In the order of their sectors (C-LOOK), not by the queue's policy.
    pub destage_in_platter_order: bool,
    /// Sectors written in one go, so that reads get their turn.
    pub destage_sectors_max: u32,
}

/// When cached writes go to the media.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Destage {
    /// In their turn among all requests.
    InTurn,
    /// When nothing else was asked for this long, or when room is needed.
    WhenIdle { after_ns: u64 },
}

/// Who is served next.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Queue {
    /// Requests that the drive knows of; others wait outside.
    pub depth: u32,
    pub policy: Policy,
    /// A request older than this is served first, whatever the policy.
    pub age_max_ns: u64,
    /// So many of the newest requests wait in the order in which they came, before the policy may choose them: with
    /// no more than that in the queue, it is served as it came.
    pub unsorted_newest: u32,
    /// For [`Policy::Sptf`]: a sector that passes sooner than this after the seek is taken for missed.
    pub rotation_margin_ns: u64,
    /// A flush is a command outside the queue: it waits for those before it and holds up those after it (ATA).
    pub flush_alone: bool,
    pub seek_early: SeekEarly,
}

/// The order in which the arm serves requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Policy {
    /// As they came.
    Fcfs,
    /// Shortest seek.
    Sstf,
    /// Shortest positioning: seek and rotation.
    Sptf,
    /// Upwards over the disk, then from the start again (C-LOOK).
    Elevator,
}

/// When the arm may leave for the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SeekEarly {
    /// When the host has its completion.
    No,
    /// When the media has given or taken the last sector.
    AfterMedia,
}

/// The drive's own interface.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Interface {
    /// Time of a sector on the wire.
    pub read_sector_ps: u64,
    pub write_sector_ps: u64,
}
