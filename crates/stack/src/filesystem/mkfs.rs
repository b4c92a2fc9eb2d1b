//! The mkfs call of each filesystem.

use crate::machine::error::Cause;
use filesystems::{Made, Request, Stripes, bcachefs};
use std::path::{Path, PathBuf};
use study::stack::FilesystemSpec;
use tools::{Invocation, Tool, Version};

/// The filesystem to make, and its devices.
#[derive(Debug)]
pub(crate) struct Making<'a> {
    pub(crate) spec: &'a FilesystemSpec,
    /// One, except for filesystems that build an array themselves.
    pub(crate) devices: &'a [PathBuf],
    /// Which of them are of the tier that takes writes first.
    pub(crate) of_tier: &'a [bool],
    /// The device of an external journal.
    pub(crate) journal: Option<&'a Path>,
    /// Stripes of the array below.
    pub(crate) stripes: Option<Stripes>,
    /// The devices are all zeros.
    pub(crate) zeroed: bool,
    /// Version of the program.
    pub(crate) mkfs: &'a Version,
}

/// Makes an external journal, for a filesystem whose mkfs does not make both at once.
pub(crate) fn journal_device(spec: &FilesystemSpec, device: &Path) -> Option<Invocation> {
    let make = spec.kind.journal.as_ref()?.device?;
    let program = spec.kind.maker()?;
    Some(Invocation::new(Tool::Filesystem(program)).args(make(spec, &device.to_string_lossy())))
}

impl Making<'_> {
    /// The call that makes the filesystem; `None` for a raw device.
    pub(crate) fn invocation(&self) -> Result<Option<Invocation>, Cause> {
        let mkfs = match &self.spec.kind.get().made {
            Made::Nothing => return Ok(None),
            Made::Pool(_) => return Err(Cause::Impossible("a pool is more than one call".to_owned())),
            Made::Mkfs(mkfs) => mkfs,
        };
        let journal = self.journal.map(Path::to_string_lossy);
        let request = Request {
            spec: self.spec,
            devices: self.devices.len(),
            journal: journal.as_deref(),
            stripes: self.stripes,
            zeroed: self.zeroed,
            version: self.mkfs.numbers,
        };
        let arguments = mkfs.arguments(&request).map_err(Cause::Impossible)?;
        let call = Invocation::new(Tool::Filesystem(mkfs.program)).args(arguments);
        if self.spec.tier.is_none() {
            return Ok(Some(call.args(self.devices)));
        }
        let labelled = self.devices.iter().zip(self.of_tier);
        Ok(Some(labelled.fold(call, |call, (device, &is_of_tier)| {
            call.arg(bcachefs::label(is_of_tier)).arg(device)
        })))
    }
}
