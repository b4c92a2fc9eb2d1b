//! Validation traces: requests with the response times of a real disk, played to a model of it.

use crate::catalogue::Model;
use crate::disksim_import::Mistake;
use crate::request::{Op, Request, Status};
use crate::world::{Description, World};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Steps of the vertical axis at which two distributions are compared.
const STEPS: usize = 10_000;

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traced {
    pub op: Op,
    pub sector: u64,
    pub sectors: u32,
    pub response_ns: u64,
    /// From this request's completion to the issue of the next.
    pub gap_ns: u64,
}

/// A request as it was measured and as it came out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    pub index: usize,
    pub request: Traced,
    pub measured_ms: f64,
    pub simulated_ms: f64,
}

/// A distribution in a few numbers, in ms.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub mean_ms: f64,
    /// Percent and value.
    pub percentiles_ms: Vec<(f64, f64)>,
}

/// How a model did on a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayReport {
    pub model: String,
    pub requests: usize,
    pub measured: Summary,
    pub simulated: Summary,
    /// The root mean square of the horizontal distance of the two cumulative distributions ("demerit figure",
    /// Ruemmler and Wilkes 1994).
    pub rms_ms: f64,
    pub deviations: Vec<Deviation>,
}

/// Reads a trace: `R|W  Hit|Miss|…  first-block  blocks  response-µs  gap-µs` a line.
pub fn parse(file: &str, text: &str) -> Result<Vec<Traced>, Mistake> {
    let mut trace = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut rest = Fields { line, at: 0 };
        let mistake = |column: usize, message: String| Mistake {
            file: file.to_string(),
            line: index + 1,
            column,
            message,
        };
        let Some((column, op)) = rest.next() else { continue };
        let op = match op {
            "R" => Op::Read,
            "W" => Op::Write,
            other => return Err(mistake(column, format!("`{other}`: R or W"))),
        };
        rest.next();
        let mut number = |what: &str, low: f64, high: f64| {
            let (column, field) = rest.next().unwrap_or((line.chars().count() + 1, ""));
            let value = field.parse::<f64>().ok().filter(|v| (low..=high).contains(v));
            value.ok_or_else(|| mistake(column, format!("`{field}`: {what} between {low} and {high}")))
        };
        let sector = number("the first block", 0.0, 1e14)? as u64;
        let sectors = number("the number of blocks", 1.0, f64::from(u32::MAX))? as u32;
        let response_ns = (number("the response time in µs", 0.0, 1e10)? * 1e3) as u64;
        let gap_ns = (number("the gap in µs", 0.0, 1e12)? * 1e3) as u64;
        trace.push(Traced {
            op,
            sector,
            sectors,
            response_ns,
            gap_ns,
        });
    }
    if trace.is_empty() {
        let message = "a trace has at least one request".to_string();
        return Err(Mistake {
            file: file.to_string(),
            line: 1,
            column: 1,
            message,
        });
    }
    Ok(trace)
}

/// Fields of a line and their columns.
struct Fields<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Fields<'a> {
    fn next(&mut self) -> Option<(usize, &'a str)> {
        let rest = &self.line[self.at..];
        let start = self.at + rest.find(|c: char| !c.is_whitespace())?;
        let rest = &self.line[start..];
        let end = start + rest.find(char::is_whitespace).unwrap_or(rest.len());
        self.at = end;
        Some((self.line[..start].chars().count() + 1, &self.line[start..end]))
    }
}

/// Plays a trace to a disk of a model: each request is issued `gap` after the completion of the one before.
pub fn run(model: &Model, file: &str, trace: &[Traced], seed: u64) -> Result<ReplayReport, Mistake> {
    let disk = model.description(seed);
    if let Some((index, bad)) = trace
        .iter()
        .enumerate()
        .find(|(_, t)| t.sector + u64::from(t.sectors) > disk.sectors)
    {
        let message = format!(
            "block {} + {} lies past the end of the disk ({} blocks)",
            bad.sector, bad.sectors, disk.sectors
        );
        return Err(Mistake {
            file: file.to_string(),
            line: index + 1,
            column: 1,
            message,
        });
    }
    let description = Description {
        links: Vec::new(),
        disks: std::vec![disk],
    };
    let failed = |index: usize, message: String| Mistake {
        file: file.to_string(),
        line: index + 1,
        column: 1,
        message,
    };
    let mut world = World::new(&description).map_err(|e| failed(0, e.to_string()))?;
    let mut now_ns = 0;
    let mut done = Vec::new();
    let mut deviations = Vec::with_capacity(trace.len());
    for (index, traced) in trace.iter().enumerate() {
        let request = Request {
            tag: 0,
            op: traced.op,
            sector: traced.sector,
            sectors: traced.sectors,
            fua: false,
        };
        world.advance(now_ns, &mut done);
        world.submit(0, now_ns, request);
        let issued_ns = now_ns;
        while done.is_empty() {
            let Some(at_ns) = world.next_event_ns() else {
                return Err(failed(index, "the request never completes".to_string()));
            };
            world.advance(at_ns, &mut done);
        }
        let completion = done.remove(0);
        if completion.status != Status::Ok {
            return Err(failed(index, format!("the request fails: {:?}", completion.status)));
        }
        now_ns = completion.at_ns + traced.gap_ns;
        deviations.push(Deviation {
            index,
            request: *traced,
            measured_ms: traced.response_ns as f64 / 1e6,
            simulated_ms: (completion.at_ns - issued_ns) as f64 / 1e6,
        });
    }
    Ok(report(model.file.name.clone(), deviations))
}

fn report(model: String, deviations: Vec<Deviation>) -> ReplayReport {
    let sorted = |of: fn(&Deviation) -> f64| {
        let mut all: Vec<f64> = deviations.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let measured = sorted(|d| d.measured_ms);
    let simulated = sorted(|d| d.simulated_ms);
    ReplayReport {
        model,
        requests: deviations.len(),
        rms_ms: rms_ms(&measured, &simulated),
        measured: summary(&measured),
        simulated: summary(&simulated),
        deviations,
    }
}

/// The figure of [`ReplayReport::rms_ms`], of two sorted samples.
pub fn rms_ms(a: &[f64], b: &[f64]) -> f64 {
    let squares = (0..=STEPS).map(|step| {
        let part = step as f64 / STEPS as f64;
        (quantile(a, part) - quantile(b, part)).powi(2)
    });
    (squares.sum::<f64>() / (STEPS + 1) as f64).sqrt()
}

/// A quantile of a sorted sample, linear between its points.
pub fn quantile(sorted: &[f64], part: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let at = part.clamp(0.0, 1.0) * last as f64;
    let low = at.floor() as usize;
    let high = (low + 1).min(last);
    sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64)
}

fn summary(sorted: &[f64]) -> Summary {
    let percents = [1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9];
    Summary {
        mean_ms: sorted.iter().sum::<f64>() / sorted.len().max(1) as f64,
        percentiles_ms: percents.iter().map(|p| (*p, quantile(sorted, p / 100.0))).collect(),
    }
}
