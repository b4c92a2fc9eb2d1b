//! The file with all requests of a trial's disks.

use lab::trace::RECORD_BYTES;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use study::plan::Trial;
use study::{DiskCounter, DiskCounters};

/// Longer names of cells are cut: names of files have 255 bytes.
const NAME_BYTES_MAX: usize = 120;

/// Digits of the cell's identity in the name: cells whose names differ only in other characters have files of their own.
const ID_DIGITS: usize = 8;

const SEED_DIGITS: usize = 8;

/// Why there is no whole trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceFileError {
    #[error("cannot write the trace `{}`: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "the trace `{}` has {found} of {requests} requests: is its disk full? Name another folder with --trace",
        path.display()
    )]
    Incomplete { path: PathBuf, found: u64, requests: u64 },
}

pub(super) struct TraceFile {
    pub file: File,
    path: PathBuf,
}

impl TraceFile {
    /// An empty file in the place of one of an earlier run: what has other names, or is still written, keeps its contents.
    pub(super) fn create(folder: &Path, trial: &Trial) -> Result<Self, TraceFileError> {
        let path = folder.join(name(trial));
        let open = || {
            fs::create_dir_all(folder)?;
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => File::options().write(true).create_new(true).open(&path),
            }
        };
        match open() {
            Ok(file) => Ok(Self { file, path }),
            Err(source) => Err(TraceFileError::Io { path, source }),
        }
    }

    /// Compares with the counters of the disks at the end of the trial: the guest cannot report that a write of the file failed.
    /// Requests that are under way when a guest ends are counted, and not in its trace.
    pub(super) fn check(&self, counters: &[DiskCounters]) -> Result<(), TraceFileError> {
        let io = |source| TraceFileError::Io {
            path: self.path.clone(),
            source,
        };
        let bytes = self.file.metadata().map_err(io)?.len();
        let record = RECORD_BYTES as u64;
        let found = bytes / record;
        let kinds = [
            DiskCounter::Reads,
            DiskCounter::Writes,
            DiskCounter::Flushes,
            DiskCounter::Discards,
        ];
        let of_kinds = |disk: &DiskCounters| -> u64 { kinds.iter().filter_map(|kind| disk.counts.get(kind)).sum() };
        let requests: u64 = counters.iter().map(of_kinds).sum();
        let queued = |disk: &DiskCounters| disk.counts.get(&DiskCounter::QueueMax).copied();
        let under_way: u64 = counters.iter().filter_map(queued).sum();
        // Requests are missing: under way at the end, or there was no room for them.
        let missing = requests.saturating_sub(found);
        let is_cut = missing > under_way || missing > 0 && !self.has_room(bytes, missing * record);
        match !is_cut && bytes.is_multiple_of(record) {
            true => Ok(()),
            false => Err(TraceFileError::Incomplete {
                path: self.path.clone(),
                found,
                requests,
            }),
        }
    }
}

impl TraceFile {
    /// Whether its disk, and the limit of sizes of files, have room for more bytes at its end. Where that cannot be asked, it has.
    fn has_room(&self, end: u64, more: u64) -> bool {
        let reserved = fallocate(&self.file, FallocateFlags::KEEP_SIZE, end, more);
        // What was reserved is given back.
        let _ = self.file.set_len(end);
        !matches!(reserved, Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG))
    }
}

/// `RAID_5_xfs___stream.1f0c93aa.0.8c2f01d3.trace`: seeds of trials differ between runs.
fn name(trial: &Trial) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let plain = trial.cell.key.chars().map(|c| if is_plain(c) { c } else { '_' });
    let cell: String = plain.take(NAME_BYTES_MAX).collect();
    let id = trial.cell.id.to_string();
    let seed = format!("{:016x}", trial.seed);
    format!(
        "{cell}.{}.{}.{}.trace",
        &id[..ID_DIGITS.min(id.len())],
        trial.index,
        &seed[..SEED_DIGITS]
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn trial(workload: &str, size: &str) -> Trial {
        let study = format!(
            "[disks]\ncount = 1\n[[stack]]\narray = {{ level = \"single\" }}\n[[workload]]\nname = \"{workload}\"\n\
             io = {{ rw = \"read\", size = \"{size}\" }}\n"
        );
        let plan = study_file::read(&study, "a.toml", &study_file::Known::default()).expect("a study");
        plan.trials(1).next().expect("a trial")
    }

    /// Traces of three cells were in one file.
    #[test]
    fn issue_39_every_cell_has_a_trace_of_its_own() {
        let names =
            [("w a", "1M"), ("w_a", "2M"), ("w+a", "3M")].map(|(workload, size)| name(&trial(workload, size)));
        assert!(names[0] != names[1] && names[1] != names[2], "{names:?}");
        assert!(name(&trial(&"x".repeat(200), "1M")).len() < 200);
    }

    /// What a link of either kind leads to was overwritten, and traces of two seeds had one name.
    #[test]
    fn issue_39_a_trace_replaces_its_own_name_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let victim = folder.path().join("victim");
        fs::write(&victim, "kept").expect("a file");
        let (mut trial, at) = (trial("w", "1M"), |trial: &Trial| folder.path().join(name(trial)));
        std::os::unix::fs::symlink(&victim, at(&trial)).expect("a link");
        TraceFile::create(folder.path(), &trial).expect("a file");
        let first = at(&trial);
        trial.seed ^= 1 << 63;
        assert_ne!(at(&trial), first);
        fs::hard_link(&victim, at(&trial)).expect("a link");
        TraceFile::create(folder.path(), &trial).expect("a file");
        assert_eq!(fs::read(&victim).expect("a file"), b"kept");
    }

    /// On a full disk traces were cut, and nothing said so.
    #[test]
    fn issue_39_a_trace_that_was_cut_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut trace = TraceFile::create(folder.path(), &trial("w", "1M")).expect("a file");
        trace.file.write_all(&[0; 3 * RECORD_BYTES]).expect("room");
        let counters = |reads: u64, flushes: u64| DiskCounters {
            disk: "vda".to_owned(),
            counts: [(DiskCounter::Reads, reads), (DiskCounter::Flushes, flushes)].into(),
            contents: None,
        };
        trace.check(&[counters(1, 1), counters(1, 0)]).expect("whole");
        trace.check(&[counters(3, 1)]).expect_err("one request is missing");
        let mut busy = counters(3, 1);
        busy.counts.insert(DiskCounter::QueueMax, 1);
        trace.check(&[busy]).expect("it was under way at the end");
        trace.file.write_all(&[0; 5]).expect("room");
        trace.check(&[counters(1, 1)]).expect_err("a part of a record");
    }

    /// As many requests were missing as the disks had queued, because there was no room for them.
    #[test]
    fn root_issue_39_a_trace_on_a_full_disk_is_an_error_also_if_few_requests_are_missing() {
        let folder = tempfile::tempdir().expect("a folder");
        let mount = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=4k", "tmpfs"])
            .arg(folder.path())
            .status();
        if !mount.is_ok_and(|status| status.success()) {
            return requirements::skip("needs to mount a tmpfs, which only root may");
        }
        let mut trace = TraceFile::create(folder.path(), &trial("w", "1M")).expect("a file");
        let _ = std::process::Command::new("umount")
            .arg("-l")
            .arg(folder.path())
            .status();
        trace.file.write_all(&[0; 4096]).expect("room");
        let records = (4096 / RECORD_BYTES) as u64;
        let counters = |reads: u64| DiskCounters {
            disk: "vda".to_owned(),
            counts: [(DiskCounter::Reads, reads), (DiskCounter::QueueMax, 8)].into(),
            contents: None,
        };
        trace.check(&[counters(records)]).expect("whole");
        trace
            .check(&[counters(records + 8)])
            .expect_err("there was no room for them");
    }
}
