//! Histograms of latencies as data: a row for each stack, bars on a logarithmic axis of time.

use crate::figure::{nanoseconds, number};
use crate::scale::Scale;
use serde::Serialize;
use stats::LatencyBin;

/// Of fewer operations a histogram shows nothing that the table does not.
const OPERATIONS_MIN: u64 = 10;

/// The narrowest track, on a phone.
const TRACK_PX: f64 = 140.0;

/// One operation of one test.
#[derive(Debug, Serialize)]
pub(crate) struct Spread {
    pub test: String,
    pub operation: String,
    pub ticks: Vec<(f64, String)>,
    pub rows: Vec<SpreadRow>,
}

/// One stack: all its operations together are the area of its bars.
#[derive(Debug, Serialize)]
pub(crate) struct SpreadRow {
    pub stack: String,
    /// For those who do not see the drawing.
    pub words: String,
    pub bars: Vec<Bar>,
}

/// In per cent of the track.
#[derive(Debug, Serialize)]
pub(crate) struct Bar {
    pub x: f64,
    pub width: f64,
    pub height: f64,
    pub title: String,
}

/// `rows`: each stack's bins. None if there is too little to draw.
pub(crate) fn spread(test: &str, operation: &str, rows: &[(String, Vec<LatencyBin>)]) -> Option<Spread> {
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
    Some(Spread {
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

fn row(stack: &str, bins: &[LatencyBin], scale: &Scale) -> SpreadRow {
    let operations: u64 = bins.iter().map(|bin| bin.count).sum();
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1);
    let peak = bins.iter().max_by_key(|bin| bin.count);
    let between = |bin: &LatencyBin| {
        format!(
            "{} to {}",
            nanoseconds(bin.low_ns as u64),
            nanoseconds(bin.high_ns as u64)
        )
    };
    SpreadRow {
        stack: stack.to_owned(),
        words: format!(
            "{stack}: {} operations, most of them {}",
            number(operations as f64, 0),
            peak.map_or_else(String::new, between)
        ),
        bars: bins
            .iter()
            .map(|bin| Bar {
                x: scale.percent(bin.low_ns),
                width: scale.percent(bin.high_ns) - scale.percent(bin.low_ns),
                height: bin.count as f64 / most as f64 * 100.0,
                title: format!(
                    "{stack}: {} of {} took {}",
                    number(bin.count as f64, 0),
                    number(operations as f64, 0),
                    between(bin)
                ),
            })
            .collect(),
    }
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
        let spread = spread("read", "open", &rows).expect("a histogram");
        let [ext4] = &spread.rows[..] else {
            panic!("three operations are too few")
        };
        assert_eq!(
            (ext4.bars[1].height, (ext4.bars[0].height * 10.0).round()),
            (100.0, 111.0)
        );
        assert!(ext4.bars[0].x < 5.0 && ext4.bars[1].x > 80.0, "{ext4:?}");
        assert!(
            (ext4.bars[0].width - ext4.bars[1].width).abs() < 1e-9,
            "equal ratios are equally wide"
        );
        assert!(
            ext4.words.contains("100 operations, most of them 100 ms to 200 ms"),
            "{}",
            ext4.words
        );
        assert_eq!(spread.ticks[0].1, "1.00 ms");
    }
}
