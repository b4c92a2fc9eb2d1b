//! Parses an fio job file to sections; the error is the reason why a study may not use it.

use crate::Known;
use crate::schema::fio_options::{FIO_OPTIONS, canonical, is_of_files, refusal, wrong_value};
use crate::schema::key::Table;
use crate::syntax::diagnostic::suggest;
use crate::syntax::named_file::{self, FileError, FileKind};
use study::workload::{FioFileSpec, FioSection, IoPattern, fio_bytes, fio_nanoseconds};

const JOB_FILE: FileKind = FileKind {
    words: "a job file",
    bytes_max: 256 << 10,
    help: "name a job file in the folder of the study",
};
const SECTIONS_MAX: usize = 1000;
const SECOND_NS: u64 = 1_000_000_000;

/// Reads the file that a study names, from the study's folder.
pub(crate) fn read(path: &str, known: &Known) -> Result<(FioFileSpec, String), FileError> {
    let text = named_file::read(path, known, &JOB_FILE)?;
    let sections = parse(&text).map_err(|(line, message, help)| (format!("{path}:{line}: {message}"), help))?;
    let path = path.to_owned();
    Ok((FioFileSpec { path, sections }, text))
}

/// Parses the sections of a job file; the error is the line, the problem and a suggestion.
fn parse(text: &str) -> Result<Vec<FioSection>, (usize, String, String)> {
    type Options = Vec<(String, String)>;
    let mut global = Options::new();
    let mut sections: Vec<(usize, String, Options)> = Vec::new();
    let mut in_global = false;
    let mut last_line = 0;
    for (number, line) in (1..).zip(text.lines()) {
        last_line = number;
        let at = |(message, help): FileError| (number, message, help);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            in_global = name == "global";
            if !in_global {
                check_name(name).map_err(at)?;
                if sections.len() == SECTIONS_MAX || sections.iter().any(|(_, other, _)| other == name) {
                    let message = format!("duplicate section `{name}`, or more than {SECTIONS_MAX} sections");
                    return Err((number, message, "give every section a different name".to_owned()));
                }
                sections.push((number, name.to_owned(), global.clone()));
            }
            continue;
        }
        let (name, value) = line.split_once('=').unwrap_or((line, "1"));
        let option = option(name.trim(), value.trim()).map_err(at)?;
        let place = match sections.last_mut() {
            _ if in_global => &mut global,
            Some((_, _, options)) => options,
            None => {
                let message = format!("`{line}` is before the first section");
                return Err((
                    number,
                    message,
                    "begin with [global] or a job's name in brackets".to_owned(),
                ));
            }
        };
        // fio uses the last one.
        place.retain(|(other, _)| *other != option.0);
        place.push(option);
    }
    if sections.is_empty() {
        let message = "there is no job section".to_owned();
        return Err((
            last_line.max(1),
            message,
            "write a job's name in brackets, then its options".to_owned(),
        ));
    }
    sections
        .into_iter()
        .map(|(line, name, options)| section(name, options).map_err(|(message, help)| (line, message, help)))
        .collect()
}

fn check_name(name: &str) -> Result<(), FileError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain) && !name.starts_with('.') {
        return Ok(());
    }
    Err((
        format!("`{name}` cannot name a job: files and tests get its name"),
        "letters, digits, - _ and . only".to_owned(),
    ))
}

/// Whether a study may use the option.
fn option(name: &str, value: &str) -> Result<(String, String), FileError> {
    let name = canonical(name).to_lowercase();
    if let Some(reason) = refusal(&name) {
        return Err((reason, "take the line out".to_owned()));
    }
    // raidlab sums the jobs of a section, so that its figures can be compared.
    let typed = Table::Io.key(&name).is_some() || name == "buffered";
    if !typed && !is_of_files(&name) && !FIO_OPTIONS.iter().any(|key| key.name == name) {
        let known: Vec<&str> = Table::Fio.keys().map(|key| key.name).collect();
        let help = match crate::syntax::diagnostic::nearest(&name, known.iter().copied()) {
            Some(_) => suggest(&name, &known),
            None => "docs/study.md lists the fio options that a study may use".to_owned(),
        };
        return Err((format!("a study must not use the fio option `{name}`"), help));
    }
    if name == "description" {
        return Ok((name, String::new()));
    }
    match wrong_value(&name, value) {
        Some(wrong) => Err(wrong),
        None => Ok((name, value.to_owned())),
    }
}

fn section(name: String, mut options: Vec<(String, String)>) -> Result<FioSection, FileError> {
    options.retain(|(name, _)| name != "description");
    let text = |wanted: &str| {
        options
            .iter()
            .find(|(name, _)| name == wanted)
            .map(|(_, value)| value.as_str())
    };
    let rw = text("rw").unwrap_or("read").to_lowercase();
    let word = rw.split(':').next().unwrap_or_default();
    let Some(pattern) = IoPattern::from_name(word) else {
        let names: Vec<&str> = IoPattern::ALL.iter().map(|pattern| pattern.name()).collect();
        return Err((
            format!("`rw` cannot be `{rw}` here"),
            crate::syntax::diagnostic::enumerate(&names),
        ));
    };
    let size = |wanted: &str| text(wanted).map(|value| (value, fio_bytes(value)));
    let size_bytes = match size("size") {
        Some((_, Some(bytes))) if bytes > 0 => bytes,
        Some((value, _)) => {
            return Err((
                format!("`size` of [{name}] is `{value}`, which is not a number of bytes"),
                "write size=512m".to_owned(),
            ));
        }
        None => return Err((format!("[{name}] has no `size`"), "write size=512m".to_owned())),
    };
    // With several block sizes, the first one is used to prepare the files.
    let block_bytes = size("bs").and_then(|(_, bytes)| bytes).filter(|bytes| *bytes > 0);
    let count = |wanted: &str| match text(wanted).map(str::parse::<u32>) {
        None => Ok(1),
        Some(Ok(number)) if number > 0 => Ok(number),
        _ => Err((
            format!("`{wanted}` of [{name}] is not a number from 1"),
            format!("write {wanted}=1"),
        )),
    };
    let flag = |wanted: &str| text(wanted).is_some_and(|value| value != "0");
    Ok(FioSection {
        jobs: count("numjobs")?,
        files: count("nrfiles")?,
        runtime_ns: text("runtime").and_then(|time| fio_nanoseconds(time, SECOND_NS)),
        direct: flag("direct") || text("buffered") == Some("0"),
        end_fsync: flag("end_fsync"),
        block_bytes: block_bytes.unwrap_or(4 << 10),
        size_bytes,
        pattern,
        name,
        options,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
; a comment
[global]
bs=64k
size=16m
direct=1
description=x $(y) '
[fill]
rw=write
end_fsync

[look]
stonewall
readwrite=randread:8
blocksize=4k
numjobs=2
runtime=1500ms
";

    #[test]
    fn sections_have_what_global_says_before_them() {
        let sections = parse(FILE).expect("sound");
        let [fill, look] = &sections[..] else { panic!("two") };
        assert_eq!(
            (fill.name.as_str(), fill.pattern, fill.block_bytes),
            ("fill", IoPattern::Write, 64 << 10)
        );
        assert!(fill.direct && fill.end_fsync && !look.end_fsync);
        assert_eq!(
            (look.pattern, look.block_bytes, look.jobs),
            (IoPattern::RandRead, 4 << 10, 2)
        );
        assert_eq!(look.runtime_ns, Some(1_500_000_000));
        let words: Vec<String> = look
            .options
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            words,
            [
                "size=16m",
                "direct=1",
                "stonewall=1",
                "rw=randread:8",
                "bs=4k",
                "numjobs=2",
                "runtime=1500ms"
            ]
        );
    }

    #[test]
    fn what_reaches_outside_is_refused_with_its_line_and_reason() {
        let of = |line: &str| {
            let (at, message, _) = parse(&format!("[a]\nsize=1m\n{line}\n")).expect_err(line);
            assert!(at == 3 || at == 1, "{line}: {at}");
            message
        };
        for (line, word) in [
            ("exec_prerun=rm -rf /", "runs commands"),
            ("filename=/dev/sda", "names files or devices"),
            ("directory=/etc", "names files or devices"),
            ("ioengine=external:/tmp/x.so", "another program"),
            ("ioengine=net", "not an engine"),
            ("write_bw_log=/etc/x", "writes logs"),
            ("read_iolog=x", "outside the stack"),
            ("include other.fio", "must not use the fio option"),
            ("include=other.fio", "affects more than the study"),
            ("verify_pattern='/etc/passwd'", "contains `\\'`"),
            ("rate=$ncpus*2", "contains `$`"),
            ("size=`id`", "contains ```"),
            ("some_new_option=1", "must not use the fio option"),
            ("mem=mmap:/etc/x", "`mem` cannot be"),
            ("thinktime_spin=5", "virtual time"),
            ("rw=trim", "`rw` cannot be"),
            ("size=10%", "not a number of bytes"),
            ("numjobs=0", "not a number"),
            ("[../x]", "cannot name a job"),
        ] {
            let message = of(line);
            assert!(message.contains(word), "{line}: {message}");
        }
        assert!(
            parse("[global]\nbs=4k\n")
                .expect_err("no job")
                .1
                .contains("no job section")
        );
        assert!(
            parse("bs=4k\n")
                .expect_err("no section")
                .1
                .contains("before the first section")
        );
    }
}
