//! The folder in which ledgers survive their sessions.

use crate::device::sysfs;
use crate::ledger::ledger_file::{DiskLedger, Header};
use crate::ledger::root_files;
use rustix::fs::FlockOperation;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The default folder.
const FOLDER: &str = "/var/lib/raidlab";

/// Sets another folder; it should survive a reboot.
const VARIABLE: &str = "RAIDLAB_STATE";

const SUFFIX: &str = ".ledger";

/// Time that a killed process may need to exit: an unmount first writes back the page cache.
const DYING: Duration = Duration::from_secs(60);

/// The folder of ledgers.
#[derive(Clone, Debug)]
pub struct LedgerFolder {
    folder: PathBuf,
}

/// A ledger of a dead session.
#[derive(Debug)]
pub struct Leftover {
    pub header: Option<Header>,
    /// Descriptions of what is to be undone, last act first.
    pub acts: Vec<String>,
    pub(crate) file: File,
    pub(crate) path: PathBuf,
}

impl LedgerFolder {
    /// `$RAIDLAB_STATE`, or /var/lib/raidlab.
    pub fn of_machine() -> LedgerFolder {
        let folder = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty());
        Self::in_folder(&folder.map_or_else(|| PathBuf::from(FOLDER), PathBuf::from))
    }

    pub fn in_folder(folder: &Path) -> LedgerFolder {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        LedgerFolder { folder }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Creates the folder, writable only by its owner.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        if self.folder.to_str().is_none() {
            // Ledgers are text and contain the path.
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "its name is not UTF-8"));
        }
        DirBuilder::new().recursive(true).mode(0o755).create(&self.folder)?;
        root_files::check_folder(&self.folder)
    }

    /// Locks out other sessions that start. `waiting` is called repeatedly with the process it waits for.
    pub(crate) fn lock(&self, waiting: &mut dyn FnMut(Option<u32>)) -> io::Result<File> {
        let path = self.folder.join("lock");
        drop(File::options().create_new(true).write(true).mode(0o600).open(&path));
        let mut file = root_files::open(&path)?.ok_or(io::ErrorKind::NotFound)?;
        // Earlier versions made it readable for all, and whoever can read it can lock it.
        file.set_permissions(Permissions::from_mode(0o600))?;
        while rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut text = String::new();
            file.seek(SeekFrom::Start(0))?;
            let _ = (&mut file).take(32).read_to_string(&mut text);
            waiting(text.trim().parse().ok());
            std::thread::sleep(Duration::from_millis(100));
        }
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(format!("{}\n", std::process::id()).as_bytes())?;
        Ok(file)
    }

    pub(crate) fn ledger_path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{SUFFIX}"))
    }

    fn ledgers(&self) -> Vec<PathBuf> {
        let mut all = sysfs::entries(&self.folder);
        all.retain(|path| sysfs::name(path).ends_with(SUFFIX));
        all
    }

    /// Files that users other than root could have written are not read.
    fn private_ledgers(&self) -> io::Result<Vec<PathBuf>> {
        if fs::symlink_metadata(&self.folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(Vec::new());
        }
        root_files::check_folder(&self.folder)?;
        Ok(self.ledgers())
    }

    /// Whether a ledger exists, as far as visible without opening it.
    pub fn has_ledgers(&self) -> bool {
        !self.ledgers().is_empty()
    }

    /// The ledgers of dead sessions. Each stays locked while the returned value exists, so that no other process undoes
    /// the same. Waits for a process that is being killed.
    pub fn leftovers(&self) -> io::Result<Vec<Leftover>> {
        let mut all = Vec::new();
        for path in self.private_ledgers()? {
            let deadline = Instant::now() + DYING;
            loop {
                match take(&path)? {
                    Taken::Ours(leftover) => {
                        all.extend(leftover);
                        break;
                    }
                    Taken::Others { alive } if alive || Instant::now() >= deadline => break,
                    Taken::Others { .. } => std::thread::sleep(Duration::from_millis(50)),
                }
            }
        }
        Ok(all)
    }

    /// The headers of sessions that run or hang.
    pub fn alive(&self) -> io::Result<Vec<Header>> {
        let mut all = Vec::new();
        for path in self.private_ledgers()? {
            let Some(file) = root_files::open(&path)? else { continue };
            if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                all.extend(DiskLedger::read(&file)?.header);
            }
        }
        Ok(all)
    }
}

enum Taken {
    /// Ours now, if it was still there.
    Ours(Option<Leftover>),
    Others {
        alive: bool,
    },
}

fn take(path: &Path) -> io::Result<Taken> {
    let Some(file) = root_files::open(path)? else {
        return Ok(Taken::Ours(None));
    };
    if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        // A session that is just starting has not written its header yet.
        let pid = DiskLedger::read(&file)?.header.map(|header| header.pid);
        return Ok(Taken::Others {
            alive: pid.is_none_or(|pid| Path::new(&format!("/proc/{pid}")).exists()),
        });
    }
    // Its session may have removed it between open and lock.
    if !fs::metadata(path).is_ok_and(|there| file.metadata().is_ok_and(|ours| ours.ino() == there.ino())) {
        return Ok(Taken::Ours(None));
    }
    let contents = DiskLedger::read(&file).map_err(|error| {
        io::Error::other(format!("cannot read {}: {error}; examine it manually", path.display()))
    })?;
    Ok(Taken::Ours(Some(Leftover {
        acts: contents.open.iter().rev().map(|open| open.undo.to_string()).collect(),
        header: contents.header,
        file,
        path: path.to_owned(),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::undo::HostUndo;

    fn ledger(state: &LedgerFolder, pid: u32) -> (File, PathBuf) {
        state.prepare().expect("made");
        let path = state.ledger_path("raidlab-test");
        let file = File::options()
            .create_new(true)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(&path)
            .expect("made");
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).expect("free");
        let header = Header {
            version: crate::ledger::ledger_file::VERSION,
            name: "raidlab-test".to_owned(),
            pid,
            boot_id: String::new(),
            command: String::new(),
            claims: Vec::new(),
        };
        let mut ledger = DiskLedger::begin(file.try_clone().expect("a twin"), &header).expect("written");
        ledger.intend(&HostUndo::Folder { path: "/x".into() }).expect("written");
        (file, path)
    }

    #[test]
    fn only_what_nobody_holds_is_left_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = LedgerFolder::in_folder(&folder.path().join("state"));
        assert!(state.leftovers().expect("no folder is no error").is_empty());
        let (held, _) = ledger(&state, std::process::id());
        assert!(state.leftovers().expect("readable").is_empty());
        assert_eq!(state.alive().expect("readable").len(), 1);
        drop(held);
        let found = state.leftovers().expect("readable");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].acts, ["remove /x"]);
        // It is ours now.
        assert!(state.leftovers().expect("readable").is_empty());
    }

    #[test]
    fn a_ledger_that_makes_no_sense_is_told_and_not_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = LedgerFolder::in_folder(folder.path());
        let path = state.ledger_path("raidlab-x");
        fs::write(&path, "what is this\n").expect("written");
        fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("ours");
        let error = state.leftovers().expect_err("not a ledger");
        assert!(error.to_string().contains("raidlab-x.ledger: "), "{error}");
    }

    #[test]
    fn only_root_can_lock_and_who_waits_is_told_for_whom() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = LedgerFolder::in_folder(&folder.path().join("state"));
        state.prepare().expect("made");
        let path = state.folder().join("lock");
        fs::write(&path, "").expect("written");
        fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("ours");
        let held = state.lock(&mut |_| ()).expect("it is free");
        assert_eq!(fs::metadata(&path).expect("it is there").mode() & 0o777, 0o600);
        let (report, mut held) = (std::cell::RefCell::new(Vec::new()), Some(held));
        let again = state.lock(&mut |pid| {
            report.borrow_mut().push(pid);
            drop(held.take());
        });
        again.expect("it is free by now");
        assert_eq!(*report.borrow(), [Some(std::process::id())]);
    }

    #[test]
    fn a_ledger_that_another_could_have_written_is_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = LedgerFolder::in_folder(&folder.path().join("state"));
        drop(ledger(&state, 1));
        let path = state.ledger_path("raidlab-test");
        fs::set_permissions(&path, Permissions::from_mode(0o666)).expect("ours");
        assert!(state.leftovers().is_err());
        fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("ours");
        fs::set_permissions(state.folder(), Permissions::from_mode(0o777)).expect("ours");
        assert!(state.leftovers().is_err());
        assert!(state.alive().is_err());
        fs::set_permissions(state.folder(), Permissions::from_mode(0o755)).expect("ours");
        assert_eq!(state.leftovers().expect("readable").len(), 1);
    }
}
