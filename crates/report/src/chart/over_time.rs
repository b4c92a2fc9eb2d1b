//! Throughput over time as data: a row for each stack, its area on a common axis of time and of MiB/s.

use crate::chart::scale::Scale;
use crate::words::figure::{nanoseconds, number};
use serde::Serialize;
use study::event::Throughput;
use study::metric::MEBIBYTE;

/// Fewer intervals show nothing.
const INTERVALS_MIN: usize = 4;

/// The narrowest track, on a phone.
const TRACK_PX: f64 = 140.0;

/// One test.
#[derive(Debug, Serialize)]
pub(crate) struct OverTime {
    pub test: String,
    /// The value at the top of all tracks.
    pub most: String,
    pub ticks: Vec<(f64, String)>,
    pub rows: Vec<OverTimeRow>,
}

#[derive(Debug, Serialize)]
pub(crate) struct OverTimeRow {
    pub stack: String,
    /// Text for screen readers.
    pub words: String,
    /// Outline of the area as an SVG path, in a box of 100 × 100.
    pub path: String,
}

/// `rows`: one trial of each stack. `None` if there is too little to draw.
pub(crate) fn over_time(test: &str, rows: &[(&str, &Throughput)]) -> Option<OverTime> {
    let rows: Vec<_> = rows
        .iter()
        .filter(|(_, throughput)| throughput.bytes.len() >= INTERVALS_MIN)
        .collect();
    let ends = rows
        .iter()
        .map(|(_, throughput)| throughput.interval_ns as f64 * throughput.bytes.len() as f64);
    let rates = rows.iter().flat_map(|(_, throughput)| rates(throughput));
    let (end_ns, most) = (ends.fold(0.0, f64::max), rates.fold(0.0, f64::max));
    if most <= 0.0 {
        return None;
    }
    let scale = Scale::spanning(0.0, end_ns);
    let label = |tick: f64| match tick as u64 {
        0 => "0".to_owned(),
        ns => nanoseconds(ns),
    };
    let labelled = scale.fitting(TRACK_PX, label);
    let ticks = scale.ticks.iter().zip(labelled).filter(|(_, has_room)| *has_room);
    Some(OverTime {
        test: test.to_owned(),
        most: rate(most),
        ticks: ticks.map(|(&tick, _)| (scale.percent(tick), label(tick))).collect(),
        rows: rows
            .iter()
            .map(|(stack, throughput)| row(stack, throughput, &scale, most))
            .collect(),
    })
}

/// MiB/s in each interval.
fn rates(throughput: &Throughput) -> impl Iterator<Item = f64> {
    let seconds = throughput.interval_ns as f64 / 1e9;
    throughput
        .bytes
        .iter()
        .map(move |&bytes| bytes as f64 / MEBIBYTE / seconds)
}

fn rate(mib_s: f64) -> String {
    format!("{} MiB/s", number(mib_s, usize::from(mib_s < 100.0)))
}

fn row(stack: &str, throughput: &Throughput, scale: &Scale, most: f64) -> OverTimeRow {
    let low = rates(throughput).fold(f64::INFINITY, f64::min);
    let high = rates(throughput).fold(0.0, f64::max);
    OverTimeRow {
        stack: stack.to_owned(),
        words: format!(
            "{stack}: {} to {} in {} intervals of {}",
            number(low, usize::from(low < 100.0)),
            rate(high),
            throughput.bytes.len(),
            nanoseconds(throughput.interval_ns)
        ),
        path: path(throughput, scale, most),
    }
}

fn path(throughput: &Throughput, scale: &Scale, most: f64) -> String {
    let mut path = "M0 100".to_owned();
    for (number, rate) in rates(throughput).enumerate() {
        let end = scale.percent((number + 1) as f64 * throughput.interval_ns as f64);
        path.push_str(&format!("V{:.1}H{end:.1}", 100.0 - rate / most * 100.0));
    }
    path + "V100Z"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn throughput(mib: &[u64]) -> Throughput {
        Throughput {
            test: "write".into(),
            interval_ns: 1_000_000_000,
            bytes: mib.iter().map(|mib| mib << 20).collect(),
        }
    }

    #[test]
    fn all_stacks_are_on_one_scale() {
        let (fast, slow) = (throughput(&[100, 50, 50, 50]), throughput(&[25, 25, 25, 25, 25, 25]));
        let drawn = over_time("write", &[("a", &fast), ("b", &slow)]).expect("enough to draw");
        assert_eq!(drawn.most, "100 MiB/s");
        assert!(drawn.rows[0].path.starts_with("M0 100V0.0H"), "{}", drawn.rows[0].path);
        assert!(drawn.rows[1].path.starts_with("M0 100V75.0H"), "{}", drawn.rows[1].path);
        assert_eq!(drawn.ticks[0], (0.0, "0".to_owned()));
        assert_eq!(drawn.rows[1].words, "b: 25.0 to 25.0 MiB/s in 6 intervals of 1.00 s");
    }

    #[test]
    fn too_little_is_not_drawn() {
        assert!(over_time("write", &[("a", &throughput(&[1, 2, 3]))]).is_none());
        assert!(over_time("write", &[("a", &throughput(&[0, 0, 0, 0]))]).is_none());
        assert!(over_time("write", &[]).is_none());
    }
}
