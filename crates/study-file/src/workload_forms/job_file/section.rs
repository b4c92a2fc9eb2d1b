//! A section with its values.

use super::section_files::SectionFiles;
use super::{Raw, Refusal};
use crate::syntax::diagnostic::enumerate;
use study::workload::{FioSection, IoPattern, fio_bytes, fio_nanoseconds};

const SECOND_NS: u64 = 1_000_000_000;

/// Options that are written anew from the section's files.
const FILE_OPTIONS: [&str; 6] = ["filename", "directory", "filesize", "size", "offset", "nrfiles"];

pub(super) fn section(raw: &Raw<'_>, files: &SectionFiles, path: &str) -> Result<FioSection, Vec<Refusal>> {
    let rw = raw.text("rw").unwrap_or("read").to_lowercase();
    let word = rw.split(':').next().unwrap_or_default();
    let Some(pattern) = IoPattern::from_name(word) else {
        let names: Vec<&str> = IoPattern::ALL.iter().map(|pattern| pattern.name()).collect();
        let message = format!("`rw` cannot be `{rw}` in {path}");
        return Err(vec![Refusal::at(raw.place_of("rw"), message, enumerate(&names))]);
    };
    // With several block sizes, the first one is used to prepare the files.
    let block_bytes = ["bs", "bsrange", "bssplit"]
        .iter()
        .find_map(|name| raw.text(name))
        .and_then(first_size);
    let flag = |wanted: &str| raw.text(wanted).is_some_and(|value| value != "0");
    Ok(FioSection {
        name: raw.name.clone(),
        options: options(raw, files),
        pattern,
        block_bytes: block_bytes.unwrap_or(4 << 10),
        size_bytes: files.size_bytes,
        jobs: files.jobs,
        files: files.files,
        runtime_ns: raw.text("runtime").and_then(|time| fio_nanoseconds(time, SECOND_NS)),
        direct: flag("direct") || raw.text("buffered") == Some("0"),
        end_fsync: flag("end_fsync"),
        shared: files.shared.clone(),
        file_bytes: (files.file_bytes != files.size_bytes).then_some(files.file_bytes),
        directions: None,
    })
}

/// The first size of `4k`, `4k,8k`, `4k-8k` or `4k/60:8k/40`.
fn first_size(text: &str) -> Option<u64> {
    let first = text.split([',', '-', '/', ':']).next().unwrap_or_default();
    fio_bytes(first).filter(|bytes| *bytes > 0)
}

/// Its options for fio. Sizes are in bytes, because fio's per cent are of what it finds.
fn options(raw: &Raw<'_>, files: &SectionFiles) -> Vec<(String, String)> {
    let unchanged = |name: &str| match name {
        "size" => raw.text("size").and_then(fio_bytes) == Some(files.size_bytes),
        "offset" => raw.text("offset").and_then(fio_bytes).is_some(),
        "nrfiles" => files.shared.is_empty(),
        _ => !FILE_OPTIONS.contains(&name),
    };
    let mut options: Vec<(String, String)> = raw
        .said
        .iter()
        .filter(|said| unchanged(&said.name))
        .map(|said| (said.name.clone(), said.value.clone()))
        .collect();
    let has = |options: &[(String, String)], wanted: &str| options.iter().any(|(name, _)| name == wanted);
    if !has(&options, "size") {
        options.push(("size".to_owned(), files.size_bytes.to_string()));
    }
    if files.offset_bytes > 0 && !has(&options, "offset") {
        options.push(("offset".to_owned(), files.offset_bytes.to_string()));
    }
    options
}
