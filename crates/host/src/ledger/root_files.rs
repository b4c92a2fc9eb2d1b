//! Files that only root can have written, because root acts on their contents.

use rustix::fs::{Mode, OFlags};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!(
            "`{}` {why}: users other than root could change what raidlab does as root",
            path.display()
        ),
    )
}

/// Whether nobody else can create files in this folder or replace it. It must belong to root, or to the current user if
/// that is not root.
pub(crate) fn check_folder(folder: &Path) -> io::Result<()> {
    let owner = rustix::process::geteuid().as_raw();
    let is_ours = |meta: &Metadata| meta.uid() == 0 || meta.uid() == owner;
    let meta = fs::symlink_metadata(folder)?;
    if !meta.is_dir() {
        return Err(refused(folder, "is not a directory"));
    }
    if !is_ours(&meta) {
        return Err(refused(folder, "is not owned by root"));
    }
    if meta.mode() & OTHERS_WRITE != 0 {
        return Err(refused(folder, "is writable by others"));
    }
    let whole = folder.canonicalize()?;
    for above in whole.ancestors().skip(1) {
        let meta = fs::symlink_metadata(above)?;
        // In a sticky folder such as /tmp, users cannot rename files of others.
        let is_open = meta.mode() & OTHERS_WRITE != 0 && meta.mode() & STICKY == 0;
        if is_open || !is_ours(&meta) {
            return Err(refused(
                folder,
                &format!(
                    "is below {}, which is not owned by root or is writable by others",
                    above.display()
                ),
            ));
        }
    }
    Ok(())
}

/// Opens a file in such a folder for reading and writing; none if it does not exist.
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(rustix::io::Errno::LOOP) => return Err(refused(path, "is a symbolic link")),
        Err(errno) => return Err(errno.into()),
    };
    check_file(path, &file.metadata()?)?;
    Ok(Some(file))
}

fn check_file(path: &Path, meta: &Metadata) -> io::Result<()> {
    if !meta.is_file() {
        return Err(refused(path, "is not a regular file"));
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(refused(path, "is not owned by root"));
    }
    if meta.mode() & OTHERS_WRITE != 0 {
        return Err(refused(path, "is writable by others"));
    }
    if meta.nlink() > 1 {
        return Err(refused(path, "has another hard link"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("ours");
    }

    #[test]
    fn what_others_can_write_is_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("state");
        fs::create_dir(&folder).expect("made");
        set_mode(&folder, 0o755);
        check_folder(&folder).expect("ours");
        for mode in [0o777, 0o1777, 0o775] {
            set_mode(&folder, mode);
            assert!(check_folder(&folder).is_err(), "{mode:o}");
        }
        set_mode(&folder, 0o755);
        set_mode(root.path(), 0o777);
        assert!(check_folder(&folder).is_err(), "another could be put in its place");
        set_mode(root.path(), 0o755);
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&folder, &link).expect("made");
        assert!(check_folder(&link).is_err());
    }

    #[test]
    fn files_that_are_not_what_they_seem_are_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let file = root.path().join("file");
        assert!(open(&file).expect("no file is no error").is_none());
        fs::write(&file, "x").expect("written");
        set_mode(&file, 0o600);
        assert!(open(&file).expect("ours").is_some());
        set_mode(&file, 0o666);
        assert!(open(&file).is_err());
        set_mode(&file, 0o600);
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&file, &link).expect("made");
        assert!(open(&link).is_err());
        let other = root.path().join("other");
        fs::hard_link(&file, &other).expect("made");
        assert!(open(&file).is_err());
    }
}
