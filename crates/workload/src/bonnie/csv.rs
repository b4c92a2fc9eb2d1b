//! Bonnie++'s line of comma-separated values, in the formats of its versions 1.03, 1.96, 1.97 and 1.98 (which 2.00
//! prints).
//!
//! Source: `bon_csv2html(1)`, and the output of the versions: 1.03 begins with the machine's name and has 27 values
//! without latencies; 1.96 and 1.97 begin with the format's version and have 48; 1.98 adds the number of seeks and of
//! seekers.

use std::collections::HashSet;
use std::time::Duration;
use study::workload::{BONNIE_FILE_TESTS, BONNIE_TESTS};

/// A petabyte per second in KiB, and more than the CPU usage of any machine in per cent.
const RATE_MAX: f64 = 1e12;
/// A year.
const LATENCY_MAX: Duration = Duration::from_secs(366 * 86400);

/// Results of a run of Bonnie++.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// The format, `1.98`; `1.03` for the old one, which has no version field.
    pub(crate) format: String,
    /// Bonnie++'s own version, if the format has it.
    pub(crate) version: Option<String>,
    pub(crate) machine: String,
    /// As printed, `64M`.
    pub(crate) size: String,
    /// As printed; empty if unknown.
    pub(crate) processes: String,
    /// Number of files in units of 1024, with what else is known of them: `16`, `16:4096`.
    pub(crate) files: String,
    columns: Vec<(Column, Option<Duration>)>,
    /// What was left out of it, and why.
    pub(crate) note: Option<&'static str>,
}

/// One test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Column {
    /// Not run.
    Absent,
    /// `+++++`: too short to have a figure.
    TooShort,
    /// KiB, seeks or files per second, and CPU usage.
    Figure { rate: f64, cpu_percent: Option<f64> },
}

/// All tests in the order of the line.
fn all_tests() -> impl Iterator<Item = &'static str> {
    BONNIE_TESTS.into_iter().chain(BONNIE_FILE_TESTS)
}

/// Positions of the values in a line.
struct Shape {
    columns: usize,
    machine: usize,
    size: usize,
    processes: Option<usize>,
    /// The values that describe the files.
    files: std::ops::Range<usize>,
    /// Start of the first six tests, and of the last six.
    rates: [usize; 2],
    latencies: Option<usize>,
}

const OLD: Shape = Shape {
    columns: 27,
    machine: 0,
    size: 1,
    processes: None,
    files: 14..15,
    rates: [2, 15],
    latencies: None,
};
const V1_97: Shape = Shape {
    columns: 48,
    machine: 2,
    size: 5,
    processes: Some(3),
    files: 19..23,
    rates: [7, 24],
    latencies: Some(36),
};
const V1_98: Shape = Shape {
    columns: 50,
    machine: 2,
    size: 5,
    processes: Some(3),
    files: 21..25,
    rates: [9, 26],
    latencies: Some(38),
};

impl Line {
    /// A line without figures.
    pub(super) fn empty(version: String, machine: String, size: String) -> Self {
        Self {
            format: "table".to_owned(),
            version: (!version.is_empty()).then_some(version),
            machine,
            size,
            processes: String::new(),
            files: String::new(),
            note: None,
            columns: vec![(Column::Absent, None); all_tests().count()],
        }
    }

    /// Sets the columns of tests, by their number after the first.
    pub(super) fn set(&mut self, first: usize, columns: Vec<(usize, Column)>) {
        for (at, column) in columns {
            self.columns[first + at].0 = column;
        }
    }

    pub(super) fn is_there(&self, test: usize) -> bool {
        self.columns[test].0 != Column::Absent
    }

    pub(super) fn set_longest_wait(&mut self, test: usize, longest: Option<Duration>) {
        self.columns[test].1 = longest;
    }

    pub(crate) fn column(&self, test: &str) -> Column {
        let at = all_tests().position(|known| known == test);
        at.map_or(Column::Absent, |at| self.columns[at].0)
    }

    pub(crate) fn longest_wait(&self, test: &str) -> Option<Duration> {
        let at = all_tests().position(|known| known == test)?;
        self.columns[at].1
    }

    /// The tests that have a figure, or that were too short for one.
    pub(crate) fn tests(&self) -> Vec<&'static str> {
        let there = |test: &&'static str| self.column(test) != Column::Absent;
        all_tests().filter(there).collect()
    }

    /// Parses one line; the error if it is invalid.
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let mut fields: Vec<&str> = line.trim().split(',').map(str::trim).collect();
        let (format, shape) = match fields[0] {
            format @ ("1.96" | "1.97") => (format, &V1_97),
            "1.98" => ("1.98", &V1_98),
            first if first.parse::<f64>().is_ok() => {
                return Err(format!(
                    "its format {first} is unknown: 1.03, 1.96, 1.97 and 1.98 are supported"
                ));
            }
            _ => ("1.03", &OLD),
        };
        // 1.03 writes a chunk size that is not its default as a value of its own.
        let chunk = (fields.len() == shape.columns + 1 && format == "1.03").then(|| fields.remove(2));
        if fields.len() != shape.columns {
            return Err(format!(
                "a line of the format {format} has {} values, but this one has {}",
                shape.columns,
                fields.len()
            ));
        }
        let column = |test: usize| -> Result<(Column, Option<Duration>), String> {
            let at = shape.rates[test / 6] + 2 * (test % 6);
            let wait = match shape.latencies {
                Some(first) => duration(fields[first + test])?,
                None => None,
            };
            Ok((figure(fields[at], fields[at + 1])?, wait))
        };
        Ok(Self {
            format: format.to_owned(),
            version: (format != "1.03").then(|| fields[1].to_owned()),
            machine: fields[shape.machine].to_owned(),
            size: match chunk {
                Some(chunk) => format!("{}:{chunk}", fields[shape.size]),
                None => fields[shape.size].to_owned(),
            },
            processes: shape.processes.map_or("", |at| fields[at]).to_owned(),
            files: files(&fields[shape.files.clone()]),
            note: None,
            columns: (0..all_tests().count()).map(column).collect::<Result<_, _>>()?,
        })
    }
}

/// As the table says it: `16`, or `1:20000:1000/3` with sizes and a number of directories.
fn files(fields: &[&str]) -> String {
    let (sizes, directories) = fields.split_at(fields.len().min(3));
    let mut words = sizes.join(":").trim_end_matches(':').to_owned();
    if let Some(directories) = directories.first().filter(|directories| !directories.is_empty()) {
        words = format!("{words}/{directories}");
    }
    words
}

pub(super) fn figure(rate: &str, cpu: &str) -> Result<Column, String> {
    match rate {
        "" => return Ok(Column::Absent),
        plus if plus.bytes().all(|byte| byte == b'+') => return Ok(Column::TooShort),
        _ => {}
    }
    let number = |text: &str| {
        let number = text
            .parse::<f64>()
            .ok()
            .filter(|number| (0.0..=RATE_MAX).contains(number));
        number.ok_or_else(|| format!("`{text}` is not a number that can be measured"))
    };
    let cpu_percent = match cpu {
        "" => None,
        plus if plus.bytes().all(|byte| byte == b'+') => None,
        percent => Some(number(percent)?),
    };
    Ok(Column::Figure {
        rate: number(rate)?,
        cpu_percent,
    })
}

/// `2840us`, `850ms`, `12s`.
pub(super) fn duration(text: &str) -> Result<Option<Duration>, String> {
    if text.is_empty() || text.bytes().all(|byte| byte == b'+') {
        return Ok(None);
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let wrong = || format!("`{text}` is not a latency");
    let number: u64 = text[..end].parse().map_err(|_| wrong())?;
    let latency = match &text[end..] {
        "us" => Duration::from_micros(number),
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        _ => return Err(wrong()),
    };
    Some(latency)
        .filter(|latency| *latency <= LATENCY_MAX)
        .map_or_else(|| Err(wrong()), |latency| Ok(Some(latency)))
}

/// The only result line in the output of a run.
pub(crate) fn last_line(printed: &str) -> Result<Line, String> {
    let mut lines = lines(printed)?;
    lines
        .pop()
        .ok_or_else(|| "it has no line of comma-separated values".to_owned())
}

/// All result lines in a file or an output. A line of headings is skipped, as are marks of quotation, and a line with a
/// time that is repeated, as instructions for `bon_csv2html` do.
pub(crate) fn lines(printed: &str) -> Result<Vec<Line>, String> {
    let quoted = |c: char| c == '>' || c.is_whitespace();
    let mut seen = HashSet::new();
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(printed.lines()) {
        let in_command = line.split('"').nth(1).filter(|argument| is_line(argument));
        let line = in_command.unwrap_or_else(|| line.trim_matches(quoted));
        if !is_line(line) || line.starts_with("1.9") && !seen.insert(line) {
            continue;
        }
        lines.push(Line::parse(line).map_err(|what| format!("line {number}: {what}"))?);
    }
    Ok(lines)
}

/// Whether a text has pieces of such lines: mail programs wrap them.
pub(crate) fn has_pieces(text: &str) -> bool {
    text.lines().any(|line| line.contains(",+++++,+++,") && !is_line(line))
}

/// Whether the line has values: as many as Bonnie++ prints, and a number or `+++` among them.
fn is_line(line: &str) -> bool {
    let is_value = |field: &str| field.starts_with("++") || field.trim().parse::<f64>().is_ok();
    line.bytes().filter(|byte| *byte == b',').count() >= 20 && line.split(',').skip(1).any(is_value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As printed by Debian's versions: 1.03 and 1.97 from the examples in their manuals, 1.98 by 2.00a.
    const V1_03: &str = "rig,2G,25684,81,30672,14,15186,7,27044,76,44331,10,176.8,0,16,2461,98,+++++,+++,18362,88,2519,98,+++++,+++,5963,92";
    const V1_97: &str = "1.97,1.97,rig,1,1408712345,7G,,672,98,52315,8,30551,6,2744,96,88071,8,221.1,7,16,,,,,17845,27,+++++,+++,24183,27,21437,32,+++++,+++,+++++,+++,18291us,1211ms,1467ms,15337us,165ms,328ms,1002us,385us,404us,113us,22us,76us";
    const V1_98: &str = "1.98,2.00a,m,1,7,64M,,8192,5,48,20,+++++,+++,+++++,+++,44,16,+++++,+++,6668,70,1,,,,,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,850ms,2840us,12148us,454ms,6330us,210ms,3445us,4284us,4375us,7586us,4300us,3760us";

    fn rate(line: &Line, test: &str) -> f64 {
        match line.column(test) {
            Column::Figure { rate, .. } => rate,
            other => panic!("{test}: {other:?}"),
        }
    }

    #[test]
    fn every_format_gives_the_same_columns() {
        let old = Line::parse(V1_03).expect("sound");
        assert_eq!((old.machine.as_str(), old.size.as_str()), ("rig", "2G"));
        assert_eq!(
            [rate(&old, "putc"), rate(&old, "read"), rate(&old, "seeks")],
            [25684.0, 44331.0, 176.8]
        );
        assert_eq!(
            [rate(&old, "create-seq"), rate(&old, "delete-random")],
            [2461.0, 5963.0]
        );
        assert_eq!(
            (old.column("stat-seq"), old.longest_wait("read")),
            (Column::TooShort, None)
        );

        let middle = Line::parse(V1_97).expect("sound");
        assert_eq!(
            [rate(&middle, "putc"), rate(&middle, "read"), rate(&middle, "seeks")],
            [672.0, 88071.0, 221.1]
        );
        assert_eq!(middle.longest_wait("write"), Some(Duration::from_millis(1211)));
        assert_eq!(middle.longest_wait("delete-random"), Some(Duration::from_micros(76)));

        let new = last_line(&format!("Using uid:0\n{V1_98}\n")).expect("sound");
        assert_eq!(
            [rate(&new, "putc"), rate(&new, "getc"), rate(&new, "seeks")],
            [48.0, 44.0, 6668.0]
        );
        assert_eq!(
            (new.column("write"), new.version.as_deref()),
            (Column::TooShort, Some("2.00a"))
        );
        assert_eq!(new.longest_wait("create-seq"), Some(Duration::from_micros(3445)));
    }

    #[test]
    fn odd_lines_say_what_is_odd() {
        let complaint = |line: &str| last_line(line).expect_err(line);
        assert!(complaint("").contains("no line"));
        assert!(complaint("Can't open file ./Bonnie.123").contains("no line"));
        assert!(complaint(&V1_98.replace("1.98,", "3.14,")).contains("3.14 is unknown"));
        assert!(complaint(&V1_98[..V1_98.len() - 8]).contains("50 values, but this one has 49"));
        assert!(complaint(&V1_98.replace(",48,", ",x48,")).contains("`x48` is not a number"));
        assert!(complaint(&V1_98.replace("850ms", "850 parsecs")).contains("not a latency"));
    }

    proptest! {
        #[test]
        fn garbage_panics_nowhere(text in "[0-9+,a-z.]{0,300}") {
            let _ = last_line(&text);
        }
    }
}
