//! Parameters that writes show.

use super::sources::state;
use super::twin::Twin;
use super::{Overhead, Params, SlcParams, Tuned, UNIT_SECTORS, check, stream_check};
use crate::ssd::writes::wire_us;
use crate::{Depth, Error, Ssd, SsdWrites, mean};

/// Buffer sizes that are tried if none was measured, in sectors.
const BUFFERS: [u32; 2] = [4096, 640];
/// Numbers of programs that garbage collection moves at once.
const MOVES: [u32; 2] = [8, 40];
/// Costs of suspending a program for a read, in microseconds; `None` if it cannot be suspended.
const SUSPENDS: [Option<f64>; 11] = [
    Some(0.0),
    Some(5.0),
    Some(10.0),
    Some(15.0),
    Some(20.0),
    Some(25.0),
    Some(30.0),
    Some(40.0),
    Some(60.0),
    Some(100.0),
    None,
];
const READ_US_MIN: f64 = 5.0;
/// Refinement steps for both.
const STEPS: [f64; 2] = [1.8, 1.3];
/// Rounds of the search for the tuned parameter.
const ROUNDS: usize = 6;
/// From the slowest to the fastest.
const SPARE_PERCENT: (f64, f64) = (1.0, 150.0);
const PROGRAM_US: (f64, f64) = (30_000.0, 30.0);
const PLACE_STEP_MIN: f64 = 1e-3;
/// Initial guess of how the logarithm of the rate changes over the whole range.
const SLOPE: f64 = 6.0;
/// For drives with power-loss protection, which are made for servers.
const SERVER_SPARE_PERCENT: f64 = 28.0;
/// Rates match if their logarithms differ by less.
const RATES_AGREE: f64 = 0.01;
/// The same for rates with another limit.
const LIMITS_AGREE: f64 = 0.003;
/// Weight of the slowest 1 % relative to the rates.
const SLOW_WEIGHT: f64 = 0.02;
/// Sum of squares below which nothing else is tried.
const GOOD: f64 = 0.002;
/// Required improvement for another buffer or more moves at once, as a ratio.
const BETTER: f64 = 0.4;
/// The same for small steps.
const REFINED: f64 = 0.9;
/// Plausible link rates for writes, in 10^6 bytes a second.
const WIRE_MB_S: (f64, f64) = (10.0, 20_000.0);
/// If no flush waits for the flash, SLC programs take this fraction of the time of normal ones.
const SLC_PART: f64 = 0.25;
const PROGRAM_US_MIN: f64 = 20.0;
/// The SLC cache is free again after a minute; a faster refill is an assumption.
const REFILL_MB_S: f64 = 200.0;
const IDLE_S: f64 = 60.0;

pub(super) fn fit(twin: &Twin<'_>, params: &mut Params, depths: &[Depth], found: &SsdWrites) -> Result<(), Error> {
    controller(params, found);
    flash(params, found);
    if let Some(buffer) = found.buffer {
        params.buffer_sectors = buffer.sectors;
    }
    let fit = Fit { twin, depths, found };
    let closest = fit.closest(*params)?;
    // Garbage collection also reads.
    let suspended = fit.suspended(closest)?;
    *params = fit.tuned(suspended)?.params;
    Ok(())
}

/// Parameters that need no simulation: link, controller, flushes.
fn controller(params: &mut Params, found: &SsdWrites) {
    let hit_us = found.hits.first().map_or(0.0, |hit| hit.ms * 1e3);
    params.write_mb_s = (f64::from(UNIT_SECTORS) * 512.0 / wire_us(&found.hits).max(1e-6))
        .max(found.stream_mb_s)
        .clamp(WIRE_MB_S.0, WIRE_MB_S.1);
    let wire_us = f64::from(UNIT_SECTORS) * 512.0 / params.write_mb_s;
    let each_us = found.burst_each_ms * 1e3;
    // If the link is the limit, the controller's time cannot be measured.
    let command = if each_us > 1.1 * wire_us {
        each_us
    } else {
        params.overhead.command.min(wire_us)
    };
    params.overhead.write_command = command;
    params.overhead.write = (hit_us - command - wire_us).max(0.0);
    params.overhead.flush = (found.flush_idle_ms * 1e3 - params.overhead.command).max(0.0);
    params.is_protected = found.is_protected();
    // PCIe is full duplex: there, writes slow down a stream of reads for other reasons.
    params.half_duplex = params.is_sata && found.shares_wire;
    if params.is_protected {
        params.spare_percent = SERVER_SPARE_PERCENT;
    }
}

/// Program times, as far as flushes and the SLC cache show them.
fn flash(params: &mut Params, found: &SsdWrites) {
    let channel_us = params.channel_us(params.program_units);
    let waits_us = (found.flush_one_ms - found.flush_idle_ms) * 1e3 - channel_us;
    let flushed_us = (!params.is_protected).then_some(waits_us.max(PROGRAM_US_MIN));
    match (found.slc, flushed_us) {
        (Some(slc), _) => {
            // The additional time that each die is busy with a program, from the rates in 10^6 bytes a second.
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
    /// Random reads.
    depths: &'a [Depth],
    found: &'a SsdWrites,
}

/// Parameters, and the sum of squared deviations of their random writes.
#[derive(Clone, Copy)]
struct Tried {
    params: Params,
    off: f64,
}

impl Fit<'_> {
    /// Fits the buffer, the moves, and the spare flash or the program time.
    fn closest(&self, params: Params) -> Result<Params, Error> {
        let mut best = self.tuned(params)?;
        if best.off < GOOD {
            return Ok(best.params);
        }
        if self.found.buffer.is_none() {
            for buffer_sectors in BUFFERS {
                let other = Params {
                    buffer_sectors,
                    move_programs: MOVES[0],
                    ..best.params
                };
                best = self.better(best, other, BETTER)?;
            }
        }
        for move_programs in MOVES {
            let other = Params {
                move_programs,
                ..best.params
            };
            best = self.better(best, other, BETTER)?;
        }
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
                best = self.better(best, other, REFINED)?;
            }
        }
        Ok(best.params)
    }

    /// The alternative, if it is better by this ratio.
    fn better(&self, best: Tried, params: Params, ratio: f64) -> Result<Tried, Error> {
        // A buffer holds at least two programs.
        let least = 2 * params.program_units * UNIT_SECTORS;
        let other = self.tuned(Params {
            buffer_sectors: params.buffer_sectors.max(least),
            ..params
        })?;
        Ok(if other.off < ratio * best.off { other } else { best })
    }

    /// Fits the spare flash to the measured rate, or the program time if neither flushes nor an SLC cache show it.
    fn tuned(&self, params: Params) -> Result<Tried, Error> {
        let is_known = self.found.slc.is_some() || !params.is_protected;
        let tuned = if is_known { Tuned::Spare } else { Tuned::Program };
        let depths: Vec<u32> = self.found.random.iter().map(|depth| depth.depth).collect();
        let mut slow: Option<(f64, f64)> = None;
        let mut fast: Option<(f64, f64)> = None;
        let agree = match tuned {
            Tuned::Spare => RATES_AGREE,
            Tuned::Program => LIMITS_AGREE,
        };
        let mut place = place_of(&params, tuned);
        let mut best: Option<(f64, Tried)> = None;
        for round in 0..ROUNDS {
            // The first round uses the parameters as they are: if they match, nothing is tuned.
            let tried = if round == 0 { params } else { at(&params, tuned, place) };
            let (simulated, stream_mb_s) = self.twin.writes(&tried, &depths)?;
            let is = self.rate_off(tuned, &simulated, stream_mb_s);
            if best.is_none_or(|(least, _)| is.abs() < least) {
                let off = self.off(&simulated, stream_mb_s);
                best = Some((is.abs(), Tried { params: tried, off }));
            }
            if is.abs() < agree {
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
        best.map(|(_, tried)| tried)
            .ok_or_else(|| Error::Model("no rate of writes fits".to_owned()))
    }

    /// Mean deviation of the logarithms of the rates of random writes at high depth and of a stream. If the program
    /// time is tuned, only the slowest rate counts, as the others may have another limit.
    fn rate_off(&self, tuned: Tuned, simulated: &[Depth], stream_mb_s: f64) -> f64 {
        let pairs = self.found.random.iter().zip(simulated);
        let mut rates: Vec<f64> = pairs
            .filter(|(measured, _)| measured.depth > 1)
            .map(|(a, b)| (b.per_s / a.per_s).ln())
            .collect();
        rates.push((stream_mb_s / self.found.stream_mb_s).ln());
        match tuned {
            Tuned::Spare => mean(&rates),
            Tuned::Program => rates.into_iter().fold(f64::INFINITY, f64::min),
        }
    }

    /// Sum of squared deviations of rates and slow writes.
    fn off(&self, simulated: &[Depth], stream_mb_s: f64) -> f64 {
        let pairs = self.found.random.iter().zip(simulated);
        let of_depths = pairs.map(|(a, b)| {
            let slow = (b.p99_ms.max(1e-6) / a.p99_ms.max(1e-6)).ln().powi(2);
            (b.per_s / a.per_s).ln().powi(2) + SLOW_WEIGHT * slow
        });
        of_depths.sum::<f64>() + (stream_mb_s / self.found.stream_mb_s).ln().powi(2)
    }

    /// Fits the cost of suspending to reads mixed with writes and to reads by depth. Reads of one die show only its
    /// sum with the read time.
    fn suspended(&self, params: Params) -> Result<Params, Error> {
        let waits_us = params.suspend_us.unwrap_or(0.0);
        let depths: Vec<u32> = self.depths.iter().map(|at| at.depth).collect();
        let mut best: Option<(f64, Params)> = None;
        for suspend_us in SUSPENDS {
            let longer_us = waits_us - suspend_us.unwrap_or(0.0);
            let read = params.overhead.read - longer_us;
            let read_us = params.read_us + longer_us;
            if read < 0.0 || read_us < READ_US_MIN {
                continue;
            }
            let other = Params {
                suspend_us,
                read_us,
                third_page_read_us: params.third_page_read_us.map(|us| us + longer_us),
                overhead: Overhead {
                    read,
                    ..params.overhead
                },
                ..params
            };
            let mut off = (self.twin.mixed_read_ms(&other)? / self.found.mixed_read_ms)
                .ln()
                .powi(2);
            let simulated = self.twin.reads(&other, &depths)?;
            let pairs = self.depths.iter().zip(&simulated);
            off += pairs.map(|(a, b)| (b.per_s / a.per_s).ln().powi(2)).sum::<f64>();
            if best.is_none_or(|(least, _)| off < least) {
                best = Some((off, other));
            }
        }
        Ok(best.map_or(params, |(_, params)| params))
    }
}

/// Where the tuned parameter is in its range, from 0 (slowest) to 1.
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
            // SLC programs are never slower.
            other.slc = params.slc.map(|slc| SlcParams {
                program_us: slc.program_us.min(other.program_us),
                ..slc
            });
        }
    }
    other
}

/// Figures to compare models with.
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
