//! IOzone's output: the table of automatic mode, the lines of throughput mode, the reports for Excel. Each file size,
//! record size and number of processes is a result of its own.

use super::{Foreign, Kept, RESULTS_MAX, few};
use crate::iozone::{output, report};
use std::collections::BTreeMap;
use study::workload::IozoneTest;

/// The names of Excel's reports.
const REPORTS: [(&str, IozoneTest); 13] = [
    ("writer report", IozoneTest::Write),
    ("re-writer report", IozoneTest::Rewrite),
    ("reader report", IozoneTest::Read),
    ("re-reader report", IozoneTest::Reread),
    ("random read report", IozoneTest::RandomRead),
    ("random write report", IozoneTest::RandomWrite),
    ("backward read report", IozoneTest::BackwardRead),
    ("record rewrite report", IozoneTest::RecordRewrite),
    ("stride read report", IozoneTest::StridedRead),
    ("fwrite report", IozoneTest::Fwrite),
    ("re-fwrite report", IozoneTest::Frewrite),
    ("fread report", IozoneTest::Fread),
    ("re-fread report", IozoneTest::Freread),
];

/// What distinguishes results: the machine, which may be empty, and the work.
#[derive(PartialEq)]
struct Of {
    machine: String,
    work: String,
}

impl Of {
    fn work(work: String) -> Self {
        Self {
            machine: String::new(),
            work,
        }
    }
}

type Results = Vec<(Of, Vec<(IozoneTest, f64)>)>;

/// Whether the text is of IOzone.
pub(super) fn is_there(text: &str) -> bool {
    let signs = [
        "iozone test complete",
        "Iozone: Performance Test of File I/O",
        "Children see throughput for",
    ];
    let is_heading = |line: &str| {
        line.split_whitespace()
            .take(2)
            .map(str::to_lowercase)
            .eq(["kb", "reclen"])
    };
    signs.iter().any(|sign| text.contains(sign))
        || text.lines().any(is_heading)
        || text.contains("\"Writer report\"")
        || text.lines().any(|line| line_of_throughput(line).is_some())
}

pub(super) fn read(text: &str) -> Result<Vec<Foreign>, String> {
    measures_rates(text)?;
    let mut notes = Vec::new();
    let (tables, left_out) = output::rows(text).map_err(|what| format!("is not valid output of IOzone: {what}"))?;
    notes.extend(left_out);
    let of = |row: &output::Row| Of {
        machine: row.label.clone(),
        work: sizes(row.file_kib, row.record_kib),
    };
    let mut results: Results = tables.into_iter().map(|row| (of(&row), row.figures)).collect();
    let rows = results.len();
    let excel = excel(text)?;
    if results.is_empty() {
        if !excel.is_empty() && !text.contains("Output is in") {
            let what =
                "the unit of the reports for Excel is not in them: they are taken for KiB/s, as without -O and -N";
            notes.push(what.to_owned());
        }
        results = excel;
    } else if !excel.is_empty() {
        notes.push("the reports for Excel are left out: the table has the same figures".to_owned());
    }
    let in_throughput_mode = throughput(text, &mut notes)?;
    if in_throughput_mode.is_empty() {
        results.extend(excel_of_throughput(text, &mut notes)?);
    }
    results.extend(in_throughput_mode);
    if !text.contains("iozone test complete") {
        notes.push("it does not end with `iozone test complete`: IOzone or the file was cut off".to_owned());
        // The last row may be the beginning of one.
        if rows > 1 && results[rows - 1].1.len() < results[rows - 2].1.len() {
            results.remove(rows - 1);
            notes.push("its last row is incomplete and left out".to_owned());
        }
    }
    if results.iter().all(|(_, figures)| figures.is_empty()) {
        return Err("is output of IOzone without a figure".to_owned());
    }
    let version = text.lines().find(|line| line.contains("Version $Revision"));
    let options = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("Command line used:"));
    let notes = few(notes);
    let results = results.into_iter().filter(|(_, figures)| !figures.is_empty());
    Ok(results
        .map(|(of, figures)| foreign(of, figures, version, options, &notes))
        .collect())
}

/// An error if the figures are no rates, as the output or the command line in it says.
fn measures_rates(text: &str) -> Result<(), String> {
    let in_other = [
        "Output is in ops/sec",
        "Output is in microseconds",
        "Output is in Ops/sec",
        "Output is in operations per second",
    ];
    let printed = in_other.into_iter().find(|unit| text.contains(unit));
    let command = || {
        text.lines()
            .flat_map(options)
            .find(|option| asks_for_other_unit(option))
    };
    if let Some(unit) = printed.or_else(command) {
        return Err(format!(
            "is output of IOzone in another unit (`{unit}`): run it without -O and -N"
        ));
    }
    let is_invalid = "Performance measurements are invalid in this mode";
    if text.contains(is_invalid) {
        return Err(format!(
            "is output of IOzone with -+d, which says of itself: {is_invalid}"
        ));
    }
    Ok(())
}

/// The options in a line with a command.
fn options(line: &str) -> impl Iterator<Item = &str> {
    let is_program = |word: &&str| {
        word.rsplit(['/', '\\'])
            .next()
            .is_some_and(|name| name == "iozone" || name == "iozone.exe")
    };
    let words = line.split_whitespace().skip_while(move |word| !is_program(word));
    words
        .skip(1)
        .filter(|word| word.starts_with('-') && !word.starts_with("-+"))
}

/// Whether -O or -N is among the letters; what follows a letter with a value is its value.
fn asks_for_other_unit(option: &str) -> bool {
    let letters = option[1..].split(|c: char| "bdfFgHijJklLnPqrsStuUVXyY".contains(c));
    letters.take(1).any(|letters| letters.contains(['O', 'N']))
}

fn foreign(
    of: Of,
    figures: Vec<(IozoneTest, f64)>,
    version: Option<&str>,
    options: Option<&str>,
    notes: &[String],
) -> Foreign {
    let mut kept = Kept::default();
    for (key, value) in [("iozone", version), ("iozone.command", options)] {
        if let Some(value) = value {
            kept.provenance(key, value.trim());
        }
    }
    for (test, kib_per_second) in figures {
        report(test, kib_per_second, &mut kept);
    }
    Foreign {
        program: "IOzone",
        machine: of.machine,
        work: of.work,
        settings: BTreeMap::new(),
        events: kept.with_notes(notes),
        notes: notes.to_vec(),
    }
}

/// The sizes of a file and of a record: `256M 64K`.
fn sizes(file_kib: u64, record_kib: u64) -> String {
    format!("{} {}", size(file_kib), size(record_kib))
}

/// `256M`, `64K`.
fn size(kib: u64) -> String {
    match kib {
        0 => "0".to_owned(),
        kib if kib.is_multiple_of(1 << 20) => format!("{}G", kib >> 20),
        kib if kib.is_multiple_of(1 << 10) => format!("{}M", kib >> 10),
        kib => format!("{kib}K"),
    }
}

/// Adds a figure to the last result of this work that has none of its test: a second figure is of another run. Fails if it is
/// no rate, or one too many.
fn add(results: &mut Results, of: Of, test: IozoneTest, kib_per_second: f64) -> Result<(), String> {
    if !(0.0..=output::RATE_MAX).contains(&kib_per_second) {
        return Err(format!(
            "is not valid output of IOzone: {kib_per_second} is no rate in KiB/s"
        ));
    }
    // A test that did not run (-+n).
    if kib_per_second == 0.0 {
        return Ok(());
    }
    if results.len() >= RESULTS_MAX {
        return Err(format!(
            "has more than {RESULTS_MAX} results: at most these are imported at once"
        ));
    }
    let is_without = |figures: &[(IozoneTest, f64)]| figures.iter().all(|(other, _)| *other != test);
    let mut same = results.iter_mut().rev().filter(|(known, _)| *known == of);
    match same.find(|(_, figures)| is_without(figures)) {
        Some((_, figures)) => figures.push((test, kib_per_second)),
        None => results.push((of, vec![(test, kib_per_second)])),
    }
    Ok(())
}

/// Throughput mode, which may have run with several numbers of processes.
fn throughput(text: &str, notes: &mut Vec<String>) -> Result<Results, String> {
    let mut results: Results = Vec::new();
    let mut sizes = String::new();
    for line in text.lines() {
        sizes = sizes_of_process(line).unwrap_or(sizes);
        let Some(child) =
            output::children(line).map_err(|what| format!("is not valid output of IOzone: {what}"))?
        else {
            continue;
        };
        let Some(test) = child.test else {
            notes.push(format!("`{}` is left out: raidlab has no such test", child.words));
            continue;
        };
        let processes = match child.processes {
            1 => "1 process".to_owned(),
            count => format!("{count} processes"),
        };
        let of = Of {
            machine: child.machine.to_owned(),
            work: format!("{processes} {sizes}").trim().to_owned(),
        };
        add(&mut results, of, test, child.kib_per_second)?;
    }
    Ok(results)
}

/// `Each process writes a 512 kByte file in 4 kByte records`: the sizes, as a label has them.
fn sizes_of_process(line: &str) -> Option<String> {
    let (who, rest) = line.split_once(" writes a ")?;
    let (file, rest) = rest.split_once(" file in ")?;
    let kib = |text: &str| text.to_lowercase().strip_suffix("kbyte")?.trim().parse().ok();
    let (file, record) = (kib(file.trim())?, kib(rest.trim().strip_suffix(" records")?.trim())?);
    who.contains("Each ").then(|| sizes(file, record))
}

/// The names of tests in the report for Excel of throughput mode; none is raidlab's for the last three.
const LINES: [(&str, Option<IozoneTest>); 13] = [
    ("initial write", Some(IozoneTest::Write)),
    ("rewrite", Some(IozoneTest::Rewrite)),
    ("read", Some(IozoneTest::Read)),
    ("re-read", Some(IozoneTest::Reread)),
    ("reverse read", Some(IozoneTest::BackwardRead)),
    ("stride read", Some(IozoneTest::StridedRead)),
    ("random read", Some(IozoneTest::RandomRead)),
    ("random write", Some(IozoneTest::RandomWrite)),
    ("fwrite", Some(IozoneTest::Fwrite)),
    ("fread", Some(IozoneTest::Fread)),
    ("mixed workload", None),
    ("pwrite", None),
    ("pread", None),
];

/// The name and the figures of `"  Initial write "  246059.19`; one figure for each number of processes, or for each run
/// if somebody put several side by side.
fn line_of_throughput(line: &str) -> Option<(&'static str, Option<IozoneTest>, Vec<f64>)> {
    let (name, figures) = line
        .trim_matches(|c: char| c.is_whitespace() || c == '>')
        .strip_prefix('"')?
        .split_once('"')?;
    let name = name.trim().to_lowercase();
    let (name, test) = LINES.into_iter().find(|(known, _)| *known == name)?;
    let figures: Result<Vec<f64>, _> = figures.split_whitespace().map(str::parse).collect();
    let figures = figures.ok().filter(|figures| !figures.is_empty())?;
    Some((name, test, figures))
}

/// The report for Excel of throughput mode, which repeats what was printed before, where that is missing.
fn excel_of_throughput(text: &str, notes: &mut Vec<String>) -> Result<Results, String> {
    let mut results: Results = Vec::new();
    for (name, test, figures) in text.lines().filter_map(line_of_throughput) {
        let Some(test) = test else {
            notes.push(format!("`{name}` is left out: raidlab has no such test"));
            continue;
        };
        let several = figures.len() > 1;
        for (number, figure) in (1..).zip(figures) {
            let of = Of::work(match several {
                true => format!("column {number}"),
                false => String::new(),
            });
            add(&mut results, of, test, figure)?;
        }
    }
    if !results.is_empty() {
        notes
            .push("how many processes there were is not known: only IOzone's report for Excel is there".to_owned());
    }
    Ok(results)
}

/// `"Writer report"`, a line of record sizes, a line for each file size.
fn excel(text: &str) -> Result<Results, String> {
    let mut results: Results = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let title = line.trim().trim_matches('"').to_lowercase();
        let Some((_, test)) = REPORTS.iter().find(|(name, _)| *name == title) else {
            continue;
        };
        let numbers = |line: &str| -> Vec<Option<f64>> {
            line.split_whitespace()
                .map(|word| word.trim_matches('"').parse().ok())
                .collect()
        };
        let Some(records) = lines.next().map(numbers) else {
            break;
        };
        while let Some(row) = lines.next_if(|line| line.trim_start().starts_with('"') && line.trim().len() > 2) {
            let row = numbers(row);
            let [Some(file), figures @ ..] = &row[..] else { break };
            // Small files have no large records, and large ones may have no small records: those are 0.
            for (record, figure) in records.iter().zip(figures) {
                let (Some(record), Some(figure)) = (record, figure) else {
                    return Err(
                        "is output of IOzone with an odd report for Excel: a value is not a number".to_owned(),
                    );
                };
                let is_size = |kib: f64| kib.fract() == 0.0 && (0.0..=output::FILE_KIB_MAX as f64).contains(&kib);
                if let Some(odd) = [*file, *record].into_iter().find(|kib| !is_size(*kib)) {
                    return Err(format!(
                        "is output of IOzone with an odd report for Excel: {odd} is no size in KiB"
                    ));
                }
                let of = Of::work(sizes(*file as u64, *record as u64));
                add(&mut results, of, *test, *figure)?;
            }
        }
    }
    Ok(results)
}
