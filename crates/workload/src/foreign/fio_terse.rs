//! fio's terse lines (`--minimal`, `--output-format=terse`) of versions 2 to 5: values separated by semicolons.
//!
//! Source: fio's HOWTO, "Terse output", and `show_ddir_status_terse` in its stat.c.

use super::fio::{Direction, Figures, Job, Run, failed};
use super::{RESULTS_MAX, short};
use std::collections::HashMap;

/// Values of a direction: sums, latencies, percentiles and bandwidth. Version 5 adds six.
const WIDTH: usize = 41;
const PERCENTILES: std::ops::Range<usize> = 12..32;

/// Whether the line is one of a job.
pub(super) fn is_line(line: &str) -> bool {
    let fields = line.matches(';').count();
    fields >= 60 && line.trim_start().starts_with(['2', '3', '4', '5'])
}

/// All lines of a text; lines with other text between them are of different runs.
pub(super) fn runs(text: &str) -> Result<Vec<Run>, String> {
    let mut runs: Vec<Run> = Vec::new();
    // The places of the jobs of one name and group: a run has one.
    let mut known: HashMap<(String, u64), Vec<(usize, usize)>> = HashMap::new();
    let mut follows = false;
    for (number, line) in (1..).zip(text.lines()) {
        if !is_line(line) {
            // Messages of a run are between its lines.
            follows &= line.trim().is_empty() || line.starts_with("fio:");
            continue;
        }
        let (version, job) =
            job(line.trim()).map_err(|what| format!("line {number} is not a terse line of fio: {what}"))?;
        let of_name = known.entry((job.name.clone(), job.group)).or_default();
        // Whatever is between them: fio prints its progress between its reports.
        if of_name.iter().any(|&(run, at)| grew(&runs[run].jobs[at], &job)) {
            return Err(format!(
                "line {number} repeats the job `{}` with more of the same work: terse lines do not say whether that is a \
                 later report of one run (--status-interval) or another run; import the lines of one report",
                short(&job.name)
            ));
        }
        if !follows {
            runs.push(Run::default());
        }
        follows = true;
        if runs.len() > RESULTS_MAX {
            return Err(format!(
                "has more than {RESULTS_MAX} runs of fio: at most these are imported at once"
            ));
        }
        let last = runs.len() - 1;
        if of_name.last().is_some_and(|(run, _)| *run == last) {
            return Err(format!(
                "line {number} is of another job `{}`: terse lines do not say whether jobs of one name ran at the same \
                 time (numjobs) or one after the other; import each line as a file of its own, or use --group_reporting \
                 or --output-format=json",
                short(&job.name)
            ));
        }
        let run = &mut runs[last];
        of_name.push((last, run.jobs.len()));
        if line.trim_start().starts_with('3') && job.directions.values().all(|figures| figures.bytes <= 0.0) {
            let what = "version 3 of the terse lines has no columns for trims: --terse-version=5 has them";
            run.notes.push(what.to_owned());
        }
        run.version = version;
        run.jobs.push(job);
    }
    Ok(runs)
}

/// Whether a job did more than an earlier one of its name, for longer.
fn grew(before: &Job, job: &Job) -> bool {
    let of = |job: &Job, direction| {
        let figures = job.directions.get(direction);
        figures.map_or((0.0, 0.0), |figures| (figures.bytes, figures.milliseconds))
    };
    let no_less = |direction| {
        let ((bytes, milliseconds), (bytes_before, milliseconds_before)) =
            (of(job, direction), of(before, direction));
        bytes >= bytes_before && milliseconds >= milliseconds_before
    };
    Direction::ALL.iter().all(no_less) && job.milliseconds() > 1.5 * before.milliseconds()
}

fn job(line: &str) -> Result<(String, Job), String> {
    let fields: Vec<&str> = line.split(';').collect();
    let version: u8 = fields[0]
        .parse()
        .map_err(|_| format!("`{}` is not its version", fields[0]))?;
    let (head, width, directions): (usize, usize, &[Direction]) = match version {
        2 => (1, WIDTH, &Direction::ALL[..3]),
        3 => (2, WIDTH, &Direction::ALL[..2]),
        4 => (2, WIDTH, &Direction::ALL[..3]),
        5 => (2, WIDTH + 6, &Direction::ALL[..3]),
        other => return Err(format!("its version {other} is unknown: 2 to 5 are supported")),
    };
    let text = |at: usize| fields.get(at).copied().ok_or_else(|| "it is cut off".to_owned());
    let number = |at: usize| {
        let text = text(at)?;
        text.parse::<f64>().map_err(|_| format!("`{text}` is not a number"))
    };
    let first = head + 3;
    let is_mixed = !text(first + PERCENTILES.start + width)?.contains("%=");
    let mut job = Job {
        name: text(head)?.to_owned(),
        group: number(head + 1)? as u64,
        ..Job::default()
    };
    let error = text(head + 2)?;
    job.error = failed(
        error
            .parse()
            .map_err(|_| format!("`{error}` is not an error's number"))?,
    );
    // With unified_rw_reporting, there is one direction.
    let directions = if is_mixed { &[Direction::Mixed][..] } else { directions };
    for (index, direction) in directions.iter().enumerate() {
        let at = first + index * width;
        // Versions before 2.99 have no trims in version 2.
        if index > 1 && !text(at + PERCENTILES.start).is_ok_and(|text| text.contains("%=")) {
            break;
        }
        let mut figures = Figures {
            bytes: number(at)? * 1024.0,
            milliseconds: number(at + 3)?,
            ..Figures::default()
        };
        figures.operations = number(at + 2)? * figures.milliseconds / 1e3;
        for field in PERCENTILES {
            let (percent, microseconds) = text(at + field)?.split_once("%=").unwrap_or_default();
            if let (Ok(percent), Ok(microseconds)) = (percent.parse::<f64>(), microseconds.parse::<f64>())
                && percent > 0.0
            {
                figures.percentiles.push((percent, microseconds * 1e3));
            }
        }
        job.directions.insert(*direction, figures);
    }
    let fio = if head == 2 { fields[1] } else { "" };
    Ok((fio.to_owned(), job))
}
