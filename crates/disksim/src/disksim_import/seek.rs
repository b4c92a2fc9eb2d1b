//! Seek curves: several kinds of formulas, and `.seek` files with measured values.

use super::reader::Reader;
use super::syntax::{At, Sources};
use crate::catalogue::format::SeekKeys;
use crate::catalogue::plausibility::SHORTER_SEEK_MIN;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// The seek curve of a `dm_mech_g1` block, in any form.
pub(super) fn seek_keys(mechanics: &mut Reader) -> Option<SeekKeys> {
    let (form, at) = mechanics.word("Seek type")?;
    match form.as_str() {
        "extracted" => {
            let (name, at) = mechanics.word("Full seek curve")?;
            let text = mechanics.sources.text(&name, &at)?;
            Some(SeekKeys::Points {
                points: seek_points(&name, &text, mechanics.sources)?,
            })
        }
        "hpl" | "hplplus10" => {
            let values = mechanics.numbers("HPL seek equation values");
            let mut first_ms = if form == "hplplus10" {
                mechanics.numbers("First ten seek times")
            } else {
                Vec::new()
            };
            let [
                linear_from,
                root_base_ms,
                root_ms,
                linear_base_ms,
                linear_ms,
                one_ms,
                ..,
            ] = values[..]
            else {
                mechanics.error_at(
                    "HPL seek equation values",
                    "`HPL seek equation values` needs six numbers",
                );
                return None;
            };
            if values[..5].iter().any(|value| *value < 0.0) {
                mechanics.error_at(
                    "HPL seek equation values",
                    "the first five of `HPL seek equation values` cannot be negative",
                );
            }
            if form == "hplplus10" && (first_ms.len() < 10 || first_ms.iter().any(|ms| *ms < 0.0)) {
                mechanics.error_at(
                    "First ten seek times",
                    "`First ten seek times` needs ten times of no less than 0 ms",
                );
            }
            if first_ms.is_empty() && one_ms >= 0.0 {
                first_ms.push(one_ms);
            }
            let linear_from = linear_from.clamp(0.0, 1e8) as u32;
            Some(SeekKeys::Hp {
                linear_from,
                root_base_ms,
                root_ms,
                linear_base_ms,
                linear_ms,
                first_ms,
            })
        }
        "curve" => {
            let (track_ms, average_ms, full_ms) = three(mechanics);
            Some(SeekKeys::Curve {
                track_ms,
                average_ms,
                full_ms,
            })
        }
        "linear" => {
            let (track_ms, average_ms, full_ms) = three(mechanics);
            Some(SeekKeys::Lines {
                track_ms,
                average_ms,
                full_ms,
            })
        }
        "constant" => Some(SeekKeys::Constant {
            ms: mechanics.ms("Constant seek time"),
        }),
        other => {
            let known = "extracted, hpl, hplplus10, curve, linear or constant";
            mechanics.sources.error(&at, format!("seek type `{other}`: {known}"));
            None
        }
    }
}

/// Leaves out measured seeks that a model cannot have, and names them: DiskSim's own files have a seek over as many
/// cylinders as the disk has (dec_rz26), and one with a digit missing (ibm18es).
pub(super) fn without_impossible(keys: &mut SeekKeys, cylinders: u32) -> Option<String> {
    let SeekKeys::Points { points } = keys else { return None };
    let (mut left_out, mut longest_ms) = (Vec::new(), 0.0);
    points.retain(|&(distance, ms)| {
        let is_possible = distance < cylinders && ms >= longest_ms * SHORTER_SEEK_MIN;
        match is_possible {
            true => longest_ms = f64::max(longest_ms, ms),
            false => left_out.push(format!("{ms} ms over {distance} cylinders")),
        }
        is_possible
    });
    (!left_out.is_empty()).then(|| left_out.join(", "))
}

/// Single-cylinder, average and full-stroke seek times.
fn three(mechanics: &mut Reader) -> (f64, f64, f64) {
    let one = mechanics.ms("Single cylinder seek time");
    let average = mechanics.ms("Average seek time");
    let full = mechanics.ms("Full strobe seek time");
    if !(one <= average && average <= full) {
        let message = format!(
            "seeks of {one} ms over one cylinder, {average} on average, {full} over all: these times must increase"
        );
        mechanics.error_at("Average seek time", message);
    }
    (one, average, full)
}

/// A `.seek` file: an optional header line, then `distance, ms[, deviation]`.
fn seek_points(name: &str, text: &str, sources: &mut Sources) -> Option<Vec<(u32, f64)>> {
    let mut points: Vec<(u32, f64)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let head = index == 0 && line.starts_with("Seek distances measured");
        if line.trim().is_empty() || line.starts_with('#') || head {
            continue;
        }
        let at = At {
            file: name.to_string(),
            line: index + 1,
            column: 1,
        };
        let mut fields = line.split(',').map(str::trim);
        let distance = fields.next().and_then(|f| f.parse::<u32>().ok()).filter(|d| *d > 0);
        let ms = fields
            .next()
            .and_then(|f| f.parse::<f64>().ok())
            .filter(|ms| (0.0..=60_000.0).contains(ms));
        let (Some(distance), Some(ms)) = (distance, ms) else {
            sources.error(
                &at,
                "a line of a seek curve is `distance in cylinders, milliseconds`, such as `10, 1.531`",
            );
            return None;
        };
        if points.last().is_some_and(|p| p.0 >= distance) {
            sources.error(
                &at,
                format!("distance {distance} does not follow {}", points[points.len() - 1].0),
            );
            return None;
        }
        points.push((distance, ms));
    }
    if points.is_empty() {
        let at = At {
            file: name.to_string(),
            line: 1,
            column: 1,
        };
        sources.error(&at, "a seek curve needs at least one point");
        return None;
    }
    Some(points)
}
