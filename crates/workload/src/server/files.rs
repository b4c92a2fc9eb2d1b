//! The files of a test: their paths, their contents, and their verification after a remount.

use super::Server;
use super::commit;
use crate::WorkloadError;
use crate::contents::Contents;
use crate::random::Random;
use rustix::fs::{Mode, OFlags, open, syncfs};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use study::workload::ServerTest;

/// Bytes of a read when files are compared.
const READ_BYTES: usize = 1 << 20;

/// Maximum number of files and records that are read back.
const CHECKED_MAX: u64 = 256;

pub(super) struct Files<'a> {
    pub(super) server: &'a Server<'a>,
    pub(super) folder: PathBuf,
    test: ServerTest,
    /// Number of times each file was written; 0 if it does not exist.
    versions: Vec<AtomicU32>,
}

impl<'a> Files<'a> {
    /// Prepares the folder of a test with its files, before the measurement.
    pub(super) fn prepare(server: &'a Server<'a>, test: ServerTest, folder: &Path) -> Result<Self, WorkloadError> {
        let make = |path: &Path| std::fs::create_dir(path).map_err(WorkloadError::at("make the directory", path));
        make(folder)?;
        let files = Self {
            server,
            folder: folder.to_owned(),
            test,
            versions: (0..server.collection.files.len()).map(|_| AtomicU32::new(0)).collect(),
        };
        match test {
            ServerTest::Append | ServerTest::Commit => {}
            ServerTest::Deliver => {
                make(&folder.join("tmp"))?;
                make(&folder.join("new"))?;
            }
            ServerTest::Create | ServerTest::Replace | ServerTest::Mixed => {
                for number in 1..server.collection.directories.len() {
                    make(&folder.join(server.collection.directory_path(number as u32)))?;
                }
            }
        }
        if matches!(test, ServerTest::Replace | ServerTest::Mixed) {
            for number in 0..files.versions.len() as u32 {
                let path = files.path(number);
                let mut bytes = Vec::new();
                files.each_piece(number, files.begin(number), &mut |piece| {
                    bytes.extend_from_slice(piece);
                    Ok(())
                })?;
                std::fs::write(&path, bytes).map_err(WorkloadError::at("prepare", &path))?;
                files.end(number);
            }
        }
        Ok(files)
    }

    pub(super) fn len(&self) -> u32 {
        self.versions.len() as u32
    }

    pub(super) fn size(&self, number: u32) -> u64 {
        self.server.collection.files[number as usize].size
    }

    /// Final path of a file.
    pub(super) fn path(&self, number: u32) -> PathBuf {
        match self.test {
            ServerTest::Deliver => self.folder.join("new").join(self.name(number)),
            _ => self.folder.join(self.server.collection.path(number)),
        }
    }

    /// Path of its first write: in `tmp`, or next to the file that it replaces.
    pub(super) fn temporary(&self, number: u32) -> PathBuf {
        match self.test {
            ServerTest::Deliver => self.folder.join("tmp").join(self.name(number)),
            _ => self.path(number).with_extension("new"),
        }
    }

    fn name(&self, number: u32) -> PathBuf {
        let path = self.server.collection.path(number);
        path.file_name().map(PathBuf::from).unwrap_or_default()
    }

    /// The next version of a file. Only one client writes it.
    pub(super) fn begin(&self, number: u32) -> u32 {
        self.versions[number as usize].load(Ordering::Relaxed) + 1
    }

    pub(super) fn end(&self, number: u32) {
        self.versions[number as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The contents of a version of a file, at most a mebibyte at a time.
    pub(super) fn each_piece(
        &self,
        number: u32,
        version: u32,
        act: &mut dyn FnMut(&[u8]) -> Result<(), WorkloadError>,
    ) -> Result<(), WorkloadError> {
        let stream = u64::from(version) << 32 | u64::from(number);
        let size = self.size(number);
        for index in 0..size.div_ceil(Contents::SEGMENT_BYTES) {
            let length = (size - index * Contents::SEGMENT_BYTES).min(Contents::SEGMENT_BYTES);
            act(self.server.contents.stretch(stream, index, length as usize))?;
        }
        Ok(())
    }

    /// The bytes of a record of a log.
    pub(super) fn record(&self, log: u32, place: u64) -> &[u8] {
        let length = self.server.spec.record_bytes as usize;
        self.server.contents.stretch(1 << 63 | u64::from(log), place, length)
    }

    /// Compares a sample with what was written; returns the result and its description.
    pub(super) fn compare(&self, test: ServerTest) -> (bool, String) {
        let outcome = match test {
            ServerTest::Append => self.compare_logs(),
            ServerTest::Commit => {
                let spec = self.server.spec;
                self.compare_log(0, commit::NAME, u64::from(spec.clients) * u64::from(spec.records))
            }
            _ => self.compare_files(),
        };
        match outcome {
            Ok(seen) => (true, format!("{seen} read back after a remount, as written")),
            Err(wrong) => (false, format!("after a remount, not as written: {wrong}")),
        }
    }

    fn compare_files(&self) -> Result<String, String> {
        let count = u64::from(self.len());
        let mut random = Random::new(self.server.seed, u64::from_le_bytes(*b"checking"));
        for turn in 0..count.min(CHECKED_MAX) {
            let number = if count <= CHECKED_MAX {
                turn
            } else {
                random.below(count)
            } as u32;
            let path = self.path(number);
            let version = self.versions[number as usize].load(Ordering::Relaxed);
            let mut found = Written::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let mut is_as_written = true;
            let collected = self.each_piece(number, version, &mut |piece| {
                is_as_written &= found.has_next(piece);
                Ok(())
            });
            if collected.is_err() || !is_as_written || !found.is_at_its_end() {
                return Err(format!("{}, which was written {version} times", path.display()));
            }
        }
        Ok(format!("{} of {count} files", count.min(CHECKED_MAX)))
    }

    fn compare_logs(&self) -> Result<String, String> {
        let spec = self.server.spec;
        for log in 0..spec.clients {
            self.compare_log(log, &log_name(log), u64::from(spec.records))?;
        }
        Ok(format!("{} logs", spec.clients))
    }

    fn compare_log(&self, log: u32, name: &str, records: u64) -> Result<String, String> {
        let failed = |error: io::Error| format!("{name}: {error}");
        let mut found = Written::open(&self.folder.join(name)).map_err(failed)?;
        let (bytes, wanted) = (found.bytes().map_err(failed)?, records * self.server.spec.record_bytes);
        if bytes != wanted {
            return Err(format!("{name} has {bytes} bytes instead of {wanted}"));
        }
        let wrong = (0..records).find(|place| !found.has_next(self.record(log, *place)));
        match wrong {
            Some(place) => Err(format!("record {place} of {name}")),
            None => Ok(format!("{records} records of {name}")),
        }
    }
}

/// A file that is read back in pieces: it may be larger than the guest's RAM.
struct Written {
    file: BufReader<File>,
    piece: Vec<u8>,
}

impl Written {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: BufReader::with_capacity(READ_BYTES, File::open(path)?),
            piece: Vec::new(),
        })
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(self.file.get_ref().metadata()?.len())
    }

    /// Whether the next bytes are these.
    fn has_next(&mut self, wanted: &[u8]) -> bool {
        self.piece.resize(wanted.len(), 0);
        self.file.read_exact(&mut self.piece).is_ok() && self.piece == wanted
    }

    fn is_at_its_end(&mut self) -> bool {
        self.file.fill_buf().is_ok_and(<[u8]>::is_empty)
    }
}

/// Name of a client's log in `append`.
pub(super) fn log_name(client: u32) -> String {
    format!("log.{client}")
}

/// Writes names that no fsync covers to the disks.
pub(super) fn sync(mount_point: &Path) -> Result<(), WorkloadError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = open(mount_point, flags, Mode::empty()).map_err(WorkloadError::at("open", mount_point))?;
    syncfs(&root).map_err(WorkloadError::at("sync", mount_point))
}
