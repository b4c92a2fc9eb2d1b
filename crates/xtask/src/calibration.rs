//! docs/calibration.md and docs/calibration.svg: how often the intervals of drawn disk models cover what was published of those disks.

use disksim::catalogue::{self, Model};
use disksim::comparison::{Comparison, compare_drawn};
use statrs::distribution::{ContinuousCDF, Normal};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Models drawn from each of the catalogue.
const DRAWS: u32 = 16;

/// Confidences of the curve, in per cent.
const CONFIDENCES: [f64; 7] = [20.0, 40.0, 60.0, 80.0, 90.0, 95.0, 99.0];

/// What is written from the comparisons.
pub struct Written {
    pub page: String,
    pub plot: String,
}

/// An independent figure with the interval of the drawn models.
struct Figure {
    model: String,
    what: String,
    /// The published figure, and the ends of the interval, as multiples of the interval's middle.
    published: f64,
    factor: f64,
    /// Distance of the published figure from the middle, in standard deviations of the logarithms.
    sigmas: f64,
}

impl Figure {
    fn of(model: &str, comparison: &Comparison) -> Option<Self> {
        let [low, high] = comparison.range.filter(|_| comparison.is_independent())?;
        let (middle, factor) = ((low * high).sqrt(), (high / low).sqrt());
        let published = comparison.real / middle;
        Some(Self {
            model: model.to_owned(),
            what: comparison.what.clone(),
            published,
            factor,
            sigmas: published.ln().abs() / (factor.ln() / sigmas_of(95.0)),
        })
    }

    fn is_covered(&self, confidence: f64) -> bool {
        self.sigmas <= sigmas_of(confidence)
    }
}

/// Half the width of a normal interval, in standard deviations.
fn sigmas_of(confidence: f64) -> f64 {
    let normal = Normal::standard();
    normal.inverse_cdf(0.5 + confidence / 200.0)
}

/// Runs all models of the catalogue and those drawn from them, which takes minutes; the error names one that cannot be run.
pub fn written() -> Result<Written, String> {
    let names: Vec<String> = catalogue::list().into_iter().map(|entry| entry.name).collect();
    let of = |name: &String| -> Result<Vec<Figure>, String> {
        let model: Model = catalogue::find(name).map_err(|error| error.to_string())?;
        let compared = compare_drawn(&model, DRAWS).map_err(|wrong| format!("{name}: {}", wrong.message))?;
        Ok(compared.iter().filter_map(|one| Figure::of(name, one)).collect())
    };
    let mut figures = Vec::new();
    for name in &names {
        figures.extend(of(name)?);
    }
    Ok(Written {
        page: page(&figures, names.len()),
        plot: plot(&figures),
    })
}

fn covered(figures: &[Figure], confidence: f64) -> usize {
    figures.iter().filter(|figure| figure.is_covered(confidence)).count()
}

fn median_width_percent(figures: &[Figure]) -> f64 {
    let widths = figures.iter().map(|figure| 100.0 * (figure.factor - 1.0));
    study::median(widths).unwrap_or_default()
}

/// What the curve says of the intervals.
fn verdict(figures: &[Figure]) -> String {
    let share = |confidence| 100.0 * covered(figures, confidence) as f64 / figures.len().max(1) as f64;
    let side = |confidence: f64| match share(confidence) - confidence {
        off if off > 5.0 => "wider than needed",
        off if off < -5.0 => "too narrow",
        _ => "right within 5 points",
    };
    format!(
        "They are {} in the middle (40 %) and {} at the ends (95 %).",
        side(40.0),
        side(95.0)
    )
}

/// Models by their number of figures, the most first.
fn by_model(figures: &[Figure]) -> Vec<(&str, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for figure in figures {
        *counts.entry(&figure.model).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    counts
}

fn page(figures: &[Figure], models: usize) -> String {
    let by_model = by_model(figures);
    let mut page = format!(
        "# How often the intervals of drawn disk models cover what was published

Written by `make calibration`: {DRAWS} models drawn from each of the {models} of the catalogue, as `[precision] models = true` draws them.
Counted are figures that were measured or come from a data sheet, to which no model was fitted, and that do not follow from
another one. All simulated figures are those of the disk alone, without a kernel.

{} of {} published figures ({:.0} %) are in their 95 % intervals; half of the intervals are narrower than ± {:.0} %. {}

The figures are of {} models, {} of them of the four with most, so that they are not independent of each other. An interval is that of
the logarithms, taken to be normal; its middle is that of the drawn models.

![Each published figure with its interval, and coverage against confidence](calibration.svg)

| confidence | published figures in their intervals | share |
|---|---|---|
",
        covered(figures, 95.0),
        figures.len(),
        100.0 * covered(figures, 95.0) as f64 / figures.len().max(1) as f64,
        median_width_percent(figures),
        verdict(figures),
        by_model.len(),
        by_model.iter().take(4).map(|(_, count)| count).sum::<usize>(),
    );
    for confidence in CONFIDENCES {
        let inside = covered(figures, confidence);
        let share = 100.0 * inside as f64 / figures.len().max(1) as f64;
        let _ = writeln!(
            page,
            "| {confidence:.0} % | {inside} of {} | {share:.0} % |",
            figures.len()
        );
    }
    page.push_str(
        "
## Outside of their intervals

| model | figure | published, as a multiple of the interval's middle | interval |
|---|---|---|---|
",
    );
    for figure in figures.iter().filter(|figure| !figure.is_covered(95.0)) {
        let _ = writeln!(
            page,
            "| {} | {} | {:.3} | {:.3} to {:.3} |",
            figure.model,
            figure.what,
            figure.published,
            1.0 / figure.factor,
            figure.factor
        );
    }
    page
}

/// Width of the plot, and of its left part, in pixels.
const WIDTH: f64 = 900.0;
const LEFT: f64 = 560.0;
/// Height of a figure's line, and room above and below.
const LINE: f64 = 7.0;
const MARGIN: f64 = 40.0;
/// The left part shows multiples from 1 / this to this.
const FACTOR_MAX: f64 = 4.0;

/// Left: each published figure on its interval. Right: coverage against confidence, which is the diagonal if intervals are right.
fn plot(figures: &[Figure]) -> String {
    let height = (MARGIN * 2.0 + LINE * figures.len() as f64).max(420.0);
    let x = |multiple: f64| LEFT / 2.0 + multiple.ln() / FACTOR_MAX.ln() * (LEFT / 2.0 - 20.0);
    let within = |multiple: f64| x(multiple.clamp(1.0 / FACTOR_MAX, FACTOR_MAX));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" font-family=\"sans-serif\" font-size=\"12\" \
         role=\"img\">\n<title>Published figures and the 95 % intervals of drawn disk models</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let text = |svg: &mut String, x: f64, y: f64, words: &str| {
        let _ = writeln!(
            svg,
            "<text x=\"{x:.0}\" y=\"{y:.0}\" text-anchor=\"middle\">{words}</text>"
        );
    };
    let line = |svg: &mut String, from: (f64, f64), to: (f64, f64), look: &str| {
        let _ = writeln!(
            svg,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {look}/>",
            from.0, from.1, to.0, to.1
        );
    };
    text(
        &mut svg,
        LEFT / 2.0,
        16.0,
        "published figure, as a multiple of the middle of its interval",
    );
    for multiple in [0.25, 0.5, 1.0, 2.0, 4.0] {
        line(
            &mut svg,
            (x(multiple), MARGIN - 5.0),
            (x(multiple), height - MARGIN),
            "stroke=\"#ccc\"",
        );
        text(&mut svg, x(multiple), MARGIN - 10.0, &multiple.to_string());
    }
    for (at, figure) in figures.iter().enumerate() {
        let y = MARGIN + LINE * (at as f64 + 0.5);
        let colour = if figure.is_covered(95.0) { "#1f5fa8" } else { "#c0392b" };
        let look = format!("stroke=\"{colour}\" stroke-opacity=\"0.45\" stroke-width=\"3\"");
        line(
            &mut svg,
            (within(1.0 / figure.factor), y),
            (within(figure.factor), y),
            &look,
        );
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"2.6\" fill=\"{colour}\"><title>{}: {}</title></circle>",
            within(figure.published),
            figure.model,
            figure.what
        );
    }
    let side = WIDTH - LEFT - 70.0;
    let place = |confidence: f64, share: f64| {
        (
            LEFT + 50.0 + confidence / 100.0 * side,
            MARGIN + 20.0 + (1.0 - share / 100.0) * side,
        )
    };
    text(
        &mut svg,
        LEFT + 50.0 + side / 2.0,
        16.0,
        "in their intervals, against confidence, %",
    );
    line(
        &mut svg,
        place(0.0, 0.0),
        place(100.0, 100.0),
        "stroke=\"#999\" stroke-dasharray=\"4 3\"",
    );
    line(&mut svg, place(0.0, 0.0), place(100.0, 0.0), "stroke=\"black\"");
    line(&mut svg, place(0.0, 0.0), place(0.0, 100.0), "stroke=\"black\"");
    for percent in [0.0, 20.0, 40.0, 60.0, 80.0, 100.0] {
        let (across, up) = (place(percent, 0.0), place(0.0, percent));
        text(&mut svg, across.0, across.1 + 16.0, &percent.to_string());
        text(&mut svg, up.0 - 16.0, up.1 + 4.0, &percent.to_string());
    }
    for confidence in CONFIDENCES {
        let share = 100.0 * covered(figures, confidence) as f64 / figures.len().max(1) as f64;
        let (x, y) = place(confidence, share);
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"#1f5fa8\"><title>{confidence} %: {share:.0} %</title></circle>"
        );
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;
    use disksim::catalogue::format::Sure;

    fn comparison(real: f64, range: [f64; 2]) -> Comparison {
        Comparison {
            what: "random read".to_owned(),
            unit: "ms",
            real,
            model: 10.0,
            goal_percent: 5.0,
            put_in: false,
            follows: false,
            sure: Sure::Measured,
            source: String::new(),
            range: Some(range),
        }
    }

    #[test]
    fn a_figure_counts_at_the_confidence_from_which_its_interval_has_it() {
        let at = |real: f64| Figure::of("a", &comparison(real, [8.0, 12.5])).expect("independent, with a range");
        assert!(at(10.0).is_covered(20.0) && at(12.4).is_covered(95.0));
        assert!(!at(12.6).is_covered(95.0) && at(12.6).is_covered(99.0));
        assert!((at(10.0).factor - 1.25).abs() < 1e-9);
        let fitted = Comparison {
            put_in: true,
            ..comparison(10.0, [8.0, 12.5])
        };
        assert!(Figure::of("a", &fitted).is_none(), "it would say little");
        let figures = [at(10.0), at(20.0)];
        assert_eq!((covered(&figures, 95.0), covered(&figures, 20.0)), (1, 1));
        let page = page(&figures, 1);
        assert!(
            page.contains("1 of 2 published figures (50 %)") && page.contains("| a | random read | 2.000 |"),
            "{page}"
        );
        assert_eq!(
            plot(&figures).matches("<circle").count(),
            figures.len() + CONFIDENCES.len()
        );
    }
}
