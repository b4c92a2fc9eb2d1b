//! Where results are written (`-o FILE`): to a regular file, completely or not at all. `-` is standard output.
//!
//! *Invariant*: no store, no study and no block device is ever overwritten, and no device is replaced by a file.

use crate::{Colours, reason, sanitize};
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Why a result cannot be written to a file; the file is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("Parquet files are binary, and standard output is a terminal: name a file with -o")]
    Binary,
    #[error("-o needs a file name: `-o report.html`, or `-o -` for standard output")]
    Empty,
    #[error("`{}` is a folder: choose a file in it with -o", path.display())]
    Folder { path: PathBuf },
    #[error("cannot write `{}`: `{}` is not a folder", path.display(), folder.display())]
    NoFolder { path: PathBuf, folder: PathBuf },
    #[error("cannot write `{}`: its folder does not exist; `mkdir -p {}` creates it", path.display(), folder.display())]
    MissingFolder { path: PathBuf, folder: PathBuf },
    #[error("`{}` holds results (it is an SQLite database), and is not overwritten: choose another file with -o", path.display())]
    Store { path: PathBuf },
    #[error("`{}` is what the result is made from, and is not overwritten: choose another file with -o", path.display())]
    Input { path: PathBuf },
    #[error("`{}` belongs to the store `{}`, and is not overwritten: choose another file with -o", path.display(), store.display())]
    OfStore { path: PathBuf, store: PathBuf },
    #[error("`{}` is {what}, and is not overwritten: choose another file with -o", path.display())]
    Description { path: PathBuf, what: &'static str },
    #[error("`{}` is read-only, and is not replaced: choose another file with -o, or `chmod u+w` it", path.display())]
    ReadOnly { path: PathBuf },
    #[error("`{}` is a block device, and is not overwritten: choose a file with -o", path.display())]
    BlockDevice { path: PathBuf },
    #[error("cannot write `{}`: {}; choose another place with -o", path.display(), reason(source))]
    Io { path: PathBuf, source: io::Error },
    #[error("cannot write the result: {}", reason(.0))]
    Standard(#[source] io::Error),
}

/// A writable destination for a result.
#[derive(Debug)]
pub enum Output {
    /// `-`
    Standard,
    /// Written to a temporary file next to it, and renamed. Symbolic links were followed.
    File(PathBuf),
    /// A pipe, a terminal, /dev/null: opened and written directly.
    Stream(PathBuf),
}

impl Output {
    /// Checks the destination without changing anything. `input` is the source of the results: a store, or another file.
    pub fn check(path: &Path, input: Option<&Path>) -> Result<Output, OutputError> {
        let own = || path.to_owned();
        if path == Path::new("-") {
            return Ok(Output::Standard);
        }
        if path.as_os_str().is_empty() {
            return Err(OutputError::Empty);
        }
        let there = match fs::metadata(path) {
            Ok(there) => there,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // The file that a link leads to is made, and the link stays.
                let target = target_of(path);
                check_folder(&target)?;
                if let Some(input) = input {
                    check_not_of_input(&target, None, input)?;
                }
                check_not_of_store(&target)?;
                return Ok(Output::File(target));
            }
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                let folder = folder_of(path).to_owned();
                return Err(OutputError::NoFolder { path: own(), folder });
            }
            Err(source) => return Err(OutputError::Io { path: own(), source }),
        };
        if there.is_dir() {
            return Err(OutputError::Folder { path: own() });
        }
        if there.file_type().is_block_device() {
            return Err(OutputError::BlockDevice { path: own() });
        }
        if !there.is_file() {
            return Ok(Output::Stream(own()));
        }
        if let Some(input) = input.filter(|input| is_same(&there, input)) {
            return Err(match check_contents(input) {
                Err(OutputError::Store { .. }) => OutputError::OfStore {
                    path: own(),
                    store: input.to_owned(),
                },
                _ => OutputError::Input { path: own() },
            });
        }
        check_contents(path)?;
        // Its folder would let it be replaced all the same.
        if there.permissions().readonly() {
            return Err(OutputError::ReadOnly { path: own() });
        }
        if let Some(input) = input {
            check_not_of_input(path, Some(&there), input)?;
        }
        check_not_of_store(path)?;
        // `/dev/stdout` is whatever file the shell opened: replacing that file would leave the shell with the old
        // one.
        if path.starts_with("/dev") || path.starts_with("/proc") {
            return Ok(Output::Stream(own()));
        }
        let real = path.canonicalize();
        real.map(Output::File)
            .map_err(|source| OutputError::Io { path: own(), source })
    }

    /// Writes everything. A file appears completely or not at all, because a partial one could be mistaken for a
    /// result.
    pub fn write(&self, contents: &str) -> Result<(), OutputError> {
        match self {
            // It may be a terminal, which must not execute control sequences from other people's text.
            Output::Standard => print(contents, Colours::Shown),
            Output::File(_) | Output::Stream(_) => self.write_with(&mut |out| out.write_all(contents.as_bytes())),
        }
    }

    /// The same, piece by piece.
    pub fn write_with(&self, pieces: &mut Pieces<'_>) -> Result<(), OutputError> {
        let (written, path) = match self {
            Output::Standard => (buffered(io::stdout().lock(), pieces), None),
            Output::Stream(path) => {
                let stream = File::options().append(true).open(path);
                (stream.and_then(|stream| buffered(stream, pieces)), Some(path))
            }
            Output::File(path) => (replace(path, pieces), Some(path)),
        };
        match (written, path) {
            (Ok(()), _) => Ok(()),
            // A closed pipe (`| head`) is not an error.
            (Err(error), _) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            (Err(error), None) => Err(OutputError::Standard(error)),
            (Err(source), Some(path)) => {
                let path = path.to_owned();
                Err(OutputError::Io { path, source })
            }
        }
    }

    /// The file, if a message should name it.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Output::Standard => None,
            Output::File(path) | Output::Stream(path) => Some(path),
        }
    }
}

/// Writes results to standard output. A closed pipe (`| head`) is not an error.
pub fn print(text: &str, colours: Colours) -> Result<(), OutputError> {
    let mut out = io::stdout();
    let written = out.write_all(sanitize(text, colours).as_bytes());
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(OutputError::Standard(error)),
        _ => Ok(()),
    }
}

/// From now on a file that would exceed the limit of sizes (`ulimit -f`) is an error of the write, as a full disk is, and does not
/// end the program, which would leave temporary files behind. Programs that are started have the limit's signal as it was.
pub fn report_size_limit_as_error() {
    extern "C" fn ignore(_signal: libc::c_int) {}
    // SAFETY: the handler does nothing.
    unsafe { libc::signal(libc::SIGXFSZ, ignore as *const () as libc::sighandler_t) };
}

/// Writes the contents.
pub type Pieces<'a> = dyn FnMut(&mut dyn Write) -> io::Result<()> + 'a;

fn buffered(out: impl Write, pieces: &mut Pieces<'_>) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    pieces(&mut out)?;
    out.flush()
}

fn replace(path: &Path, pieces: &mut Pieces<'_>) -> io::Result<()> {
    // A file that is replaced keeps its permissions; the umask limits those of a new one.
    let before = fs::metadata(path).ok().map(|file| file.permissions());
    let at_first = before.clone().unwrap_or(fs::Permissions::from_mode(0o666));
    let mut file = tempfile::Builder::new()
        .permissions(at_first)
        .tempfile_in(folder_of(path))?;
    buffered(&mut file, pieces)?;
    if let Some(before) = before {
        file.as_file().set_permissions(before)?;
    }
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// The folder of an existing or new file.
pub fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

fn check_folder(path: &Path) -> Result<(), OutputError> {
    let (path, folder) = (path.to_owned(), folder_of(path).to_owned());
    match fs::metadata(&folder) {
        Ok(there) if there.is_dir() => Ok(()),
        Ok(_) => Err(OutputError::NoFolder { path, folder }),
        Err(_) => Err(OutputError::MissingFolder { path, folder }),
    }
}

/// Rejects files with valuable contents.
fn check_contents(path: &Path) -> Result<(), OutputError> {
    const SQLITE: &[u8] = b"SQLite format 3\0";
    /// How write-ahead logs and rollback journals begin (the file formats of SQLite, sections 3 and 4).
    const LOGS: [&[u8]; 3] = [
        b"\x37\x7f\x06\x82",
        b"\x37\x7f\x06\x83",
        b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7",
    ];
    const START_BYTES: u64 = 64 << 10;
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(START_BYTES).read_to_end(&mut start));
    let own = || path.to_owned();
    read.map_err(|source| OutputError::Io { path: own(), source })?;
    if start.starts_with(SQLITE) || LOGS.iter().any(|magic| start.starts_with(magic)) {
        return Err(OutputError::Store { path: own() });
    }
    let extension = path.extension().and_then(|extension| extension.to_str());
    // A report contains the text of its study as well, but begins with a tag; an export begins with a brace.
    let text = String::from_utf8_lossy(&start);
    let is_ours = text.trim_start().starts_with(['<', '{']);
    let is_study = |line: &str| line.trim() == "[[workload]]" || line.trim() == "[[stack]]";
    let what = match extension {
        _ if start.is_empty() => None,
        Some("toml") => Some("a TOML file, as studies and disk models are"),
        Some("fio") => Some("a fio job file"),
        _ if !is_ours && text.lines().any(is_study) => Some("a study"),
        _ => None,
    };
    what.map_or(Ok(()), |what| Err(OutputError::Description { path: own(), what }))
}

/// What SQLite and raidlab keep next to a store.
const PARTS: [&str; 4] = ["-wal", "-shm", "-journal", "-lock"];

/// Rejects the name of a part of any store.
fn check_not_of_store(path: &Path) -> Result<(), OutputError> {
    let named = resolved(path);
    let named = named.to_string_lossy();
    let stores = PARTS
        .iter()
        .filter_map(|suffix| named.strip_suffix(suffix))
        .map(Path::new);
    for store in stores.filter(|store| store.is_file()) {
        if let Err(OutputError::Store { .. }) = check_contents(store) {
            return Err(OutputError::OfStore {
                path: path.to_owned(),
                store: store.to_owned(),
            });
        }
    }
    Ok(())
}

/// SQLite keeps files next to a database, which are part of it, and a run its lock.
fn check_not_of_input(path: &Path, there: Option<&Metadata>, input: &Path) -> Result<(), OutputError> {
    // They are next to the file that a link leads to.
    let (named, real) = (resolved(path), resolved(input));
    for suffix in PARTS {
        let mut part = real.as_os_str().to_owned();
        part.push(suffix);
        let part = Path::new(&part);
        if part == named || there.is_some_and(|there| is_same(there, part)) {
            return Err(OutputError::OfStore {
                path: path.to_owned(),
                store: input.to_owned(),
            });
        }
    }
    Ok(())
}

fn is_same(there: &Metadata, other: &Path) -> bool {
    fs::metadata(other).is_ok_and(|other| (other.dev(), other.ino()) == (there.dev(), there.ino()))
}

/// Where a link leads to that has no file yet; other paths as they are.
fn target_of(path: &Path) -> PathBuf {
    const LINKS_MAX: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(next) = fs::read_link(&target) else { break };
        target = folder_of(&target).join(next);
    }
    target
}

/// Without links and `..`, also if only its folder exists.
fn resolved(path: &Path) -> PathBuf {
    let in_folder = || Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize()
        .ok()
        .or_else(in_folder)
        .unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_keeps_its_permissions_and_a_new_one_has_those_of_the_umask() {
        let folder = tempfile::tempdir().expect("a folder");
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        let write = |path: &Path| Output::File(path.to_owned()).write("new").expect("written");
        let [private, fresh, plain] = ["private", "fresh", "plain"].map(|name| folder.path().join(name));
        for (path, text) in [(&private, "old"), (&plain, "")] {
            fs::write(path, text).expect("written");
        }
        fs::set_permissions(&private, fs::Permissions::from_mode(0o600)).expect("ours");
        write(&private);
        write(&fresh);
        assert_eq!((mode(&private), mode(&fresh)), (0o600, mode(&plain)));
        assert_eq!(fs::read_to_string(&private).expect("it is there"), "new");
    }

    /// A trace was replaced by its own export, and a link by a file.
    #[test]
    fn issue_39_neither_an_input_nor_a_link_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a.trace"), [0; 32]).expect("written");
        std::os::unix::fs::symlink("a.trace", at("link.trace")).expect("a link");
        for output in ["a.trace", "link.trace"] {
            let refused = Output::check(&at(output), Some(&at("a.trace")));
            assert!(
                matches!(refused, Err(OutputError::Input { .. })),
                "{output}: {refused:?}"
            );
        }
        std::os::unix::fs::symlink("new.html", at("link.html")).expect("a link");
        let output = Output::check(&at("link.html"), None).expect("a new file");
        output.write("new").expect("written");
        assert_eq!(fs::read_to_string(at("new.html")).expect("it is there"), "new");
        assert!(fs::symlink_metadata(at("link.html")).expect("it is there").is_symlink());
    }

    /// A report took the place of the log of another store than its own, and 3 of 25 trials were lost.
    #[test]
    fn issue_39_no_file_of_another_store_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("other.db"), "SQLite format 3\0").expect("written");
        for part in PARTS {
            let refused = Output::check(&at(&format!("other.db{part}")), Some(&at("own.db")));
            assert!(
                matches!(refused, Err(OutputError::OfStore { .. })),
                "{part}: {refused:?}"
            );
            Output::check(&at(&format!("report{part}")), None).expect("there is no such store");
        }
        // Its store has another name by now.
        fs::write(at("log"), b"\x37\x7f\x06\x82 and frames").expect("written");
        let refused = Output::check(&at("log"), None);
        assert!(matches!(refused, Err(OutputError::Store { .. })), "{refused:?}");
    }

    /// A report took the place of a log with results, and of the lock of a run.
    #[test]
    fn issue_39_no_file_of_a_store_is_written_whatever_it_is_called() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).expect("a folder");
        fs::write(at("deep/real.db"), "").expect("written");
        std::os::unix::fs::symlink("deep/real.db", at("link.db")).expect("a link");
        for store in ["link.db", "deep/real.db", "deep/../deep/real.db"] {
            for suffix in PARTS {
                let part = at("deep/.").join(format!("real.db{suffix}"));
                let refused = Output::check(&part, Some(&at(store)));
                assert!(
                    matches!(refused, Err(OutputError::OfStore { .. })),
                    "{store} {}",
                    part.display()
                );
            }
        }
        Output::check(&at("deep/report.html"), Some(&at("link.db"))).expect("another file");
    }
}
