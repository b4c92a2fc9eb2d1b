//! The programs found on a fixed path, with their versions.

use crate::error::{MissingTool, MissingTools};
use crate::{Tool, Version};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The search path; the caller's PATH is ignored.
pub const SEARCH_PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Folder in a guest with programs that raidlab provides (`sbin`) and their libraries (`lib`).
///
/// In a guest's own root it is part of the root. Otherwise a tmpfs is mounted on [`CARRIED_MOUNT`] first.
pub const CARRIED: &str = "/srv/raidlab";

/// A folder that every distribution has, and no program of a guest needs.
pub const CARRIED_MOUNT: &str = "/srv";

/// Installed programs.
#[derive(Debug)]
pub struct Tools {
    pub(crate) found: BTreeMap<Tool, PathBuf>,
    pub(crate) versions: BTreeMap<Tool, Version>,
    pub(crate) cancel: Option<OwnedFd>,
}

impl Tools {
    /// Finds the programs, or reports all missing ones and how to install them.
    pub fn find(wanted: &[Tool]) -> Result<Self, MissingTools> {
        Self::find_on(&format!("{SEARCH_PATH}:{CARRIED}/sbin"), wanted)
    }

    /// The programs as in a guest, including those that raidlab provides, which cannot be called here.
    pub fn find_as_in_guest(wanted: &[Tool]) -> Result<Self, MissingTools> {
        let is_given = |tool: &Tool| tool.is_carried() && Self::find(&[*tool]).is_err();
        let (given, own): (Vec<Tool>, Vec<Tool>) = wanted.iter().partition(|tool| is_given(tool));
        let mut tools = Self::find(&own)?;
        for tool in given {
            let path = Path::new(CARRIED).join("sbin").join(tool.program());
            tools.found.insert(tool, path);
            tools.set_version(tool, Version::unknown());
        }
        Ok(tools)
    }

    /// The files of the programs.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.found.values().map(PathBuf::as_path)
    }

    pub(crate) fn find_on(path: &str, wanted: &[Tool]) -> Result<Self, MissingTools> {
        let mut found = BTreeMap::new();
        let mut missing = Vec::new();
        for &tool in wanted {
            match path
                .split(':')
                .map(|folder| Path::new(folder).join(tool.program()))
                .find(|p| is_program(p))
            {
                Some(program) => drop(found.insert(tool, program)),
                None => missing.push(MissingTool(tool)),
            }
        }
        if missing.is_empty() {
            Ok(Self {
                found,
                versions: BTreeMap::new(),
                cancel: None,
            })
        } else {
            Err(MissingTools(missing))
        }
    }

    /// From now on calls are ended when `signal` becomes readable: a pipe or eventfd that Ctrl-C writes to.
    pub fn cancel_when_readable(&mut self, signal: OwnedFd) {
        self.cancel = Some(signal);
    }

    /// Sets a known version, so that the program need not be called: starting fio takes 10 s in a lab guest, and
    /// the guest has the same programs as its host.
    pub fn set_version(&mut self, tool: Tool, version: Version) {
        self.versions.insert(tool, version);
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
