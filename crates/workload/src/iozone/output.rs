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

/// Tests with KiB/s, in the order of the output; the error if it is not IOzone's output.
pub(crate) fn parse(printed: &str) -> Result<Vec<(IozoneTest, f64)>, String> {
    if !printed.contains("iozone test complete") {
        return Err("it does not end with `iozone test complete`".to_owned());
    }
    if printed.contains("Output is in ops/sec") || printed.contains("Output is in microseconds") {
        return Err("its figures are not in kB/s: run it without -O and -N".to_owned());
    }
    let mut found = throughput(printed)?;
    found.extend(table(printed)?);
    if found.is_empty() {
        return Err("it has no figure".to_owned());
    }
    Ok(found)
}

/// `Children see throughput for  2 initial writers = 381378.19 kB/sec`
fn throughput(printed: &str) -> Result<Vec<(IozoneTest, f64)>, String> {
    let mut found = Vec::new();
    for line in printed.lines() {
        let Some(rest) = line.trim().strip_prefix("Children see throughput for") else {
            continue;
        };
        let (who, figure) = rest
            .split_once('=')
            .ok_or_else(|| format!("`{}` has no figure", line.trim()))?;
        let who = who.trim().trim_start_matches(|c: char| c.is_ascii_digit()).trim();
        let Some((_, test)) = CHILDREN.iter().find(|(words, _)| *words == who) else {
            continue;
        };
        let number = figure.split_whitespace().next().unwrap_or_default();
        found.push((*test, rate(number)?));
    }
    Ok(found)
}

/// Columns of tests that were not selected are blank, so a figure is identified by its end: below the last letter
/// of the heading, plus or minus one, whatever the column widths of the version.
fn table(printed: &str) -> Result<Vec<(IozoneTest, f64)>, String> {
    let mut lines = printed.lines();
    let is_heading = |line: &&str| {
        let mut words = line.split_whitespace();
        matches!(words.next(), Some("kB" | "KB")) && words.next() == Some("reclen")
    };
    let Some(heading) = lines.find(is_heading) else {
        return Ok(Vec::new());
    };
    let headings: Vec<usize> = words_with_ends(heading).skip(2).map(|(_, end)| end).collect();
    if headings.len() < IozoneTest::ALL.len() {
        return Err(format!("its table has {} columns instead of 13", headings.len()));
    }
    let mut found = Vec::new();
    for line in lines.take_while(|line| !line.trim().is_empty()) {
        for (number, end) in words_with_ends(line).skip(2) {
            let nearest = (0..IozoneTest::ALL.len()).min_by_key(|&at| headings[at].abs_diff(end));
            let test = IozoneTest::ALL[nearest.unwrap_or(0)];
            if found.iter().any(|(other, _)| *other == test) {
                return Err("its table has several rows: run it with one file size and one record size".to_owned());
            }
            found.push((test, rate(number)?));
        }
    }
    Ok(found)
}

fn words_with_ends(line: &str) -> impl Iterator<Item = (&str, usize)> {
    line.split_whitespace()
        .map(move |word| (word, word.as_ptr() as usize - line.as_ptr() as usize + word.len()))
}

fn rate(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    number
        .filter(|number| number.is_finite() && *number >= 0.0)
        .ok_or_else(|| format!("`{text}` is not a number"))
}

#[cfg(test)]
mod tests;
