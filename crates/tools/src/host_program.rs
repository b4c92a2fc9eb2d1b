//! Programs that raidlab calls on this machine outside of a trial: compilers, package managers.

use crate::SEARCH_PATH;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// The caller's PATH; for root [`SEARCH_PATH`], because a folder of the caller may be writable by others.
pub fn search_path() -> OsString {
    match rustix::process::geteuid().is_root() {
        true => SEARCH_PATH.into(),
        false => std::env::var_os("PATH").unwrap_or_else(|| SEARCH_PATH.into()),
    }
}

/// The program on [`search_path`], which is also the PATH of everything that it starts.
pub fn host_program(name: &str) -> Command {
    let path = search_path();
    let mut command = Command::new(found(&path, name).unwrap_or_else(|| name.into()));
    command.env("PATH", path);
    command
}

/// Whether there is such a program.
pub fn has_host_program(name: &str) -> bool {
    found(&search_path(), name).is_some()
}

fn found(path: &OsString, name: &str) -> Option<PathBuf> {
    // An empty folder is the current one, which can be anybody's.
    let mut folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.find_map(|folder| Some(folder.join(name)).filter(|file| file.is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn root_runs_no_program_from_the_callers_path() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        assert_eq!(search_path(), OsStr::new(SEARCH_PATH));
        let command = host_program("sh");
        assert!(PathBuf::from(command.get_program()).is_absolute());
        let path = command.get_envs().find(|(name, _)| *name == "PATH");
        assert_eq!(path, Some((OsStr::new("PATH"), Some(OsStr::new(SEARCH_PATH)))));
    }

    #[test]
    fn a_program_in_the_current_folder_is_not_found() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("make"), "").expect("written");
        let own = folder.path().as_os_str().to_owned();
        assert!(found(&own, "make").is_some());
        for path in ["", ".", "./", ":", "etc"] {
            assert_eq!(found(&path.into(), "passwd"), None, "{path}");
        }
    }
}
