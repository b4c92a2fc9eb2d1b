//! Bonnie++'s table for people, of versions 1.02 to 2.00, for texts without its line of values.
//!
//! Columns of tests that did not run are blank, so a figure is identified by its end, as in IOzone's table.

use super::csv::{Column, Line, duration, figure};
use std::time::Duration;
use study::workload::{BONNIE_FILE_TESTS, BONNIE_TESTS};

/// The tables of a text: one for each machine and size.
pub(crate) fn lines(text: &str) -> Result<Vec<Line>, String> {
    let mut found: Vec<Line> = Vec::new();
    let mut version = String::new();
    let mut processes = String::new();
    let mut part: Option<Part> = None;
    let mut machine = String::new();
    // Rows of the table that began last, and rows of files below several of them, which name none.
    let (mut first_of_table, mut unnamed) = (0, Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let line = unquoted(line).trim_end();
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.contains("--Sequential Output--") || line.contains("--Sequential Create--") {
            if words.first() == Some(&"Version") {
                version = words.get(1).copied().unwrap_or_default().to_owned();
            }
            if line.contains("--Sequential Output--") {
                pair(&mut found[first_of_table..], std::mem::take(&mut unnamed));
                first_of_table = found.len();
            }
            part = None;
        } else if line.contains("-Create-- --Read---") {
            line.split("-Create--")
                .next()
                .unwrap_or_default()
                .trim()
                .clone_into(&mut machine);
        } else if words.first() == Some(&"Concurrency") {
            processes = words.get(1).copied().unwrap_or_default().to_owned();
        } else if words.contains(&"K/sec") && line.matches("/sec").count() < BONNIE_TESTS.len() {
            return Err(format!(
                "line {number}: the heading of its table has not all columns: its lines are wrapped, or it was edited"
            ));
        } else if line.ends_with("/sec %CP") {
            part = Some(Part::new(
                line,
                words.first() == Some(&"files") || line.contains("files:"),
            ));
        } else if words.first() != Some(&"Latency") && words.iter().filter(|word| is_figure(word)).count() < 2 {
            // Between the heading and its row there is nothing.
            if !words.is_empty() {
                part = None;
            }
        } else if let Some(part) = &part {
            let at = |what: String| format!("line {number}: {what}");
            if words.first() == Some(&"Latency") {
                if let Some(line_of) = found.last_mut() {
                    part.latencies(&words[1..], line_of).map_err(at)?;
                }
                continue;
            }
            let (head, columns) = part.row(line, &words).map_err(at)?;
            if part.is_of_files {
                let (name, files) = head
                    .trim()
                    .rsplit_once(char::is_whitespace)
                    .unwrap_or(("", head.trim()));
                if name.trim().is_empty() && found.len() > first_of_table + 1 {
                    unnamed.push((files.to_owned(), columns));
                    continue;
                }
                let one = of_files(&mut found, name.trim(), &version, &machine);
                one.set_files(files.to_owned(), columns);
                continue;
            }
            let head = head.trim_start_matches(['#', '|']);
            let head: Vec<&str> = head.split_whitespace().collect();
            let [machine @ .., size] = &head[..] else { continue };
            let mut one = Line::empty(version.clone(), machine.join(" "), (*size).to_owned());
            one.processes.clone_from(&processes);
            one.set(0, columns);
            found.push(one);
        }
    }
    pair(&mut found[first_of_table..], unnamed);
    Ok(found)
}

/// Several runs below one heading: their rows of files are in the same order, if there are as many; a single one is that of
/// the last run, after which Bonnie++ printed it.
fn pair(table: &mut [Line], files: Vec<(String, Vec<(usize, Column)>)>) {
    let first = match files.len() {
        0 => return,
        1 => table.len() - 1,
        count if count == table.len() => 0,
        _ => {
            for line in table.iter_mut().filter(|line| line.files.is_empty()) {
                line.note = Some("rates of files are left out: which run they are of is not known");
            }
            return;
        }
    };
    for (line, (files, columns)) in table[first..].iter_mut().zip(files) {
        line.set_files(files, columns);
    }
}

impl Line {
    fn set_files(&mut self, files: String, columns: Vec<(usize, Column)>) {
        self.files = files;
        // Its rates are the number of files times 1024.
        if self.version.as_ref().is_some_and(|version| version.starts_with("2.00")) {
            self.note =
                Some("rates of files are left out: Bonnie++ 2.00 prints the number of files in their place");
        } else {
            self.set(BONNIE_TESTS.len(), columns);
        }
    }
}

/// Without marks of quotation.
fn unquoted(line: &str) -> &str {
    let mut line = line;
    while let Some(rest) = line.strip_prefix('>') {
        line = rest.strip_prefix(' ').unwrap_or(rest);
    }
    line
}

/// The line of which a row of files is part: that of the machine which it names, else the last one. With `-s 0` there is
/// none before it.
fn of_files<'a>(found: &'a mut Vec<Line>, name: &str, version: &str, machine: &str) -> &'a mut Line {
    let is_named = |line: &Line| !name.is_empty() && line.machine == name && line.files.is_empty();
    let named = found.iter().position(is_named);
    let last = found.iter().rposition(|line| line.files.is_empty());
    let at = named.or(last).unwrap_or_else(|| {
        let machine = if name.is_empty() { machine } else { name };
        found.push(Line::empty(version.to_owned(), machine.to_owned(), String::new()));
        found.len() - 1
    });
    &mut found[at]
}

/// What is before the figures, and the figures.
type Row<'a> = (&'a str, Vec<(usize, Column)>);

/// A heading.
struct Part {
    is_of_files: bool,
    /// Where the first column of figures begins.
    first: usize,
    /// Ends of the rates.
    ends: Vec<usize>,
}

impl Part {
    fn new(line: &str, is_of_files: bool) -> Self {
        let ends: Vec<usize> = line.match_indices("/sec").map(|(at, word)| at + word.len()).collect();
        Self {
            is_of_files,
            first: ends.first().map_or(0, |end| end.saturating_sub(6)),
            ends,
        }
    }

    /// A full row needs no alignment.
    fn row<'a>(&self, line: &'a str, words: &[&'a str]) -> Result<Row<'a>, String> {
        if let Some((_, figures)) = words.split_last_chunk::<12>()
            && words.len() > figures.len()
            && figures.iter().all(|word| is_figure(word))
        {
            let first = figures[0].as_ptr() as usize - line.as_ptr() as usize;
            let columns = figures
                .chunks(2)
                .enumerate()
                .map(|(at, pair)| Ok((at, figure(&kib(pair[0]), pair[1])?)));
            let mut columns: Vec<(usize, Column)> = columns.collect::<Result<_, String>>()?;
            columns.retain(|(_, column)| is_measured(column));
            return Ok((&line[..first], columns));
        }
        let head = line.get(..self.first).unwrap_or(line);
        Ok((head, self.columns(line)?))
    }

    /// The tests of the row, by position.
    fn columns(&self, line: &str) -> Result<Vec<(usize, Column)>, String> {
        let mut columns: Vec<(usize, Column)> = Vec::new();
        let mut words = line
            .split_whitespace()
            .map(|word| (word, word.as_ptr() as usize - line.as_ptr() as usize + word.len()))
            .filter(|(_, end)| self.ends.first().is_some_and(|first| end + 2 > *first))
            .peekable();
        while let Some((rate, end)) = words.next() {
            let nearest = (0..self.ends.len()).min_by_key(|&at| self.ends[at].abs_diff(end));
            let Some(at) = nearest.filter(|&at| self.ends[at].abs_diff(end) <= 3) else {
                return Err(format!(
                    "`{rate}` is below no heading: the columns of the table are not where Bonnie++ prints them"
                ));
            };
            let cpu = words.next().map_or("", |(word, _)| word);
            columns.push((at, figure(&kib(rate), cpu)?));
        }
        columns.retain(|(_, column)| is_measured(column));
        Ok(columns)
    }

    /// Latencies have no CPU usage; they belong to the tests that have figures, in their order.
    fn latencies(&self, words: &[&str], line: &mut Line) -> Result<(), String> {
        let (first, tests) = match self.is_of_files {
            true => (BONNIE_TESTS.len(), BONNIE_FILE_TESTS.len()),
            false => (0, BONNIE_TESTS.len()),
        };
        let there: Vec<usize> = (first..first + tests).filter(|&at| line.is_there(at)).collect();
        if there.len() != words.len() {
            return Ok(());
        }
        for (at, word) in there.into_iter().zip(words) {
            let longest: Option<Duration> = duration(word)?;
            line.set_longest_wait(at, longest);
        }
        Ok(())
    }
}

/// bon_csv2txt(1) prints 0 for what had no figure.
fn is_measured(column: &Column) -> bool {
    !matches!(column, Column::Figure { rate, .. } if *rate <= 0.0)
}

fn is_figure(word: &str) -> bool {
    word.bytes().all(|byte| byte == b'+') || kib(word).parse::<f64>().is_ok()
}

/// Version 2 writes `1.4g` and `376k` for KiB/s.
fn kib(rate: &str) -> String {
    let factor = match rate.chars().last() {
        Some('k') => 1.0,
        Some('m') => 1024.0,
        Some('g') => 1024.0 * 1024.0,
        _ => return rate.to_owned(),
    };
    let number = rate[..rate.len() - 1].parse::<f64>();
    number.map_or_else(|_| rate.to_owned(), |number| (number * factor).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Facts of public tables (a mailing list of 2005, a kernel patch of 2024).
    const V1_03: &str = "\
Version  1.03       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
rig              2G 30641  71 28554   8 16580   3 29447  61 50313   5 185.9   0
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16 28156 100 +++++ +++ 25285  99 24020  93 +++++ +++ 22937  99
";
    const V2_00: &str = "\
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
rig            7501M            1.4g  96  117m  14            2.5g  95 +++++ +++
Latency                       24976us    2944ms             71770us   26152us
";

    fn rate(line: &Line, test: &str) -> Option<f64> {
        match line.column(test) {
            Column::Figure { rate, .. } => Some(rate),
            _ => None,
        }
    }

    #[test]
    fn a_table_without_its_line_of_values_is_read_by_its_columns() {
        let [old] = &lines(V1_03).expect("a table")[..] else {
            panic!("one")
        };
        assert_eq!(
            (old.machine.as_str(), old.size.as_str(), old.files.as_str()),
            ("rig", "2G", "16")
        );
        assert_eq!(
            ["putc", "read", "seeks", "create-seq", "delete-random"].map(|test| rate(old, test)),
            [30641.0, 50313.0, 185.9, 28156.0, 22937.0].map(Some)
        );
        assert_eq!(old.column("stat-seq"), Column::TooShort);
        let [new] = &lines(V2_00).expect("a table")[..] else {
            panic!("one")
        };
        assert_eq!(
            ["putc", "write", "rewrite", "read"].map(|test| rate(new, test)),
            [
                None,
                Some(1.4 * 1024.0 * 1024.0),
                Some(117.0 * 1024.0),
                Some(2.5 * 1024.0 * 1024.0)
            ]
        );
        assert_eq!(new.longest_wait("rewrite"), Some(Duration::from_millis(2944)));
    }
}
