//! The requests of a trial's disks as recorded by the driver (`--trace`): parsed, and written in the formats of
//! blkparse(1) and fio(1). docs/trace.md describes all formats.

use crate::protocol::setting::device;
use std::fmt;
use std::io::{self, Write};

/// Bytes of a record: `struct rl_trace_record` of `kernel/driver/raidlab.h`.
pub const RECORD_BYTES: usize = 32;

/// Bytes of a sector of the block layer.
const SECTOR_BYTES: u64 = 512;

/// Operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceOp {
    Read,
    Write,
    Flush,
    Discard,
}

impl TraceOp {
    pub const fn name(self) -> &'static str {
        match self {
            TraceOp::Read => "read",
            TraceOp::Write => "write",
            TraceOp::Flush => "flush",
            TraceOp::Discard => "discard",
        }
    }
}

/// One request of one disk. Times are virtual, from the start of the guest's kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub submit_ns: u64,
    pub complete_ns: u64,
    pub sector: u64,
    pub sectors: u32,
    /// Index of the disk; 0 is /dev/vda.
    pub disk: u8,
    pub op: TraceOp,
    /// Forced unit access: a write that is on the medium when it completes.
    pub fua: bool,
    /// 0: success. 1: medium error. 2: no response. 3: past the end of the disk.
    pub status: u8,
}

/// Why a file is not a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    #[error("is empty: no request was recorded")]
    Empty,
    #[error("is not a raidlab trace: its size of {0} bytes is not a multiple of {RECORD_BYTES}")]
    Length(usize),
    #[error("is not a raidlab trace: record {0} is invalid")]
    Record(usize),
}

/// All records of a file, in the order of completion.
///
/// # Errors
/// If it is not a trace.
pub fn read(bytes: &[u8]) -> Result<Vec<Record>, TraceError> {
    if bytes.is_empty() {
        return Err(TraceError::Empty);
    }
    if !bytes.len().is_multiple_of(RECORD_BYTES) {
        return Err(TraceError::Length(bytes.len()));
    }
    let records = bytes.chunks_exact(RECORD_BYTES).enumerate();
    records
        .map(|(number, bytes)| Record::parse(bytes).ok_or(TraceError::Record(number)))
        .collect()
}

impl Record {
    fn parse(bytes: &[u8]) -> Option<Record> {
        let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let record = Record {
            submit_ns: word(0)?,
            complete_ns: word(8)?,
            sector: word(16)?,
            sectors: u32::from_le_bytes(bytes.get(24..28)?.try_into().ok()?),
            disk: bytes[28],
            op: match bytes[29] {
                0 => TraceOp::Read,
                1 => TraceOp::Write,
                2 => TraceOp::Flush,
                3 => TraceOp::Discard,
                _ => return None,
            },
            fua: bytes[30] == 1,
            status: bytes[31],
        };
        let end_bytes = record
            .sector
            .checked_add(record.sectors.into())
            .and_then(|end| end.checked_mul(SECTOR_BYTES));
        let is_sound = record.submit_ns <= record.complete_ns
            && bytes[30] <= 1
            && record.status <= 3
            // A flush has no place.
            && (record.op == TraceOp::Flush || record.sectors > 0 && end_bytes.is_some());
        is_sound.then_some(record)
    }

    /// blkparse's RWBS column.
    fn rwbs(&self) -> &'static str {
        match (self.op, self.fua) {
            (TraceOp::Read, _) => "R",
            (TraceOp::Write, false) => "W",
            (TraceOp::Write, true) => "WF",
            (TraceOp::Flush, _) => "F",
            (TraceOp::Discard, _) => "D",
        }
    }
}

/// Output format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The default output of blkparse(1): one line when a request is issued (D), one when it completes (C).
    Blkparse,
    /// fio's iolog, version 2, for `read_iolog`.
    Fio,
    Csv,
}

/// Writes records in a format; with `disk`, only those of that disk.
///
/// # Errors
/// If writing fails.
pub fn write(records: &[Record], disk: Option<u8>, format: Format, out: &mut dyn Write) -> io::Result<()> {
    let mut records: Vec<Record> = records.to_vec();
    records.retain(|record| disk.is_none_or(|disk| record.disk == disk));
    records.sort_by_key(|record| record.submit_ns);
    match format {
        Format::Blkparse => blkparse(&records, out),
        Format::Fio => fio(&records, out),
        Format::Csv => csv(&records, out),
    }
}

/// Seconds with nine decimal places.
struct Seconds(u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:5}.{:09}", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

fn blkparse(records: &[Record], out: &mut dyn Write) -> io::Result<()> {
    // Completions come before requests issued at the same time, because a completion makes room in the drive's
    // queue.
    let mut lines: Vec<(u64, bool, &Record)> = Vec::with_capacity(2 * records.len());
    for record in records {
        lines.push((record.submit_ns, true, record));
        lines.push((record.complete_ns, false, record));
    }
    lines.sort_by_key(|(at_ns, is_issue, _)| (*at_ns, *is_issue));
    for (number, (at_ns, is_issue, record)) in lines.into_iter().enumerate() {
        // The major number of the guest's devices is not recorded.
        let (minor, time, sequence) = (u32::from(record.disk) * 16, Seconds(at_ns), number + 1);
        let action = if is_issue { 'D' } else { 'C' };
        write!(
            out,
            "{:3},{minor:<3} {:2} {sequence:8} {time} {:5}  {action} {:>3} ",
            0,
            0,
            0,
            record.rwbs()
        )?;
        if record.op != TraceOp::Flush {
            write!(out, "{} + {} ", record.sector, record.sectors)?;
        }
        match is_issue {
            true => writeln!(out, "[raidlab]")?,
            false => writeln!(out, "[{}]", record.status)?,
        }
    }
    Ok(())
}

fn fio(records: &[Record], out: &mut dyn Write) -> io::Result<()> {
    /// fio skips shorter waits.
    const WAIT_US_MIN: u64 = 100;
    let mut disks: Vec<u8> = records.iter().map(|record| record.disk).collect();
    disks.sort_unstable();
    disks.dedup();
    writeln!(out, "fio version 2 iolog")?;
    for action in ["add", "open"] {
        for disk in &disks {
            writeln!(out, "{} {action}", device(u32::from(*disk)).display())?;
        }
    }
    let mut waited_ns = records.first().map_or(0, |record| record.submit_ns);
    for record in records {
        let name = device(u32::from(record.disk));
        let name = name.display();
        // Each wait is relative to the previous one.
        let wait_us = (record.submit_ns - waited_ns) / 1000;
        if wait_us >= WAIT_US_MIN {
            writeln!(out, "{name} wait {wait_us} 0")?;
            waited_ns += wait_us * 1000;
        }
        let (offset, length) = (record.sector * SECTOR_BYTES, u64::from(record.sectors) * SECTOR_BYTES);
        match record.op {
            TraceOp::Read => writeln!(out, "{name} read {offset} {length}")?,
            TraceOp::Write => writeln!(out, "{name} write {offset} {length}")?,
            TraceOp::Discard => writeln!(out, "{name} trim {offset} {length}")?,
            TraceOp::Flush => writeln!(out, "{name} sync 0 0")?,
        }
    }
    for disk in &disks {
        writeln!(out, "{} close", device(u32::from(*disk)).display())?;
    }
    Ok(())
}

fn csv(records: &[Record], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "disk,op,fua,sector,sectors,submit_ns,complete_ns,status")?;
    for record in records {
        writeln!(
            out,
            "{},{},{},{},{},{},{},{}",
            device(u32::from(record.disk)).display(),
            record.op.name(),
            u8::from(record.fua),
            record.sector,
            record.sectors,
            record.submit_ns,
            record.complete_ns,
            record.status
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(submit_ns: u64, complete_ns: u64, sector: u64, sectors: u32, last: [u8; 4]) -> Vec<u8> {
        let words = [submit_ns, complete_ns, sector].map(u64::to_le_bytes).concat();
        [words, sectors.to_le_bytes().to_vec(), last.to_vec()].concat()
    }

    /// Two disks; the second request completes first.
    fn records() -> Vec<Record> {
        let all = [
            bytes(1_000_250_000, 1_000_900_000, 2048, 8, [1, 1, 1, 0]),
            bytes(1_000_000_000, 1_004_000_000, 0, 2048, [0, 0, 0, 0]),
            bytes(1_005_000_000, 1_006_000_000, 0, 0, [0, 2, 0, 0]),
            bytes(1_006_050_000, 1_007_000_000, 64, 16, [0, 3, 0, 1]),
        ];
        read(&all.concat()).expect("a trace")
    }

    fn written(disk: Option<u8>, format: Format) -> String {
        let mut out = Vec::new();
        write(&records(), disk, format, &mut out).expect("there is room");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn blkparse_has_a_line_when_a_request_is_issued_and_one_when_it_completes() {
        let lines = [
            "  0,0    0        1     1.000000000     0  D   R 0 + 2048 [raidlab]",
            "  0,16   0        2     1.000250000     0  D  WF 2048 + 8 [raidlab]",
            "  0,16   0        3     1.000900000     0  C  WF 2048 + 8 [0]",
            "  0,0    0        4     1.004000000     0  C   R 0 + 2048 [0]",
            "  0,0    0        5     1.005000000     0  D   F [raidlab]",
            "  0,0    0        6     1.006000000     0  C   F [0]",
            "  0,0    0        7     1.006050000     0  D   D 64 + 16 [raidlab]",
            "  0,0    0        8     1.007000000     0  C   D 64 + 16 [1]",
        ];
        assert_eq!(written(None, Format::Blkparse).lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn fio_waits_for_what_the_trace_waited() {
        let lines = [
            "fio version 2 iolog",
            "/dev/vda add",
            "/dev/vdb add",
            "/dev/vda open",
            "/dev/vdb open",
            "/dev/vda read 0 1048576",
            "/dev/vdb wait 250 0",
            "/dev/vdb write 1048576 4096",
            "/dev/vda wait 4750 0",
            "/dev/vda sync 0 0",
            "/dev/vda wait 1050 0",
            "/dev/vda trim 32768 8192",
            "/dev/vda close",
            "/dev/vdb close",
        ];
        assert_eq!(written(None, Format::Fio).lines().collect::<Vec<_>>(), lines);
        assert!(!written(Some(1), Format::Fio).contains("/dev/vda"));
    }

    #[test]
    fn csv_has_every_field() {
        let text = written(Some(1), Format::Csv);
        let row = "/dev/vdb,write,1,2048,8,1000250000,1000900000,0";
        assert_eq!(text.lines().last(), Some(row), "{text}");
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        assert_eq!(read(&[]), Err(TraceError::Empty));
        assert_eq!(read(&[0; 33]), Err(TraceError::Length(33)));
        let backwards = bytes(2, 1, 0, 8, [0; 4]);
        let sound = bytes(1, 2, 0, 8, [0; 4]);
        assert_eq!(read(&[sound, backwards].concat()), Err(TraceError::Record(1)));
        // A sparse file was a trace, and bytes beyond 2^64 wrapped.
        assert_eq!(read(&[0; 32]), Err(TraceError::Record(0)), "a read of nothing");
        assert_eq!(read(&bytes(1, 2, 1 << 55, 8, [0; 4])), Err(TraceError::Record(0)));
        assert_eq!(read(b"disk,op,fua,sector,sectors,submi"), Err(TraceError::Record(0)));
    }
}
