//! The keys of a model file.
//!
//! Every figure is a table `{ is = …, sure = "measured" | "datasheet" | "unverified", source = "…" }`, so that every
//! number has a source.

use serde::{Deserialize, Serialize};
use std::string::String;
use std::vec::Vec;
use toml::Spanned;

/// How certain a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sure {
    /// Measured on such a disk, by the source.
    Measured,
    /// From the vendor's documentation.
    Datasheet,
    /// General knowledge, an estimate, or a figure of a similar disk.
    Unverified,
}

/// A figure and its source.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure<T> {
    pub is: Spanned<T>,
    pub sure: Sure,
    /// The factor, less 1, up and down within which it lies with a probability of 95 %: 0.1 is 1/1.1 to 1.1. Default: by its kind and
    /// `sure` ([`super::uncertainty`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    pub source: String,
}

impl<T: Copy> Figure<T> {
    pub fn get(&self) -> T {
        *self.is.get_ref()
    }
}

impl<T> Figure<T> {
    pub fn new(is: T, sure: Sure, source: &str) -> Self {
        Figure {
            is: Spanned::new(0..0, is),
            sure,
            within: None,
            source: source.into(),
        }
    }

    /// Offset of the value in the file.
    pub fn offset(&self) -> usize {
        self.is.span().start
    }
}

/// An invalid figure and its position in the file.
#[derive(Debug)]
pub struct Wrong {
    pub offset: usize,
    pub message: String,
}

impl Wrong {
    pub(super) fn at<T>(figure: &Figure<T>, message: impl Into<String>) -> Self {
        Wrong {
            offset: figure.offset(),
            message: message.into(),
        }
    }
}

/// A model file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFile {
    pub name: String,
    pub title: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Capacity in sectors of 512 bytes.
    pub sectors: Figure<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<Disk>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<FlashKeys>,
    /// Measured or specified figures of such a disk, against which the model is checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check: Vec<CheckKeys>,
}

/// A published or measured figure that is not a parameter of the model, for comparison.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckKeys {
    pub what: Quantity,
    pub is: Spanned<f64>,
    /// For streams: 0 is the first sector, 1 the last. Default: the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<f64>,
    /// Outstanding requests. Default: one (two for streams).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Size of a random request in sectors. Default: 8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sectors: Option<u32>,
    /// For `flush-ms`: scattered 4 KiB writes before the flush.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<u32>,
    /// For `write-mb-s`: data written before the measurement, in 10^9 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_gb: Option<f64>,
    /// The drive is new, or was trimmed as a whole.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub empty: bool,
    /// Other figures of the model were fitted to this one, so agreement is not independent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fitted: bool,
    pub sure: Sure,
    pub source: String,
}

/// Quantities that can be compared; requests are aligned to their size and spread over the whole disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// A stream of 1 MiB reads, 10^6 bytes a second.
    ReadMbS,
    WriteMbS,
    RandomReadIops,
    RandomReadMs,
    RandomReadP50Ms,
    RandomReadP99Ms,
    RandomWriteIops,
    RandomWriteMs,
    RandomWriteP50Ms,
    RandomWriteP99Ms,
    /// A flush after this many scattered writes.
    FlushMs,
    /// A random 4 KiB write and a flush, both.
    SyncWriteMs,
}

/// A drive with platters.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    pub rpm: Figure<f64>,
    pub heads: Figure<u32>,
    /// Size of a sector on the media, in sectors of 512 bytes: 8 on a 512e disk. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_sectors: Option<Figure<u32>>,
    /// Default: the layout is derived from `sustained_mb_s` or `track_mb_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Figure<LayoutKeys>>,
    /// Streaming rate at the outer and the inner edge, switches included; 10^6 bytes a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sustained_mb_s: Option<Figure<OuterInner>>,
    /// Rate of a single track at both edges, without switches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub track_mb_s: Option<Figure<OuterInner>>,
    pub seek: Figure<SeekKeys>,
    pub head_switch_ms: Figure<f64>,
    /// Additional settling delay of a write after a seek or a head switch; negative if reads wait longer.
    pub write_settle_ms: Figure<f64>,
    pub interface: Figure<InterfaceKeys>,
    /// Transfer rates of the bus on which traces of this disk were taken. Used only in a replay of such a trace; in a
    /// study the disk has its own interface and is attached to the study's buses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rig: Option<Figure<InterfaceKeys>>,
    pub overheads: Figure<OverheadKeys>,
    pub buffer: Figure<BufferKeys>,
    pub write_cache: Figure<WriteCacheKeys>,
    pub queue: Figure<QueueKeys>,
    /// Its tracks overlap, and the drive hides this (drive-managed SMR).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shingled: Option<Figure<ShingledKeys>>,
}

/// See [`Shingled`](crate::shingled::Shingled).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShingledKeys {
    /// The conventional zone, in 10^9 bytes.
    pub zone_gb: f64,
    /// A band, in 10^6 bytes.
    pub band_mb: f64,
    /// Sequential requests of at least this size from the start of a band are written to it directly.
    pub direct_kib: f64,
    /// Idle time after which the drive begins to merge.
    pub idle_ms: f64,
}

/// A figure at the outer and inner edge of the platters.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OuterInner {
    pub outer: f64,
    pub inner: f64,
}

/// Seek times in milliseconds by cylinders, in one of several forms.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, tag = "form", rename_all = "kebab-case")]
pub enum SeekKeys {
    /// Through three points, after Lee and Katz 1993: `a·√(d−1) + b·(d−1) + c`.
    Curve {
        track_ms: f64,
        average_ms: f64,
        full_ms: f64,
    },
    /// Straight lines through the same points.
    Lines {
        track_ms: f64,
        average_ms: f64,
        full_ms: f64,
    },
    /// After Ruemmler and Wilkes 1994: `root_ms·√d + root_base_ms` up to a distance, linear beyond.
    Hp {
        linear_from: u32,
        root_base_ms: f64,
        root_ms: f64,
        linear_base_ms: f64,
        linear_ms: f64,
        /// Measured times of the first distances, 1, 2, 3 …; they precede the formula.
        #[serde(default)]
        first_ms: Vec<f64>,
    },
    /// Measured points: cylinders, milliseconds.
    Points {
        points: Vec<(u32, f64)>,
    },
    Constant {
        ms: f64,
    },
}

/// A detailed layout.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayoutKeys {
    /// `cylinders`, `serpentine-by-zone` or `serpentine`.
    pub mapping: String,
    /// As DiskSim names them: `none`, `tracks`, `per-track`, `per-cylinder`, …
    pub sparing: String,
    #[serde(default)]
    pub range_cylinders: u32,
    pub zones: Vec<ZoneKeys>,
}

/// One zone; skews and offset in sectors.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneKeys {
    pub cylinders: (u32, u32),
    pub track_sectors: u32,
    #[serde(default)]
    pub offset: f64,
    pub track_skew: f64,
    pub cylinder_skew: f64,
    #[serde(default)]
    pub reserved_sectors: u32,
    #[serde(default)]
    pub spares: u32,
    #[serde(default)]
    pub slips: Vec<u64>,
    #[serde(default)]
    pub defects: Vec<(u64, u64)>,
}

/// The drive's own interface; 10^6 bytes a second.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceKeys {
    pub read_mb_s: f64,
    pub write_mb_s: f64,
}

/// Overheads of the drive's processor, in milliseconds; see [`Overheads`](crate::description::Overheads).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OverheadKeys {
    pub request_ms: f64,
    pub read_hit_after_read_ms: f64,
    pub read_hit_after_write_ms: f64,
    pub read_miss_after_read_ms: f64,
    pub read_miss_after_write_ms: f64,
    pub write_hit_after_read_ms: f64,
    pub write_hit_after_write_ms: f64,
    pub write_miss_after_read_ms: f64,
    pub write_miss_after_write_ms: f64,
    pub read_completion_ms: f64,
    pub write_completion_ms: f64,
    pub data_preparation_ms: f64,
    pub first_reselect_ms: f64,
    pub other_reselect_ms: f64,
    pub read_disconnect_after_read_ms: f64,
    pub read_disconnect_after_write_ms: f64,
    pub write_disconnect_ms: f64,
    pub write_positioning_min_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_write_disconnect: Option<ExtraWriteDisconnectKeys>,
}

/// See [`ExtraWriteDisconnect`](crate::description::ExtraWriteDisconnect).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExtraWriteDisconnectKeys {
    pub command_ms: f64,
    pub disconnect_ms: f64,
    pub pause_ms: f64,
    pub second_disconnect_ms: f64,
    pub seek_delay_ms: f64,
}

/// See [`Buffer`](crate::description::Buffer). Omitted features are off.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferKeys {
    pub segments: u32,
    pub segment_sectors: u32,
    /// `none`, `track`, `cylinder`, `sectors`, `segment` or `track-ahead`.
    pub read_ahead: String,
    /// For `read_ahead = "sectors"`.
    #[serde(default)]
    pub read_ahead_sectors: u32,
    #[serde(default)]
    pub read_ahead_min_sectors: u32,
    #[serde(default)]
    pub caching: bool,
    #[serde(default)]
    pub read_ahead_on_hit: bool,
    #[serde(default)]
    pub read_free_sectors: bool,
    #[serde(default)]
    pub read_on_arrival: bool,
    #[serde(default)]
    pub write_on_arrival: bool,
    #[serde(default)]
    pub keeps_gaps: bool,
    #[serde(default)]
    pub adaptive_read_ahead: bool,
    #[serde(default)]
    pub drops_delivered: bool,
    #[serde(default)]
    pub almost_hits: bool,
    #[serde(default)]
    pub hits_while_busy: bool,
    #[serde(default)]
    pub hits_on_written: bool,
    #[serde(default)]
    pub stop_in_sector: bool,
    #[serde(default)]
    pub write_stops_read_ahead: bool,
    #[serde(default)]
    pub partial_hit_at_once: bool,
    #[serde(default)]
    pub read_watermark_percent: u32,
    #[serde(default)]
    pub watermark_of_request: bool,
    #[serde(default)]
    pub hold_bus_for_read: bool,
}

/// See [`WriteCache`](crate::description::WriteCache).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteCacheKeys {
    pub enabled: bool,
    pub extents_max: u32,
    pub sectors_max: u32,
    #[serde(default)]
    pub in_segments: bool,
    #[serde(default)]
    pub own_segment: bool,
    #[serde(default)]
    pub accept_while_busy: bool,
    #[serde(default)]
    pub combine: bool,
    /// Default: in turn with other requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destage_after_idle_ms: Option<f64>,
    /// Cached writes are written out in the order of their sectors, whatever the queue's policy.
    #[serde(default)]
    pub destage_in_platter_order: bool,
    pub destage_sectors_max: u32,
}

/// See [`Queue`](crate::description::Queue).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueKeys {
    pub depth: u32,
    /// `fcfs`, `sstf`, `sptf` or `elevator`.
    pub policy: String,
    pub age_max_ms: f64,
    /// This many of the newest requests stay in order of arrival before the policy may choose them.
    #[serde(default)]
    pub unsorted_newest: u32,
    /// The firmware considers a rotation missed that leaves less time than this (`sptf` only).
    #[serde(default)]
    pub rotation_margin_ms: f64,
    #[serde(default)]
    pub flush_alone: bool,
    /// The arm leaves for the next request when the media access ends, not when the host has its completion.
    #[serde(default)]
    pub seek_early: bool,
}

/// A flash drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashKeys {
    pub chips: Figure<ChipKeys>,
    /// Over-provisioning: flash that the host does not see, in percent of its capacity.
    pub spare_percent: Figure<f64>,
    /// In its steady state: every sector was written before. `false` is a new drive.
    pub aged: Figure<bool>,
    pub buffer_sectors: Figure<u32>,
    /// Flash that is first written with one bit per cell; without it, all data is written in its final form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc: Option<Figure<SlcKeys>>,
    pub power_loss_protection: Figure<bool>,
    pub interface: Figure<InterfaceKeys>,
    pub overheads: Figure<FlashOverheadKeys>,
    pub queue: Figure<FlashQueueKeys>,
}

/// Chips and channels; see [`Flash`](crate::flash::Flash).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChipKeys {
    pub channels: u32,
    pub dies_per_channel: u32,
    pub unit_sectors: u32,
    pub program_units: u32,
    pub block_programs: u32,
    pub read_us: f64,
    pub program_us: f64,
    pub erase_us: f64,
    pub channel_mb_s: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend_us: Option<f64>,
    /// Read time of every third page, for TLC flash. Default: as for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub third_page_read_us: Option<f64>,
    /// Programs that garbage collection moves at once. Default: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub move_programs: Option<u32>,
}

/// The SLC cache; see [`Slc`](crate::flash::Slc).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcKeys {
    /// Capacity on an empty drive, in 10^9 bytes.
    pub empty_gb: f64,
    /// Capacity on a full drive, in 10^9 bytes.
    pub full_gb: f64,
    pub program_us: f64,
    /// Rate at which it drains while nothing is written.
    pub refill_mb_s: f64,
}

/// Overheads of the controller.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashOverheadKeys {
    pub read_us: f64,
    pub write_us: f64,
    pub flush_us: f64,
    pub command_us: f64,
    /// For writes. Default: as for all commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_command_us: Option<f64>,
}

/// Queueing of requests at the drive.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashQueueKeys {
    pub depth: u32,
    #[serde(default)]
    pub half_duplex: bool,
    #[serde(default)]
    pub flush_alone: bool,
}
