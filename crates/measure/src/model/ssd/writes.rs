//! Parameters that writes show.

use super::twin::Twin;
use super::words::state;
use super::{Params, SlcParams, Tuned, UNIT_SECTORS, check, stream_check};
use crate::{Depth, Error, Ssd, SsdWrites};

/// Buffers that are tried if none was seen, in sectors.
const BUFFERS: [u32; 5] = [65_536, 8192, 2048, 1024, 512];
/// Programs that garbage collection does together.
const MOVES: [u32; 4] = [1, 8, 32, 128];
/// A drive that does not suspend programs has no cost of it between reads.
const WAITING_US_MAX: f64 = 2.0;
/// Steps by which both are refined.
const STEPS: [f64; 2] = [2.0, 1.4];
/// The tuned parameter is looked for so often.
const ROUNDS: usize = 8;
/// From the slowest to the fastest.
const SPARE_PERCENT: (f64, f64) = (1.0, 150.0);
const PROGRAM_US: (f64, f64) = (30_000.0, 30.0);
const PLACE_STEP_MIN: f64 = 1e-3;
/// By how much the logarithm of the rate changes over the whole range, at first.
const SLOPE: f64 = 3.0;
/// A rate agrees if its logarithm is off by less.
const RATES_AGREE: f64 = 0.006;
/// The slowest hundredth counts so much less than the rates.
const SLOW_WEIGHT: f64 = 0.02;
/// Sum of squares with which nothing else is tried, and with which the other parameter is tuned.
const GOOD: f64 = 0.0008;
const MISSED: f64 = 0.02;
/// A wire of writes, in 10^6 bytes a second.
const WIRE_MB_S: (f64, f64) = (10.0, 20_000.0);
/// With no flush that waits for it: SLC programs take this part of those behind.
const SLC_PART: f64 = 0.25;
const PROGRAM_US_MIN: f64 = 20.0;
/// The SLC cache is free again after a minute; how much faster is assumed.
const REFILL_MB_S: f64 = 200.0;
const IDLE_S: f64 = 60.0;

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
                refill_mb_s: REFILL_MB_S.max(slc.gb * 1e3 / IDLE_S),
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

/// Parameters, and the sum of squares of what their random writes are off by.
#[derive(Clone, Copy)]
struct Tried {
    params: Params,
    off: f64,
}

impl Fit<'_> {
    /// Buffer, moves, and spare flash or the time of a program.
    fn closest(&self, params: Params) -> Result<Params, Error> {
        let buffers = match self.found.buffer {
            Some(buffer) => vec![buffer.sectors],
            None => BUFFERS.to_vec(),
        };
        let mut best: Option<Tried> = None;
        for &buffer_sectors in &buffers {
            for move_programs in MOVES {
                let other = Params {
                    buffer_sectors,
                    move_programs,
                    ..params
                };
                best = Some(self.better(best, other)?);
                if best.is_some_and(|best| best.off < GOOD) {
                    return Ok(best.map_or(params, |best| best.params));
                }
            }
        }
        let mut best = best.ok_or_else(|| Error::Model("no buffer fits".to_owned()))?;
        for step in STEPS {
            let around = best.params;
            let scaled = |value: u32, by: f64| (f64::from(value) * by).round().max(1.0) as u32;
            let mut others = vec![
                (around.buffer_sectors, scaled(around.move_programs, step)),
                (around.buffer_sectors, scaled(around.move_programs, 1.0 / step)),
            ];
            if self.found.buffer.is_none() {
                others.push((scaled(around.buffer_sectors, step), around.move_programs));
                others.push((scaled(around.buffer_sectors, 1.0 / step), around.move_programs));
            }
            for (buffer_sectors, move_programs) in others {
                let other = Params {
                    buffer_sectors,
                    move_programs,
                    ..around
                };
                best = self.better(Some(best), other)?;
            }
        }
        Ok(best.params)
    }

    fn better(&self, best: Option<Tried>, params: Params) -> Result<Tried, Error> {
        // Less than two programs are no buffer.
        let least = 2 * params.program_units * UNIT_SECTORS;
        let other = Params {
            buffer_sectors: params.buffer_sectors.max(least),
            ..params
        };
        let tried = self.tuned(other)?;
        Ok(best.filter(|best| best.off <= tried.off).unwrap_or(tried))
    }

    /// With the spare flash, or the time of a program, that comes closest to the measured rate.
    fn tuned(&self, params: Params) -> Result<Tried, Error> {
        let is_known = self.found.slc.is_some() || !params.is_protected;
        if !is_known {
            return self.tuned_by(params, Tuned::Program);
        }
        let spare = self.tuned_by(params, Tuned::Spare)?;
        if spare.off < MISSED {
            return Ok(spare);
        }
        let program = self.tuned_by(params, Tuned::Program)?;
        Ok(if program.off < spare.off { program } else { spare })
    }

    fn tuned_by(&self, params: Params, tuned: Tuned) -> Result<Tried, Error> {
        let (deepest, measured) = self
            .found
            .random
            .first()
            .map_or((32, 1.0), |depth| (depth.depth, depth.per_s));
        // By which logarithm a rate is off.
        let off = |params: &Params| -> Result<f64, Error> {
            let simulated = self.twin.writes(params, &[deepest])?;
            Ok(simulated.first().map_or(0.0, |depth| (depth.per_s / measured).ln()))
        };
        let (mut slow, mut fast): (Option<(f64, f64)>, Option<(f64, f64)>) = (None, None);
        let mut place = place_of(&params, tuned);
        let mut tried = params;
        for round in 0..ROUNDS {
            // The first one as it is: if it agrees, nothing is tuned.
            tried = if round == 0 { params } else { at(&params, tuned, place) };
            let is = off(&tried)?;
            if is.abs() < RATES_AGREE {
                break;
            }
            if is < 0.0 {
                slow = Some((place, is));
            } else {
                fast = Some((place, is));
            }
            let next = match (slow, fast) {
                // On the line between both, but not at its ends.
                (Some((a, x)), Some((b, y))) => a + (b - a) * (x / (x - y)).clamp(0.1, 0.9),
                (Some((a, x)), None) => (a - x / SLOPE).min(1.0),
                (None, Some((b, y))) => (b - y / SLOPE).max(0.0),
                (None, None) => place,
            };
            if (next - place).abs() < PLACE_STEP_MIN {
                break;
            }
            place = next;
        }
        let depths: Vec<u32> = self.found.random.iter().map(|depth| depth.depth).collect();
        let simulated = self.twin.writes(&tried, &depths)?;
        Ok(Tried {
            params: tried,
            off: self.off(&simulated),
        })
    }

    /// The sum of squares of what rates and slow writes are off by.
    fn off(&self, simulated: &[Depth]) -> f64 {
        let pairs = self.found.random.iter().zip(simulated);
        pairs
            .map(|(a, b)| {
                let slow = (b.p99_ms.max(1e-6) / a.p99_ms.max(1e-6)).ln().powi(2);
                (b.per_s / a.per_s).ln().powi(2) + SLOW_WEIGHT * slow
            })
            .sum()
    }

    /// Whether reads suspend programs, by reads amid writes. What that costs is known from reads that wait for each other.
    fn suspended(&self, params: Params) -> Result<Params, Error> {
        let waiting = Params {
            suspend_us: None,
            ..params
        };
        let off = |params: &Params| -> Result<f64, Error> {
            Ok((self.twin.mixed_read_ms(params)? / self.found.mixed_read_ms).ln().abs())
        };
        let waits = off(&waiting)? < off(&params)? && params.suspend_us.is_none_or(|us| us < WAITING_US_MAX);
        Ok(if waits { waiting } else { params })
    }
}

/// From 0, the slowest, to 1: where the tuned parameter lies in its range.
fn place_of(params: &Params, tuned: Tuned) -> f64 {
    let part = |value: f64, (from, to): (f64, f64)| ((value / from).ln() / (to / from).ln()).clamp(0.0, 1.0);
    match tuned {
        Tuned::Spare => part(params.spare_percent, SPARE_PERCENT),
        Tuned::Program => part(params.program_us, PROGRAM_US),
    }
}

fn at(params: &Params, tuned: Tuned, place: f64) -> Params {
    let between = |(from, to): (f64, f64)| from * (to / from).powf(place);
    let mut other = *params;
    other.tuned = Some(tuned);
    match tuned {
        Tuned::Spare => other.spare_percent = between(SPARE_PERCENT),
        Tuned::Program => {
            other.program_us = between(PROGRAM_US);
            // Those of the SLC cache are never slower.
            other.slc = params.slc.map(|slc| SlcParams {
                program_us: slc.program_us.min(other.program_us),
                ..slc
            });
        }
    }
    other
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
