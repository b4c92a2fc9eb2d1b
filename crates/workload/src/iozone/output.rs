//! Parses the output of IOzone 3: its table of 13 columns, or the lines of its throughput mode.

use study::workload::IozoneTest;

/// The names of tests in throughput mode.
const CHILDREN: &[(&str, IozoneTest)] = &[
    ("initial writers", IozoneTest::Write),
    ("rewriters", IozoneTest::Rewrite),
    ("readers", IozoneTest::Read),
    ("re-readers", IozoneTest::Reread),
    ("reverse readers", IozoneTest::BackwardRead),
    ("stride readers", IozoneTest::StridedRead),
    ("random readers", IozoneTest::RandomRead),
    ("random writers", IozoneTest::RandomWrite),
    ("fwriters", IozoneTest::Fwrite),
    ("freaders", IozoneTest::Fread),
];

/// A petabyte per second, in KiB.
pub(crate) const RATE_MAX: f64 = 1e12;
/// The largest file of Linux, in KiB.
pub(crate) const FILE_KIB_MAX: u64 = 1 << 53;

/// A row of the table.
#[derive(Debug, PartialEq)]
pub(crate) struct Row {
    /// A word that somebody wrote before the sizes, or nothing.
    pub(crate) label: String,
    pub(crate) file_kib: u64,
    pub(crate) record_kib: u64,
    /// KiB/s.
    pub(crate) figures: Vec<(IozoneTest, f64)>,
}

/// A line of throughput mode: `Children see throughput for  2 initial writers = 381378.19 kB/sec`.
pub(crate) struct Children<'a> {
    /// The machine whose name pdsh printed before the line, or nothing.
    pub(crate) machine: &'a str,
    pub(crate) words: &'a str,
    pub(crate) processes: u32,
    /// None if raidlab has no such test.
    pub(crate) test: Option<IozoneTest>,
    pub(crate) kib_per_second: f64,
}

/// Tests with KiB/s of a run with one file size and one record size, in the order of the output.
pub(crate) fn parse(printed: &str) -> Result<Vec<(IozoneTest, f64)>, String> {
    if !printed.contains("iozone test complete") {
        return Err("it does not end with `iozone test complete`".to_owned());
    }
    if printed.contains("Output is in ops/sec") || printed.contains("Output is in microseconds") {
        return Err("its figures are not in kB/s: run it without -O and -N".to_owned());
    }
    let mut found = Vec::new();
    for line in printed.lines() {
        if let Some(Children {
            test: Some(test),
            kib_per_second,
            ..
        }) = children(line)?
        {
            found.push((test, kib_per_second));
        }
    }
    let (mut rows, _) = rows(printed)?;
    if rows.len() > 1 {
        return Err("its table has several rows: run it with one file size and one record size".to_owned());
    }
    found.extend(rows.pop().into_iter().flat_map(|row| row.figures));
    if found.is_empty() {
        return Err("it has no figure".to_owned());
    }
    Ok(found)
}

/// A line of throughput mode, if it is one.
pub(crate) fn children(line: &str) -> Result<Option<Children<'_>>, String> {
    let Some((before, rest)) = line.split_once("Children see throughput for ") else {
        return Ok(None);
    };
    let before = before.trim_matches(|c: char| c.is_whitespace() || c == '>');
    let Some(machine) = before.strip_suffix(':').or(before.is_empty().then_some("")) else {
        return Ok(None);
    };
    let (who, figure) = rest
        .split_once('=')
        .ok_or_else(|| format!("`{}` has no figure", line.trim()))?;
    let who = who.trim();
    let words = who.trim_start_matches(|c: char| c.is_ascii_digit());
    let processes = match &who[..who.len() - words.len()] {
        "" => 1,
        digits => digits
            .parse()
            .map_err(|_| format!("{digits} processes are more than can run"))?,
    };
    let words = words.trim();
    let test = CHILDREN
        .iter()
        .find(|(known, _)| *known == words)
        .map(|(_, test)| *test);
    let number = figure.split_whitespace().next().unwrap_or_default();
    Ok(Some(Children {
        machine,
        words,
        processes,
        test,
        kib_per_second: rate(number)?,
    }))
}

/// The rows of all tables. Columns of tests that were not selected are blank, but IOzone's blanks are narrower or wider
/// than some columns, so the options `-i` of its command line decide which tests the figures are of. Without them a figure
/// is identified by its end: below the last letter of the heading, plus or minus two, whatever the column widths of the
/// version. A heading may be cut off after any test. A figure of 0 is of a test that did not run (`-+n`). With the rows comes
/// what is left out.
pub(crate) fn rows(printed: &str) -> Result<(Vec<Row>, Vec<String>), String> {
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    let mut selected: Option<Vec<IozoneTest>> = None;
    let mut headings: Vec<usize> = Vec::new();
    let mut tests: Vec<IozoneTest> = Vec::new();
    for (number, line) in (1..).zip(printed.lines().map(str::trim_end)) {
        if line.contains("Iozone: Performance Test of File I/O") {
            selected = None;
        }
        if let Some((_, command)) = line.split_once("Command line used:") {
            selected = selected_tests(command);
        }
        if is_heading(line) {
            headings = words_with_ends(line).map(|(_, end)| end).collect();
            tests = tests_of(line).map_err(|what| format!("line {number}: {what}"))?;
            continue;
        }
        let (label, line) = without_label(line, headings.len());
        let mut words = words_with_ends(line);
        let sizes = [words.next(), words.next()].map(|word| word.and_then(|(word, _)| word.parse::<u64>().ok()));
        let [Some(file_kib), Some(record_kib)] = sizes else {
            let numbers = line.split_whitespace().filter(|word| word.parse::<u64>().is_ok());
            if !headings.is_empty() && numbers.count() > 2 {
                left_out.push(format!(
                    "line {number} is left out: it is below a heading, but no row of a table"
                ));
            } else if !line.trim().is_empty() {
                // Anything else ends the table; empty lines do not.
                headings.clear();
            }
            continue;
        };
        if headings.is_empty() {
            continue;
        }
        let at = |what: &str| format!("line {number}: {what}");
        if file_kib > FILE_KIB_MAX {
            return Err(at("no file is as large"));
        }
        if record_kib > file_kib {
            return Err(at("a record is larger than its file: the table's lines are wrapped"));
        }
        let mut figures = figures(line, &headings, &tests, selected.as_deref()).map_err(|what| at(&what))?;
        figures.retain(|(test, kib_per_second)| {
            let is_measured = *kib_per_second > 0.0;
            if !is_measured && !printed.contains("-+n") {
                left_out.push(format!("0 for {} is left out: the test did not run", test.name()));
            }
            is_measured
        });
        rows.push(Row {
            label: label.to_owned(),
            file_kib,
            record_kib,
            figures,
        });
    }
    Ok((rows, left_out))
}

/// A full row may have a word before it: the name of a machine or an array.
fn without_label(line: &str, columns: usize) -> (&str, &str) {
    let Some((label, row)) = line.trim_start().split_once(char::is_whitespace) else {
        return ("", line);
    };
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let is_full = columns > 2 && row.split_whitespace().count() == columns && row.split_whitespace().all(is_number);
    if is_full && !is_number(label) {
        (label, row)
    } else {
        ("", line)
    }
}

/// The tests of each number after `-i`, in the order in which they run. Numbers above have no column.
const NUMBERED: [&[IozoneTest]; 8] = [
    &[IozoneTest::Write, IozoneTest::Rewrite],
    &[IozoneTest::Read, IozoneTest::Reread],
    &[IozoneTest::RandomRead, IozoneTest::RandomWrite],
    &[IozoneTest::BackwardRead],
    &[IozoneTest::RecordRewrite],
    &[IozoneTest::StridedRead],
    &[IozoneTest::Fwrite, IozoneTest::Frewrite],
    &[IozoneTest::Fread, IozoneTest::Freread],
];

/// The tests that a command line selects with `-i 0 -i 1` or `-i0`; none if it selects none.
fn selected_tests(command: &str) -> Option<Vec<IozoneTest>> {
    let mut words = command.split_whitespace();
    let mut numbers = Vec::new();
    while let Some(word) = words.next() {
        match word.strip_prefix("-i") {
            Some("") => numbers.push(words.next()?.parse::<usize>().ok()?),
            Some(number) => numbers.push(number.parse().ok()?),
            None => {}
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    let tests = numbers.iter().filter_map(|number| NUMBERED.get(*number)).copied();
    (!numbers.is_empty()).then(|| tests.flatten().copied().collect())
}

fn is_heading(line: &str) -> bool {
    let mut words = line.split_whitespace();
    matches!(words.next(), Some("kB" | "KB")) && words.next() == Some("reclen")
}

/// What the last line of the heading says of each column.
const COLUMNS: [&str; 13] = [
    "write", "rewrite", "read", "reread", "read", "write", "read", "rewrite", "read", "fwrite", "frewrite",
    "fread", "freread",
];

/// The tests of a heading, which may be cut off after any of them. If some are missing before others, only names that
/// one test has identify it.
fn tests_of(heading: &str) -> Result<Vec<IozoneTest>, String> {
    let names: Vec<&str> = heading.split_whitespace().skip(2).collect();
    if names.len() > COLUMNS.len() {
        return Err("its table has more than 13 columns".to_owned());
    }
    if COLUMNS.starts_with(&names) {
        return Ok(IozoneTest::ALL[..names.len()].to_vec());
    }
    let test = |name: &&str| {
        let mut places = (0..COLUMNS.len()).filter(|&at| COLUMNS[at] == *name);
        match (places.next(), places.next()) {
            (Some(only), None) => Ok(IozoneTest::ALL[only]),
            _ => Err(format!(
                "the heading of its table was changed: which test is in the column `{name}` is not known"
            )),
        }
    };
    names.iter().map(test).collect()
}

/// From this column on, IOzone prints figures below the headings of others if tests before them did not run.
const ALIGNED_COLUMNS: usize = 9;

/// The figures of a row. A full row needs no alignment, which pages and mails lose, nor does one whose tests are known.
fn figures(
    line: &str,
    headings: &[usize],
    tests: &[IozoneTest],
    selected: Option<&[IozoneTest]>,
) -> Result<Vec<(IozoneTest, f64)>, String> {
    let words: Vec<(&str, usize)> = words_with_ends(line).collect();
    let is_full = words.len() == headings.len();
    if let Some(selected) = selected.filter(|selected| !is_full && selected.len() == words.len() - 2) {
        let figures = selected.iter().zip(&words[2..]);
        let figures: Result<Vec<_>, String> =
            figures.map(|(test, (number, _))| Ok((*test, rate(number)?))).collect();
        return figures;
    }
    let (shift, ends) = (words[0].1.abs_diff(headings[0]), &headings[2..]);
    let moved = |end: usize| {
        if words[0].1 > headings[0] {
            end.saturating_sub(shift)
        } else {
            end + shift
        }
    };
    let mut figures: Vec<(IozoneTest, f64)> = Vec::new();
    for (place, (number, end)) in words[2..].iter().enumerate() {
        let nearest = || (0..ends.len()).find(|&at| ends[at].abs_diff(moved(*end)) <= 2);
        let column = if is_full { Some(place) } else { nearest() };
        if column.is_some_and(|column| column >= ALIGNED_COLUMNS && column != place) {
            return Err(format!(
                "`{number}` is in a table with columns left out, and IOzone does not print such figures below their \
                 headings: keep its line `Command line used`, whose options -i say which tests they are of"
            ));
        }
        let Some(&test) = column.and_then(|column| tests.get(column)) else {
            return Err(format!("`{number}` is below no heading"));
        };
        if figures.iter().any(|(other, _)| *other == test) {
            return Err(format!("two values are in the column of {}", test.name()));
        }
        figures.push((test, rate(number)?));
    }
    Ok(figures)
}

fn words_with_ends(line: &str) -> impl Iterator<Item = (&str, usize)> {
    line.split_whitespace()
        .map(move |word| (word, word.as_ptr() as usize - line.as_ptr() as usize + word.len()))
}

fn rate(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    number
        .filter(|number| (0.0..=RATE_MAX).contains(number))
        .ok_or_else(|| format!("`{text}` is not a number that can be measured"))
}

#[cfg(test)]
mod tests;
