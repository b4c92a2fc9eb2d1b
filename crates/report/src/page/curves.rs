//! A page with several plots of overlaid curves: a measured disk and its model.

use crate::chart::scale::Scale;
use crate::words::figure::number;
use minijinja::{AutoEscape, Environment, Value, context};

const TEMPLATE: &str = include_str!("../../assets/plots.html.jinja");
const STYLE: &str = include_str!("../../assets/report.css");

/// Size of each drawing, which is stretched to the page.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 320.0;

/// Curves on the same axes, both from zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    pub title: String,
    /// Label of the axis, with its unit.
    pub x: String,
    pub y: String,
    pub curves: Vec<Curve>,
}

/// Points that are joined in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// A page with the plots, one below the other.
pub fn plots(title: &str, note: &str, plots: &[Plot]) -> String {
    let drawn: Vec<Value> = plots.iter().map(drawn).collect();
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment
        .template_from_str(TEMPLATE)
        .expect("the template is part of this crate and is tested")
        .render(context! { style => STYLE, title, note, plots => drawn, width => WIDTH, height => HEIGHT })
        .expect("the template uses what it is given, which is tested")
}

/// Data for the template. The points of the first curve are also a table, for screen readers.
fn drawn(plot: &Plot) -> Value {
    let most = |value: fn(&(f64, f64)) -> f64| {
        let points = plot.curves.iter().flat_map(|curve| curve.points.iter());
        points.map(value).fold(0.0, f64::max)
    };
    let across = Scale::spanning(0.0, most(|point| point.0));
    let up = Scale::spanning(0.0, most(|point| point.1));
    let x = |value: f64| value / across.high * WIDTH;
    let y = |value: f64| HEIGHT * (1.0 - value / up.high);
    let label = |tick: f64| number(tick, usize::from(tick.fract() != 0.0));
    let path = |curve: &Curve| {
        let mut path = String::new();
        for (i, point) in curve.points.iter().enumerate() {
            let letter = if i == 0 { 'M' } else { 'L' };
            path.push_str(&format!("{letter}{:.1} {:.1}", x(point.0), y(point.1)));
        }
        path
    };
    let first = plot.curves.first().map_or(&[][..], |curve| &curve.points);
    let ticks = |scale: &Scale, place: &dyn Fn(f64) -> f64| -> Vec<(f64, String)> {
        scale.ticks.iter().map(|&tick| (place(tick), label(tick))).collect()
    };
    let curves: Vec<(String, String)> = plot
        .curves
        .iter()
        .map(|curve| (curve.name.clone(), path(curve)))
        .collect();
    let points: Vec<(String, String)> = first
        .iter()
        .map(|point| (number(point.0, 1), number(point.1, 2)))
        .collect();
    context! {
        title => plot.title.as_str(),
        x => plot.x.as_str(),
        y => plot.y.as_str(),
        across => ticks(&across, &x),
        up => ticks(&up, &y),
        curves,
        points,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_each_curve_within_its_axes_and_escapes_names() {
        let plot = Plot {
            title: "a <b>".to_owned(),
            x: "GB".to_owned(),
            y: "MB/s".to_owned(),
            curves: vec![
                Curve {
                    name: "measured".to_owned(),
                    points: vec![(0.0, 100.0), (500.0, 50.0)],
                },
                Curve {
                    name: "model".to_owned(),
                    points: vec![(0.0, 90.0)],
                },
            ],
        };
        let page = plots("a disk", "note", &[plot]);
        assert_eq!(page.matches("<path").count(), 2);
        assert!(page.contains("a &lt;b&gt;") && !page.contains("<script"), "{page}");
        assert!(page.contains("<td>500.0</td><td>50.00</td>"), "{page}");
    }

    #[test]
    fn a_plot_without_points_is_drawn() {
        let plot = Plot {
            title: "none".to_owned(),
            x: String::new(),
            y: String::new(),
            curves: Vec::new(),
        };
        assert!(!plots("a disk", "", &[plot]).contains("NaN"));
    }
}
