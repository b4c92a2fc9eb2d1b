//! Parameters that writes show.

use super::twin::{Random4K, Twin};
use super::words::state;
use super::{Params, SlcParams, Tuned, UNIT_SECTORS, check, stream_check};
use crate::{Error, Ssd, SsdWrites};

/// Buffers that are tried if none was seen, in sectors.
const BUFFERS: [u32; 5] = [65_536, 8192, 2048, 1024, 512];
/// Programs that garbage collection does together.
const MOVES: [u32; 4] = [1, 8, 32, 128];
/// Costs of suspending a program for a read, in microseconds; without the ability to.
const SUSPENDS: [Option<f64>; 8] = [
    Some(20.0),
    Some(10.0),
    Some(5.0),
    Some(0.0),
    Some(40.0),
    Some(80.0),
    Some(160.0),
    None,
];
/// Another cost must be better by so much, as a part of the time of a read.
const CLOSER: f64 = 0.01;
/// The tuned parameter is found by halving its range so often.
const HALVINGS: u32 = 7;
const SPARE_PERCENT: (f64, f64) = (1.0, 150.0);
/// Relative to what is assumed.
const PROGRAM_RATIO: (f64, f64) = (0.05, 30.0);
/// Rates that agree so well, and slow writes: nothing else is tried.
const RATES_AGREE: f64 = 0.02;
const SLOW_AGREE: f64 = 0.15;
/// The slowest hundredth counts so much less than the rates.
const SLOW_WEIGHT: f64 = 0.02;
/// If the best rate is off by more, the other parameter is tuned.
const MISSED: f64 = 0.08;
/// A wire of writes, in 10^6 bytes a second.
const WIRE_MB_S: (f64, f64) = (10.0, 20_000.0);
/// With no flush that waits for it: SLC programs take this part of those behind.
const SLC_PART: f64 = 0.25;
const PROGRAM_US_MIN: f64 = 20.0;

pub(super) fn fit(twin: &Twin<'_>, params: &mut Params, found: &SsdWrites) -> Result<(), Error> {
    controller(params, found);
    flash(params, found);
    if let Some(buffer) = found.buffer {
        params.buffer_sectors = buffer.sectors;
    }
    let fit = Fit { twin, found };
    *params = fit.closest(*params)?;
    *params = fit.suspended(*params)?;
    Ok(())
}

/// What needs no simulation: the wire, the controller, flushes.
fn controller(params: &mut Params, found: &SsdWrites) {
    let us = |sectors: u32| {
        let hit = found.hits.iter().find(|hit| hit.sectors == sectors);
        hit.map_or(0.0, |hit| hit.ms * 1e3)
    };
    let (small, large) = found
        .hits
        .first()
        .zip(found.hits.last())
        .map_or((UNIT_SECTORS, UNIT_SECTORS), |(first, last)| {
            (first.sectors, last.sectors)
        });
    let sector_us = (us(large) - us(small)) / f64::from(large.saturating_sub(small).max(1));
    params.write_mb_s = (512.0 / sector_us.max(1e-6))
        .max(found.stream_mb_s)
        .clamp(WIRE_MB_S.0, WIRE_MB_S.1);
    let wire_us = f64::from(UNIT_SECTORS) * 512.0 / params.write_mb_s;
    let each_us = found.burst_each_ms * 1e3;
    // If the wire is the limit, the controller is not seen.
    let command = if each_us > 1.1 * wire_us {
        each_us
    } else {
        params.overhead.command.min(wire_us)
    };
    params.overhead.write_command = command;
    params.overhead.write = (us(UNIT_SECTORS) - command - wire_us).max(0.0);
    params.overhead.flush = (found.flush_idle_ms * 1e3 - params.overhead.command).max(0.0);
    params.is_protected = found.is_protected();
    params.half_duplex = found.shares_wire;
}

/// Times of programs, as far as flushes and the SLC cache show them.
fn flash(params: &mut Params, found: &SsdWrites) {
    let channel_us = params.channel_us(params.program_units);
    let waits_us = (found.flush_one_ms - found.flush_idle_ms) * 1e3 - channel_us;
    let flushed_us = (!params.is_protected).then_some(waits_us.max(PROGRAM_US_MIN));
    match (found.slc, flushed_us) {
        (Some(slc), _) => {
            // By so much more each die is busy with a program, at these rates of 10^6 bytes a second.
            let row_bytes = f64::from(params.program_units * UNIT_SECTORS) * 512.0;
            let longer_us = (1.0 / slc.after_mb_s - 1.0 / slc.before_mb_s) * row_bytes * f64::from(params.dies());
            let slc_us = flushed_us.unwrap_or(longer_us * SLC_PART / (1.0 - SLC_PART));
            params.program_us = slc_us + longer_us.max(0.0);
            params.slc = Some(SlcParams {
                gb: (slc.gb
                    - found
                        .buffer
                        .map_or(0.0, |buffer| f64::from(buffer.sectors) * 512.0 / 1e9))
                .max(0.001),
                program_us: slc_us,
                refill_mb_s: (slc.regained_gb * 1e3 / slc.idle_s).max(0.1),
            });
        }
        (None, Some(program_us)) => params.program_us = program_us,
        (None, None) => {}
    }
}

struct Fit<'a> {
    twin: &'a Twin<'a>,
    found: &'a SsdWrites,
}

impl Fit<'_> {
    /// Buffer, moves, and spare flash or the time of a program.
    fn closest(&self, params: Params) -> Result<Params, Error> {
        let buffers = match self.found.buffer {
            Some(buffer) => vec![buffer.sectors],
            None => BUFFERS.to_vec(),
        };
        let mut best: Option<(f64, Params)> = None;
        for &buffer_sectors in &buffers {
            if buffer_sectors < 2 * params.program_units * UNIT_SECTORS {
                continue;
            }
            for move_programs in MOVES {
                let other = Params {
                    buffer_sectors,
                    move_programs,
                    ..params
                };
                let (off, tuned) = self.tuned(other)?;
                if best.is_none_or(|(least, _)| off < least) {
                    best = Some((off, tuned));
                }
                if self.agrees(&self.twin.writes(&tuned)?) {
                    return Ok(tuned);
                }
            }
        }
        best.map(|(_, params)| params)
            .ok_or_else(|| Error::Model("no buffer fits".to_owned()))
    }

    /// With the spare flash, or the time of a program, that comes closest to the measured rate.
    fn tuned(&self, params: Params) -> Result<(f64, Params), Error> {
        let is_known = self.found.slc.is_some() || !params.is_protected;
        let first = if is_known { Tuned::Spare } else { Tuned::Program };
        let simulated = self.twin.writes(&params)?;
        // Faster than measured by nothing that could be tuned: the flash is not what limits them.
        let (mut off, mut best) = self.tuned_by(params, first, &simulated)?;
        if is_known && off > MISSED * MISSED {
            let (other_off, other) = self.tuned_by(params, Tuned::Program, &simulated)?;
            if other_off < off {
                (off, best) = (other_off, other);
            }
        }
        Ok((off, best))
    }

    fn tuned_by(&self, params: Params, tuned: Tuned, assumed: &Random4K) -> Result<(f64, Params), Error> {
        let at = |part: f64| -> Params {
            let between = |(least, most): (f64, f64)| least * (most / least).powf(part);
            match tuned {
                Tuned::Spare => Params {
                    spare_percent: between(SPARE_PERCENT),
                    tuned: Some(tuned),
                    ..params
                },
                // More time is slower.
                Tuned::Program => {
                    let program_us = params.program_us / between(PROGRAM_RATIO);
                    let slc = params.slc.map(|slc| SlcParams {
                        program_us: slc.program_us.min(program_us),
                        ..slc
                    });
                    Params {
                        program_us,
                        slc,
                        tuned: Some(tuned),
                        ..params
                    }
                }
            }
        };
        let rate = |random: &Random4K| random.depths.iter().map(|depth| depth.per_s).fold(0.0, f64::max);
        let measured = self.found.random.iter().map(|depth| depth.per_s).fold(0.0, f64::max);
        if rate(assumed) >= measured * (1.0 - RATES_AGREE) && rate(assumed) <= measured * (1.0 + RATES_AGREE) {
            return Ok((self.off(assumed), params));
        }
        let (mut slow, mut fast) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(slow, fast);
            if rate(&self.twin.writes(&at(middle))?) < measured {
                slow = middle;
            } else {
                fast = middle;
            }
        }
        let best = at(f64::midpoint(slow, fast));
        Ok((self.off(&self.twin.writes(&best)?), best))
    }

    /// The sum of squares of what rates and slow writes are off by.
    fn off(&self, simulated: &Random4K) -> f64 {
        let pairs = self.found.random.iter().zip(&simulated.depths);
        pairs
            .map(|(a, b)| {
                let slow = (b.p99_ms / a.p99_ms.max(1e-6)).ln().powi(2);
                (b.per_s / a.per_s).ln().powi(2) + SLOW_WEIGHT * slow
            })
            .sum()
    }

    fn agrees(&self, simulated: &Random4K) -> bool {
        let mut pairs = self.found.random.iter().zip(&simulated.depths);
        pairs.all(|(a, b)| {
            (b.per_s / a.per_s - 1.0).abs() < RATES_AGREE && (b.p99_ms / a.p99_ms - 1.0).abs() < SLOW_AGREE
        })
    }

    /// What suspending costs, by reads amid writes.
    fn suspended(&self, params: Params) -> Result<Params, Error> {
        let mut best: Option<(f64, Params)> = None;
        for suspend_us in SUSPENDS {
            let other = Params { suspend_us, ..params };
            let ms = self.twin.writes(&other)?.mixed_read_ms;
            let off = (ms / self.found.mixed_read_ms - 1.0).abs();
            if best.is_none_or(|(least, _)| off < least - CLOSER) {
                best = Some((off, other));
            }
        }
        Ok(best.map_or(params, |(_, params)| params))
    }
}

/// Figures with which models are compared.
pub(super) fn checks(found: &Ssd, writes: &SsdWrites) -> String {
    let part = found.filled.map_or(0.0, |filled| filled.part);
    let how = format!("4 KiB writes over the whole disk, {}", state(part, writes));
    let mut text = String::new();
    for depth in &writes.random {
        let at = |what: &str| format!("what = \"random-write-{what}\"\ndepth = {}", depth.depth);
        text += &check(&at("iops"), depth.per_s, true, &how);
        text += &check(&at("p99-ms"), depth.p99_ms, false, &how);
    }
    text += &check(
        "what = \"sync-write-ms\"",
        writes.sync_ms,
        false,
        "random 4 KiB writes, each with a flush",
    );
    for flush in &writes.flushes {
        let what = format!("what = \"flush-ms\"\nwrites = {}", flush.writes);
        text += &check(&what, flush.ms, false, "after scattered 4 KiB writes");
    }
    text + &stream_check("write", writes.stream_mb_s, "the end of a stream of 1 MiB writes")
}
