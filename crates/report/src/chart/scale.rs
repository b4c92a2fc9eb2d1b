//! Axes: the position of a value between the left and the right edge.

use stats::Interval;

/// One scale for everything drawn on it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    pub low: f64,
    pub high: f64,
    pub is_logarithmic: bool,
    pub ticks: Vec<f64>,
}

/// With a larger spread, a linear scale would compress small values at its left edge.
const LINEAR_SPREAD_MAX: f64 = 12.0;

/// Room between the outermost marks and the edges.
const MARGIN: f64 = 1.06;

const LOGARITHMIC_TICKS_MAX: usize = 7;

/// About as many ticks as there is room for labels on a phone.
const TICKS_WANTED: f64 = 4.0;

/// An interval that extends farther than this beyond all values is cut off at the edge, so that the rest is not
/// compressed.
const INTERVAL_REACH_MAX: f64 = 1.4;

/// The range of values from `least` to `most` and of their intervals.
pub(crate) fn with_intervals((least, most): (f64, f64), intervals: impl Iterator<Item = Interval>) -> (f64, f64) {
    intervals.fold((least, most), |(low, high), interval| {
        (
            low.min(interval.low.max(least / INTERVAL_REACH_MAX)),
            high.max(interval.high.min(most * INTERVAL_REACH_MAX)),
        )
    })
}

impl Scale {
    /// A scale for values from `least` to `most`: linear from zero, or logarithmic if they are far apart.
    pub(crate) fn spanning(least: f64, most: f64) -> Self {
        if least > 0.0 && most / least > LINEAR_SPREAD_MAX {
            Self::logarithmic(least, most)
        } else {
            Self::linear(least, most)
        }
    }

    /// Equal ratios have equal distances, however close the values are.
    pub(crate) fn by_ratio(least: f64, most: f64) -> Self {
        Self::logarithmic(least, most.max(least * 2.0))
    }

    /// A scale for ratios, with 1 in it and marked.
    pub(crate) fn around_one(least: f64, most: f64) -> Self {
        /// Smaller ratios are drawn on the scale of this one.
        const NEAR: f64 = 1.1;
        /// Above this ratio, ticks at 1, 2 and 5 are sufficient.
        const FAR: f64 = 4.0;
        let (least, most) = (least.min(1.0 / NEAR), most.max(NEAR));
        let mut scale = Self::logarithmic(least, most);
        /// The track of a table is wider than that of a chart on a phone.
        const RATIOS_WANTED: f64 = 6.0;
        if scale.high / scale.low < FAR {
            // Each of these steps divides 1.
            let in_one = (1.0 / round_step((scale.high - scale.low) / RATIOS_WANTED)).round();
            let (first, last) = ((scale.low * in_one).ceil() as i64, (scale.high * in_one).floor() as i64);
            scale.ticks = (first..=last).map(|place| place as f64 / in_one).collect();
        }
        scale
    }

    /// Whether each tick's label, with this number of pixels per character, leaves room for the next one on a track
    /// of this width. The first label is always shown; one that would touch the previous one is not.
    pub(crate) fn fitting(&self, track_px: f64, label: impl Fn(f64) -> String) -> Vec<bool> {
        const CHARACTER_PX: f64 = 7.0;
        const GAP_PX: f64 = 6.0;
        let mut end_px = f64::NEG_INFINITY;
        let fits = |&tick: &f64| {
            let middle_px = self.percent(tick) / 100.0 * track_px;
            let half_px = label(tick).chars().count() as f64 * CHARACTER_PX / 2.0;
            let has_room = middle_px - half_px >= end_px + GAP_PX;
            if has_room {
                end_px = middle_px + half_px;
            }
            has_room
        };
        self.ticks.iter().map(fits).collect()
    }

    fn linear(least: f64, most: f64) -> Self {
        let (low, high) = (least.min(0.0), if most > 0.0 { most * MARGIN } else { 1.0 });
        let step = round_step((high - low) / TICKS_WANTED);
        let first = (low / step).ceil() as i64;
        let last = (high / step).floor() as i64;
        let ticks = (first..=last).map(|place| place as f64 * step).collect();
        Self {
            low,
            high,
            is_logarithmic: false,
            ticks,
        }
    }

    /// Ticks at 1, 2, 5; only at powers of ten if those would be too many.
    fn logarithmic(least: f64, most: f64) -> Self {
        let (low, high) = (least / MARGIN, most * MARGIN);
        let decades = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
        let ticks_at = |steps: &[f64]| -> Vec<f64> {
            let all = decades
                .clone()
                .flat_map(|decade| steps.iter().map(move |&step| decimal(step, decade)));
            all.filter(|&tick| low <= tick && tick <= high).collect()
        };
        let mut ticks = ticks_at(&[1.0, 2.0, 5.0]);
        if ticks.len() > LOGARITHMIC_TICKS_MAX {
            ticks = ticks_at(&[1.0]);
        }
        Self {
            low,
            high,
            is_logarithmic: true,
            ticks,
        }
    }

    /// Position from left to right in percent; values outside are at the edge.
    pub(crate) fn percent(&self, value: f64) -> f64 {
        let share = if self.is_logarithmic {
            if value <= 0.0 {
                0.0
            } else {
                (value / self.low).ln() / (self.high / self.low).ln()
            }
        } else {
            (value - self.low) / (self.high - self.low)
        };
        share.clamp(0.0, 1.0) * 100.0
    }

    pub(crate) fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Enough decimals to distinguish its ticks.
    pub(crate) fn label(&self, tick: f64) -> String {
        if self.high >= 10_000.0 && tick.abs() >= 1_000.0 {
            let thousands = tick / 1000.0;
            return format!(
                "{}k",
                crate::words::figure::number(thousands, usize::from(thousands.fract() != 0.0))
            );
        }
        let decimals = (0..6).find(|&decimals| {
            let shown = |tick: f64| {
                let scaled = tick * 10_f64.powi(decimals);
                (scaled - scaled.round()).abs() < 1e-6
            };
            if self.is_logarithmic {
                shown(tick)
            } else {
                self.ticks.iter().all(|&tick| shown(tick))
            }
        });
        crate::words::figure::number(tick, decimals.unwrap_or(6) as usize)
    }
}

/// Exact for powers below one as well, where a product is not.
fn decimal(step: f64, decade: i32) -> f64 {
    if decade < 0 {
        step / 10_f64.powi(-decade)
    } else {
        step * 10_f64.powi(decade)
    }
}

/// 1, 2 or 5 times a power of ten, at least `least`.
fn round_step(least: f64) -> f64 {
    let decade = least.log10().floor() as i32;
    [1.0, 2.0, 5.0, 10.0]
        .map(|step| decimal(step, decade))
        .into_iter()
        .find(|&step| step >= least * 0.999)
        .unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_scales_begin_at_zero() {
        let scale = Scale::spanning(60.0, 137.0);
        assert_eq!(
            (scale.ticks.as_slice(), scale.is_logarithmic),
            ([0.0, 50.0, 100.0].as_slice(), false)
        );
        assert_eq!((scale.percent(0.0), scale.percent(scale.high / 2.0)), (0.0, 50.0));
        assert_eq!(scale.label(50.0), "50");
    }

    /// Ratios of two runs, close to 1 or far from it.
    #[test]
    fn ratios_have_an_axis_with_1_in_it() {
        for (least, most) in [
            (1.0, 1.0),
            (0.97, 1.02),
            (0.3, 1.0),
            (1.0, 1.9),
            (0.5, 3.0),
            (0.004, 70.0),
        ] {
            let scale = Scale::around_one(least, most);
            let labels = scale.fitting(190.0, |tick| scale.label(tick));
            let one = scale.ticks.iter().zip(labels).find(|(tick, _)| **tick == 1.0);
            assert_eq!(one.map(|(_, has_label)| has_label), Some(true), "{scale:?}");
            assert!((2..=8).contains(&scale.ticks.len()), "{scale:?}");
            let middle = |ratio: f64| scale.percent(ratio) - scale.percent(1.0);
            assert!(
                (middle(1.05) + middle(1.0 / 1.05)).abs() < 1e-6,
                "equal ratios are equally far"
            );
        }
        let near = Scale::around_one(0.97, 1.02);
        let labels: Vec<String> = near.ticks.iter().map(|&tick| near.label(tick)).collect();
        assert_eq!(labels, ["0.9", "1", "1.1"]);
    }

    #[test]
    fn far_apart_values_are_drawn_by_ratio() {
        let scale = Scale::spanning(0.9, 47.0);
        assert_eq!(scale.ticks, [1.0, 2.0, 5.0, 10.0, 20.0]);
        assert!((scale.percent((scale.low * scale.high).sqrt()) - 50.0).abs() < 1e-9);
        assert_eq!((scale.label(1.0).as_str(), scale.label(20.0).as_str()), ("1", "20"));
        assert_eq!(Scale::spanning(3.0, 70_000.0).ticks, [10.0, 100.0, 1_000.0, 10_000.0]);
        let large = Scale::spanning(413.0, 15_049.0);
        assert_eq!(
            [500.0, 2_000.0, 10_000.0].map(|tick| large.label(tick)),
            ["500", "2k", "10k"]
        );
    }

    /// "500 1,0002,000": labels of a wide scale on a narrow track.
    #[test]
    fn issue_12_17_labels_do_not_touch() {
        for (least, most) in [
            (413.0, 9_049.0),
            (0.9, 47.0),
            (3.0, 70_000.0),
            (0.0, 8_975.0),
            (0.0004, 0.0071),
        ] {
            let scale = Scale::spanning(least, most);
            for track_px in [90.0, 180.0, 300.0] {
                let shown = scale.fitting(track_px, |tick| scale.label(tick));
                let px = |place: usize| scale.percent(scale.ticks[place]) / 100.0 * track_px;
                let half = |place: usize| scale.label(scale.ticks[place]).chars().count() as f64 * 3.5;
                let places: Vec<usize> = (0..shown.len()).filter(|&place| shown[place]).collect();
                for pair in places.windows(2) {
                    assert!(
                        px(pair[0]) + half(pair[0]) < px(pair[1]) - half(pair[1]),
                        "{scale:?} at {track_px} px"
                    );
                }
                assert!(!places.is_empty());
            }
        }
        // All labels are shown if there is room.
        let scale = Scale::spanning(60.0, 137.0);
        assert_eq!(scale.fitting(300.0, |tick| scale.label(tick)), [true, true, true]);
    }

    #[test]
    fn every_mark_has_room() {
        for (least, most) in [
            (0.61, 11.9),
            (0.0, 0.0),
            (55.0, 61.0),
            (0.004, 0.007),
            (1.0, 1e9),
            (-5.0, 5.0),
        ] {
            let scale = Scale::spanning(least, most);
            assert!(
                scale.contains(least) && scale.contains(most) && scale.ticks.len() >= 2,
                "{scale:?}"
            );
        }
        assert_eq!(Scale::spanning(0.004, 0.007).label(0.002), "0.002");
    }
}
