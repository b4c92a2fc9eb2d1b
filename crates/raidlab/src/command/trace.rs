//! `raidlab trace`: shows and converts the recordings of `raidlab run --trace`.

use crate::cli::{TraceCommand, TraceFormat};
use crate::error::ExpectedError;
use files::{Output, read_file};
use lab::trace::{self, Format, Record};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// A trace is sorted in memory.
const FILE_BYTES_MAX: u64 = 1 << 30;

pub fn trace(command: &TraceCommand) -> Result<ExitCode, ExpectedError> {
    match command {
        TraceCommand::Show { trace, disk } => write(trace, *disk, Format::Blkparse, Path::new("-"))?,
        TraceCommand::Export {
            trace,
            format,
            disk,
            output,
        } => {
            let format = match format {
                TraceFormat::Fio => Format::Fio,
                TraceFormat::Blkparse => Format::Blkparse,
                TraceFormat::Csv => Format::Csv,
            };
            write(trace, *disk, format, output)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, disk: Option<u8>, format: Format, output: &Path) -> Result<(), ExpectedError> {
    let output = Output::check(output, Some(path))?;
    let records = read(path)?;
    if let Some(disk) = disk
        && records.iter().all(|record| record.disk != disk)
    {
        return Err(ExpectedError::NoSuchDisk {
            path: path.to_owned(),
            disk,
            disks: records
                .iter()
                .map(|record| record.disk)
                .max()
                .map_or(0, |last| u32::from(last) + 1),
        });
    }
    Ok(output.write_with(&mut |out| trace::write(&records, disk, format, out))?)
}

fn read(path: &Path) -> Result<Vec<Record>, ExpectedError> {
    let advice = "; `raidlab run STUDY --trace FOLDER` records one for each trial";
    if let Ok(there) = fs::metadata(path)
        && there.len() > FILE_BYTES_MAX
    {
        return Err(ExpectedError::LongTrace {
            path: path.to_owned(),
            requests: there.len() / trace::RECORD_BYTES as u64,
            requests_max: FILE_BYTES_MAX / trace::RECORD_BYTES as u64,
        });
    }
    let bytes = read_file::bytes(path).map_err(|error| error.of(path, advice))?;
    trace::read(&bytes).map_err(|source| ExpectedError::Trace {
        path: path.to_owned(),
        source,
    })
}
