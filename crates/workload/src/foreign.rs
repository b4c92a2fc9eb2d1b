//! Imports results of fio, Bonnie++ and IOzone from elsewhere: converts their files to the events of a trial with
//! the same workload.

use crate::bonnie::{self, csv};
use crate::host::{DeviceCounters, Host};
use crate::io::{FioResult, fio_results};
use crate::iozone;
use crate::{Engine, HostError, Target, WorkloadError};
use study::event::{Event, ToolCall};
use study::workload::{ImportedSpec, IozoneTest};
use tools::{Invocation, MissingTool, MissingTools, Tool, ToolError};

/// One imported measurement.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// `fio`, `Bonnie++`, `IOzone`.
    pub program: &'static str,
    /// Distinguishes it from others in its file: a machine's name, a size. May be empty.
    pub label: String,
    /// Samples, latencies, guards, and what is known about their origin.
    pub events: Vec<Event>,
}

/// Parses a file of results; fails if the format is unknown.
pub fn read(text: &str) -> Result<Vec<Foreign>, String> {
    if text.contains("\"fio version\"") {
        return fio(text);
    }
    if text.contains("iozone test complete") || text.contains("Iozone: Performance Test of File I/O") {
        return iozone(text);
    }
    let lines = csv::lines(text).map_err(|what| format!("is not valid Bonnie++ output: {what}"))?;
    if lines.is_empty() {
        return Err(
            "is not a result of fio (--output-format=json or json+), Bonnie++ (its line of values) or IOzone"
                .to_owned(),
        );
    }
    Ok(lines.iter().map(bonnie).collect())
}

fn fio(text: &str) -> Result<Vec<Foreign>, String> {
    let FioResult { version, report } =
        fio_results(text).map_err(|what| format!("is not a valid fio report: {what}"))?;
    let mut kept = Kept::default();
    kept.provenance("fio", &version);
    report(&mut kept);
    Ok(vec![Foreign {
        program: "fio",
        label: String::new(),
        events: kept.0,
    }])
}

fn bonnie(line: &csv::Line) -> Foreign {
    let mut kept = Kept::default();
    let version = line.version.as_deref().unwrap_or(&line.format);
    kept.provenance("bonnie++", version);
    bonnie::report(line, &line.tests(), &mut kept);
    Foreign {
        program: "Bonnie++",
        label: format!("{} {}", line.machine, line.size).trim().to_owned(),
        events: kept.0,
    }
}

fn iozone(text: &str) -> Result<Vec<Foreign>, String> {
    let found: Vec<(IozoneTest, f64)> =
        iozone::output::parse(text).map_err(|what| format!("is not valid IOzone output: {what}"))?;
    let mut kept = Kept::default();
    if let Some(line) = text.lines().find(|line| line.contains("Version $Revision")) {
        kept.provenance("iozone", line.trim());
    }
    for (test, kib_per_second) in found {
        iozone::report(test, kib_per_second, &mut kept);
    }
    Ok(vec![Foreign {
        program: "IOzone",
        label: String::new(),
        events: kept.0,
    }])
}

impl Engine for ImportedSpec {
    fn tool(&self) -> Option<Tool> {
        None
    }

    fn run(&self, _: &Target<'_>, _: u64, _: &mut dyn Host) -> Result<(), WorkloadError> {
        let what = format!(
            "results of {} that were imported cannot be measured again",
            self.program
        );
        Err(WorkloadError::Spec(what))
    }
}

/// A host that only records events.
#[derive(Default)]
struct Kept(Vec<Event>);

impl Kept {
    fn provenance(&mut self, key: &str, value: &str) {
        self.0.push(Event::Provenance {
            key: key.to_owned(),
            value: value.to_owned(),
        });
    }
}

impl Host for Kept {
    fn event(&mut self, event: Event) {
        self.0.push(event);
    }

    fn step(&mut self, _: &str) {}

    fn quiesce_and_drop_caches(&mut self) -> Result<(), HostError> {
        Ok(())
    }

    fn device_counters(&mut self) -> Result<DeviceCounters, HostError> {
        Ok(DeviceCounters::default())
    }

    fn remount(&mut self) -> Result<(), HostError> {
        Ok(())
    }

    fn run_tool(&mut self, invocation: &Invocation) -> Result<ToolCall, ToolError> {
        Err(MissingTools(vec![MissingTool(invocation.tool())]).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(foreign: &Foreign) -> Vec<(String, String)> {
        let of = |event: &Event| match event {
            Event::Sample(sample) => Some((sample.test.to_string(), sample.metric.name().to_owned())),
            _ => None,
        };
        foreign.events.iter().filter_map(of).collect()
    }

    #[test]
    fn json_without_bins_keeps_its_percentiles() {
        let direction = |bytes: u64, ios: u64| {
            format!(
                r#"{{"io_bytes": {bytes}, "runtime": {}, "total_ios": {ios}, "lat_ns": {{"min": 0, "N": {ios}}},
                    "clat_ns": {{"percentile": {{"50.000000": 1000, "99.000000": 2000, "99.900000": 3000}}}}}}"#,
                if bytes > 0 { 500 } else { 0 }
            )
        };
        let text = format!(
            r#"{{"fio version": "fio-3.1", "jobs": [{{"jobname": "a", "error": 0, "read": {}, "write": {},
                "sync": {{"lat_ns": {{"N": 0}}}}}}]}}"#,
            direction(1 << 20, 256),
            direction(0, 0)
        );
        let [foreign] = &read(&text).expect("a report")[..] else {
            panic!("one")
        };
        let has = |metric: &str| samples(foreign).contains(&("a".to_owned(), metric.to_owned()));
        assert!(has("throughput") && has("iops") && has("latency_p99") && has("latency_p999"));
    }

    #[test]
    fn issue_12_7_fio_without_sync_is_read() {
        let direction = |bytes: u64| {
            format!(r#"{{"io_bytes": {bytes}, "runtime": 1000, "total_ios": 256, "lat_ns": {{"N": 256}}}}"#)
        };
        let text = format!(
            r#"{{"fio version": "fio-3.1", "jobs": [{{"jobname": "a", "error": 0, "read": {}, "write": {}}}]}}"#,
            direction(1 << 20),
            direction(0)
        );
        let [foreign] = &read(&text).expect("a report")[..] else {
            panic!("one")
        };
        assert!(samples(foreign).contains(&("a".to_owned(), "throughput".to_owned())));
    }

    #[test]
    fn bonnie_and_iozone_are_known_by_what_they_print() {
        let line = "rig,2G,25684,81,30672,14,15186,7,27044,76,44331,10,176.8,0,16,2461,98,+++++,+++,18362,88,2519,98,+++++,+++,5963,92";
        let two = read(&format!("{line}\n{line}\n")).expect("lines");
        assert_eq!(
            (two.len(), two[0].program, two[0].label.as_str()),
            (2, "Bonnie++", "rig 2G")
        );
        assert!(samples(&two[0]).contains(&("putc".to_owned(), "cpu".to_owned())));
        let table = "Children see throughput for 2 readers = 2048.00 kB/sec\niozone test complete.";
        let [iozone] = &read(table).expect("a table")[..] else {
            panic!("one")
        };
        assert_eq!(samples(iozone), [("read".to_owned(), "throughput".to_owned())]);
    }

    #[test]
    fn anything_else_is_told() {
        for text in ["", "hello", "{}", "{\"fio version\": 3", "a,b,c\n"] {
            let error = read(text).expect_err(text);
            assert!(error.contains("fio"), "{error}");
        }
    }
}
