//! The model file of an SSD.

mod reads;
mod sources;
mod twin;
mod writes;

use super::{ASSUMED, KnownFacts, MEASURED, check, figure, read_check};
use crate::{Depth, DiskFigures, Error, Ssd};
use std::fmt::Write;
use twin::Twin;

/// Parameters of the model, explained at [`Flash`](disksim::flash::Flash). Times are in microseconds.
#[derive(Clone, Copy, Debug)]
struct Params {
    channels: u32,
    dies_per_channel: u32,
    program_units: u32,
    read_us: f64,
    third_page_read_us: Option<f64>,
    program_us: f64,
    channel_mb_s: f64,
    suspend_us: Option<f64>,
    move_programs: u32,
    spare_percent: f64,
    buffer_sectors: u32,
    slc: Option<SlcParams>,
    is_protected: bool,
    read_mb_s: f64,
    write_mb_s: f64,
    overhead: Overhead,
    is_sata: bool,
    half_duplex: bool,
    /// The parameter that was fitted to the rate of random writes.
    tuned: Option<Tuned>,
}

/// The parameter that the rate of random writes determines if the others are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tuned {
    Spare,
    Program,
}

#[derive(Clone, Copy, Debug)]
struct SlcParams {
    gb: f64,
    program_us: f64,
    refill_mb_s: f64,
}

/// Overhead of the controller, in microseconds.
#[derive(Clone, Copy, Debug)]
struct Overhead {
    read: f64,
    write: f64,
    flush: f64,
    command: f64,
    write_command: f64,
}

/// A mapped unit of 4 KiB.
const UNIT_SECTORS: u32 = 8;
/// Programs per block.
const BLOCK_PROGRAMS: u32 = 384;
/// The fastest SATA link: 6 Gb/s with 8b/10b encoding, in 10^6 bytes a second.
const SATA_MB_S: f64 = 600.0;
const SATA_DEPTH: u32 = 32;
/// Deeper than the block layer's queue.
const NVME_DEPTH: u32 = 1024;

impl Params {
    /// Defaults where nothing was measured: the catalogue's unnamed SSDs `sata-ssd-960gb` and `nvme-ssd-1920gb`,
    /// but without power-loss protection.
    fn assumed(read_mb_s: f64) -> Self {
        let is_sata = read_mb_s <= SATA_MB_S;
        Params {
            channels: 8,
            dies_per_channel: if is_sata { 4 } else { 8 },
            program_units: 16,
            read_us: 60.0,
            third_page_read_us: None,
            program_us: if is_sata { 900.0 } else { 700.0 },
            channel_mb_s: if is_sata { 400.0 } else { 800.0 },
            suspend_us: Some(20.0),
            move_programs: 1,
            spare_percent: if is_sata { 9.0 } else { 14.0 },
            buffer_sectors: if is_sata { 65_536 } else { 131_072 },
            slc: None,
            is_protected: false,
            read_mb_s,
            write_mb_s: read_mb_s,
            overhead: Overhead {
                read: 12.0,
                write: if is_sata { 20.0 } else { 12.0 },
                flush: 1000.0,
                command: 10.0,
                write_command: 10.0,
            },
            is_sata,
            half_duplex: is_sata,
            tuned: None,
        }
    }

    fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    /// Transfer of a whole program between a die and the controller.
    fn channel_us(&self, units: u32) -> f64 {
        f64::from(units * UNIT_SECTORS) * 512.0 / self.channel_mb_s
    }

    /// Mapped units of a superblock, which are erased together.
    fn superblock_units(&self) -> usize {
        (self.dies() * self.program_units * BLOCK_PROGRAMS) as usize
    }

    fn queue_depth(&self) -> u32 {
        if self.is_sata { SATA_DEPTH } else { NVME_DEPTH }
    }

    /// Measured depths up to the drive's queue depth.
    fn depths_of(&self, measured: &DiskFigures) -> Vec<Depth> {
        let depth_max = self.queue_depth();
        let depths = measured.depths.iter();
        depths.filter(|depth| depth.depth <= depth_max).copied().collect()
    }
}

/// The model with its figures for comparison.
pub(super) fn write(known: &KnownFacts<'_>, measured: &DiskFigures, found: &Ssd) -> Result<String, Error> {
    let twin = Twin {
        known,
        sectors: measured.sectors,
    };
    let mut params = reads::fit(&twin, measured, found)?;
    let depths = params.depths_of(measured);
    if let Some(writes) = &found.writes {
        writes::fit(&twin, &mut params, &depths, writes)?;
    }
    let source = sources::Source::of(found);
    let mut text = text(known, measured.sectors, &params, &source);
    text.extend(depths.iter().map(read_check));
    text += &stream_check("read", found.transfers.stream_mb_s, "1 MiB reads, several in flight");
    if let Some(writes) = &found.writes {
        text += &writes::checks(found, writes);
    }
    Ok(text)
}

fn stream_check(op: &str, mb_s: f64, how: &str) -> String {
    check(&format!("what = \"{op}-mb-s\""), mb_s, op == "read", how)
}

/// The model without figures for comparison.
fn text(known: &KnownFacts<'_>, sectors: u64, params: &Params, source: &sources::Source) -> String {
    let mut text = String::from("# Made by `raidlab disk measure`.\n");
    let _ = writeln!(text, "name = {:?}\ntitle = {:?}", known.name, known.title);
    let mut line = |key: &str, is: &str, sure: &str, how: &str| figure(&mut text, key, is, sure, how);
    line("sectors", &sectors.to_string(), MEASURED, "the disk's capacity");
    text.push_str("\n[flash]\n");
    let mut line = |key: &str, is: &str, sure: &str, how: &str| figure(&mut text, key, is, sure, how);
    line("chips", &chips(params), ASSUMED, &source.chips(params));
    let (sure, how) = source.spare(params);
    line("spare_percent", &format!("{:.2}", params.spare_percent), sure, how);
    line("aged", "true", ASSUMED, &source.aged());
    let (sure, how) = source.buffer();
    line("buffer_sectors", &params.buffer_sectors.to_string(), sure, how);
    if let Some(slc) = params.slc {
        let is = format!(
            "{{ empty_gb = {gb:.3}, full_gb = {gb:.3}, program_us = {:.3}, refill_mb_s = {:.2} }}",
            slc.program_us,
            slc.refill_mb_s,
            gb = slc.gb
        );
        line("slc", &is, ASSUMED, sources::SLC);
    }
    let (sure, how) = source.protected();
    line("power_loss_protection", &params.is_protected.to_string(), sure, how);
    let is = format!(
        "{{ read_mb_s = {:.2}, write_mb_s = {:.2} }}",
        params.read_mb_s, params.write_mb_s
    );
    let (sure, how) = source.interface();
    line("interface", &is, sure, how);
    let overhead = params.overhead;
    let is = format!(
        "{{ read_us = {:.3}, write_us = {:.3}, flush_us = {:.3}, command_us = {:.3}, write_command_us = {:.3} }}",
        overhead.read, overhead.write, overhead.flush, overhead.command, overhead.write_command
    );
    let (sure, how) = source.overheads();
    line("overheads", &is, sure, how);
    let is = format!(
        "{{ depth = {}, half_duplex = {}, flush_alone = {} }}",
        params.queue_depth(),
        params.half_duplex,
        params.is_sata
    );
    line("queue", &is, ASSUMED, &source.queue());
    text
}

fn chips(params: &Params) -> String {
    let mut is = format!(
        "{{ channels = {}, dies_per_channel = {}, unit_sectors = {UNIT_SECTORS}, program_units = {}, block_programs = {BLOCK_PROGRAMS}, \
         read_us = {:.3}, program_us = {:.3}, erase_us = 5000.0, channel_mb_s = {:.2}, move_programs = {}",
        params.channels,
        params.dies_per_channel,
        params.program_units,
        params.read_us,
        params.program_us,
        params.channel_mb_s,
        params.move_programs
    );
    if let Some(us) = params.third_page_read_us {
        let _ = write!(is, ", third_page_read_us = {us:.3}");
    }
    if let Some(us) = params.suspend_us {
        let _ = write!(is, ", suspend_us = {us:.1}");
    }
    is + " }"
}
