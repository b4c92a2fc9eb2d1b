//! Durations for people.

use std::time::Duration;

/// `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_the_unit_that_fits() {
        let said = |seconds| clock(Duration::from_secs_f64(seconds));
        assert_eq!(said(0.44), "0.4 s");
        assert_eq!(said(59.9), "59 s");
        assert_eq!(said(185.0), "3 min 5 s");
        assert_eq!(said(7800.0), "2 h 10 min");
    }
}
