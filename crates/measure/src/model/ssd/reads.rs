//! Parameters that reads show.

use super::twin::Twin;
use super::{Params, UNIT_SECTORS};
use crate::ssd::reads::Program;
use crate::{Depth, Dies, DiskFigures, Error, Size, Ssd};

/// Candidates: channels, and dies per channel. Their product matters; reads hardly show how dies are connected.
const DIES: [(u32, u32); 13] = [
    (1, 1),
    (2, 1),
    (4, 1),
    (8, 1),
    (8, 2),
    (8, 3),
    (8, 4),
    (8, 6),
    (8, 8),
    (8, 12),
    (8, 16),
    (8, 24),
    (8, 32),
];
/// Candidates: the part of a read's time, without the controller's, in which the die is busy.
const DIE_PARTS: [f64; 4] = [0.4, 0.6, 0.8, 0.95];
/// Candidates: the controller's part of the time between two reads of the deepest queue.
const COMMAND_PARTS: [f64; 4] = [0.4, 0.7, 0.9, 1.0];
/// How many of the best choices are refined, and the steps for both parts.
const REFINED: usize = 3;
const STEPS: [f64; 4] = [0.1, 0.05, 0.025, 0.0125];
/// There are two kinds of pages if the slow ones take longer by this ratio.
const THIRD: f64 = 1.12;
const CHANNEL_MB_S: (f64, f64) = (50.0, 20_000.0);
/// Smallest and largest program, in mapped units.
const PROGRAM_UNITS: (u32, u32) = (4, 128);
/// Other numbers of channels, tried if simulated reads of many programs are too slow or too fast.
const CHANNELS: [u32; 3] = [2, 4, 16];
/// Required improvement for another number of channels, as a ratio of errors.
const BETTER: f64 = 0.8;

/// How the time of a read is divided.
#[derive(Clone, Copy)]
struct Choice {
    dies: (u32, u32),
    die_part: f64,
    command_part: f64,
}

struct Fit<'a> {
    twin: &'a Twin<'a>,
    base: Params,
    /// Read time of a page of the fast kind, without link and channel.
    read_us: f64,
    /// Additional time of the slow kind.
    slow_us: Option<f64>,
    /// Absent if the number of dies could not be measured.
    dies: Option<Dies>,
    /// Time between two reads of the deepest queue.
    command_max_us: f64,
    depths: Vec<Depth>,
}

pub(super) fn fit(twin: &Twin<'_>, measured: &DiskFigures, found: &Ssd) -> Result<Params, Error> {
    let mut base = Params::assumed(found.transfers.stream_mb_s);
    wires(&mut base, &found.transfers.sizes);
    let depths = base.depths_of(measured);
    let (Some(first), Some(most)) = (depths.first(), depths.iter().map(|at| at.per_s).reduce(f64::max)) else {
        return Err(Error::Unfinished);
    };
    let spread = found.spread;
    let slow_us = (spread.high_ms > THIRD * spread.low_ms).then_some((spread.high_ms - spread.low_ms) * 1e3);
    let wires_us = base.channel_us(1) + f64::from(UNIT_SECTORS) * 512.0 / base.read_mb_s;
    let fit = Fit {
        twin,
        base,
        read_us: (first.mean_ms * 1e3 - slow_us.unwrap_or(0.0) / 3.0 - wires_us).max(1.0),
        slow_us,
        dies: found.transfers.dies,
        command_max_us: 1e6 / most,
        depths,
    };
    let mut params = fit.params(fit.choice()?);
    channels(twin, &mut params, &found.transfers.sizes)?;
    // Corrects the remainder that the other parameters leave.
    if let Some(simulated) = twin.reads(&params, &[1])?.first() {
        let first = fit.depths.first().map_or(simulated.mean_ms, |first| first.mean_ms);
        params.overhead.read = (params.overhead.read + (first - simulated.mean_ms) * 1e3).max(0.0);
    }
    Ok(params)
}

/// The channel's rate and the size of a program in units.
fn wires(params: &mut Params, sizes: &[Size]) {
    if let Some(program) = Program::of(sizes, params.read_mb_s) {
        params.channel_mb_s = (512.0 / program.sector_us).clamp(CHANNEL_MB_S.0, CHANNEL_MB_S.1);
        params.program_units = (program.sectors / UNIT_SECTORS).clamp(PROGRAM_UNITS.0, PROGRAM_UNITS.1);
    }
}

/// Number of channels for the dies, from reads of many programs.
fn channels(twin: &Twin<'_>, params: &mut Params, sizes: &[Size]) -> Result<(), Error> {
    let off = |params: &Params| -> Result<f64, Error> {
        let simulated = twin.sizes(params)?;
        let pairs = sizes.iter().zip(&simulated);
        Ok(pairs.map(|(a, b)| (b.ms / a.ms).ln().powi(2)).sum())
    };
    let mut least = off(params)?;
    for channels in CHANNELS {
        if !params.dies().is_multiple_of(channels) {
            continue;
        }
        let other = Params {
            channels,
            dies_per_channel: params.dies() / channels,
            ..*params
        };
        let is = off(&other)?;
        if is < BETTER * least {
            (least, *params) = (is, other);
        }
    }
    Ok(())
}

impl Fit<'_> {
    fn params(&self, choice: Choice) -> Params {
        let command = self.command_max_us.min(self.read_us) * choice.command_part;
        let rest = self.read_us - command;
        let suspend_us = self.base.suspend_us.unwrap_or(0.0);
        let read_us = match self.dies {
            // The second read of a die waits for the end of the first one, which started one command earlier, and
            // for the cost of suspending: a read that waits for another read pays it as well.
            Some(dies) => (dies.wait_ms * 1e3 + command - suspend_us).clamp(0.2 * rest, rest),
            None => rest * choice.die_part,
        };
        let mut params = self.base;
        (params.channels, params.dies_per_channel) = choice.dies;
        params.read_us = read_us;
        params.third_page_read_us = self.slow_us.map(|slow_us| read_us + slow_us);
        params.overhead.read = rest - read_us;
        params.overhead.command = command;
        params.overhead.write_command = command;
        params
    }

    /// Sum of squared deviations of the rates.
    fn off(&self, choice: Choice) -> Result<f64, Error> {
        let depths: Vec<u32> = self.depths.iter().map(|at| at.depth).collect();
        let simulated = self.twin.reads(&self.params(choice), &depths)?;
        let pairs = self.depths.iter().zip(&simulated);
        Ok(pairs.map(|(a, b)| (b.per_s / a.per_s).ln().powi(2)).sum())
    }

    fn choice(&self) -> Result<Choice, Error> {
        let dies = self.dies.map_or(DIES.to_vec(), |dies| vec![divided(dies.count)]);
        let die_parts = if self.dies.is_some() {
            &[1.0][..]
        } else {
            &DIE_PARTS[..]
        };
        let mut tried = Vec::new();
        for dies in dies {
            let mut of_dies: Option<(f64, Choice)> = None;
            for &die_part in die_parts {
                for command_part in COMMAND_PARTS {
                    let choice = Choice {
                        dies,
                        die_part,
                        command_part,
                    };
                    let off = self.off(choice)?;
                    if of_dies.is_none_or(|(least, _)| off < least) {
                        of_dies = Some((off, choice));
                    }
                }
            }
            tried.extend(of_dies);
        }
        tried.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut best: Option<(f64, Choice)> = None;
        for (off, choice) in tried.into_iter().take(REFINED) {
            let refined = self.refined(off, choice)?;
            if best.is_none_or(|(least, _)| refined.0 < least) {
                best = Some(refined);
            }
        }
        best.map(|(_, choice)| choice)
            .ok_or_else(|| Error::Model("no number of dies fits".to_owned()))
    }

    /// Refines both parts as long as the fit improves.
    fn refined(&self, mut off: f64, mut choice: Choice) -> Result<(f64, Choice), Error> {
        for step in STEPS {
            for (die, command) in [(0.0, step), (0.0, -step), (step, 0.0), (-step, 0.0)] {
                if die != 0.0 && self.dies.is_some() {
                    continue;
                }
                let other = Choice {
                    die_part: (choice.die_part + die).clamp(0.05, 1.0),
                    command_part: (choice.command_part + command).clamp(0.05, 1.0),
                    ..choice
                };
                let is = self.off(other)?;
                if is < off {
                    (off, choice) = (is, other);
                }
            }
        }
        Ok((off, choice))
    }
}

/// Divides dies among channels: eight channels if possible.
fn divided(dies: u32) -> (u32, u32) {
    let channels = [8, 4, 6, 5, 3, 2]
        .into_iter()
        .find(|channels| dies.is_multiple_of(*channels));
    let channels = channels.unwrap_or(1);
    (channels, dies / channels)
}
