//! Parameters that reads show.

use super::twin::Twin;
use super::{Params, UNIT_SECTORS};
use crate::{Depth, Error, Measured, Size, Ssd};

/// Channels and dies of each that are tried. What counts is how many there are: reads hardly show how they are connected.
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
/// Of what a read takes less the controller's part: the part in which its die is busy.
const DIE_PARTS: [f64; 4] = [0.4, 0.6, 0.8, 0.95];
/// Of the time between two reads of the deepest queue: that of the controller.
const COMMAND_PARTS: [f64; 4] = [0.4, 0.7, 0.9, 1.0];
/// What suspending costs, in microseconds: a read that waits for another one on its die pays it, too.
const SUSPEND_US: [f64; 3] = [0.0, 10.0, 25.0];
const SUSPEND_STEPS_US: [f64; 4] = [8.0, 4.0, 2.0, 1.0];
/// Of the best choices, so many are refined, by these steps of both parts.
const REFINED: usize = 3;
const STEPS: [f64; 4] = [0.1, 0.05, 0.025, 0.0125];
/// Pages are of two kinds if the slow ones take this ratio longer.
const THIRD: f64 = 1.12;
const CHANNEL_MB_S: (f64, f64) = (50.0, 20_000.0);
/// Of a program, in mapped units.
const PROGRAM_UNITS: (u32, u32) = (4, 128);
/// Sizes from which the rate of a channel follows, in sectors: within a page of every drive.
const WITHIN_PAGE: (u32, u32) = (8, 32);
/// Other numbers of channels, tried if reads of many programs are too slow or too fast.
const CHANNELS: [u32; 3] = [2, 4, 16];
/// Another number of channels must be better by this ratio.
const BETTER: f64 = 0.8;

/// A way of sharing the time of a read.
#[derive(Clone, Copy)]
struct Choice {
    dies: (u32, u32),
    die_part: f64,
    command_part: f64,
    suspend_us: f64,
}

struct Fit<'a> {
    twin: &'a Twin<'a>,
    base: Params,
    /// Without the wire and the channel, of a page of the faster kind.
    read_us: f64,
    /// By which the slow kind takes longer.
    slow_us: Option<f64>,
    /// Between two reads of the deepest queue.
    command_max_us: f64,
    depths: Vec<Depth>,
}

pub(super) fn fit(twin: &Twin<'_>, measured: &Measured, found: &Ssd) -> Result<Params, Error> {
    let mut base = Params::assumed(found.transfers.stream_mb_s);
    wires(&mut base, &found.transfers.sizes);
    let depth_max = base.queue_depth();
    let depths: Vec<Depth> = measured
        .depths
        .iter()
        .filter(|depth| depth.depth <= depth_max)
        .copied()
        .collect();
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
        command_max_us: 1e6 / most,
        depths,
    };
    let mut params = fit.params(fit.choice()?);
    channels(twin, &mut params, &found.transfers.sizes)?;
    // What the choice of the other parameters left over.
    if let Some(simulated) = twin.reads(&params, &[1])?.first() {
        let first = fit.depths.first().map_or(simulated.mean_ms, |first| first.mean_ms);
        params.overhead.read = (params.overhead.read + (first - simulated.mean_ms) * 1e3).max(0.0);
    }
    Ok(params)
}

/// The channel's rate and the units that are programmed together, by the size of reads: within a program a read takes the
/// time of a channel and of the wire longer, beyond it only that of the wire, as its parts come from several dies.
fn wires(params: &mut Params, sizes: &[Size]) {
    let us = |sectors: u32| {
        let size = sizes.iter().find(|size| size.sectors == sectors);
        size.map(|size| size.ms * 1e3 - f64::from(sectors) * 512.0 / params.read_mb_s)
    };
    let (Some(small), Some(large)) = (us(WITHIN_PAGE.0), us(WITHIN_PAGE.1)) else {
        return;
    };
    let sector_us = (large - small) / f64::from(WITHIN_PAGE.1 - WITHIN_PAGE.0);
    params.channel_mb_s = (512.0 / sector_us.max(1e-6)).clamp(CHANNEL_MB_S.0, CHANNEL_MB_S.1);
    if params.channel_mb_s >= CHANNEL_MB_S.1 {
        return;
    }
    let mut program = WITHIN_PAGE.1;
    while let (Some(one), Some(two)) = (us(program), us(2 * program)) {
        if two - one < 0.5 * sector_us * f64::from(program) {
            break;
        }
        program *= 2;
    }
    params.program_units = (program / UNIT_SECTORS).clamp(PROGRAM_UNITS.0, PROGRAM_UNITS.1);
}

/// The number of channels among which the dies are divided, by reads of many programs.
fn channels(twin: &Twin<'_>, params: &mut Params, sizes: &[Size]) -> Result<(), Error> {
    let off = |params: &Params| -> Result<f64, Error> {
        let simulated = twin.sizes(params)?;
        let pairs = sizes.iter().zip(&simulated);
        Ok(pairs.map(|(a, b)| (b.ms / a.ms).ln().powi(2)).sum())
    };
    let mut least = off(params)?;
    for channels in CHANNELS {
        if params.dies() % channels != 0 {
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
        let read_us = rest * choice.die_part;
        let mut params = self.base;
        (params.channels, params.dies_per_channel) = choice.dies;
        params.read_us = read_us;
        params.third_page_read_us = self.slow_us.map(|slow_us| read_us + slow_us);
        params.suspend_us = Some(choice.suspend_us);
        params.overhead.read = rest - read_us;
        params.overhead.command = command;
        params.overhead.write_command = command;
        params
    }

    /// The sum of squares of what the rates are off by.
    fn off(&self, choice: Choice) -> Result<f64, Error> {
        let depths: Vec<u32> = self.depths.iter().map(|at| at.depth).collect();
        let simulated = self.twin.reads(&self.params(choice), &depths)?;
        let pairs = self.depths.iter().zip(&simulated);
        Ok(pairs.map(|(a, b)| (b.per_s / a.per_s).ln().powi(2)).sum())
    }

    fn choice(&self) -> Result<Choice, Error> {
        let mut tried = Vec::new();
        for dies in DIES {
            let mut of_dies: Option<(f64, Choice)> = None;
            for die_part in DIE_PARTS {
                for command_part in COMMAND_PARTS {
                    for suspend_us in SUSPEND_US {
                        let choice = Choice {
                            dies,
                            die_part,
                            command_part,
                            suspend_us,
                        };
                        let off = self.off(choice)?;
                        if of_dies.is_none_or(|(least, _)| off < least) {
                            of_dies = Some((off, choice));
                        }
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

    /// Steps of either part, as long as they help.
    fn refined(&self, mut off: f64, mut choice: Choice) -> Result<(f64, Choice), Error> {
        for (step, suspend) in STEPS.into_iter().zip(SUSPEND_STEPS_US) {
            let moves = [
                (step, 0.0, 0.0),
                (-step, 0.0, 0.0),
                (0.0, step, 0.0),
                (0.0, -step, 0.0),
                (0.0, 0.0, suspend),
                (0.0, 0.0, -suspend),
            ];
            for (die, command, suspend_us) in moves {
                let other = Choice {
                    die_part: (choice.die_part + die).clamp(0.05, 1.0),
                    command_part: (choice.command_part + command).clamp(0.05, 1.0),
                    suspend_us: (choice.suspend_us + suspend_us).max(0.0),
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
