//! Compares models with published figures of their disks: figure by figure, with source and certainty.

use crate::cli::Format;
use crate::error::ExpectedError;
use disksim::catalogue::Model;
use disksim::comparison::{Comparison, INDEPENDENT_MIN, compare_drawn, independent_figures};
use prepare::own_models::OwnModels;
use std::fmt::Write;

pub fn check(models: &[String], draws: u32, format: Format) -> Result<String, ExpectedError> {
    let names: Vec<String> = match models {
        [] => {
            let own = OwnModels::<Model>::of_user();
            own.report_unusable();
            super::listed(&own).map(|listed| listed.entry.name).collect()
        }
        some => some.to_vec(),
    };
    let mut compared = Vec::new();
    for name in &names {
        let model = super::model_of(name)?;
        let figures = compare_drawn(&model, draws).map_err(|wrong| ExpectedError::Check {
            model: name.clone(),
            message: wrong.message,
        })?;
        compared.push((model, figures));
    }
    Ok(match format {
        Format::Text => text(&compared),
        Format::Json => format!("{}\n", json(&compared)),
    })
}

fn text(compared: &[(Model, Vec<Comparison>)]) -> String {
    let mut text = String::new();
    let (mut figures, mut met) = (0, 0);
    for (model, comparisons) in compared {
        let _ = writeln!(text, "{}: {}", model.file.name, model.file.title);
        let independent = independent_figures(model);
        if independent < INDEPENDENT_MIN {
            let figures = report::count(independent, "independent figure");
            let _ = writeln!(text, "  barely validated: {figures}");
        }
        if !comparisons.is_empty() {
            let _ = writeln!(
                text,
                "  {:<44} {:>10} {:>10}       {:>8}  {:>5}",
                "", "real", "simulated", "off", "goal"
            );
        }
        for figure in comparisons {
            figures += 1;
            met += usize::from(figure.meets_its_goal());
            let _ = writeln!(
                text,
                "  {:<44} {:>10} {:>10} {:<4} {:>+7.1}% {:>5}  {:<10} {}{}{}",
                figure.what,
                number(figure.real),
                number(figure.model),
                figure.unit,
                figure.deviation_percent(),
                if figure.meets_its_goal() {
                    format!("{:.0}%", figure.goal_percent)
                } else {
                    format!(">{:.0}%", figure.goal_percent)
                },
                format!("{:?}", figure.sure).to_lowercase(),
                range(figure),
                match (figure.put_in, figure.follows) {
                    (true, _) => "(the model was made from it) ",
                    (false, true) => "(derived from another: mean = depth ÷ IOPS) ",
                    (false, false) => "",
                },
                figure.source
            );
        }
        text.push('\n');
    }
    let _ = match figures {
        0 => writeln!(
            text,
            "no published figures to check against: how well the model fits is not known"
        ),
        _ => writeln!(text, "{met} of {figures} figures within their goals"),
    };
    text + &coverage(compared)
}

/// `13.1 to 15.2, ` before a source; marked if the real figure is not in it.
fn range(figure: &Comparison) -> String {
    figure.range.map_or_else(String::new, |[low, high]| {
        let outside = if figure.is_covered() { "" } else { " (outside)" };
        format!("{} to {}{outside}, ", number(low), number(high))
    })
}

/// How often independent figures of real disks are in their ranges. Empty without ranges.
fn coverage(compared: &[(Model, Vec<Comparison>)]) -> String {
    let independent = || {
        let figures = compared.iter().flat_map(|(_, figures)| figures);
        figures.filter(|figure| figure.is_independent() && figure.range.is_some())
    };
    let covered = independent().filter(|figure| figure.is_covered()).count();
    let mut widths: Vec<f64> = independent().filter_map(Comparison::half_width_percent).collect();
    widths.sort_by(f64::total_cmp);
    match widths.get(widths.len() / 2) {
        None => String::new(),
        Some(median) => format!(
            "{covered} of {} independent figures are in their ranges of 95 %, half of which are narrower than ± {median:.0} %\n",
            widths.len()
        ),
    }
}

/// With three or four significant digits.
fn number(value: f64) -> String {
    match value {
        v if v >= 1000.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

fn json(compared: &[(Model, Vec<Comparison>)]) -> serde_json::Value {
    let figure = |c: &Comparison| {
        serde_json::json!({
            "what": c.what, "unit": c.unit, "real": c.real, "simulated": c.model,
            "deviation_percent": c.deviation_percent(), "goal_percent": c.goal_percent,
            "within_goal": c.meets_its_goal(), "independent": c.is_independent(), "range": c.range,
            "sure": format!("{:?}", c.sure).to_lowercase(), "source": c.source,
        })
    };
    let model = |(model, comparisons): &(Model, Vec<Comparison>)| {
        serde_json::json!({
            "name": model.file.name, "title": model.file.title,
            "figures": comparisons.iter().map(figure).collect::<Vec<_>>(),
        })
    };
    compared.iter().map(model).collect()
}
