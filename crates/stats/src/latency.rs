//! Percentiles over several trials. They are never averaged: the histograms are merged and evaluated again.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use study::event::Latency;

/// Percentiles of all operations of all trials, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentiles {
    pub count: u64,
    pub min_ns: u64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p99_ns: u64,
    pub p999_ns: u64,
    pub max_ns: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum LatencyError {
    #[error("the histogram of `{operation}` in `{test}` cannot be read: {reason}")]
    Unreadable {
        test: String,
        operation: String,
        reason: String,
    },
}

/// `None` if no operation was recorded.
pub fn merge_latencies<'a>(
    latencies: impl IntoIterator<Item = &'a Latency>,
) -> Result<Option<Percentiles>, LatencyError> {
    Ok(merged(latencies)?.filter(|all| !all.is_empty()).map(|all| Percentiles {
        count: all.len(),
        min_ns: all.min(),
        p50_ns: all.value_at_quantile(0.5),
        p90_ns: all.value_at_quantile(0.9),
        p99_ns: all.value_at_quantile(0.99),
        p999_ns: all.value_at_quantile(0.999),
        max_ns: all.max(),
    }))
}

/// Number of operations that took at least `low_ns` and less than `high_ns`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyBin {
    pub low_ns: f64,
    pub high_ns: f64,
    pub count: u64,
}

/// Bins of a drawn histogram per doubling of the latency.
const BINS_PER_DOUBLING: f64 = 4.0;

/// The latencies of all trials as a histogram with bins of equal ratio, without empty ones.
pub fn latency_bins<'a>(latencies: impl IntoIterator<Item = &'a Latency>) -> Result<Vec<LatencyBin>, LatencyError> {
    let Some(all) = merged(latencies)? else {
        return Ok(Vec::new());
    };
    let mut bins: Vec<LatencyBin> = Vec::new();
    for recorded in all.iter_recorded() {
        let value = recorded.value_iterated_to().max(1) as f64;
        let place = (value.log2() * BINS_PER_DOUBLING).floor();
        let low_ns = (place / BINS_PER_DOUBLING).exp2();
        let count = recorded.count_at_value();
        match bins.last_mut() {
            Some(last) if last.low_ns == low_ns => last.count += count,
            _ => bins.push(LatencyBin {
                low_ns,
                high_ns: ((place + 1.0) / BINS_PER_DOUBLING).exp2(),
                count,
            }),
        }
    }
    Ok(bins)
}

fn merged<'a>(latencies: impl IntoIterator<Item = &'a Latency>) -> Result<Option<Histogram<u64>>, LatencyError> {
    let mut all: Option<Histogram<u64>> = None;
    for latency in latencies {
        let one = read(latency).map_err(|reason| unreadable(latency, reason))?;
        match &mut all {
            None => all = Some(one),
            Some(all) => {
                all.auto(true);
                all.add(&one).map_err(|error| unreadable(latency, error.to_string()))?;
            }
        }
    }
    Ok(all)
}

fn read(latency: &Latency) -> Result<Histogram<u64>, String> {
    let bytes = STANDARD
        .decode(&latency.histogram_base64)
        .map_err(|error| error.to_string())?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| error.to_string())
}

fn unreadable(latency: &Latency, reason: String) -> LatencyError {
    LatencyError::Unreadable {
        test: latency.test.to_string(),
        operation: latency.operation.clone(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::{Serializer, V2Serializer};

    fn latency(values_ns: impl Iterator<Item = u64>) -> Latency {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        values_ns.for_each(|value| histogram.record(value).unwrap());
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&histogram, &mut bytes).unwrap();
        Latency {
            test: "read".into(),
            operation: "open".to_owned(),
            count: histogram.len(),
            min_ns: 0,
            p50_ns: 0,
            p90_ns: 0,
            p99_ns: 0,
            p999_ns: 0,
            max_ns: 0,
            histogram_base64: STANDARD.encode(bytes),
        }
    }

    #[test]
    fn percentiles_are_of_the_whole_and_no_average() {
        // 900 fast operations in one trial, 100 slow ones in the other: p50 of all is fast, p99 is slow; the average of
        // the two p50 would be neither.
        let trials = [
            latency(std::iter::repeat_n(1_000, 900)),
            latency(std::iter::repeat_n(9_000_000, 100)),
        ];
        let all = merge_latencies(&trials).unwrap().unwrap();
        assert_eq!(all.count, 1000);
        assert_eq!(all.p50_ns, 1_000);
        assert!((all.p99_ns as f64 / 9_000_000.0 - 1.0).abs() < 0.001);
    }

    #[test]
    fn nothing_recorded() {
        assert_eq!(merge_latencies([]).unwrap(), None);
        assert_eq!(merge_latencies(&[latency(std::iter::empty())]).unwrap(), None);
    }

    #[test]
    fn a_histogram_that_is_none() {
        let broken = Latency {
            histogram_base64: "HISTFAAAA".to_owned(),
            ..latency(std::iter::once(1))
        };
        let message = merge_latencies(&[broken]).unwrap_err().to_string();
        assert!(
            message.starts_with("the histogram of `open` in `read` cannot be read: "),
            "{message}"
        );
    }
}
