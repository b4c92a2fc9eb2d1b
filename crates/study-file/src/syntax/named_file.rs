//! Reads files that a study names.

use crate::Known;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path};

/// A kind of files.
pub(crate) struct FileKind {
    /// With its article: `a job file`.
    pub words: &'static str,
    /// Reject larger files; real ones are a few KiB.
    pub bytes_max: u64,
    /// Appended to every error.
    pub help: &'static str,
}

/// The error and a suggestion.
pub(crate) type FileError = (String, String);

/// The text of a file in the study's folder, or below it.
pub(crate) fn read(path: &str, known: &Known, kind: &FileKind) -> Result<String, FileError> {
    let wrong = |what: &str| Err((format!("`{path}` {what}"), kind.help.to_owned()));
    let Some(folder) = &known.folder else {
        return wrong("cannot be read here");
    };
    // A study may be untrusted: it must not name files outside its folder.
    let inside = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(path).components().all(inside) {
        return wrong("is outside the study's folder");
    }
    text_below(folder, Path::new(path), kind).or_else(|error| {
        let reason = error.to_string();
        wrong(reason.split(" (os error").next().unwrap_or_default())
    })
}

/// Reads a regular file below a folder. A symbolic link could lead to files that only root may read.
fn text_below(folder: &Path, path: &Path, kind: &FileKind) -> io::Result<String> {
    let no = |why: &str| io::Error::other(why.to_owned());
    let unreadable = |errno: Errno| {
        let reason = io::Error::from(errno).to_string();
        no(&format!("cannot be read: {}", reason.to_lowercase()))
    };
    // If the study's path has no folder.
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let folder = rustix::fs::open(
        folder,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .map_err(unreadable)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let inside = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let file = match rustix::fs::openat2(&folder, path, flags, Mode::empty(), inside) {
        Ok(file) => File::from(file),
        Err(Errno::LOOP | Errno::XDEV) => return Err(no("is a symbolic link or contains one")),
        Err(errno) => return Err(unreadable(errno)),
    };
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(no("is not a file"));
    }
    let mut bytes = Vec::new();
    file.take(kind.bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > kind.bytes_max {
        return Err(no(&format!("is too large for {}", kind.words)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        no(&format!("is not text: line {line} is not UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::FileType;

    const KIND: FileKind = FileKind {
        words: "a file",
        bytes_max: 1 << 10,
        help: "name another",
    };

    #[test]
    fn only_a_regular_file_below_the_studys_folder_is_read() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("study");
        std::fs::create_dir_all(folder.join("jobs")).expect("made");
        std::fs::write(root.path().join("secret"), "root:$6$").expect("written");
        std::fs::write(folder.join("jobs/a.fio"), "text").expect("written");
        std::fs::write(folder.join("large"), vec![b' '; (1 << 10) + 1]).expect("written");
        std::fs::write(folder.join("latin"), b"one\nt\xfco").expect("written");
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, folder.join(name)).expect("made");
        link("../secret", "link");
        link("..", "up");
        link("jobs/a.fio", "near");
        link("/dev/zero", "device");
        rustix::fs::mknodat(rustix::fs::CWD, folder.join("pipe"), FileType::Fifo, Mode::RUSR, 0).expect("made");
        let known = Known {
            folder: Some(folder),
            ..Known::default()
        };
        assert_eq!(read("./jobs/a.fio", &known, &KIND).expect("below"), "text");
        for (name, words) in [
            ("link", "symbolic link"),
            ("up/secret", "symbolic link"),
            ("near", "symbolic link"),
            ("device", "symbolic link"),
            ("../secret", "is outside the study's folder"),
            ("/etc/passwd", "is outside the study's folder"),
            ("pipe", "is not a file"),
            ("jobs", "is not a file"),
            ("large", "too large for a file"),
            ("latin", "is not text: line 2 is not UTF-8"),
            ("gone", "cannot be read: no such file"),
        ] {
            let (error, help) = read(name, &known, &KIND).expect_err(name);
            assert!(
                error.starts_with(&format!("`{name}` ")) && error.contains(words),
                "{error}"
            );
            assert_eq!(help, "name another");
        }
        assert!(read("jobs/a.fio", &Known::default(), &KIND).is_err());
    }
}
