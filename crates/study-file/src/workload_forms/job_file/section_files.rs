//! The files of sections: one for each job, or those that sections share by `filename`; and their sizes.

use super::{Raw, Refusal};
use crate::schema::fio_files::ON_THE_STACK;
use crate::syntax::unit::describe_size;
use std::collections::BTreeMap;
use study::workload::fio_bytes;

/// Where a section reads and writes.
#[derive(Debug, Default)]
pub(super) struct SectionFiles {
    /// Numbers of the files that its jobs share; empty if each job has its own.
    pub shared: Vec<u32>,
    pub jobs: u32,
    /// Number of files of each job.
    pub files: u32,
    /// Total size of its files, or those of each job.
    pub file_bytes: u64,
    /// Bytes that each job uses of them.
    pub size_bytes: u64,
    pub offset_bytes: u64,
}

#[derive(Debug, Default)]
pub(super) struct FilesBySection {
    pub of_sections: Vec<SectionFiles>,
    pub notes: Vec<String>,
}

/// A size in a job file.
#[derive(Clone, Copy, Debug)]
enum Amount {
    Bytes(u64),
    /// A share of the section's files.
    Percent(u64),
}

impl Amount {
    fn of(self, whole: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(percent) => (u128::from(whole) * u128::from(percent) / 100) as u64,
        }
    }
}

/// A section's own words about its files.
struct Wanted {
    names: Vec<String>,
    shared: Vec<u32>,
    jobs: u32,
    files: u32,
    size: Option<Amount>,
    offset: Amount,
    increment: u64,
    /// Some of it was refused: nothing is concluded from the rest.
    is_broken: bool,
}

/// Options that say how large files are.
const SIZES: [&str; 4] = ["size", "filesize", "filename", "offset"];

impl Wanted {
    /// Total size that its files need, as far as the section says it.
    fn needs(&self) -> Option<u64> {
        let size = match self.size {
            Some(Amount::Bytes(size)) => size,
            _ => return None,
        };
        let offset = match self.offset {
            Amount::Bytes(offset) => offset,
            Amount::Percent(_) => 0,
        };
        let begin = offset.saturating_add(self.increments());
        Some(size.saturating_add(begin.saturating_mul(u64::from(self.files))))
    }

    /// What `offset_increment` adds for the last job.
    fn increments(&self) -> u64 {
        self.increment.saturating_mul(u64::from(self.jobs.saturating_sub(1)))
    }
}

impl FilesBySection {
    pub fn of(sections: &[Raw<'_>], size_of_study: Option<u64>, path: &str) -> (Self, Vec<Refusal>) {
        let mut refused = Vec::new();
        let mut all: Vec<Wanted> = sections.iter().map(|raw| wanted(raw, &mut refused)).collect();
        let mut all_files = Self::default();
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        for wanted in &mut all {
            for name in &wanted.names {
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                wanted.shared.push(*numbers.entry(name.clone()).or_insert(next));
            }
        }
        all_files.notes = notes(sections, &all);
        let mut uses_study = false;
        for (raw, wanted) in sections.iter().zip(&all) {
            let others = all.iter().filter(|other| shares(other, wanted));
            // A file is as large as the section that needs most of it.
            let own = others
                .filter_map(|other| Some(other.needs()? / u64::from(other.files)))
                .max();
            let own = own.map(|bytes| bytes.saturating_mul(u64::from(wanted.files)));
            uses_study |= own.is_none();
            let Some(file_bytes) = own.or(size_of_study) else {
                if !wanted.is_broken {
                    refused.push(no_size(raw, path));
                }
                all_files.of_sections.push(SectionFiles::default());
                continue;
            };
            match files_of(raw, wanted, file_bytes) {
                Ok(files) => all_files.of_sections.push(files),
                Err(refusal) => {
                    refused.push(refusal);
                    all_files.of_sections.push(SectionFiles::default());
                }
            }
        }
        if size_of_study.is_some() && !uses_study && !sections.is_empty() {
            refused.push(Refusal::at(
                path,
                "`size` in the study is for sections without a size, but every section has one",
                "leave `size` out",
            ));
        }
        (all_files, refused)
    }
}

fn shares(one: &Wanted, other: &Wanted) -> bool {
    std::ptr::eq(one, other) || one.shared.iter().any(|number| other.shared.contains(number))
}

fn no_size(raw: &Raw<'_>, path: &str) -> Refusal {
    Refusal::at(
        raw.at,
        format!(
            "[{}] has no `size` in bytes, and its files are not devices",
            raw.heading
        ),
        format!("write fio_file = {{ path = \"{path}\", size = \"4G\" }} in the study, or size=4g in the section"),
    )
}

/// The files of a section, which have this size.
fn files_of(raw: &Raw<'_>, wanted: &Wanted, file_bytes: u64) -> Result<SectionFiles, Refusal> {
    let each = file_bytes / u64::from(wanted.files);
    let offset = wanted.offset.of(each);
    let begin = offset.saturating_add(wanted.increments());
    let rest = each.saturating_sub(begin).saturating_mul(u64::from(wanted.files));
    // Per cent are of the files, and end with them.
    let size_bytes = match wanted.size {
        None => rest,
        Some(size) => size.of(file_bytes).min(rest),
    };
    if size_bytes == 0 {
        return Err(Refusal::at(
            raw.place_of("offset"),
            format!(
                "the jobs of [{}] begin at {}, but its files have {}",
                raw.heading,
                describe_size(begin),
                describe_size(each)
            ),
            "write a smaller `offset` or `offset_increment`, or a larger `size`",
        ));
    }
    Ok(SectionFiles {
        shared: wanted.shared.clone(),
        jobs: wanted.jobs,
        files: wanted.files,
        file_bytes,
        size_bytes,
        offset_bytes: offset,
    })
}

fn wanted(raw: &Raw<'_>, refused: &mut Vec<Refusal>) -> Wanted {
    let count = |wanted: &str, refused: &mut Vec<Refusal>| match raw.text(wanted).map(str::parse::<u32>) {
        None => 1,
        Some(Ok(number)) if number > 0 => number,
        _ => {
            let message = format!("`{wanted}` of [{}] is not a number from 1", raw.heading);
            refused.push(Refusal::at(raw.place_of(wanted), message, format!("write {wanted}=1")));
            1
        }
    };
    let names = names(raw);
    let jobs = count("numjobs", refused);
    let files = match u32::try_from(names.len()).unwrap_or(u32::MAX) {
        0 => count("nrfiles", refused),
        files => files,
    };
    let mut bytes = |name: &str| {
        let said = raw.said(name)?;
        let amount = amount(&said.value);
        if amount.is_none() {
            let message = format!("`{name}` of [{}] is `{}`, which is not a size", raw.heading, said.value);
            refused.push(Refusal::at(said.at, message, format!("write {name}=512m")));
        }
        amount
    };
    let (size, file, offset) = (bytes("size"), bytes("filesize"), bytes("offset"));
    let increment = bytes("offset_increment");
    let of_files = match file {
        Some(Amount::Bytes(file)) => Some(file.saturating_mul(u64::from(files))),
        _ => None,
    };
    if let (Some(Amount::Bytes(size)), Some(files)) = (size, of_files)
        && size != files
    {
        refused.push(Refusal::at(
            raw.place_of("filesize"),
            format!("[{}] has a `size` and a `filesize` that differ", raw.heading),
            "write one of the two",
        ));
    }
    let increment = match increment {
        None => 0,
        Some(Amount::Bytes(bytes)) if !names.is_empty() => bytes,
        Some(_) => {
            refused.push(Refusal::at(
                raw.place_of("offset_increment"),
                format!(
                    "`offset_increment` of [{}] needs bytes and a `filename` that its jobs share",
                    raw.heading
                ),
                "add `filename`, or take the line out: each job has its own file",
            ));
            0
        }
    };
    Wanted {
        names,
        shared: Vec::new(),
        jobs,
        files,
        // 0 is everything, as fio has it.
        size: size
            .filter(|size| !matches!(size, Amount::Bytes(0)))
            .or(of_files.map(Amount::Bytes)),
        offset: offset.unwrap_or(Amount::Bytes(0)),
        increment,
        is_broken: SIZES.iter().any(|name| raw.refused.contains(*name))
            || (raw.said("size").is_some() && size.is_none())
            || (raw.said("filesize").is_some() && file.is_none()),
    }
}

/// `512m` or `50%`.
fn amount(text: &str) -> Option<Amount> {
    match text.strip_suffix('%') {
        None => fio_bytes(text).map(Amount::Bytes),
        Some(percent) => percent
            .parse()
            .ok()
            .filter(|percent| *percent <= 100)
            .map(Amount::Percent),
    }
}

/// Paths of the files of `filename`, which a colon separates.
fn names(raw: &Raw<'_>) -> Vec<String> {
    let Some(value) = raw.text("filename") else {
        return Vec::new();
    };
    let escaped = value.replace("\\:", "\0");
    let folder = raw.text("directory").unwrap_or_default();
    let name = |name: &str| match name.starts_with('/') || folder.is_empty() {
        true => name.replace('\0', ":"),
        false => format!("{folder}/{}", name.replace('\0', ":")),
    };
    escaped.split(':').filter(|part| !part.is_empty()).map(name).collect()
}

/// Which names are which files, and who uses them.
fn notes(sections: &[Raw<'_>], all: &[Wanted]) -> Vec<String> {
    let mut users: BTreeMap<u32, (&str, Vec<String>)> = BTreeMap::new();
    for (raw, wanted) in sections.iter().zip(all) {
        for (name, number) in wanted.names.iter().zip(&wanted.shared) {
            let (_, users) = users.entry(*number).or_insert((name, Vec::new()));
            users.push(format!("[{}]", raw.heading));
        }
    }
    let words = |(name, users): (&str, Vec<String>)| {
        format!("`filename={name}` is a file on the stack, of {}", users.join(" "))
    };
    let mut notes: Vec<String> = users.into_values().map(words).collect();
    let has_folder = |raw: &Raw<'_>| raw.said("directory").is_some();
    if sections.iter().any(has_folder) {
        notes.push(format!("`directory` has no effect: {ON_THE_STACK}"));
    }
    notes
}
