//! Values of fio's options in job files.

/// A size in fio's format: `4k`, `1g`, `4096`, `4kib`, all powers of 1024.
pub fn fio_bytes(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let shift = fio_prefix_shift(unit.trim_end_matches("ib").trim_end_matches('b'))?;
    number.checked_mul(1 << shift)
}

/// The power of two that a prefix of a size stands for, in small letters: 10 for `k`, 0 for none.
pub fn fio_prefix_shift(prefix: &str) -> Option<u32> {
    Some(match prefix {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        "p" => 50,
        _ => return None,
    })
}

/// A time in fio's format in nanoseconds, with the unit of a number alone; not 0.
pub fn fio_nanoseconds(text: &str, default_unit_ns: u64) -> Option<u64> {
    let (number, unit) = split(text)?;
    let unit_ns: u64 = match unit.as_str() {
        "" => default_unit_ns,
        "s" | "sec" => 1_000_000_000,
        "ms" | "msec" => 1_000_000,
        "us" | "usec" => 1_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit_ns).filter(|nanos| *nanos > 0)
}

fn split(text: &str) -> Option<(u64, String)> {
    let lower = text.trim().to_lowercase();
    let end = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    Some((lower[..end].parse().ok()?, lower[end..].to_owned()))
}
