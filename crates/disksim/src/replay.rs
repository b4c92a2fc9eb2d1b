//! Validation traces: requests with the response times of a real disk, replayed on a model of it.

use crate::catalogue::Model;
use crate::disk_set::{Description, World};
use crate::disksim_import::Diagnostic;
use crate::request::{Op, Request, Status};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Number of quantiles at which two distributions are compared.
const STEPS: usize = 10_000;

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traced {
    pub op: Op,
    pub sector: u64,
    pub sectors: u32,
    pub response_ns: u64,
    /// Time from this request's completion to the issue of the next.
    pub gap_ns: u64,
    /// Position of its first block field in the trace.
    pub at: At,
}

/// Line and column, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    pub line: usize,
    pub column: usize,
}

/// Format of a line of a trace, for messages.
const LINE: &str = "a line is `R|W Hit|Miss|… first-block blocks response-µs gap-µs`, such as `R Miss 564347 2 14095.370 13876.270`";

/// A request with its measured and its simulated response time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    pub index: usize,
    pub request: Traced,
    pub measured_ms: f64,
    pub simulated_ms: f64,
}

/// Summary of a distribution, in ms.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub mean_ms: f64,
    /// Percent and value.
    pub percentiles_ms: Vec<(f64, f64)>,
}

/// Result of a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayReport {
    pub model: String,
    pub requests: usize,
    pub measured: Summary,
    pub simulated: Summary,
    /// Root mean square of the horizontal distance between the two cumulative distributions ("demerit figure", Ruemmler
    /// and Wilkes 1994).
    pub rms_ms: f64,
    pub deviations: Vec<Deviation>,
}

/// Ten years: times in nanoseconds stay far from the end of 64 bits.
const ALL_US_MAX: f64 = 3.15e14;

/// Parses a trace with lines `R|W  Hit|Miss|…  first-block  blocks  response-µs  gap-µs`.
pub fn parse(file: &str, text: &str) -> Result<Vec<Traced>, Diagnostic> {
    let mut trace = Vec::new();
    let mut all_us = 0.0;
    for (index, line) in text.lines().enumerate() {
        let mut rest = Fields { line, at: 0 };
        let error = |column: usize, message: String| Diagnostic {
            file: file.to_string(),
            line: index + 1,
            column,
            message,
        };
        let Some((column, op)) = rest.next() else { continue };
        let op = match op {
            "R" => Op::Read,
            "W" => Op::Write,
            other => return Err(error(column, format!("`{other}` is neither `R` nor `W`; {LINE}"))),
        };
        rest.next();
        let mut number = |what: &str, high: f64, whole: bool| {
            let Some((column, field)) = rest.next() else {
                return Err(error(
                    line.chars().count() + 1,
                    format!("the line ends before {what}; {LINE}"),
                ));
            };
            let sound = |v: &f64| (0.0..=high).contains(v) && !(whole && v.fract() != 0.0);
            match field.parse::<f64>().ok().filter(sound) {
                Some(value) => Ok((value, column)),
                None => {
                    let kind = if whole { "a whole number" } else { "a number" };
                    Err(error(
                        column,
                        format!("`{field}` cannot be {what}: {kind} from 0 to {high}; {LINE}"),
                    ))
                }
            }
        };
        let (sector, column) = number("the first block", 1e14, true)?;
        let (sectors, sectors_column) = number("the number of blocks", f64::from(u32::MAX), true)?;
        let (response_us, _) = number("the response time in µs", 1e10, false)?;
        let (gap_us, _) = number("the gap in µs", 1e12, false)?;
        if let Some((column, field)) = rest.next() {
            return Err(error(column, format!("`{field}` follows the gap; {LINE}")));
        }
        if sectors < 1.0 {
            return Err(error(sectors_column, "a request has at least one block".to_string()));
        }
        all_us += response_us + gap_us;
        if all_us > ALL_US_MAX {
            return Err(error(
                column,
                "the trace takes more than ten years until here".to_string(),
            ));
        }
        trace.push(Traced {
            op,
            sector: sector as u64,
            sectors: sectors as u32,
            response_ns: (response_us * 1e3) as u64,
            gap_ns: (gap_us * 1e3) as u64,
            at: At {
                line: index + 1,
                column,
            },
        });
    }
    if trace.is_empty() {
        let message = format!("the trace is empty; {LINE}");
        return Err(Diagnostic {
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

/// Replays a trace on a model, on the rig of the trace: each request is issued `gap` after the completion of the
/// previous one.
pub fn run(model: &Model, file: &str, trace: &[Traced], seed: u64) -> Result<ReplayReport, Diagnostic> {
    let disk = model.on_rig(seed);
    let error = |at: At, message: String| Diagnostic {
        file: file.to_string(),
        line: at.line,
        column: at.column,
        message,
    };
    let past_end = |t: &&Traced| t.sector + u64::from(t.sectors) > disk.sectors;
    if let Some(bad) = trace.iter().find(past_end) {
        let last = bad.sector + u64::from(bad.sectors) - 1;
        let message = format!(
            "blocks {} to {last} of a disk that has {} (0 to {}): the trace is of another disk or model",
            bad.sector,
            disk.sectors,
            disk.sectors - 1
        );
        return Err(error(bad.at, message));
    }
    let description = Description {
        links: Vec::new(),
        disks: std::vec![disk],
    };
    let start = At { line: 1, column: 1 };
    let mut world = World::new(&description).map_err(|e| error(start, e.to_string()))?;
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
                return Err(error(traced.at, "the request never completes".to_string()));
            };
            world.advance(at_ns, &mut done);
        }
        let completion = done.remove(0);
        if completion.status != Status::Ok {
            return Err(error(traced.at, format!("the request fails: {:?}", completion.status)));
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

/// Computes [`ReplayReport::rms_ms`] from two sorted samples.
pub fn rms_ms(a: &[f64], b: &[f64]) -> f64 {
    let squares = (0..=STEPS).map(|step| {
        let part = step as f64 / STEPS as f64;
        (quantile(a, part) - quantile(b, part)).powi(2)
    });
    (squares.sum::<f64>() / (STEPS + 1) as f64).sqrt()
}

/// A quantile of a sorted sample, with linear interpolation.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::find;

    fn wrong(text: &str) -> String {
        match parse("disk.trace", text) {
            Err(error) => error.to_string(),
            Ok(trace) => {
                let model = find("hp-c2247a").unwrap_or_else(|e| panic!("{e}"));
                let failed = run(&model, "disk.trace", &trace, 1);
                failed.err().map_or(String::new(), |error| error.to_string())
            }
        }
    }

    #[test]
    fn broken_lines_are_told_with_their_place_and_what_a_line_looks_like() {
        let cases = [
            ("", "disk.trace:1:1: the trace is empty; "),
            ("no", "disk.trace:1:1: `no` is neither `R` nor `W`; "),
            (
                "R Hit 5 2 100.0 50.0\nR Hit 5",
                "disk.trace:2:8: the line ends before the number of blocks; ",
            ),
            (
                "R Hit -5 2 100.0 50.0",
                "disk.trace:1:7: `-5` cannot be the first block: a whole number from 0 to ",
            ),
            (
                "R Hit 5.5 2 100.0 50.0",
                "disk.trace:1:7: `5.5` cannot be the first block: a whole number from 0 to ",
            ),
            (
                "R Hit 5 2 soon 50.0",
                "disk.trace:1:11: `soon` cannot be the response time in µs: a number from 0 to ",
            ),
            (
                "R Hit 5 2 NaN 50.0",
                "disk.trace:1:11: `NaN` cannot be the response time in µs: a number from 0 to ",
            ),
            ("W Hit 5 2 1.0 50.0 R", "disk.trace:1:20: `R` follows the gap; "),
        ];
        for (text, expected) in cases {
            let got = wrong(text);
            assert!(got.starts_with(expected), "{text}: {got}");
            assert!(got.ends_with(LINE) || text.contains("R Hit 5 2 1"), "{text}: {got}");
        }
        assert_eq!(
            wrong("R Hit 5 0 1.0 50.0"),
            "disk.trace:1:9: a request has at least one block"
        );
        // The clock wrapped, and the figures were wrong without a word.
        let long = "R Hit 5 2 100.0 1000000000000\n".repeat(400);
        assert!(
            wrong(&long).ends_with("the trace takes more than ten years until here"),
            "{}",
            wrong(&long)
        );
    }

    #[test]
    fn a_request_past_the_end_is_told_where_it_stands() {
        assert_eq!(
            wrong("\nR Hit 5 2 1.0 50.0\nW  Miss 2054860 8 1.0 50.0\n"),
            "disk.trace:3:9: blocks 2054860 to 2054867 of a disk that has 2054864 (0 to 2054863): \
             the trace is of another disk or model"
        );
    }

    #[test]
    fn the_rms_distance_is_horizontal() {
        let a: Vec<f64> = (0..1000).map(f64::from).collect();
        let b: Vec<f64> = a.iter().map(|x| x + 3.0).collect();
        assert!((rms_ms(&a, &b) - 3.0).abs() < 1e-9);
        assert_eq!(rms_ms(&a, &a), 0.0);
        // Half of the samples are shifted by 4: the root of half of 16.
        let c: Vec<f64> = (0..1000).map(|i| if i < 500 { 0.0 } else { 10.0 }).collect();
        let d: Vec<f64> = (0..1000).map(|i| if i < 500 { 0.0 } else { 14.0 }).collect();
        assert!((rms_ms(&c, &d) - 8f64.sqrt()).abs() < 0.01, "{}", rms_ms(&c, &d));
    }
}
