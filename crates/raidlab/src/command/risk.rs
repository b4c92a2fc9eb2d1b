//! `raidlab risk`: how likely is it that an array loses data?

use super::{print, print_json};
use crate::cli::{Format, Range, RiskArguments};
use crate::error::ExpectedError;
use risk::{
    Effort, Estimate, GroupModel, HOURS_PER_YEAR, Latent, Model, Probability, RedundantLayout, Scrub, Weibull,
    estimate,
};
use std::fmt::Write;
use std::process::ExitCode;

/// Half of the 95 % interval as a part of the value. A million histories are enough for rates as of real disks.
const EFFORT: Effort = Effort {
    precision: 0.02,
    histories_max: 1_000_000,
};

/// In Elerath and Pecht's times of rebuilds.
const REBUILD_SHAPE: f64 = 2.0;

const NOT_MODELLED: &str = "\
Not modelled: controllers, cables and power, human error, fire and theft, firmware and filesystem errors, disks that
return wrong data, disks that fail together but for --batch, disks that a rebuild's load makes fail. Arrays are lost
more often than disks alone explain: compare layouts by these figures, and keep backups. docs/risk.md has the model.
";

/// Ends of the inputs' ranges.
#[derive(Clone, Copy, Debug)]
enum End {
    Low,
    Between,
    High,
}

/// Estimates of what was asked.
struct Answer {
    between: Estimate,
    /// With all inputs at their lower and upper ends, if there are ranges: more of each is worse.
    ends: Option<(Estimate, Estimate)>,
    /// With the datasheet's unreadable sectors in place of those of the field.
    datasheet: Estimate,
}

pub fn risk(arguments: &RiskArguments) -> Result<ExitCode, ExpectedError> {
    let level = &arguments.level;
    let groups = arguments.groups.map_or(level.groups, |groups| groups as u32);
    let (disks, copies) = (arguments.disks as u32, arguments.copies as u32);
    let layout = RedundantLayout::new(level.scheme, disks, groups, copies)?;
    let of = |end, latent| estimate(&model(arguments, layout, end, latent), EFFORT, arguments.seed);
    let ranges = [
        arguments.afr,
        arguments.rebuild,
        arguments.replace_after,
        arguments.latent,
        arguments.scrub,
    ];
    let errors_of_disk = arguments.size_tb as f64 * 8e12 / arguments.bits_per_error;
    let answer = Answer {
        between: of(End::Between, None),
        ends: ranges
            .iter()
            .any(|range| range.is_range())
            .then(|| (of(End::Low, None), of(End::High, None))),
        datasheet: of(End::Between, Some(Latent::per_disk(errors_of_disk))),
    };
    match arguments.format {
        Format::Text => print(&text(arguments, layout, &answer))?,
        Format::Json => print_json(&json(arguments, layout, &answer))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// `latent` is in place of that of the arguments.
fn model(arguments: &RiskArguments, layout: RedundantLayout, end: End, latent: Option<Latent>) -> Model {
    let of = |range: Range| match end {
        End::Low => range.low,
        End::Between => range.value,
        End::High => range.high,
    };
    let hours = arguments.years as f64 * HOURS_PER_YEAR;
    // The mean rate over these years is the AFR: (hours / scale)^shape failures by then.
    let scale = hours / (of(arguments.afr) * arguments.years as f64).powf(1.0 / arguments.shape);
    let scrub = match of(arguments.scrub) {
        interval if interval.is_finite() => Scrub::Every(interval),
        _ => Scrub::Never,
    };
    let weibull = |minimum, scale, shape| {
        Weibull::new(minimum, scale, shape).expect("the arguments' parsers accept only valid times and shapes")
    };
    Model {
        layout,
        disk: GroupModel {
            lifetime: weibull(0.0, scale, arguments.shape),
            delay: of(arguments.replace_after),
            rebuild: weibull(of(arguments.rebuild), arguments.rebuild_extra, REBUILD_SHAPE),
            latent: latent.unwrap_or_else(|| Latent::field(of(arguments.latent) / HOURS_PER_YEAR, scrub)),
            is_progress_safe: true,
        },
        batch: arguments.batch,
        hours,
    }
}

fn text(arguments: &RiskArguments, layout: RedundantLayout, answer: &Answer) -> String {
    let mut text = String::new();
    let any = answer.between.any;
    let (low, high) = range_of(answer, |estimate| estimate.any);
    let why = match answer.ends {
        Some(_) => "by the ranges given",
        None => "by the simulation; ranges of the inputs say more: --afr 0.8%..2%",
    };
    let years = match arguments.years {
        1 => "a year".to_owned(),
        years => format!("{years} years"),
    };
    let _ = writeln!(
        text,
        "{}: in {years} {} through disk faults alone",
        describe(arguments, layout),
        arrays(any.value)
    );
    let _ = writeln!(text, "  ({} to {}, {why})\n", arrays_short(low), arrays_short(high));
    let by_disk = 100.0 * answer.between.share_by_disk;
    let _ = writeln!(
        text,
        "Of these {} by a further failed disk, {} by an unreadable sector during a rebuild.\n",
        share(by_disk),
        share(100.0 - by_disk)
    );
    let _ = writeln!(text, "{:<44}{:>9}   range", "", "P");
    let mut row = |what: &str, figure: Probability, (low, high): (f64, f64)| {
        let _ = writeln!(text, "{what:<44}{:>9.1e}   {low:.1e} to {high:.1e}", figure.value);
    };
    row("anything lost", any, (low, high));
    let array = answer.between.array;
    row("the array lost", array, range_of(answer, |estimate| estimate.array));
    let bound = answer.datasheet.any;
    row(
        "anything, sectors as bad as the datasheet's",
        bound,
        (bound.low, bound.high),
    );
    let _ = writeln!(text, "\n{}", inputs(arguments));
    let _ = writeln!(
        text,
        "{} histories, {:.1e} array-years, seed {}\n",
        answer.between.histories, answer.between.array_years, arguments.seed
    );
    text + NOT_MODELLED
}

/// The ends by the inputs' ranges, or by the Monte Carlo if there are none.
fn range_of(answer: &Answer, figure: fn(&Estimate) -> Probability) -> (f64, f64) {
    match &answer.ends {
        Some((low, high)) => (figure(low).low, figure(high).high),
        None => (figure(&answer.between).low, figure(&answer.between).high),
    }
}

fn describe(arguments: &RiskArguments, layout: RedundantLayout) -> String {
    let whole = format!("{} of {} disks", arguments.level.word, arguments.disks);
    match layout.groups() {
        1 => whole,
        groups => format!("{whole} ({groups} groups of {})", layout.disks_of_group()),
    }
}

fn inputs(arguments: &RiskArguments) -> String {
    let of = |range: Range, unit: &dyn Fn(f64) -> String| match range.is_range() {
        true => format!("{} to {}", unit(range.low), unit(range.high)),
        false => unit(range.value),
    };
    let percent = |value: f64| format!("{} %", significant(100.0 * value));
    let hours = |value: f64| match value {
        value if value.is_infinite() => "never".to_owned(),
        48.0.. => format!("{} d", significant(value / 24.0)),
        value => format!("{} h", significant(value)),
    };
    let batch = arguments.batch.map_or_else(String::new, |batch| {
        format!("; batch: {} of arrays, {}x", percent(batch.share), batch.factor)
    });
    let extra = match arguments.rebuild_extra {
        0.0 => String::new(),
        extra => format!(" + Weibull of {}", hours(extra)),
    };
    format!(
        "Disks: {} fail per year (shape {}), {} get an unreadable sector per year{batch}\n\
         Times: replaced after {}, rebuild {}{extra}, scrub {}\n\
         Datasheet: 1 unreadable sector in {:.0e} bits of disks of {} TB: a bound, not what is seen in the field",
        of(arguments.afr, &percent),
        arguments.shape,
        of(arguments.latent, &percent),
        of(arguments.replace_after, &hours),
        of(arguments.rebuild, &hours),
        of(arguments.scrub, &hours),
        arguments.bits_per_error,
        arguments.size_tb
    )
}

/// At most three digits that matter.
fn significant(value: f64) -> String {
    let digits = match value {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 4,
    };
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn share(percent: f64) -> String {
    match percent {
        0.0 => "0 %".to_owned(),
        ..1.0 => "less than 1 %".to_owned(),
        99.0..100.0 => "more than 99 %".to_owned(),
        _ => format!("{percent:.0} %"),
    }
}

fn arrays(probability: f64) -> String {
    match probability {
        0.1.. => format!("{:.0} arrays of 100 lose data", 100.0 * probability),
        _ => format!(
            "{} loses data",
            arrays_short(probability).replacen("1 of", "1 array of", 1)
        ),
    }
}

/// Two digits: more are not known.
fn arrays_short(probability: f64) -> String {
    if probability >= 0.1 {
        return format!("{:.0} of 100", 100.0 * probability);
    }
    if probability <= 0.0 {
        return "none".to_owned();
    }
    let count = 1.0 / probability;
    let place = 10_f64.powf(count.log10().floor() - 1.0).max(1.0);
    let count = (count / place).round() * place;
    match count {
        1e15.. => format!("1 of {count:.0e}"),
        1e12.. => format!("1 of {} trillion", count / 1e12),
        1e9.. => format!("1 of {} billion", count / 1e9),
        1e6.. => format!("1 of {} million", count / 1e6),
        _ => format!("1 of {count}"),
    }
}

fn json(arguments: &RiskArguments, layout: RedundantLayout, answer: &Answer) -> serde_json::Value {
    let figure =
        |figure: Probability| serde_json::json!({"value": figure.value, "low": figure.low, "high": figure.high});
    let estimate = |estimate: &Estimate| {
        serde_json::json!({
            "any_loss": figure(estimate.any), "array_lost": figure(estimate.array),
            "share_by_disk": estimate.share_by_disk, "share_by_sector": 1.0 - estimate.share_by_disk,
            "histories": estimate.histories, "array_years": estimate.array_years,
        })
    };
    let range = |range: Range| {
        // JSON has no infinity: `never` is null.
        serde_json::json!({"low": range.low, "value": range.value, "high": range.high})
    };
    serde_json::json!({
        "level": arguments.level.word, "disks": arguments.disks, "groups": layout.groups(),
        "disks_of_group": layout.disks_of_group(), "parity": layout.parity(), "years": arguments.years,
        "seed": arguments.seed, "confidence": 0.95,
        "inputs": {
            "afr_per_year": range(arguments.afr), "shape": arguments.shape,
            "rebuild_hours": range(arguments.rebuild), "rebuild_extra_hours": arguments.rebuild_extra,
            "replace_after_hours": range(arguments.replace_after),
            "latent_per_year": range(arguments.latent), "scrub_hours": range(arguments.scrub),
            "batch": arguments.batch.map(|batch| serde_json::json!({"share": batch.share, "factor": batch.factor})),
            "size_tb": arguments.size_tb, "bits_per_error": arguments.bits_per_error,
        },
        "estimate": estimate(&answer.between),
        "inputs_low": answer.ends.as_ref().map(|(low, _)| estimate(low)),
        "inputs_high": answer.ends.as_ref().map(|(_, high)| estimate(high)),
        "datasheet_bound": estimate(&answer.datasheet),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_words() {
        assert_eq!(arrays(0.234), "23 arrays of 100 lose data");
        assert_eq!(arrays(5.2e-3), "1 array of 190 loses data");
        assert_eq!(arrays_short(5.2e-7), "1 of 1.9 million");
        assert_eq!(arrays_short(0.0), "none");
        assert_eq!((share(0.2), share(99.6), share(50.0)).1, "more than 99 %");
        assert_eq!((significant(1.4), significant(0.5), significant(720.0)).2, "720");
    }
}
