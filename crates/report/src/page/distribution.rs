//! A page with overlaid cumulative distributions: measured and simulated response times.

use crate::chart::scale::Scale;
use crate::words::figure::number;
use minijinja::{AutoEscape, Environment, context};

const TEMPLATE: &str = include_str!("../../assets/distributions.html.jinja");
const STYLE: &str = include_str!("../../assets/report.css");

/// Size of the drawing, which is stretched to the page.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 420.0;

/// Points per curve: more than a screen has columns.
const POINTS: usize = 1500;

/// The axis ends at this quantile: a few outliers must not compress the rest.
const SHOWN: f64 = 0.999;

/// Values, drawn as their cumulative distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    pub name: String,
    pub values: Vec<f64>,
}

/// A page with the distributions on one axis. `unit` labels it.
pub fn distributions(title: &str, note: &str, unit: &str, distributions: &[Distribution]) -> String {
    let sorted: Vec<Vec<f64>> = distributions.iter().map(|one| ascending(&one.values)).collect();
    let most = sorted
        .iter()
        .filter_map(|values| at_share(values, SHOWN))
        .fold(0.0, f64::max);
    let scale = Scale::spanning(0.0, most);
    let x = |value: f64| (value - scale.low) / (scale.high - scale.low) * WIDTH;
    let ticks: Vec<(String, String)> = scale
        .ticks
        .iter()
        .map(|&tick| {
            (
                format!("{:.1}", x(tick)),
                number(tick, usize::from(tick.fract() != 0.0)),
            )
        })
        .collect();
    let curves: Vec<(String, String)> = distributions
        .iter()
        .zip(&sorted)
        .map(|(one, values)| (one.name.clone(), curve(values, &x)))
        .collect();
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment
        .template_from_str(TEMPLATE)
        .expect("the template is part of this crate and is tested")
        .render(context! { style => STYLE, title, note, unit, ticks, curves, width => WIDTH, height => HEIGHT })
        .expect("the template uses what it is given, which is tested")
}

fn ascending(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn at_share(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * share).round() as usize).copied()
}

/// SVG's path of a cumulative distribution.
fn curve(sorted: &[f64], x: &dyn Fn(f64) -> f64) -> String {
    let point = |step: usize| {
        let share = step as f64 / POINTS as f64;
        let value = at_share(sorted, share)?;
        let letter = if step == 0 { 'M' } else { 'L' };
        Some(format!(
            "{letter}{:.1} {:.1}",
            x(value).min(WIDTH),
            HEIGHT * (1.0 - share)
        ))
    };
    (0..=POINTS).filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_a_curve_for_each_and_escapes_names() {
        let one = |name: &str, values: &[f64]| Distribution {
            name: name.to_owned(),
            values: values.to_vec(),
        };
        let page = distributions(
            "a <b>",
            "note",
            "ms",
            &[one("measured", &[1.0, 2.0, 3.0]), one("x", &[2.0])],
        );
        assert_eq!(page.matches("<path").count(), 2);
        assert!(page.contains("a &lt;b&gt;") && !page.contains("<script"));
        assert!(page.contains("M"), "a curve begins somewhere");
    }

    #[test]
    fn a_curve_rises_from_the_least_value_to_the_greatest() {
        let path = curve(&[1.0, 3.0], &|value| value * 10.0);
        assert!(path.starts_with("M10.0 420.0"), "{path}");
        assert!(path.ends_with("L30.0 0.0"), "{path}");
    }
}
