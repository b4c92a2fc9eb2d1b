use super::*;

#[test]
fn five_rounds_are_steady_as_snia_has_it() {
    assert!(is_steady(&[100.0, 104.0, 98.0, 101.0, 99.0]));
    assert!(!is_steady(&[100.0, 125.0, 98.0, 101.0, 99.0]), "range");
    assert!(!is_steady(&[110.0, 107.0, 104.0, 101.0, 98.0]), "slope");
}

/// Durations of a stream's windows; garbage collection slows down one in five.
fn windows(slow_from: usize, phase: usize) -> Vec<f64> {
    let window = |i: usize| {
        let base = if i >= slow_from { 1.3 } else { 1.0 };
        let collecting = if (i + phase).is_multiple_of(5) { 2.0 } else { 0.0 };
        base + collecting
    };
    (0..60).map(window).collect()
}

#[test]
fn a_drop_is_where_the_rate_falls_once() {
    let streams: Vec<Vec<f64>> = (0..4).map(|phase| windows(30, phase)).collect();
    let slc = drop_of(&streams).expect("it drops");
    assert!((slc.gb / (30.0 * window_gb()) - 1.0).abs() < 0.1, "{slc:?}");
    assert!((slc.before_mb_s / slc.after_mb_s - 1.7 / 1.4).abs() < 0.05, "{slc:?}");
    let even: Vec<Vec<f64>> = (0..4).map(|phase| windows(60, phase)).collect();
    assert_eq!(drop_of(&even), None);
}
