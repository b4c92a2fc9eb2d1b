//! Imported results that are shown with a run, against its own figures.

use super::figure::{RateUnit, bytes, number, number_of};
use super::{better, mark, named};
use crate::input::Input;
use crate::scoreboard::sentences::{NAMED_MAX, ratio};
use serde::Serialize;
use stats::{Measure, Results, Row};
use study::metric::Metric;
use study::plan::Cell;
use study::stack::Bitmap;
use study::workload::{IoJob, Work};

/// Follows the label of an imported stack.
pub const IMPORTED: &str = " (imported)";

/// Further figures of a test than its main one that people compare.
const FURTHER: [Metric; 2] = [Metric::Iops, Metric::LatencyP99];

/// Key of the provenance of an import: what its file says of its work, as `size=1t, randread iodepth=16`.
pub const IMPORTED_SETTINGS: &str = "imported.settings";

/// Those that decide most of what disks have to do.
const CONDITIONS: [&str; 4] = ["size", "iodepth", "numjobs", "ioengine"];

/// More are not repeated in a sentence.
const CONDITIONS_MAX: usize = 8;

/// Areas of sizes that differ by this factor or more have other seeks.
const AREAS_RATIO: u64 = 2;

/// Ratios within this factor, up or down, are counted in the first line.
const CLOSE: f64 = 1.5;

/// An imported figure and its counterpart.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Pair {
    /// Workload and test.
    pub test: String,
    /// The imported stack, and the run's if it has another name.
    pub stacks: String,
    pub unit: &'static str,
    pub imported: String,
    pub own: String,
    /// Imported to own.
    pub ratio: String,
    pub better: &'static str,
    /// Imported, own.
    #[serde(skip)]
    figures: [f64; 2],
    /// The run's stack and workload.
    #[serde(skip)]
    own_stack: String,
    #[serde(skip)]
    workload: String,
    /// Random requests within areas of other sizes, imported and own, in bytes: other seeks.
    #[serde(skip)]
    areas: Option<[u64; 2]>,
    /// Sizes and depths of both jobs are known, and equal.
    #[serde(skip)]
    is_alike: bool,
}

impl Pair {
    /// A percentile of its latencies.
    fn is_tail(&self) -> bool {
        self.unit.starts_with('p')
    }

    fn is_close(&self) -> bool {
        (1.0 / CLOSE..=CLOSE).contains(&(self.figures[0] / self.figures[1]))
    }
}

/// Each imported figure with that of the run's stack of the same name, or of its only stack. Empty if no imported results
/// are shown with the run.
pub(crate) fn pairs(input: &Input, results: &Results, rates: RateUnit) -> Vec<Pair> {
    if !input.has_imported() {
        return Vec::new();
    }
    let mut pairs: Vec<Pair> = Vec::new();
    for (workload, test) in results
        .workloads
        .iter()
        .flat_map(|one| one.tests.iter().map(move |test| (one, test)))
    {
        let name = named(&workload.name, &test.name);
        let headline = test.headline();
        let further = test.measures.iter().skip(1);
        let further = further.filter(|measure| FURTHER.contains(&measure.metric));
        for measure in std::iter::once(headline).chain(further) {
            let of_measure = pairs_of(input, measure, (&workload.name, &name), rates);
            // MiB/s and IOPS of one test have one ratio.
            let is_again = |pair: &Pair| {
                let is_rate = |unit: &str| unit != "ms" && !unit.starts_with('p');
                let same = |other: &Pair| other.test == pair.test && other.stacks == pair.stacks;
                is_rate(pair.unit) && pairs.iter().any(|other| same(other) && is_rate(other.unit))
            };
            let mut new: Vec<Pair> = of_measure.into_iter().filter(|pair| !is_again(pair)).collect();
            for pair in &mut new {
                pair.areas = areas(input, &workload.name, &test.name);
                pair.is_alike = is_alike(input, &workload.name, &test.name);
            }
            pairs.extend(new);
        }
    }
    pairs
}

/// `test`: its workload, and its name with that.
fn pairs_of(input: &Input, measure: &Measure, (workload, test): (&str, &str), rates: RateUnit) -> Vec<Pair> {
    let is_imported = |row: &Row| {
        let cell = row.cell.and_then(|id| input.plan.cell(id));
        cell.is_some_and(|cell| cell.is_imported())
    };
    let with_figures = measure.rows.iter().filter(|row| row.summary.is_some());
    let (imported, own): (Vec<&Row>, Vec<&Row>) = with_figures.partition(|row| is_imported(row));
    let (unit, factor) = rates.of(measure.metric);
    let pair = |row: &Row| {
        let label = row.stack.trim_end_matches(IMPORTED);
        let partner = own.iter().find(|other| other.stack == label).or(match own.as_slice() {
            [only] => Some(only),
            _ => None,
        })?;
        let (figure, own_figure) = (row.summary.as_ref()?.median, partner.summary.as_ref()?.median);
        if figure <= 0.0 || own_figure <= 0.0 {
            return None;
        }
        Some(Pair {
            test: test.to_owned(),
            stacks: match label == partner.stack {
                true => label.to_owned(),
                false => format!("{label} against {}", partner.stack),
            },
            unit,
            imported: number_of(figure * factor),
            own: number_of(own_figure * factor),
            ratio: ratio(figure / own_figure),
            better: better(measure.metric.better()),
            figures: [figure, own_figure],
            own_stack: partner.stack.clone(),
            workload: workload.to_owned(),
            areas: None,
            is_alike: false,
        })
    };
    imported.into_iter().filter_map(pair).collect()
}

/// The areas of a workload's random requests, imported and own, if both are known and one is at least twice the other.
fn areas(input: &Input, workload: &str, test: &str) -> Option<[u64; 2]> {
    let mut own = input.plan.cells.iter().filter(|cell| !cell.is_imported());
    let cell = own.find(|cell| cell.workload.name == workload && matches!(cell.workload.work, Work::Io(_)))?;
    let jobs = cell.workload.work.spec().jobs();
    let job = jobs.first().filter(|job| job.io.pattern.is_random())?;
    let own = job.files_bytes();
    let imported = imported_bytes(input, workload).or_else(|| imported_bytes(input, test))?;
    (imported.max(own) / imported.min(own).max(1) >= AREAS_RATIO).then_some([imported, own])
}

/// Whether the imported job's files and queue are known to be as large as those of the run's job.
fn is_alike(input: &Input, workload: &str, test: &str) -> bool {
    let mut own = input.plan.cells.iter().filter(|cell| !cell.is_imported());
    let cell = own.find(|cell| cell.workload.name == workload && matches!(cell.workload.work, Work::Io(_)));
    let jobs = cell.map_or_else(Vec::new, |cell| cell.workload.work.spec().jobs());
    let is_like = |name: &str| {
        let depth = imported_value(input, name, "iodepth").and_then(|depth| depth.parse::<u32>().ok());
        jobs.first().is_some_and(|job| {
            imported_bytes(input, name) == Some(job.files_bytes()) && depth == Some(job.io.queue_depth)
        })
    };
    is_like(workload) || is_like(test)
}

/// `size` times `numjobs` of an imported job, as its file says: of the one that is called like the workload, or like its test.
fn imported_bytes(input: &Input, job: &str) -> Option<u64> {
    let jobs = imported_value(input, job, "numjobs").and_then(|jobs| jobs.parse().ok());
    fio_bytes(imported_value(input, job, "size")?)?.checked_mul(jobs.unwrap_or(1))
}

/// The value of a key that the file says of an imported job, or of all.
fn imported_value<'a>(input: &'a Input, job: &str, key: &str) -> Option<&'a str> {
    let rows = input.facts.provenance.iter();
    let settings = rows.filter(|row| row.entry.key == IMPORTED_SETTINGS);
    let mut settings = settings.flat_map(|row| row.entry.value.split(", "));
    settings.find_map(|setting| {
        let (name, value) = setting.split_once('=')?;
        let (of, own_key) = name.rsplit_once(' ').unwrap_or(("", name));
        (own_key == key && (of.is_empty() || of == job)).then_some(value)
    })
}

/// `200g` and `16GiB` of a fio job, whose units are those of 1,024.
fn fio_bytes(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number: u64 = text[..text.len() - unit.len()].parse().ok()?;
    let power = match unit.trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    number.checked_mul(1 << (10 * power))
}

/// What the imported files say of their work, which the reader has to compare: a size that differs changes seeks.
fn conditions(input: &Input) -> String {
    let rows = input
        .facts
        .provenance
        .iter()
        .filter(|row| row.entry.key == IMPORTED_SETTINGS);
    let mut said: Vec<String> = Vec::new();
    for setting in rows.flat_map(|row| row.entry.value.split(", ")) {
        // `randread iodepth=16`, of several jobs.
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        let name = name.rsplit(' ').next().unwrap_or(name);
        let words = format!("{name}={value}");
        if CONDITIONS.contains(&name) && !said.contains(&words) {
            said.push(words);
        }
    }
    match said.len() {
        0 => "The import does not say with which sizes, depths and engines.".to_owned(),
        1..=CONDITIONS_MAX => format!(
            "The import has {}{}: figures of other sizes, depths or engines are not comparable.",
            said.join(", "),
            own_conditions(input)
        ),
        _ => "Sizes, depths and engines of the imports are in their files, and may differ.".to_owned(),
    }
}

/// The same of the run's own jobs, with all files of a job as its size; empty if it has none or many.
fn own_conditions(input: &Input) -> String {
    let mut said: Vec<String> = Vec::new();
    // Others have no requests of a size and depth that the study gives.
    let has_jobs =
        |cell: &&Cell| matches!(cell.workload.work, Work::Io(_) | Work::FioFile(_)) && !cell.is_imported();
    for cell in input.plan.cells.iter().filter(has_jobs) {
        for job in cell.workload.work.spec().jobs() {
            let size = bytes(job.files_bytes());
            let name = cell.workload_entry();
            let words = format!("{name} {size} at iodepth {}", job.io.queue_depth);
            if !said.contains(&words) {
                said.push(words);
            }
        }
    }
    match said.len() {
        1..=CONDITIONS_MAX => format!("; the {} jobs have {}", mark(input.run.machine), said.join(", ")),
        _ => String::new(),
    }
}

/// Tests with an imported figure that has no counterpart in the run.
fn unpaired(input: &Input, results: &Results, pairs: &[Pair]) -> Vec<String> {
    let tests = results
        .workloads
        .iter()
        .flat_map(|one| one.tests.iter().map(move |test| (one, test)));
    let is_imported = |row: &&Row| {
        let cell = row.cell.and_then(|id| input.plan.cell(id));
        row.summary.is_some() && cell.is_some_and(|cell| cell.is_imported())
    };
    let with_import = tests.filter(|(_, test)| test.headline().rows.iter().any(|row| is_imported(&row)));
    let names = with_import.map(|(workload, test)| named(&workload.name, &test.name));
    names
        .filter(|name| !pairs.iter().any(|pair| pair.test == *name))
        .collect()
}

/// The sentence of the first lines; `None` if no imported results are shown with the run.
pub(crate) fn sentence(input: &Input, results: &Results, pairs: &[Pair]) -> Option<String> {
    if !input.has_imported() {
        return None;
    }
    let conditions = match !pairs.is_empty() && pairs.iter().all(|pair| pair.is_alike) {
        true => "Sizes and depths of the imported jobs are those of this run's.".to_owned(),
        false => conditions(input),
    };
    let alone = unpaired(input, results, pairs);
    let shown: Vec<&str> = alone.iter().take(NAMED_MAX).map(String::as_str).collect();
    let alone = match (pairs, shown.as_slice()) {
        ([], _) | (_, []) => String::new(),
        (_, shown) => format!(
            " Without a counterpart in this run, which is a workload with the name of the job: {}{}.",
            shown.join(", "),
            if alone.len() > shown.len() { " and others" } else { "" }
        ),
    };
    let own = mark(input.run.machine);
    let of_equal_areas = || pairs.iter().filter(|pair| pair.areas.is_none());
    let mut apart: Vec<String> = pairs
        .iter()
        .filter_map(|pair| {
            let [imported, here] = pair.areas?.map(bytes);
            Some(format!("{} ({imported} imported, {here} {own})", pair.test))
        })
        .collect();
    apart.dedup();
    let apart = match apart.as_slice() {
        [] => String::new(),
        apart => format!(
            " {}: {}.",
            match pairs.len() {
                1 => "This says nothing of the disks, because they seek within other areas",
                _ => "Not counted, because they seek within other areas",
            },
            apart.join(", ")
        ),
    };
    Some(match pairs {
        [] => "The imported results have no test in common with a stack of this run: `raidlab compare` says how to name \
               them."
            .to_owned(),
        [one] => format!(
            "Imported against {own}, {}: {} against {} {} ({}), {} times, {}.{apart} {conditions}{alone}",
            one.test, one.imported, one.own, one.unit, one.stacks, one.ratio, one.better
        ),
        _ => format!(
            "{}{}{}{apart} {conditions}{}{alone}",
            counted(of_equal_areas(), own),
            furthest(of_equal_areas()),
            bitmaps(input, of_equal_areas()),
            stacks_apart(pairs, own)
        ),
    })
}

/// How many rates and tails are close, as a sentence.
fn counted<'a>(pairs: impl Iterator<Item = &'a Pair>, own: &str) -> String {
    let (tails, rates): (Vec<&Pair>, Vec<&Pair>) = pairs.partition(|pair| pair.is_tail());
    let close = |pairs: &[&Pair]| {
        format!(
            "{} of {}",
            pairs.iter().filter(|pair| pair.is_close()).count(),
            pairs.len()
        )
    };
    let tails = match tails.as_slice() {
        [] => String::new(),
        tails => format!("; of the 99th percentiles, {}", close(tails)),
    };
    format!(
        "{} imported rates are within a factor of {CLOSE} of the {own} ones{tails}.",
        close(&rates)
    )
}

/// The figures that are furthest apart, rates first, as a sentence; empty if all are close.
fn furthest<'a>(pairs: impl Iterator<Item = &'a Pair>) -> String {
    let mut apart: Vec<&Pair> = pairs.filter(|pair| !pair.is_close()).collect();
    let factor = |pair: &Pair| {
        let ratio = pair.figures[0] / pair.figures[1];
        ratio.max(1.0 / ratio)
    };
    apart.sort_by(|one, other| {
        let by_factor = factor(other).total_cmp(&factor(one));
        one.is_tail().cmp(&other.is_tail()).then(by_factor)
    });
    let named: Vec<String> = apart
        .iter()
        .take(NAMED_MAX)
        .map(|pair| format!("{} {} times ({}, {})", pair.test, pair.ratio, pair.unit, pair.better))
        .collect();
    match named.is_empty() {
        true => String::new(),
        false => format!(" Furthest apart: {}.", named.join(", ")),
    }
}

/// Where writes at random are apart: an array with a write-intent bitmap, and one without, are not comparable.
fn bitmaps<'a>(input: &Input, pairs: impl Iterator<Item = &'a Pair>) -> String {
    let writes = |cell: &&Cell| {
        let jobs = cell.workload.work.spec().jobs();
        let at_random = |job: &IoJob<'_>| job.io.pattern.is_random() && job.io.pattern.has_writes();
        cell.stack.array.level.is_redundant() && cell.stack.array.of.is_none() && jobs.iter().any(at_random)
    };
    let own = || input.plan.cells.iter().filter(|cell| !cell.is_imported());
    let is_of =
        |cell: &&Cell, pair: &Pair| cell.stack_label == pair.own_stack && cell.workload.name == pair.workload;
    let cells = pairs
        .filter(|pair| !pair.is_close())
        .filter_map(|pair| own().find(|cell| is_of(cell, pair)).map(|cell| (pair, cell)));
    let of_arrays = cells.filter(|(_, cell)| writes(cell));
    let Some((pair, cell)) = of_arrays.last() else {
        return String::new();
    };
    let (has, write) = match cell.stack.array.resyncs_after_a_crash() {
        true => ("no write-intent bitmap", "internal"),
        false if cell.stack.array.bitmap == Bitmap::None => ("a write journal or a PPL", "none"),
        false => ("a write-intent bitmap", "none"),
    };
    format!(
        " The array of `{}` has {has} here, on which writes at random depend: if the measured one differs in that, write \
         `bitmap = \"{write}\"`.",
        pair.own_stack
    )
}

/// How far apart both see the stacks of the first test that has several, as a sentence; empty if no test has several stacks of the run.
fn stacks_apart(pairs: &[Pair], own: &str) -> String {
    let of_measure = |one: &Pair, other: &Pair| one.test == other.test && one.unit == other.unit;
    let mut tests = pairs.chunk_by(of_measure);
    let Some(stacks) = tests.find(|stacks| stacks.iter().any(|pair| pair.own_stack != stacks[0].own_stack)) else {
        return String::new();
    };
    let by_imported = |one: &&Pair, other: &&Pair| one.figures[0].total_cmp(&other.figures[0]);
    let (Some(most), Some(least)) = (stacks.iter().max_by(by_imported), stacks.iter().min_by(by_imported)) else {
        return String::new();
    };
    let times = |side: usize| number(most.figures[side] / least.figures[side], 2);
    format!(
        " In {}, {} has {} times the {} of {} imported, {} times {own} ({}).",
        most.test,
        most.own_stack,
        times(0),
        most.unit,
        least.own_stack,
        times(1),
        most.better
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_jobs_are_those_of_fio() {
        let all = ["200g", "16GiB", "512M", "4096", "1t", "10%", "x"].map(fio_bytes);
        let expected = [200 << 30, 16 << 30, 512 << 20, 4096, 1 << 40].map(Some);
        assert_eq!(all[..5], expected);
        assert_eq!(all[5..], [None, None]);
    }
}
