//! Replays a validation trace on a model: measured compared with simulated.

use crate::cli::Format;
use crate::error::ExpectedError;
use crate::progress::note;
use disksim::catalogue::Model;
use disksim::replay::{self, Deviation, ReplayReport};
use disksim::request::Op;
use files::Output;
use report::Distribution;
use std::fmt::Write;
use std::path::Path;

/// Number of requests with the largest deviation that are shown.
const WORST: usize = 10;

pub fn replay(model: &Model, trace: &Path, format: Format, html: Option<&Path>) -> Result<String, ExpectedError> {
    let html = html.map(|path| Output::check(path, Some(trace))).transpose()?;
    let name = trace.display().to_string();
    let text = super::read(trace)?;
    let requests = replay::parse(&name, &text)?;
    let report = replay::run(model, &name, &requests, 1)?;
    if let Some(output) = html {
        output.write(&plot(&report, &name))?;
        if let Some(path) = output.file() {
            note(&format!("raidlab: the two distributions are in {}", path.display()));
        }
    }
    Ok(match format {
        Format::Text => text_of(&report),
        Format::Json => format!("{}\n", json(&report)),
    })
}

fn text_of(report: &ReplayReport) -> String {
    let mut text = format!(
        "{}: {}\n\n                 measured   simulated  (response time, ms)\n",
        report.model,
        report::count(report.requests, "request")
    );
    let (measured, simulated) = (&report.measured, &report.simulated);
    let _ = writeln!(
        text,
        "{:>10}  {:>11.3} {:>11.3}",
        "mean", measured.mean_ms, simulated.mean_ms
    );
    for ((percent, a), (_, b)) in measured.percentiles_ms.iter().zip(&simulated.percentiles_ms) {
        let _ = writeln!(text, "{:>10}  {a:>11.3} {b:>11.3}", format!("p{percent}"));
    }
    let _ = writeln!(text, "\nrms distance of the two distributions: {:.4} ms", report.rms_ms);
    text.push_str(
        "\nthe requests that deviate most\n    number  op      sector  sectors    measured   simulated\n",
    );
    for deviation in worst(report) {
        let request = deviation.request;
        let op = if request.op == Op::Read { "R" } else { "W" };
        let _ = writeln!(
            text,
            "{:>10}  {op:>2} {:>11} {:>8} {:>11.3} {:>11.3}",
            deviation.index, request.sector, request.sectors, deviation.measured_ms, deviation.simulated_ms
        );
    }
    text
}

fn worst(report: &ReplayReport) -> Vec<&Deviation> {
    let mut worst: Vec<&Deviation> = report.deviations.iter().collect();
    let distance = |deviation: &Deviation| (deviation.measured_ms - deviation.simulated_ms).abs();
    worst.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
    worst.truncate(WORST);
    worst
}

fn json(report: &ReplayReport) -> serde_json::Value {
    let summary = |summary: &replay::Summary| {
        let percentiles: serde_json::Map<String, serde_json::Value> = summary
            .percentiles_ms
            .iter()
            .map(|(percent, ms)| (format!("p{percent}"), serde_json::json!(ms)))
            .collect();
        serde_json::json!({ "mean_ms": summary.mean_ms, "percentiles_ms": percentiles })
    };
    serde_json::json!({
        "model": report.model,
        "requests": report.requests,
        "measured": summary(&report.measured),
        "simulated": summary(&report.simulated),
        "rms_ms": report.rms_ms,
        "worst": worst(report).into_iter().map(|deviation| serde_json::json!({
            "index": deviation.index,
            "sector": deviation.request.sector,
            "sectors": deviation.request.sectors,
            "measured_ms": deviation.measured_ms,
            "simulated_ms": deviation.simulated_ms,
        })).collect::<Vec<_>>(),
    })
}

fn plot(report: &ReplayReport, trace: &str) -> String {
    let values = |value: fn(&Deviation) -> f64| report.deviations.iter().map(value).collect();
    let distributions = [
        Distribution {
            name: "measured".to_owned(),
            values: values(|deviation| deviation.measured_ms),
        },
        Distribution {
            name: "simulated".to_owned(),
            values: values(|deviation| deviation.simulated_ms),
        },
    ];
    let note = format!(
        "{} of {trace}; rms distance {:.4} ms",
        report::count(report.requests, "request"),
        report.rms_ms
    );
    report::distributions(
        &format!("{}: response times", report.model),
        &note,
        "response time, ms",
        &distributions,
    )
}
