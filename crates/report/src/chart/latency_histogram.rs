//! Histograms of latencies as data: a row for each stack, bars on a logarithmic axis of time.

use crate::chart::scale::Scale;
use crate::words::figure::{nanoseconds, number};
use serde::Serialize;
use stats::LatencyBin;

/// With fewer operations, a histogram shows no more than the table.
const OPERATIONS_MIN: u64 = 10;

/// The narrowest track, on a phone.
const TRACK_PX: f64 = 140.0;

/// One operation of one test.
#[derive(Debug, Serialize)]
pub(crate) struct LatencyHistogram {
    pub test: String,
    pub operation: String,
    pub ticks: Vec<(f64, String)>,
    pub rows: Vec<HistogramRow>,
}

/// One stack: the area of its bars represents all its operations.
#[derive(Debug, Serialize)]
pub(crate) struct HistogramRow {
    pub stack: String,
    /// Text for screen readers.
    pub words: String,
    /// Outline of all bars as an SVG path, in a box of 100 × 100: a page has thousands of bars.
    pub path: String,
}

/// `rows`: the bins of each stack. `None` if there is too little to draw.
pub(crate) fn latency_histogram(
    test: &str,
    operation: &str,
    rows: &[(String, Vec<LatencyBin>)],
) -> Option<LatencyHistogram> {
    let enough = |bins: &[LatencyBin]| bins.iter().map(|bin| bin.count).sum::<u64>() >= OPERATIONS_MIN;
    let rows: Vec<&(String, Vec<LatencyBin>)> = rows.iter().filter(|(_, bins)| enough(bins)).collect();
    let all = || rows.iter().flat_map(|(_, bins)| bins);
    let low = all().map(|bin| bin.low_ns).fold(f64::INFINITY, f64::min);
    let high = all().map(|bin| bin.high_ns).fold(0.0, f64::max);
    if rows.is_empty() {
        return None;
    }
    let scale = Scale::by_ratio(low, high);
    let label = |tick: f64| nanoseconds(tick as u64);
    let labelled = scale.fitting(TRACK_PX, label);
    Some(LatencyHistogram {
        test: test.to_owned(),
        operation: operation.to_owned(),
        ticks: scale
            .ticks
            .iter()
            .zip(labelled)
            .filter(|(_, has_room)| *has_room)
            .map(|(&tick, _)| (scale.percent(tick), label(tick)))
            .collect(),
        rows: rows.iter().map(|(stack, bins)| row(stack, bins, &scale)).collect(),
    })
}

fn row(stack: &str, bins: &[LatencyBin], scale: &Scale) -> HistogramRow {
    let operations: u64 = bins.iter().map(|bin| bin.count).sum();
    let peak = bins.iter().max_by_key(|bin| bin.count);
    let between = |bin: &LatencyBin| {
        format!(
            "{} to {}",
            nanoseconds(bin.low_ns as u64),
            nanoseconds(bin.high_ns as u64)
        )
    };
    HistogramRow {
        stack: stack.to_owned(),
        words: format!(
            "{stack}: {} operations, most of them {}",
            number(operations as f64, 0),
            peak.map_or_else(String::new, between)
        ),
        path: path(bins, scale),
    }
}

/// A bar for each bin, relative to the highest, in tenths of a percent.
fn path(bins: &[LatencyBin], scale: &Scale) -> String {
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1).max(1);
    let short = |value: f64| {
        let text = format!("{value:.1}");
        text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
    };
    let mut path = String::new();
    let mut end = String::new();
    for bin in bins {
        let (left, right) = (short(scale.percent(bin.low_ns)), short(scale.percent(bin.high_ns)));
        let top = short(100.0 - bin.count as f64 / most as f64 * 100.0);
        // Adjacent bars share an outline.
        if left != end {
            let down = if end.is_empty() { "" } else { "V100" };
            path.push_str(&format!("{down}M{left} 100"));
        }
        path.push_str(&format!("V{top}H{right}"));
        end = right;
    }
    path + "V100"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(low_ns: f64, count: u64) -> LatencyBin {
        LatencyBin {
            low_ns,
            high_ns: low_ns * 2.0,
            count,
        }
    }

    #[test]
    fn issue_12_17_bars_are_as_high_as_their_share_and_lie_where_their_time_is() {
        let rows = [
            ("ext4".to_owned(), vec![bin(1e6, 10), bin(1e8, 90)]),
            ("xfs".to_owned(), vec![bin(1e6, 3)]),
        ];
        let spread = latency_histogram("read", "open", &rows).expect("a histogram");
        let [ext4] = &spread.rows[..] else {
            panic!("three operations are too few")
        };
        // 1 to 2 ms at a ninth of the height, 100 to 200 ms at the full one, each 13 % of the axis wide.
        assert_eq!(ext4.path, "M1.1 100V88.9H13.9V100M86.1 100V0H98.9V100");
        assert!(
            ext4.words.contains("100 operations, most of them 100 ms to 200 ms"),
            "{}",
            ext4.words
        );
        assert_eq!(spread.ticks[0].1, "1.00 ms");
    }
}
