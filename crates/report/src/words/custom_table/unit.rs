//! Converts figures between units of the same kind.

#[derive(PartialEq)]
enum Kind {
    BytesPerSecond,
    Seconds,
}

/// `value` in another unit; `None` if that unit is of another kind.
pub(super) fn convert(value: f64, from: &str, to: &str) -> Option<f64> {
    if from == to {
        return Some(value);
    }
    let ((kind, factor), (wanted, divisor)) = (size(from)?, size(to)?);
    (kind == wanted).then(|| value * factor / divisor)
}

fn size(unit: &str) -> Option<(Kind, f64)> {
    const KIB: f64 = 1024.0;
    Some(match unit {
        "B/s" => (Kind::BytesPerSecond, 1.0),
        "KiB/s" => (Kind::BytesPerSecond, KIB),
        "MiB/s" => (Kind::BytesPerSecond, KIB * KIB),
        "GiB/s" => (Kind::BytesPerSecond, KIB * KIB * KIB),
        "s" => (Kind::Seconds, 1.0),
        "ms" => (Kind::Seconds, 1e-3),
        "µs" | "us" => (Kind::Seconds, 1e-6),
        "ns" => (Kind::Seconds, 1e-9),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_within_a_kind() {
        assert_eq!(convert(2.0, "MiB/s", "KiB/s"), Some(2048.0));
        assert_eq!(convert(2.0, "s", "ms"), Some(2000.0));
        assert_eq!(convert(2.0, "%", "%"), Some(2.0));
        assert_eq!(convert(2.0, "s", "MiB/s"), None);
        assert_eq!(convert(2.0, "IOPS", "files/s"), None);
    }
}
